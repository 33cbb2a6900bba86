/* Counting few samples among many slots, in the histogram itself. A slot that only one lane of a warp has is counted by
 * one atomic addition in device memory. Lanes that have the same slot count it together, in a small hash table in
 * shared memory that is added to the histogram later. So the additions of frequent slots do not wait for each other in
 * device memory. */
#ifndef CUDA_DEVICE_TOUCHED_CUH
#define CUDA_DEVICE_TOUCHED_CUH

#include "cuda/device/lookup.cuh"

struct histo_touched {
    enum { PROBES = 4 };
    uint32_t *slots;      /* [1 << log_size], HISTO_NO_SLOT where there is none */
    unsigned int *counts; /* of each slot */
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

    /* Count one sample of each active lane. */
    HISTO_MEMBER void count(uint32_t slot, unsigned long long *histogram) const
    {
        const unsigned int alike = __match_any_sync(__activemask(), slot), n = (unsigned int)__popc(alike);
        if (threadIdx.x % 32 != (unsigned int)__ffs((int)alike) - 1) return;
        if (n == 1 || !add(slot, n)) atomicAdd(&histogram[slot], (unsigned long long)n);
    }

    /* Count several samples of each lane, except those without a slot. By whole warps. */
    template <int N>
    HISTO_MEMBER void count(const uint32_t (&slot)[N], unsigned long long *histogram) const
    {
#pragma unroll 1
        for (int k = 0; k < N; k++) {
            const uint32_t its = histo_select<N>(slot, k);
            const unsigned int alike = __match_any_sync(~0u, its), n = (unsigned int)__popc(alike);
            const bool leads = threadIdx.x % 32 == (unsigned int)__ffs((int)alike) - 1;
            if (its != HISTO_NO_SLOT && leads && (n == 1 || !add(its, n)))
                atomicAdd(&histogram[its], (unsigned long long)n);
            __syncwarp(); /* else lanes drift apart, and nobody is alike */
        }
    }

    /* Add the table to the histogram, and clear it. */
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

  private:
    /* Add n to the slot's count in the table; false if no probe finds room. */
    HISTO_MEMBER bool add(uint32_t slot, unsigned int n) const
    {
        uint32_t at = slot * 2654435769u >> (32 - log_size);
#pragma unroll 1
        for (int probe = 0; probe < PROBES; probe++) {
            const uint32_t its = atomicCAS(&slots[at], HISTO_NO_SLOT, slot);
            if (its == HISTO_NO_SLOT || its == slot) {
                atomicAdd(&counts[at], n);
                return true;
            }
            at = (at + 1) & ((1u << log_size) - 1);
        }
        return false;
    }
};

#endif
