/* What calls take that count few samples: the overhead of a call, beside a naive loop, and of reading many counts. */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include "bench/core/options.h"

/* Print a table of the processor's time in nanoseconds, the least of several times. *measured and *wrong: the calls
 * measured, and those that miscounted. */
histo_status bench_calls(const bench_options *options, int *measured, int *wrong);

#endif
