/* What the kernels of partition share: constants, the layout of a launch, and how slots map to ranges. */
#ifndef CUDA_PARTITION_CUH
#define CUDA_PARTITION_CUH

#include "cuda/device/chunk_order.cuh"
#include "cuda/device/several_axes.cuh"

namespace histo::partition
{

using namespace chunks;

enum {
    GROUP_BITS = 3, /* neighbours that stay together */
    GROUP = 1 << GROUP_BITS,
    MIN_RANGE_BITS = 5, /* fewer ranges would make too many lanes meet at a cursor */
    VECTOR = 8,         /* entries of two bytes that are loaded and stored at once */
    THREADS = 448,      /* that scatter; more have too many loads on their way for the L1 cache */
    BLOCKS_EACH = 2,    /* on a multiprocessor: one's barriers hide behind the other's work */
    HOT_BITS = 9,
    HOT_SLOTS = 1 << HOT_BITS,
    CROWD = 64,      /* one in so many samples, beyond what a buffer holds, is a range that has too many */
    COUNT_WORDS = 8, /* in shared memory before the counters */
    MERGE_THREADS = 256,
    MERGE_BLOCKS = 1024, /* that a device holds at once, or fewer */
};

/* Vectors and places in the pool are numbered in units of VECTOR entries. */
struct partition_layout {
    uint32_t first, size;                    /* slots of the window */
    uint32_t range_bits, ranges, range_mask; /* the mask is of GROUP * the range */
    uint32_t counters;                       /* of a range; an entry of this value is padding */
    uint32_t buffer, granule;                /* bytes of a range's buffer, and the least that is written of it */
    uint32_t steps;                          /* between two flushes */
    uint32_t crowd;       /* bytes of one range in so many steps that say its slots are too frequent */
    uint32_t log_lanes;   /* threads that flush a range's buffer together */
    uint32_t log_chunk;   /* vectors of a chunk */
    uint32_t chunks_each; /* of a tile's part of the pool */
    uint32_t blocks;      /* that count at a time */
    uint4 *pool;
    uint2 *ordered;   /* chunks by range: number, vectors in use */
    uint32_t *tags;   /* of each chunk: range << TAG_BITS | vectors in use */
    uint32_t *used;   /* chunks of each tile */
    uint32_t *chunks; /* of each range */
    uint32_t *taken;  /* of these, how many have a place in `ordered` */
    uint32_t *starts; /* [ranges + 1]: where a range's chunks begin there */
    uint32_t *parts;  /* [ranges + 1]: before each range; NULL if nobody asks */
    uint32_t *rows;   /* [2 * blocks][counters]: of parts */
};

/* Hot slots, at a place by their hash, and what else the block's threads share. */
struct hot_table {
    uint32_t slots[HOT_SLOTS], counts[HOT_SLOTS];
    uint32_t used;    /* chunks of the tile's part of the pool */
    uint32_t crowded; /* the sample up to which slots are looked up here before they are scattered */
    uint32_t known;   /* is that to go on? */

    static HISTO_MEMBER uint32_t place(uint32_t slot) { return slot * 0x9E3779B1u >> (32 - HOT_BITS); }
};

/* ---- Slots and ranges ----
 *
 * A hash of what is above a slot's group of neighbours picks the range by an exclusive or with the slot's range bits,
 * so that slots map onto (range, offset in the range) one to one. Functions take and give GROUP * the range. */

HISTO_IN_KERNEL uint32_t hash_of(uint32_t above)
{
    return __umulhi(above, 0x9E3779B1u);
}

/* What is above the bits that tell the range, with room for the place in the group. */
HISTO_IN_KERNEL uint32_t above_of(const partition_layout *l, uint32_t slot)
{
    return slot >> l->range_bits & ~(GROUP - 1u);
}

/* Above | place in the group, in one instruction, which the compiler takes apart for those of 16 bits. */
HISTO_IN_KERNEL uint32_t offset_of(const partition_layout *l, uint32_t slot)
{
    uint32_t offset;
    asm("lop3.b32 %0, %1, %2, %3, 0xd8;" : "=r"(offset) : "r"(slot >> l->range_bits), "r"(slot), "n"(GROUP - 1));
    return offset;
}

HISTO_IN_KERNEL uint32_t range_of(const partition_layout *l, uint32_t slot)
{
    return (slot ^ hash_of(above_of(l, slot))) & l->range_mask;
}

HISTO_IN_KERNEL uint32_t slot_of(const partition_layout *l, uint32_t range, uint32_t offset)
{
    uint32_t above = offset & ~(GROUP - 1u);
    return above << l->range_bits | ((range ^ hash_of(above)) & l->range_mask) | (offset & (GROUP - 1));
}

/* The word of a counter: offsets a power of two apart are in different banks. */
HISTO_IN_KERNEL __host__ uint32_t word_of(uint32_t offset)
{
    return offset + (offset >> 5) + (offset >> 10);
}

} // namespace histo::partition

#endif
