#include "cuda/launch/estimates.h"

#include <math.h>

double histo_cuda_lookup_us(const histo_problem *problem)
{
    const double searches_per_us = 7e5; /* among edges, without a table of them */
    double us = 0;
    for (int a = 0; a < problem->naxes; a++)
        if (problem->lookups[a].edges && !problem->lookups[a].table && problem->lookups[a].near == 0)
            us += 1 / searches_per_us;
    return us;
}

double histo_cuda_any_layout_us(const histo_problem *problem)
{
    /* Operands in one run, and in several dimensions or at a distance. */
    const double run_per_us = 5e5, strided_per_us = 3e5;
    return problem->operands / (problem->strided ? strided_per_us : run_per_us);
}

double histo_cuda_global_atomics_us(const histo_problem *problem, int64_t window)
{
    /* Additions to counters of device memory; to one slot: until the L2 cache is the bound. */
    const double cached_per_us = 1e5, uncached_per_us = 2.5e4, slot_per_us = 15, cached_slots = 5e6;
    const double slots = (double)problem->slots, spread = slots < cached_slots ? cached_per_us : uncached_per_us;
    const histo_outside outside = histo_problem_outside(problem, window);
    const double samples = (double)problem->samples, per_us = fmin(spread, slot_per_us * slots);
    const double alone = outside.commonest * pow(1 - outside.commonest, 31); /* in a warp: else lanes meet on chip */
    return samples * fmax(outside.fraction / per_us, alone / HISTO_CUDA_ONE_COUNTER);
}
