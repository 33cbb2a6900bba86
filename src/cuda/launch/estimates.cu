#include "cuda/launch/estimates.h"

#include <math.h>

double histo_cuda_lookup_us(const histo_problem *problem)
{
    double us = 0;
    for (int a = 0; a < problem->naxes; a++)
        if (problem->lookups[a].edges && !problem->lookups[a].table && problem->lookups[a].near == 0) us += 1 / 7e5;
    return us;
}

double histo_cuda_global_atomics_us(const histo_problem *problem, int64_t window)
{
    const double slots = (double)problem->slots, spread = slots < 5e6 ? 1e5 : 2.5e4;
    const histo_outside outside = histo_problem_outside(problem, window);
    const double samples = (double)problem->samples, per_us = fmin(spread, 15 * slots);
    const double alone = outside.commonest * pow(1 - outside.commonest, 31); /* in a warp: else lanes meet on chip */
    return samples * fmax(outside.fraction / per_us, alone / HISTO_CUDA_ONE_COUNTER);
}
