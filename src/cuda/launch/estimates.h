/* Estimates that several strategies share.
 *
 * Where the constants of estimates come from: all of them, in each cost_us too, are times and rates of the kernels on
 * the reference GPU of rates.def, an H200 of 132 multiprocessors, where most are those that `histo bench map` measured
 * and the others what made its choice of a strategy the fastest one. Those of windows that are found come from an H100
 * (docs/log/results/h100-windows.txt), which differs in its memory alone. Times are in microseconds, rates (…_per_us)
 * for one. Plans scale an estimate to other GPUs as a whole. */
#ifndef CUDA_LAUNCH_ESTIMATES_H
#define CUDA_LAUNCH_ESTIMATES_H

#include "plan/strategy.h"

/* Estimates, in microseconds: of the lookup of a sample, 0 where reading hides it; and of the samples that global
 * atomics count, those outside the densest `window` slots: bound by the L2 cache, or by the commonest counter. */
double histo_cuda_lookup_us(const histo_problem *problem);
double histo_cuda_global_atomics_us(const histo_problem *problem, int64_t window);
/* Of a sample that the reader of any layout (device/any_step.cuh) reads and looks up. */
double histo_cuda_any_layout_us(const histo_problem *problem);
enum {
    HISTO_CUDA_ONE_COUNTER = 1360, /* additions to one counter in a microsecond */
    HISTO_REFERENCE_MULTIPROCESSORS = 132,
};

#endif
