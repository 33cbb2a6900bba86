/* Moments of a map's values over a window, in the order of table/moments.h. A block takes a row: all threads find
 * values, and one warp for each sum adds them. The last block to finish adds the sums of the rows. */
#include "cuda/host/check.h"
#include "cuda/host/device.h"
#include "cuda/launch/launch.h"
#include "cuda/maps/map_apply.h"
#include "cuda/maps/map_place.cuh"
#include "cuda/memory/allocate.h"
#include "table/moments.h"

enum { THREADS = 256, LANES = HISTO_MOMENT_LANES, CHUNK = 1024, AHEAD = 8 };

static_assert(LANES == 32, "a lane of sums is one of a warp");

static __device__ double value_at(const histo_map_work *w, int64_t x, int64_t y)
{
    histo_sample_place place = {};
    place.index[0] = y;
    place.index[1] = x;
    if (histo_is_left_out(&w->samples, &place)) return 0;
    return histo_map_value(w->values, w->linear, histo_map_place_at(w, &place));
}

/* The sum of all lanes, in lane 0. */
static __device__ double add_lanes(double sum)
{
#pragma unroll
    for (int half = LANES / 2; half > 0; half /= 2)
        sum += __shfl_down_sync(~0u, sum, half);
    return sum;
}

/* The sums of row y, by the whole block. */
static __device__ void sum_row(const histo_map_work *w, int64_t y, double *rows)
{
    __shared__ double values[CHUNK];
    const int lane = threadIdx.x % LANES, power = threadIdx.x / LANES; /* the power of x */
    const int64_t width = w->samples.iter.shape[1];
    double sum = 0;
    for (int64_t first = 0; first < width; first += CHUNK) {
        const int n = (int)min(width - first, (int64_t)CHUNK);
        for (int i = threadIdx.x; i < n; i += THREADS)
            values[i] = value_at(w, first + i, y);
        __syncthreads();
        for (int i = lane; i < n && power < HISTO_ROW_SUMS; i += LANES) {
            const double x = (double)(first + i);
            sum += power == 0 ? values[i] : power == 1 ? x * values[i] : x * x * values[i];
        }
        __syncthreads();
    }
    if (power >= HISTO_ROW_SUMS) return;
    sum = add_lanes(sum);
    if (lane == 0) rows[y * HISTO_ROW_SUMS + power] = sum;
}

/* Add up the rows by one warp, each lane of which reads AHEAD rows at once. */
static __device__ void add_rows(const double *rows, int64_t height, double *moments)
{
    const int lane = threadIdx.x;
    double sum[HISTO_MOMENTS] = {};
    for (int64_t first = lane; first < height; first += AHEAD * LANES) {
        double row[AHEAD][HISTO_ROW_SUMS];
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
#pragma unroll
            for (int s = 0; s < HISTO_ROW_SUMS; s++)
                row[k][s] = first + k * LANES < height ? __ldcg(&rows[(first + k * LANES) * HISTO_ROW_SUMS + s]) : 0;
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            if (first + k * LANES < height) histo_add_row_moments(row[k], first + k * LANES, sum);
    }
#pragma unroll
    for (int m = 0; m < HISTO_MOMENTS; m++) {
        const double all = add_lanes(sum[m]);
        if (lane == 0) moments[m] = all;
    }
}

static __global__ void __launch_bounds__(THREADS)
    sum_moments(const __grid_constant__ histo_map_work w, double *rows, unsigned *arrived, double *moments)
{
    __shared__ bool is_last;
    const int64_t height = w.samples.iter.shape[0];
    histo_wait_for_earlier();
    for (int64_t y = blockIdx.x; y < height; y += gridDim.x)
        sum_row(&w, y, rows);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(arrived, 1) == gridDim.x - 1;
    __syncthreads();
    if (!is_last) return;
    if (threadIdx.x == 0) *arrived = 0;
    if (threadIdx.x < LANES) add_rows(rows, height, moments);
}

/* ---- On the host ---- */

/* Make room for the sums of `height` rows. */
static histo_status make_room(histo_cuda_map_applying *a, int64_t height, cudaStream_t stream, bool capturing)
{
    if (height <= a->capacity && a->moments) return HISTO_OK;
    if (capturing)
        return histo_fail(HISTO_UNSUPPORTED, "take moments of such a window once before that is captured into a graph");
    histo_status status = HISTO_OK;
    if (!a->arrived) {
        status = histo_cuda_allocate((void **)&a->arrived, sizeof *a->arrived, "moments");
        if (status == HISTO_OK)
            status = HISTO_CUDA(cudaMemsetAsync(a->arrived, 0, sizeof *a->arrived, stream), "moments");
    }
    if (status == HISTO_OK && !a->moments)
        status = HISTO_CUDA(cudaHostAlloc((void **)&a->moments, sizeof *a->moments, cudaHostAllocPortable), "moments");
    if (status != HISTO_OK || height <= a->capacity) return status;
    histo_cuda_release(a->rows); /* waits for kernels that use it */
    a->rows = NULL;
    a->capacity = 0;
    status = histo_cuda_allocate((void **)&a->rows, (size_t)height * HISTO_ROW_SUMS * sizeof *a->rows, "moments");
    if (status == HISTO_OK) a->capacity = height;
    return status;
}

histo_status histo_cuda_map_moments(histo_cuda_map *map, const histo_mapping *mapping, const histo_view *views,
                                    const histo_apply_options *options, cudaStream_t stream, bool capturing,
                                    histo_moments *moments)
{
    enum { BLOCKS_EACH = 4 };
    bool only;
    const bool there = histo_cuda_locate(moments, &only) == map->base.device;
    if (capturing && !there)
        return histo_fail(HISTO_UNSUPPORTED, "moments in a graph need a result in the memory of the same GPU");
    histo_map_work work;
    histo_status status = histo_cuda_map_describe(&work, map, mapping, views, NULL, options, capturing);
    if (status == HISTO_OK) status = make_room(map->applying, views[0].shape[0], stream, capturing);
    if (status != HISTO_OK) return status;
    histo_cuda_map_applying *a = map->applying;
    const int64_t height = views[0].shape[0];
    const int64_t blocks = (int64_t)BLOCKS_EACH * histo_cuda_device_of(map->base.device)->multiprocessors;
    histo_moments *to = there ? moments : a->moments;
    void *args[] = {&work, &a->rows, &a->arrived, &to};
    status = histo_cuda_launch_early(map->base.device, (const void *)sum_moments,
                                     dim3((unsigned)(height < blocks ? height : blocks)), THREADS, 1, 0, args, stream);
    if (status != HISTO_OK || there) return status;
    status = HISTO_CUDA(cudaStreamSynchronize(stream), "moments");
    if (status == HISTO_OK) *moments = *a->moments;
    return status;
}
