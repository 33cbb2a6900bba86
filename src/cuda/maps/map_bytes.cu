/* Maps of samples of one byte on one axis, without tiles: each block first makes a table of all 256 results. A table of
 * bytes has two words in each bank of shared memory, so that a warp's lookups take two cycles at most. */
#include "cuda/maps/map_apply.h"
#include "cuda/maps/map_rows.cuh"

enum { THREADS = 256, BLOCKS_EACH = 4, PATTERNS = 256 };

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

/* T: the type of results in memory. AHEAD vectors of a thread are read before the first is looked up, the first ones
 * while the table is made. */
template <typename T, int V, int AHEAD>
static __global__ void __launch_bounds__(THREADS, BLOCKS_EACH) apply_bytes(const __grid_constant__ histo_map_rows w)
{
    using words = histo_word_of_bytes<V>; /* taken apart, bytes would each have a register */
    __shared__ T table[PATTERNS];
    const uint32_t vectors = (uint32_t)(w.rows * w.vectors), step = gridDim.x * THREADS;
    histo_wait_for_earlier();
    for (int64_t entry = blockIdx.z; entry < w.entries; entry += gridDim.z) {
        const char *from = w.from + entry * w.entry_stride[0];
        char *to = w.to + entry * w.entry_stride[1];
        uint32_t number = blockIdx.x * THREADS + threadIdx.x;
        bool made = false;
        /* All threads of a block take as many steps. */
        for (uint32_t first = blockIdx.x * THREADS; first < vectors; first += AHEAD * step, number += AHEAD * step) {
            words in[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                const histo_map_vector at = histo_map_vector_at<V>(&w, from, to, number + k * step);
                if (number + k * step < vectors && at.left >= V) in[k] = *(const words *)at.from;
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
                if (number + k * step >= vectors) break;
                const histo_map_vector at = histo_map_vector_at<V>(&w, from, to, number + k * step);
                if (at.left < V) {
                    for (int i = 0; i < at.left; i++)
                        ((T *)at.to)[i] = table[((const uint8_t *)at.from)[i]];
                    continue;
                }
                histo_vector<uint8_t, V> x;
                histo_vector<T, V> results;
                memcpy(&x, &in[k], sizeof x);
#pragma unroll
                for (int i = 0; i < V; i++)
                    results.at[i] = table[x.at[i]];
                *(histo_vector<T, V> *)at.to = results;
            }
        }
    }
}

template <typename T>
static histo_map_kernel kernel_of(bool wide)
{
    enum { V = 16 / sizeof(T), AHEAD = 4 };
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
