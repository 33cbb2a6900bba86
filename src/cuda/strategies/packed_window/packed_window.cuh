/* What the kernels of packed_window get besides the work. A kernel is a reader (where samples lie) x a lookup (from
 * samples to counters) x the counter of window_counters.cuh. */
#ifndef CUDA_PACKED_WINDOW_CUH
#define CUDA_PACKED_WINDOW_CUH

#include "cuda/device/block_tile.cuh"
#include "cuda/device/flow.cuh"
#include "cuda/device/several_axes.cuh"

namespace histo::packed_window
{

enum { MANY = 1 << 26 /* samples, for which more of them are looked at to find the window */ };
enum { WARP = 32, FIND_THREADS = 1024, MAX_STACK = 16 /* images whose pairs are computed in registers */ };
enum { VALUES = 1 << 16 /* of a 16-bit sample */ };
enum { SIX_BITS = 6 /* wide counters are five to a word, whose upper two bits are unused */ };

/* Differences of pixels on bins of 2^k values from a multiple of that on, or of 2^-k from a whole number on: the slot
 * of a pair is (difference >> shift) * factor + base + the mean's part, if this is less than `end`, where the slots of
 * NaN begin; else it is less than 0 or not less than that. */
struct pow2_difference {
    int32_t shift, factor;
    uint32_t base, end; /* end 0: the axis is another */
};

/* A stack of images whose pairs are counted. */
struct stack_geometry {
    uint32_t images, pairs, factor; /* factor: of histo_mean_of */
    uint32_t stride_of_16;          /* bytes from image to image if there are 16 and it is a multiple of 4, else 0 */
};

struct window {
    uint32_t size;         /* counters */
    uint32_t words;        /* of shared memory, with the spare ones */
    uint32_t first;        /* slot, where found is NULL */
    uint32_t *found;       /* [batch] first slots */
    uint32_t inner;        /* bins 0 to inner - 1 of the axis are looked up fast */
    float below;           /* the last float below the axis */
    double origin;         /* where 0 is, in bins from the axis' beginning */
    float scale, offset;   /* a float times scale, added to offset and rounded down to its last place: 2^23 + bin */
    pow2_difference pow2;  /* of pairs, */
    stack_geometry images; /* and of their images */
};

/* Entries of the table of frequent slots: few where counters are wide, so that 98304 of these leave the L1 cache 60
 * KiB. */
constexpr uint32_t table_entries(int bits)
{
    return bits == 16 ? 128 : 512;
}

/* Words of the table, of flow, and of what warps tell each other. */
constexpr uint32_t table_words(int bits)
{
    return 3 * table_entries(bits) + histo_flow::SLOTS + 1;
}

} // namespace histo::packed_window

#endif
