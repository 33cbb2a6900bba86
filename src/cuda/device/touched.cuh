/* Counting few samples among many slots, in the histogram itself. Lanes of a warp whose samples have one slot count
 * them together, in a small hash table in shared memory that is added to the histogram later, so that frequent samples
 * do not wait for each other in device memory. A slot that one lane of a warp has is one atomic addition. */
#ifndef CUDA_DEVICE_TOUCHED_CUH
#define CUDA_DEVICE_TOUCHED_CUH

#include "cuda/device/lookup.cuh"

struct histo_touched {
    enum { PROBES = 4 };
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

    /* Count a sample of each lane that calls. */
    HISTO_MEMBER void count(uint32_t slot, unsigned long long *histogram) const
    {
        const unsigned int alike = __match_any_sync(__activemask(), slot), n = (unsigned int)__popc(alike);
        if (threadIdx.x % 32 != (unsigned int)__ffs((int)alike) - 1) return;
        if (n == 1 || !add(slot, n)) atomicAdd(&histogram[slot], (unsigned long long)n);
    }

    /* The same of some samples that have a slot. */
    template <int N>
    HISTO_MEMBER void count(const uint32_t (&slot)[N], unsigned long long *histogram) const
    {
#pragma unroll 1
        for (int k = 0; k < N; k++) {
            uint32_t its = histo_select<N>(slot, k);
            if (its != HISTO_NO_SLOT) count(its, histogram);
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

  private:
    /* Count n in the table; false if there is no room near. */
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
