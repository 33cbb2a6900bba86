/* Maps of samples of one byte on one axis, without tiles: each block first makes a table of all 256 results. A table of
 * bytes has two words in each bank of shared memory, so that a warp's lookups take two cycles at most. */
#include "cuda/map/apply.h"
#include "cuda/map/rows.cuh"

enum { THREADS = 256, PATTERNS = 256 };

/* The bits of a value as a result. */
static __device__ uint64_t result_bits(histo_dtype dtype, double value)
{
    return histo_with_dtype(dtype, [=](auto of) {
        const histo_stored<of.type> result = histo_result<of.type>(value);
        uint64_t bits = 0;
        memcpy(&bits, &result, sizeof result);
        return bits;
    });
}

/* T: as results lie in memory. AHEAD vectors of a thread are read before the first is looked up, the first ones while
 * the table is made. */
template <typename T, int V, int AHEAD>
static __global__ void __launch_bounds__(THREADS) apply_bytes(const __grid_constant__ histo_map_rows w)
{
    __shared__ T table[PATTERNS];
    const uint32_t vectors = (uint32_t)(w.rows * w.vectors), step = gridDim.x * THREADS;
    histo_wait_for_last_kernel();
    for (int64_t entry = blockIdx.y; entry < w.entries; entry += gridDim.y) {
        const char *from = w.from + entry * w.entry_stride[0];
        char *to = w.to + entry * w.entry_stride[1];
        uint32_t number = blockIdx.x * THREADS + threadIdx.x;
        bool made = false;
        /* All threads of a block take as many steps. */
        for (uint32_t first = blockIdx.x * THREADS; first < vectors; first += AHEAD * step, number += AHEAD * step) {
            histo_map_vector at[AHEAD];
            histo_vector<uint8_t, V> x[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                const uint32_t its = number + k * step;
                at[k] = histo_map_vector_at<V>(&w, from, to, its < vectors ? its : 0);
                if (its >= vectors) at[k].left = 0;
                x[k] = histo_load_vector<uint8_t, V>(at[k].from, at[k].left);
            }
            if (!made) {
                const double *values = w.values + entry * w.entry_tables * w.length;
                __syncthreads(); /* the last entry's table has been read */
                table[threadIdx.x] =
                    (T)result_bits(w.result, histo_map_value_of_byte(&w, values, (uint8_t)threadIdx.x));
                __syncthreads();
                made = true;
            }
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                histo_vector<T, V> results;
#pragma unroll
                for (int i = 0; i < V; i++)
                    results.at[i] = table[x[k].at[i]];
                histo_store_vector<T, V>(at[k].to, at[k].left, results);
            }
        }
    }
}

template <typename T>
static histo_map_kernel kernel_of(bool wide)
{
    enum { V = 16 / sizeof(T), AHEAD = sizeof(T) == 1 ? 2 : 4 };
    if (wide) return {(const void *)apply_bytes<T, V, AHEAD>, V};
    return {(const void *)apply_bytes<T, 1, AHEAD>, 1};
}

histo_map_kernel histo_cuda_map_bytes(size_t result_size, bool wide)
{
    switch (result_size) {
    case 1:
        return kernel_of<uint8_t>(wide);
    case 2:
        return kernel_of<uint16_t>(wide);
    case 4:
        return kernel_of<uint32_t>(wide);
    default:
        return kernel_of<uint64_t>(wide);
    }
}
