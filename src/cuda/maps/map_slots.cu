/* Maps of samples of more than one byte on one axis, without tiles: the slot of each, and what the table has for it.
 * Where blocks have many samples and the table is short, each block first keeps the results of all slots in shared
 * memory. */
#include "cuda/maps/map_apply.h"
#include "cuda/maps/map_rows.cuh"

enum { THREADS = 256, V = 4 };

template <histo_dtype type, histo_dtype result>
static __device__ histo_stored<result> result_of(const histo_map_rows *w, const double *values, uint32_t slot,
                                                 histo_stored<type> x)
{
    histo_map_place place = {slot, 0};
    if (w->linear) place = histo_map_between_edges(&w->lookup, slot, (double)histo_to_compute<type>(x));
    return histo_result<result>(histo_map_value(values, w->linear, place));
}

template <histo_dtype type, histo_dtype result, int N>
static __global__ void __launch_bounds__(THREADS) apply_slots(const __grid_constant__ histo_map_rows w)
{
    using kept_result = histo_stored<result>;
    extern __shared__ uint2 memory[];
    kept_result *kept = (kept_result *)memory;
    const uint32_t vectors = (uint32_t)(w.rows * w.vectors), step = gridDim.x * THREADS;
    histo_wait_for_earlier();
    for (int64_t entry = blockIdx.z; entry < w.entries; entry += gridDim.z) {
        const double *values = w.values + entry * w.entry_tables * w.length;
        const char *from = w.from + entry * w.entry_stride[0];
        char *to = w.to + entry * w.entry_stride[1];
        __syncthreads(); /* the last entry's results have been read */
        histo_map_keep_results<result>(values, w.kept, kept);
        __syncthreads();
        for (uint32_t number = blockIdx.x * THREADS + threadIdx.x; number < vectors; number += step) {
            const histo_map_vector at = histo_map_vector_at<N>(&w, from, to, number);
            const auto x = histo_load_vector<histo_stored<type>, N>(at.from, at.left);
            uint32_t slot[N];
            histo_any_lookup<type>(&w.lookup).slots(x.at, slot);
            histo_vector<kept_result, N> results;
#pragma unroll
            for (int i = 0; i < N; i++)
                results.at[i] = w.kept ? kept[slot[i]] : result_of<type, result>(&w, values, slot[i], x.at[i]);
            histo_store_vector<kept_result, N>(at.to, at.left, results);
        }
    }
}

template <histo_dtype type>
struct slot_kernels {
    template <histo_dtype result>
    static histo_map_kernel of(bool wide)
    {
        if (wide) return {(const void *)apply_slots<type, result, V>, V};
        return {(const void *)apply_slots<type, result, 1>, 1};
    }
};

histo_map_kernel histo_cuda_map_slots(histo_dtype dtype, histo_dtype result, bool wide)
{
    switch (dtype) {
    case HISTO_U16:
        return histo_map_kernel_by_result<slot_kernels<HISTO_U16>>(result, wide);
    case HISTO_I16:
        return histo_map_kernel_by_result<slot_kernels<HISTO_I16>>(result, wide);
    case HISTO_F32:
        return histo_map_kernel_by_result<slot_kernels<HISTO_F32>>(result, wide);
    default:
        return {};
    }
}
