/* In builds without CUDA. */
#include "base/error.h"
#include "bench/several_gpus/several_gpus.h"

histo_status bench_several_gpus(const bench_options *options, int *measured, int *wrong)
{
    (void)options;
    *measured = *wrong = 0;
    return histo_fail(HISTO_UNSUPPORTED, "there are no GPUs to measure: this build has no CUDA");
}
