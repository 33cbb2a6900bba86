/* Cumulative reads into memory of the GPU. They are in a file of their own, because CUDA loads all kernels of a file at
 * the first launch of one, and these are large. */
#include "cuda/memory/read_slots.h"

typedef unsigned long long word;

/* ---- Kernels ---- */

enum { SCAN_THREADS = 256, SCAN_EACH = 8, SCAN_TILE = SCAN_THREADS * SCAN_EACH };

/* Returns the sum of the values of the threads before this one; *all becomes that of all threads. */
static __device__ word sum_before(word value, word *all)
{
    __shared__ word of_warp[SCAN_THREADS / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    word through = value, before = 0;
    for (int d = 1; d < 32; d *= 2) {
        const word below = __shfl_up_sync(~0u, through, d);
        if (lane >= d) through += below;
    }
    __syncthreads(); /* the last call has been read */
    if (lane == 31) of_warp[warp] = through;
    __syncthreads();
    *all = 0;
    for (int w = 0; w < SCAN_THREADS / 32; w++) {
        if (w < warp) before += of_warp[w];
        *all += of_warp[w];
    }
    return before + through - value;
}

/* The sum of each tile, into which rows of n elements are cut. */
static __global__ void sum_tiles(histo_slot_grid grid, const word *from, int64_t n, int64_t tiles, word *sums)
{
    const int64_t row = blockIdx.x / tiles, tile = blockIdx.x % tiles, end = min((tile + 1) * SCAN_TILE, n);
    word sum = 0, all;
    histo_wait_for_earlier();
    for (int64_t i = tile * SCAN_TILE + threadIdx.x; i < end; i += SCAN_THREADS)
        sum += from[slot_at(&grid, row * n + i)];
    sum_before(sum, &all);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

/* Write running sums. sums: those of the tiles; unused if a row is one tile. */
template <typename OUT>
static __global__ void scan_tiles(histo_slot_grid grid, const word *from, int64_t n, int64_t tiles, const word *sums,
                                  OUT *out)
{
    const int64_t row = blockIdx.x / tiles, tile = blockIdx.x % tiles;
    word of_tiles = 0, earlier, all, value[SCAN_EACH], sum = 0;
    histo_wait_for_earlier();
    for (int64_t t = threadIdx.x; t < tile; t += SCAN_THREADS)
        of_tiles += sums[row * tiles + t];
    sum_before(of_tiles, &earlier);
    const int64_t begin = tile * SCAN_TILE + threadIdx.x * SCAN_EACH;
    for (int k = 0; k < SCAN_EACH; k++) {
        value[k] = begin + k < n ? from[slot_at(&grid, row * n + begin + k)] : 0;
        sum += value[k];
    }
    word running = earlier + sum_before(sum, &all);
    for (int k = 0; k < SCAN_EACH && begin + k < n; k++)
        out[row * n + begin + k] = as<OUT>(running += value[k]);
}

/* ---- Launching ---- */

template <typename OUT>
static histo_status launch_cumulative(const histo_cuda_accumulators *from, const histo_reading *r, cudaStream_t stream)
{
    histo_slot_grid grid = r->grid;
    int64_t n = grid.extent[grid.ndim - 1], tiles = (n + SCAN_TILE - 1) / SCAN_TILE, blocks = r->size / n * tiles;
    const word *counts = from->counts;
    word *sums = from->counts + from->batch * from->counters;
    void *summed[] = {&grid, &counts, &n, &tiles, &sums},
         *scanned[] = {&grid, &counts, &n, &tiles, &sums, (void *)&r->out};
    histo_status status =
        tiles > 1 ? histo_launch_read(from, (const void *)sum_tiles, blocks, SCAN_THREADS, summed, stream) : HISTO_OK;
    return status == HISTO_OK
               ? histo_launch_read(from, (const void *)scan_tiles<OUT>, blocks, SCAN_THREADS, scanned, stream)
               : status;
}

size_t histo_cuda_scan_words(int64_t counters)
{
    return counters > SCAN_TILE ? (size_t)counters / (SCAN_TILE / 2) : 0;
}

histo_status histo_cuda_read_cumulative(const histo_cuda_accumulators *from, const histo_reading *r,
                                        cudaStream_t stream)
{
    switch (r->dtype) {
    case HISTO_U32:
        return launch_cumulative<uint32_t>(from, r, stream);
    case HISTO_F32:
        return launch_cumulative<float>(from, r, stream);
    case HISTO_F64:
        return launch_cumulative<double>(from, r, stream);
    default:
        return launch_cumulative<word>(from, r, stream);
    }
}
