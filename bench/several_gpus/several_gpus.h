/* Several GPUs of one host: how counting scales with their number, and what their links to host memory allow. */
#ifndef BENCH_SEVERAL_GPUS_H
#define BENCH_SEVERAL_GPUS_H

#include "bench/core/options.h"

/* Print tables. Each GPU has options->bytes of samples; 0: 4 GiB, or 2 GiB of host memory. *measured and *wrong: the
 * rows measured, and those that miscounted. */
histo_status bench_several_gpus(const bench_options *options, int *measured, int *wrong);

#endif
