/* What strategies that partition samples into ranges of slots have in common: the partition pass writes chunks, each of
 * one range, to a pool in device memory, of which each tile has a part; a kernel then puts the chunks in order of their
 * ranges. */
#ifndef CUDA_DEVICE_CHUNK_ORDER_CUH
#define CUDA_DEVICE_CHUNK_ORDER_CUH

#include "cuda/device/dtype.cuh"

namespace histo::chunks
{

enum {
    WARP = 32,
    MAX_RANGE_BITS = 10,
    MAX_RANGES = 1 << MAX_RANGE_BITS,
    COUNT_THREADS = 1024, /* of a block that orders or counts chunks: at least as many as ranges */
    TAG_BITS = 16
};

struct chunk_order {
    uint32_t ranges;
    uint32_t chunks_each; /* of a tile's part of the pool */
    uint32_t blocks;      /* that count at a time */
    uint2 *ordered;       /* chunks by range: number, entries or vectors in use */
    const uint32_t *tags; /* of each chunk: range << TAG_BITS | in use */
    const uint32_t *used; /* chunks of each tile */
    uint32_t *chunks;     /* of each range */
    uint32_t *taken;      /* of these, how many have a place in `ordered` */
    uint32_t *starts;     /* [ranges + 1]: where a range's chunks begin there */
    uint32_t *parts;      /* [ranges + 1]: before each range; NULL if ranges are not cut into parts */
};

/* A multiprocessor's fair share of all chunks. */
HISTO_IN_KERNEL uint32_t fair_share(uint32_t all, uint32_t blocks)
{
    return (all + blocks - 1) / blocks;
}

#ifndef __CUDACC_RTC__ /* on the host */

/* The kernel that orders the chunks: kernel(chunk_order), with a block of COUNT_THREADS for each tile. chunks and taken
 * are zero but for what the partition pass has counted. */
const void *kernel_of_order(void);

#endif

} // namespace histo::chunks

#endif
