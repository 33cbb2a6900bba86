/* Bytes counted by value in a block's shared memory: a table of 256 counters of 32 bits, of which each lane of a warp
 * has a copy in a bank of its own, so that nothing ever conflicts. */
#ifndef CUDA_DEVICE_BYTE_COUNTERS_CUH
#define CUDA_DEVICE_BYTE_COUNTERS_CUH

#include "cuda/device/dtype.cuh"

enum { HISTO_VALUES = 256, HISTO_VALUE_COPIES = 32 };

HISTO_IN_KERNEL uint32_t histo_word_of_vector(uint4 words, int w)
{
    return w == 0 ? words.x : w == 1 ? words.y : w == 2 ? words.z : words.w;
}

/* The address of a lane's counter of byte k of a word. mine: that of the lane's copy of the table. */
HISTO_IN_KERNEL uint32_t histo_value_counter(uint32_t mine, uint32_t word, uint32_t k)
{
    return mine + __byte_perm(word, 0, 0x4440 + k) * (HISTO_VALUE_COPIES * 4);
}

HISTO_IN_KERNEL void histo_count_at(uint32_t address)
{
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(address) : "memory");
}

/* The sum of the copies of counter i / 2. Two neighbouring threads sum half of them each, eight neighbouring lanes read
 * different banks, and all lanes of a warp must call it. */
HISTO_IN_KERNEL uint32_t histo_sum_value(const unsigned int *counters, uint32_t i)
{
    enum { QUADS = HISTO_VALUE_COPIES / 4 / 2 };
    const uint4 *quads = (const uint4 *)counters;
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < QUADS; k++) {
        uint4 four = quads[i * QUADS + (k + i / 2) % QUADS];
        sum += four.x + four.y + four.z + four.w;
    }
    return sum + __shfl_xor_sync(~0u, sum, 1);
}

#endif
