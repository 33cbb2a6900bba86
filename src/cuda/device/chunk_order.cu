/* The kernel that puts chunks in order of their ranges: see chunk_order.cuh. */
#include "cuda/device/chunk_order.cuh"

#include "cuda/device/warp.cuh"

namespace histo::chunks
{

/* sums[r]: of the numbers of all threads before r; sums[ranges]: of all. Blocks of COUNT_THREADS >= ranges. */
HISTO_IN_KERNEL void sum_before(uint32_t number, uint32_t ranges, uint32_t *sums)
{
    __shared__ uint32_t of_warps[WARP];
    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, sum = histo_warp_running_sum(number);
    if (lane == WARP - 1) of_warps[warp] = sum;
    __syncthreads();
    for (uint32_t w = 0; w < warp; w++)
        sum += of_warps[w];
    if (threadIdx.x == 0) sums[0] = 0;
    if (threadIdx.x < ranges) sums[threadIdx.x + 1] = sum;
    __syncthreads();
}

/* The parts that a range is cut into. */
HISTO_IN_KERNEL uint32_t parts_of(uint32_t chunks, uint32_t fair)
{
    return chunks ? max((chunks + fair / 2) / fair, 1u) : 0;
}

/* Block x gives the chunks of tile x their places in order. */
static __global__ void __launch_bounds__(COUNT_THREADS) order_chunks(const __grid_constant__ chunk_order order)
{
    __shared__ uint32_t next[MAX_RANGES + 1], own[MAX_RANGES];
    uint32_t first = blockIdx.x * order.chunks_each, used = order.used[blockIdx.x];
    const uint32_t chunks = threadIdx.x < order.ranges ? order.chunks[threadIdx.x] : 0;
    sum_before(chunks, order.ranges, next);
    if (blockIdx.x == 0) {
        for (uint32_t range = threadIdx.x; range <= order.ranges; range += COUNT_THREADS)
            order.starts[range] = next[range];
        if (order.parts)
            sum_before(parts_of(chunks, fair_share(next[order.ranges], order.blocks)), order.ranges, order.parts);
    }
    for (uint32_t range = threadIdx.x; range < order.ranges; range += COUNT_THREADS)
        own[range] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < used; i += COUNT_THREADS)
        atomicAdd(&own[order.tags[first + i] >> TAG_BITS], 1u);
    __syncthreads();
    for (uint32_t range = threadIdx.x; range < order.ranges; range += COUNT_THREADS)
        if (own[range]) next[range] += atomicAdd(&order.taken[range], own[range]);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < used; i += COUNT_THREADS) {
        uint32_t tag = order.tags[first + i];
        order.ordered[atomicAdd(&next[tag >> TAG_BITS], 1u)] = make_uint2(first + i, tag & ((1u << TAG_BITS) - 1));
    }
}

const void *kernel_of_order(void)
{
    return (const void *)order_chunks;
}

} // namespace histo::chunks
