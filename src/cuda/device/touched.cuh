/* The counters that a block touches, as a hash table in shared memory: for few samples among many slots. Adding the
 * table to the histogram takes one atomic operation for each touched slot, so that samples of one slot do not wait for
 * each other in device memory. */
#ifndef CUDA_DEVICE_TOUCHED_CUH
#define CUDA_DEVICE_TOUCHED_CUH

#include "cuda/device/lookup.cuh"

struct histo_touched {
    enum { PROBES = 8 };
    uint32_t *slots;      /* [1 << log_size], HISTO_NO_SLOT where there is none */
    unsigned int *counts; /* of each */
    uint32_t log_size;

    HISTO_MEMBER histo_touched(unsigned int *shared, uint32_t log)
        : slots(shared), counts(shared + (1u << log)), log_size(log)
    {
    }

    HISTO_MEMBER void clear() const
    {
        for (uint32_t i = threadIdx.x; i < 1u << log_size; i += blockDim.x) {
            slots[i] = HISTO_NO_SLOT;
            counts[i] = 0;
        }
        __syncthreads();
    }

    /* Count 1; false if there is no room near. */
    HISTO_MEMBER bool add(uint32_t slot) const
    {
        uint32_t at = slot * 2654435769u >> (32 - log_size);
#pragma unroll 1
        for (int probe = 0; probe < PROBES; probe++) {
            uint32_t its = ((volatile uint32_t *)slots)[at];
            if (its == HISTO_NO_SLOT) its = atomicCAS(&slots[at], HISTO_NO_SLOT, slot);
            if (its == HISTO_NO_SLOT || its == slot) {
                atomicAdd(&counts[at], 1u);
                return true;
            }
            at = (at + 1) & ((1u << log_size) - 1);
        }
        return false;
    }

    /* Count some slots, in the histogram where there is no room; not HISTO_NO_SLOT. */
    template <int N>
    HISTO_MEMBER void add(const uint32_t (&slot)[N], unsigned long long *histogram) const
    {
#pragma unroll 1
        for (int k = 0; k < N; k++) {
            uint32_t its = histo_select<N>(slot, k);
            if (its != HISTO_NO_SLOT && !add(its)) atomicAdd(&histogram[its], 1ull);
        }
    }

    /* Add to the histogram, and clear. */
    HISTO_MEMBER void merge(unsigned long long *histogram) const
    {
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < 1u << log_size; i += blockDim.x) {
            unsigned int n = counts[i];
            if (!n) continue;
            atomicAdd(&histogram[slots[i]], (unsigned long long)n);
            slots[i] = HISTO_NO_SLOT;
            counts[i] = 0;
        }
        __syncthreads();
    }
};

#endif
