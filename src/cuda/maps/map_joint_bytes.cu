/* Maps of two or three axes with samples of one byte each, as those of back projection: each block first makes tables
 * of the slots of all bit patterns. Where blocks have many samples and the table of the map is short, they also keep
 * its results. */
#include "cuda/maps/map_apply.h"
#include "cuda/maps/map_rows.cuh"

enum { THREADS = 256, PATTERNS = 256, AHEAD = 4 };

static __device__ void find_slots(const histo_map_joint *w, uint32_t (*slots)[PATTERNS])
{
    const uint8_t pattern = (uint8_t)threadIdx.x;
    static_assert((int)THREADS == (int)PATTERNS, "a thread for each pattern");
    for (int a = 0; a < w->naxes; a++)
        slots[a][pattern] =
            w->slot_strides[a] * histo_map_slot_of_byte(&w->lookups[a], w->dtypes[a] == HISTO_I8, pattern);
}

template <histo_dtype result>
static __global__ void __launch_bounds__(THREADS) apply_joint(const __grid_constant__ histo_map_joint w)
{
    using stored = histo_stored<result>;
    __shared__ uint32_t slots[HISTO_MAP_JOINT_AXES][PATTERNS];
    extern __shared__ uint2 memory[];
    stored *kept = (stored *)memory;
    const histo_map_rows *r = &w.rows;
    const uint32_t n = (uint32_t)(r->rows * r->vectors), step = gridDim.x * THREADS;
    histo_wait_for_earlier();
    find_slots(&w, slots);
    for (int64_t entry = blockIdx.z; entry < r->entries; entry += gridDim.z) {
        const double *values = r->values + entry * r->entry_tables * r->length;
        __syncthreads(); /* the last entry's results have been read */
        histo_map_keep_results<result>(values, r->kept, kept);
        __syncthreads();
        for (uint32_t first = blockIdx.x * THREADS + threadIdx.x; first < n; first += AHEAD * step) {
            uint32_t slot[AHEAD];
            int64_t row[AHEAD], column[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                const uint32_t number = min(first + k * step, n - 1);
                row[k] = histo_divide(number, r->by_vectors);
                column[k] = number - row[k] * r->vectors;
                slot[k] = 0;
#pragma unroll
                for (int a = 0; a < HISTO_MAP_JOINT_AXES; a++)
                    if (a < w.naxes)
                        slot[k] += slots[a][*(const uint8_t *)(w.from[a] + entry * w.entry_stride[a] +
                                                               row[k] * w.row_stride[a] + column[k] * w.stride[a])];
            }
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                if (first + k * step >= n) break;
                char *to = r->to + entry * r->entry_stride[1] + row[k] * r->row_stride[1] + column[k] * r->stride[1];
                *(stored *)to = r->kept ? kept[slot[k]] : histo_result<result>(values[slot[k]]);
            }
        }
    }
}

const void *histo_cuda_map_joint(histo_dtype result)
{
    switch (result) {
    case HISTO_U8:
        return (const void *)apply_joint<HISTO_U8>;
    case HISTO_F32:
        return (const void *)apply_joint<HISTO_F32>;
    default:
        return NULL;
    }
}
