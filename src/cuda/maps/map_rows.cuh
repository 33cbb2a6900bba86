/* Rows of samples, a vector a thread: which samples and results these are, and how they are read and written. */
#ifndef CUDA_MAPS_MAP_ROWS_CUH
#define CUDA_MAPS_MAP_ROWS_CUH

#include "cuda/device/any_sample.cuh"
#include "cuda/maps/map_values.cuh"

/* V neighbouring samples or results, aligned as one. */
template <typename T, int V>
struct alignas(sizeof(T) * V) histo_vector {
    T at[V];
};

/* A vector of samples of one batch entry, and its results. */
typedef struct histo_map_vector {
    const char *from;
    char *to;
    int64_t left; /* samples from its first to the end of the row */
} histo_map_vector;

/* Vector `number` of an entry that begins at `from` and `to`. */
template <int V>
HISTO_IN_KERNEL histo_map_vector histo_map_vector_at(const histo_map_rows *w, const char *from, char *to,
                                                     uint32_t number)
{
    const uint32_t row = histo_divide(number, w->by_vectors);
    const int64_t column = (int64_t)(number - row * w->vectors) * V;
    return {from + row * w->row_stride[0] + column * w->stride[0], to + row * w->row_stride[1] + column * w->stride[1],
            w->columns - column};
}

/* Samples behind the end of a row are zero. */
template <typename T, int V>
HISTO_IN_KERNEL histo_vector<T, V> histo_load_vector(const char *from, int64_t left)
{
    histo_vector<T, V> x = {};
    if (left >= V)
        x = *(const histo_vector<T, V> *)from;
    else
        for (int i = 0; i < V; i++)
            if (i < left) x.at[i] = ((const T *)from)[i];
    return x;
}

template <typename T, int V>
HISTO_IN_KERNEL void histo_store_vector(char *to, int64_t left, histo_vector<T, V> x)
{
    if (left >= V)
        *(histo_vector<T, V> *)to = x;
    else
        for (int i = 0; i < V; i++)
            if (i < left) ((T *)to)[i] = x.at[i];
}

/* The slot of a sample of one byte: every lookup of these has a table. */
HISTO_IN_KERNEL uint32_t histo_map_slot_of_byte(const histo_lookup *l, bool is_signed, uint8_t pattern)
{
    if (!l->pow2.is) return __ldg(&l->table[pattern]);
    return is_signed ? histo_slot_by_shift(l, (int32_t)(int8_t)pattern) : histo_slot_by_shift(l, (uint32_t)pattern);
}

/* The value that a table has for such a sample. */
HISTO_IN_KERNEL double histo_map_value_of_byte(const histo_map_rows *w, const double *values, uint8_t pattern)
{
    const bool is_signed = w->dtype == HISTO_I8;
    const uint32_t slot = histo_map_slot_of_byte(&w->lookup, is_signed, pattern);
    if (!w->linear) return values[slot];
    const double x = is_signed ? (double)(int8_t)pattern : (double)pattern;
    return histo_map_value(values, true, histo_map_between_edges(&w->lookup, slot, x));
}

/* Copy the results of a table's first n entries to shared memory, by all threads of a block. AHEAD loads of a thread
 * overlap. */
template <histo_dtype result>
HISTO_IN_KERNEL void histo_map_keep_results(const double *values, uint32_t n, histo_stored<result> *kept)
{
    enum { AHEAD = 8 };
    for (uint32_t first = threadIdx.x; first < n; first += AHEAD * blockDim.x) {
        double value[AHEAD];
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++)
            value[k] = values[min(first + k * blockDim.x, n - 1)];
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++)
            if (first + k * blockDim.x < n) kept[first + k * blockDim.x] = histo_result<result>(value[k]);
    }
}

#endif
