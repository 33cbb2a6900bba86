/* packed_window: two columns of bytes, counted by their values, which become slots in the merge. So no byte is looked
 * up, and whatever the axes are, the 65536 pairs fit on chip. */
#include "cuda/strategies/packed_window/packed_window.h"
#include "cuda/strategies/packed_window/window_counters.cuh"

namespace histo::packed_window
{

enum { BYTES = sizeof(uint4) /* of each column, that a thread loads at once */, BYTE = 256 /* values */ };

struct slots_of_bytes {
    enum { REPEAT = true, RUNS = true };
    const uint32_t *slots[2]; /* of the first column's bytes, and of the second's */
    uint32_t strides[2];

    HISTO_MEMBER uint32_t end(const histo_cuda_work *) const { return VALUES; }
    HISTO_MEMBER uint32_t slot(uint32_t at) const
    {
        return __ldg(&slots[0][at / BYTE]) * strides[0] + __ldg(&slots[1][at % BYTE]) * strides[1];
    }
};

/* The counters of n = 8 pairs, from two words of each column. */
HISTO_IN_KERNEL void place_pairs(const uint32_t *first, const uint32_t *second, uint32_t *at)
{
#pragma unroll
    for (int k = 0; k < 8; k++)
        at[k] = __byte_perm(first[k / 4], second[k / 4], (uint32_t)(k % 4 << 4 | (4 + k % 4))) & 0xffff;
}

static __global__ void __launch_bounds__(1024, 1)
    count_bytes(const __grid_constant__ histo_cuda_work work, const __grid_constant__ window w)
{
    enum { N = 8, GROUPS = BYTES / N, WORDS = N / 4 };
    using counter = counters<16, slots_of_bytes>;
    extern __shared__ uint32_t shared[];
    const int64_t apart = work.iter.base[1] - work.iter.base[0];
    const slots_of_bytes slots = {{work.lookups[0].table, work.lookups[1].table},
                                  {work.slot_strides[0], work.slot_strides[1]}};
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        histo_tile tile = histo_tile_aligned(&work, item, 1);
        const histo_steps s = histo_steps_of(&tile, BYTES);
        const uint4 *of[] = {s.vectors, (const uint4 *)((const char *)s.vectors + apart)};
        uint4 loaded[2] = {};
        if (s.begin + threadIdx.x < s.end)
            for (int c = 0; c < 2; c++)
                loaded[c] = __ldcs(&of[c][s.begin + threadIdx.x]);
        counter c = counter::begin(shared, &work, &w, tile.entry, slots);
        for (uint32_t from = s.begin; from < s.end; from += blockDim.x) {
            const bool is_missing = from + threadIdx.x >= s.end;
            uint32_t now[2][BYTES / 4];
            memcpy(now, loaded, sizeof now);
            if (from + blockDim.x + threadIdx.x < s.end)
#pragma unroll
                for (int c = 0; c < 2; c++)
                    loaded[c] = __ldcs(&of[c][from + blockDim.x + threadIdx.x]);
#pragma unroll 1
            for (int group = 0; group < GROUPS; group++) {
                uint32_t at[N];
                place_pairs(now[0], now[1], at);
                if (is_missing)
#pragma unroll
                    for (int k = 0; k < N; k++)
                        at[k] = c.spare;
                c.template count<UNROLLED>(at, N);
#pragma unroll
                for (int i = WORDS; i < BYTES / 4; i++) {
                    now[0][i - WORDS] = now[0][i];
                    now[1][i - WORDS] = now[1][i];
                }
            }
        }
        const uint32_t others = histo_beside_steps(&s, &tile, BYTES); /* fewer than there are threads */
        uint32_t at = c.spare;
        if (threadIdx.x < others) {
            const char *own = tile.at + histo_nth_beside_steps(&s, &tile, BYTES, threadIdx.x);
            at = *(const uint8_t *)own * BYTE + *(const uint8_t *)(own + apart);
        }
        if (others) c.template count<ROLLED>(&at, 1);
        c.merge();
    }
}

bool are_bytes(const histo_cuda_work *work)
{
    const histo_strided_iter *iter = &work->iter;
    const int last = iter->ndim - 1;
    bool are = work->naxes == 2 && iter->operands == 2 && !iter->images && last == iter->batch_ndim &&
               (iter->base[1] - iter->base[0]) % BYTES == 0;
    for (int o = 0; o < 2 && are; o++)
        are = work->dtypes[o] == HISTO_U8 && work->lookups[o].table && iter->strides[o][last] == 1;
    for (int d = 0; d < last && are; d++)
        are = iter->strides[0][d] == iter->strides[1][d];
    return are;
}

const void *kernel_of_bytes(void)
{
    return (const void *)count_bytes;
}

} // namespace histo::packed_window
