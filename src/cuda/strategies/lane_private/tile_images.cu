/* Some images of 8-bit samples, such as the tiles of a larger one: a cluster of blocks counts each.
 *
 * Such a fill takes a few microseconds. As many blocks as multiprocessors have an equal share of the samples, and each
 * thread loads its first vectors before anything else. The blocks of a cluster add up their counters in each other's
 * shared memory, so that one thread alone has all samples of a slot. It writes their number without an atomic addition,
 * and without reading what is replaced. The counters are those of byte_pixels.cu.
 *
 * Bytes: each sample once. Bound: the launch, and the latency of memory. Wins on tens to hundreds of images of some
 * kilobytes to a megabyte. Their rows begin and end at multiples of 16 bytes. */
#include "cuda/device/byte_counters.cuh"
#include "cuda/device/dependent.cuh"
#include "cuda/host/check.h"
#include "cuda/host/device.h"
#include "cuda/launch/work_of_job.h"
#include "cuda/strategies/lane_private/byte_pixels.h"

#include <cooperative_groups.h>

namespace
{

enum { THREADS = 1024, VECTOR = 16, AHEAD = 4 /* vectors of a thread in flight */, CLUSTER = 8, MOST_SLOTS = 1024 };

struct tile_images {
    histo_images in;
    const uint32_t *slot_of;
    unsigned long long *counts;
    int64_t counters;
    uint32_t slots, row_vectors, vectors; /* of an image */
    histo_divisor by_row_vectors;
    bool replaces; /* earlier counts do not matter */
};

#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900

HISTO_IN_KERNEL uint4 load_vector(const tile_images *t, const char *image, uint32_t i)
{
    const uint32_t row = histo_divide(i, t->by_row_vectors);
    return __ldcs((const uint4 *)(image + row * t->in.pitch + (i - row * t->row_vectors) * VECTOR));
}

__global__ void __launch_bounds__(THREADS) count_tile_images(const __grid_constant__ tile_images t)
{
    __shared__ __align__(VECTOR) unsigned int counters[HISTO_VALUES * HISTO_VALUE_COPIES];
    __shared__ uint32_t sums[MOST_SLOTS]; /* by slot */
    const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    const uint32_t blocks = cluster.num_blocks(), rank = cluster.block_rank(), stride = blocks * THREADS;
    const histo_image image = histo_image_of(&t.in, blockIdx.x / blocks);
    uint32_t next = rank * THREADS + threadIdx.x;
    uint4 loaded[AHEAD];
    bool exists[AHEAD];
#pragma unroll
    for (int v = 0; v < AHEAD; v++, next += stride) {
        exists[v] = next < t.vectors;
        if (exists[v]) loaded[v] = load_vector(&t, image.samples, next);
    }
    histo_launch_dependents();
    /* The slots are shared out among the blocks. */
    unsigned long long *count = t.counts + image.entry * t.counters + threadIdx.x, before = 0;
    const bool is_mine = threadIdx.x < t.slots && threadIdx.x % blocks == rank;
    if (is_mine && !t.replaces) before = *count;
    if (t.replaces && rank == 0 && threadIdx.x == t.slots) *count = 0; /* samples left out */
    const uint32_t slot = threadIdx.x / 2 < HISTO_VALUES ? t.slot_of[threadIdx.x / 2] : 0;
    for (uint32_t i = threadIdx.x; i < HISTO_VALUES * HISTO_VALUE_COPIES / 4; i += THREADS)
        ((uint4 *)counters)[i] = make_uint4(0, 0, 0, 0);
    sums[threadIdx.x] = 0;
    __syncthreads();
    const uint32_t mine = (uint32_t)__cvta_generic_to_shared(counters + threadIdx.x % HISTO_VALUE_COPIES);
#pragma unroll 1
    while (exists[0])
#pragma unroll
        for (int v = 0; v < AHEAD; v++, next += stride) {
            if (!exists[v]) continue;
            const uint4 now = loaded[v];
            exists[v] = next < t.vectors;
            if (exists[v]) loaded[v] = load_vector(&t, image.samples, next);
#pragma unroll
            for (int k = 0; k < VECTOR; k++)
                histo_count_at(histo_value_counter(mine, histo_word_of_vector(now, k / 4), k % 4));
        }
    __syncthreads();
    if (threadIdx.x < 2 * HISTO_VALUES) {
        const uint32_t sum = histo_sum_value(counters, threadIdx.x);
        if (threadIdx.x % 2 == 0 && sum) atomicAdd(&sums[slot], sum);
    }
    cluster.sync();
    if (is_mine) {
        for (uint32_t b = 0; b < blocks; b++)
            before += cluster.map_shared_rank(sums, b)[threadIdx.x];
        *count = before;
    }
    cluster.sync(); /* no block leaves what others read */
}

#else

__global__ void count_tile_images(const __grid_constant__ tile_images t) {}

#endif

} // namespace

bool histo_are_tile_images(const histo_job *job, const histo_pixels *pixels, int period)
{
    enum { LEAST_IMAGES = 16, MOST_IMAGES = 1024, LEAST_BYTES = 8 << 10, MOST_BYTES = 1 << 20, MOST_OF_ALL = 32 << 20 };
    const histo_images *in = &pixels->in;
    const int64_t images = job->iter.batch, bytes = in->rows * in->row_bytes;
    const uint64_t bits = (uint64_t)(uintptr_t)in->samples | (uint64_t)in->row_bytes | (uint64_t)in->strides_or;
    const bool all = job->begin == 0 && job->end == images * job->iter.per_batch;
    return all && histo_cuda_device_of(job->problem->device)->major >= 9 && period == 1 && pixels->tables == 1 &&
           in->dims > 0 && !in->mask && !pixels->filters && bits % VECTOR == 0 && pixels->slots < MOST_SLOTS &&
           images >= LEAST_IMAGES && images <= MOST_IMAGES && bytes >= LEAST_BYTES && bytes <= MOST_BYTES &&
           images * bytes <= MOST_OF_ALL;
}

histo_status histo_tile_images_launch(const histo_job *job, const histo_pixels *pixels)
{
    const histo_images *in = &pixels->in;
    tile_images t = {*in, pixels->slot_of, pixels->counts, pixels->counters, pixels->slots};
    t.row_vectors = (uint32_t)(in->row_bytes / VECTOR);
    t.vectors = t.row_vectors * in->rows;
    t.by_row_vectors = histo_divisor_of(t.row_vectors);
    t.replaces = job->replace;
    const int64_t images = job->iter.batch;
    unsigned blocks = 1;
    while (blocks < CLUSTER && 2 * blocks * images <= histo_cuda_device_of(job->problem->device)->multiprocessors &&
           blocks * THREADS < t.vectors)
        blocks *= 2;
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = blocks;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)images * blocks);
    config.blockDim = dim3(THREADS);
    config.stream = (cudaStream_t)job->stream;
    config.attrs = &cluster;
    config.numAttrs = 1;
    void *args[] = {&t};
    return HISTO_CUDA(cudaLaunchKernelExC(&config, (const void *)count_tile_images, args), "counting");
}
