/* packed_window: finding the window. For each batch entry, a block counts the slots of 4096 samples, or of 16384 where
 * there are many, in 2048 cells of equal width and takes the densest run of cells of the window's length; where the
 * cells are wide against the window, again within that run. The window stays in device memory, so that the host waits
 * for nothing. */
#include "cuda/strategies/packed_window/packed_window.h"

namespace histo::packed_window
{

enum { CELLS = 2048, SAMPLED_EACH = 16, FEW_SAMPLED_EACH = 4 };

/* A thread's own samples of a batch entry. */
HISTO_IN_KERNEL void sample(const histo_cuda_work *w, uint32_t *slot)
{
    const uint32_t each = w->end - w->begin < MANY ? FEW_SAMPLED_EACH : SAMPLED_EACH;
    const histo_sampling samples = histo_sampling::of(w, w->first_entry + blockIdx.x, FIND_THREADS * each);
#pragma unroll 1
    for (uint32_t k = 0; k < SAMPLED_EACH; k++) {
        uint32_t its_slot = HISTO_NO_SLOT;
        if (k < each) its_slot = samples.slot(w, k * FIND_THREADS + threadIdx.x);
#pragma unroll
        for (uint32_t i = 0; i < SAMPLED_EACH; i++) /* keeps slot[] in registers */
            slot[i] = i == k ? its_slot : slot[i];
    }
}

/* The inclusive prefix sum of the cells, in place. */
HISTO_IN_KERNEL void add_up(uint32_t *cells)
{
    for (uint32_t distance = 1; distance < CELLS; distance *= 2) {
        uint32_t below[CELLS / FIND_THREADS];
        __syncthreads();
#pragma unroll
        for (uint32_t k = 0; k < CELLS / FIND_THREADS; k++) {
            uint32_t i = k * FIND_THREADS + threadIdx.x;
            below[k] = i >= distance ? cells[i - distance] : 0;
        }
        __syncthreads();
#pragma unroll
        for (uint32_t k = 0; k < CELLS / FIND_THREADS; k++)
            cells[k * FIND_THREADS + threadIdx.x] += below[k];
    }
    __syncthreads();
}

HISTO_IN_KERNEL uint32_t in_run(const uint32_t *summed, uint32_t start, uint32_t run)
{
    return summed[start + run - 1] - (start ? summed[start - 1] : 0);
}

/* The start of the densest run of cells; in the middle of those that are as dense. */
HISTO_IN_KERNEL uint32_t best_start(const uint32_t *summed, uint32_t run)
{
    __shared__ uint32_t most, lowest, highest;
    if (threadIdx.x == 0) {
        most = highest = 0;
        lowest = CELLS;
    }
    __syncthreads();
    for (uint32_t start = threadIdx.x; start + run <= CELLS; start += FIND_THREADS)
        atomicMax(&most, in_run(summed, start, run));
    __syncthreads();
    for (uint32_t start = threadIdx.x; start + run <= CELLS; start += FIND_THREADS)
        if (in_run(summed, start, run) == most) {
            atomicMin(&lowest, start);
            atomicMax(&highest, start);
        }
    __syncthreads();
    uint32_t middle = lowest + (highest - lowest) / 2;
    return in_run(summed, middle, run) == most ? middle : lowest;
}

/* Block x finds the window of the x-th batch entry of the job. */
static __global__ void __launch_bounds__(FIND_THREADS, 1)
    find(const __grid_constant__ histo_cuda_work work, const __grid_constant__ window w)
{
    __shared__ uint32_t cells[CELLS];
    enum { FINE = 32 }; /* cells in a window, at least */
    uint32_t slot[SAMPLED_EACH], counters = (uint32_t)work.counters, size = w.size;
    uint32_t first = 0, span = counters; /* the window is in here */
    sample(&work, slot);
    for (;;) {
        uint32_t shift = 0;
        while ((span - 1) >> shift >= CELLS)
            shift++;
        for (uint32_t i = threadIdx.x; i < CELLS; i += FIND_THREADS)
            cells[i] = 0;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < SAMPLED_EACH; k++)
            if (slot[k] - first < span) atomicAdd(&cells[(slot[k] - first) >> shift], 1u);
        add_up(cells);
        uint32_t run = size >> shift;
        run = run < 1 ? 1 : run > CELLS ? CELLS : run;
        uint32_t start = first + (best_start(cells, run) << shift), around = 1u << shift;
        if (around <= size / FINE || shift == 0) {
            first = start;
            break;
        }
        first = start > around ? start - around : 0;
        span = (run + 2) << shift;
        if (span > counters - first) span = counters - first;
        __syncthreads();
    }
    if (threadIdx.x == 0) w.found[work.first_entry + blockIdx.x] = first < counters - size ? first : counters - size;
}

const void *kernel_of_find(void)
{
    return (const void *)find;
}

} // namespace histo::packed_window
