/* Counters of each thread's own in a block's shared memory, without atomics: of 32 bits, or of 8, which are flushed
 * before any can wrap. Slots are rows and threads are columns, so that a warp never meets in a bank. */
#ifndef PAPERS_STRATEGIES_OWN_COUNTERS_CUH
#define PAPERS_STRATEGIES_OWN_COUNTERS_CUH

#include "papers/strategies/banks.h"
#include "papers/strategies/packed_counters.h"
#include "papers/strategies/tiles/count_tiles.cuh"

/* Both count a range of slots, and leave out the others and HISTO_NO_SLOT. */
struct histo_own_words {
    enum { MAX_THREADS = 512 };
    histo_counter_range slots;
    unsigned int *shared, *mine;

    HISTO_MEMBER histo_own_words(histo_counter_range range, unsigned int *memory)
        : slots(range), shared(memory), mine(memory + threadIdx.x)
    {
        histo_clear_shared(shared, slots.size * blockDim.x);
    }

    template <int N>
    HISTO_MEMBER void count(const uint32_t (&slot)[N])
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            if (slot[k] - slots.first < slots.size) mine[(slot[k] - slots.first) * blockDim.x]++;
    }

    HISTO_MEMBER void merge(const histo_cuda_work *w, const histo_tile_rows *rows, int64_t item, int64_t entry)
    {
        __syncthreads();
        for (uint32_t v = threadIdx.x; v < slots.size; v += blockDim.x) {
            unsigned int *row = shared + v * blockDim.x, sum = 0;
            uint32_t at = histo_row_first(v, blockDim.x);
            for (uint32_t n = 0; n < blockDim.x; n++) {
                sum += row[at];
                row[at] = 0;
                at = histo_row_next(at, blockDim.x);
            }
            histo_merge(w, rows, item, entry, slots.first + v, sum);
        }
        __syncthreads();
    }
};

struct histo_own_bytes {
    enum { MAX_THREADS = 1024 };
    histo_counter_range slots;
    unsigned int *bytes, *totals;
    uint8_t *mine;
    uint32_t columns; /* bytes of a row */
    uint32_t samples; /* since the last flush, of this thread */

    HISTO_MEMBER histo_own_bytes(histo_counter_range range, unsigned int *shared) : slots(range)
    {
        columns = histo_byte_columns(blockDim.x);
        uint32_t words = slots.size * (columns / 4);
        bytes = shared;
        totals = shared + words;
        mine = (uint8_t *)shared + histo_byte_of_thread(threadIdx.x);
        samples = 0;
        histo_clear_shared(shared, words + slots.size);
    }

    template <int N>
    HISTO_MEMBER void count(const uint32_t (&slot)[N])
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            if (slot[k] - slots.first < slots.size) mine[(slot[k] - slots.first) * columns]++;
        samples += N;
        if (histo_bytes_are_full(samples, N)) flush();
    }

    /* totals[v] is only ever touched by the thread that adds up row v. */
    HISTO_MEMBER void merge(const histo_cuda_work *w, const histo_tile_rows *rows, int64_t item, int64_t entry)
    {
        flush();
        for (uint32_t v = threadIdx.x; v < slots.size; v += blockDim.x) {
            histo_merge(w, rows, item, entry, slots.first + v, totals[v]);
            totals[v] = 0;
        }
    }

    /* Add the bytes to the totals and clear them. */
    HISTO_MEMBER void flush()
    {
        uint32_t words = columns / 4; /* of a row */
        __syncthreads();
        for (uint32_t v = threadIdx.x; v < slots.size; v += blockDim.x) {
            unsigned int *row = bytes + v * words, sum = 0;
            uint32_t at = histo_row_first(v, words);
            for (uint32_t n = 0; n < words; n++) {
                sum = __dp4a(row[at], 0x01010101u, sum);
                row[at] = 0;
                at = histo_row_next(at, words);
            }
            totals[v] += sum;
        }
        __syncthreads();
        samples = 0;
    }
};

#endif
