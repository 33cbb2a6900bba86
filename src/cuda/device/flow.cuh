/* Flow on chip. Samples outside an axis, NaN and masked ones are a few slots that may have most of the samples, and
 * additions to one counter in device memory wait for each other. So whole warps add up those of a step, and the block
 * adds to the histogram once for each tile. Of several axes, these are the last three counters of a batch entry and the
 * first one. */
#ifndef CUDA_DEVICE_FLOW_CUH
#define CUDA_DEVICE_FLOW_CUH

#include "cuda/device/warp.cuh"
#include "cuda/device/work.h"

struct histo_flow {
    enum : uint32_t { SLOTS = 4 };
    uint32_t *sums;      /* [SLOTS], in shared memory: overflow, NaN, masked, underflow */
    uint32_t above_bins; /* the first of the last three counters */

    HISTO_MEMBER histo_flow(uint32_t *shared, const histo_cuda_work *w)
        : sums(shared), above_bins((uint32_t)w->counters - (SLOTS - 1))
    {
    }

    /* The whole block calls this; a barrier must follow. */
    HISTO_MEMBER void clear() const
    {
        if (threadIdx.x < SLOTS) sums[threadIdx.x] = 0;
    }

    /* The number of a slot in `sums`; SLOTS or more if it is not of the flow. */
    HISTO_MEMBER uint32_t number(uint32_t slot) const { return slot ? slot - above_bins : SLOTS - 1; }

    /* Count those of n <= 16 slots of each lane that are of the flow and have a bit in `wanted`, which then loses it.
     * By whole warps. */
    HISTO_MEMBER void count(const uint32_t *slot, uint32_t &wanted, int n) const
    {
        uint32_t own = 0; /* a byte for each flow slot */
#pragma unroll
        for (int k = 0; k < n; k++) {
            const uint32_t which = min(slot[k] - above_bins, SLOTS - 1);
            const bool is_flow = (wanted >> k & 1) && (which < SLOTS - 1 || slot[k] == 0);
            own += is_flow ? 1u << 8 * which : 0;
            wanted &= ~((uint32_t)is_flow << k);
        }
        if (!__any_sync(~0u, own)) return;
        const uint32_t even = histo_warp_sum(own & 0xff00ff), odd = histo_warp_sum(own >> 8 & 0xff00ff);
        const uint32_t lane = threadIdx.x % 32, sum = (lane & 1 ? odd : even) >> 8 * (lane & 2) & 0xffff;
        if (lane < SLOTS && sum) atomicAdd(&sums[lane], sum);
        __syncwarp();
    }

    /* n samples of each lane that a mask or filter leaves out. By whole warps. */
    HISTO_MEMBER void add_left_out(uint32_t n) const
    {
        enum { LEFT_OUT = 2 };
        n = histo_warp_sum(n);
        if (threadIdx.x % 32 == 0 && n) atomicAdd(&sums[LEFT_OUT], n);
    }

    /* Add the sums to the histogram, between barriers. */
    HISTO_MEMBER void merge(unsigned long long *counts) const
    {
        if (threadIdx.x >= SLOTS || !sums[threadIdx.x]) return;
        atomicAdd(&counts[threadIdx.x < SLOTS - 1 ? above_bins + threadIdx.x : 0],
                  (unsigned long long)sums[threadIdx.x]);
        sums[threadIdx.x] = 0;
    }
};

#endif
