/* How packed_atomic lays a problem out: the thesis's configurations (Ross 2014, chapters 5 and 6), and ours. For host
 * and device; tests/papers/test_structure.c checks it against the thesis's tables. */
#ifndef PAPERS_STRATEGIES_PACKED_LAYOUT_H
#define PAPERS_STRATEGIES_PACKED_LAYOUT_H

#include "papers/strategies/packed_counters.h"
#include "papers/strategies/tiles/scan.h"

/* The strategy's parameters, in order; 0 is "choose". */
enum {
    HISTO_PACKED_CONFIG,
    HISTO_PACKED_BITS,
    HISTO_PACKED_COARSENING,
    HISTO_PACKED_COPIES,
    HISTO_PACKED_PREPROCESS,
    HISTO_PACKED_BLOCKS,
    HISTO_PACKED_TILE,
    HISTO_PACKED_STREAMS,
    HISTO_PACKED_THREADS,
    HISTO_PACKED_MERGE,
    HISTO_PACKED_DENSE,
    HISTO_PACKED_TALLY,
    HISTO_PACKED_SCAN,
    HISTO_PACKED_DIVIDE,
    HISTO_PACKED_FLUSH
};

/* The configurations of packed_atomic, and the limits of any of them. */
enum { HISTO_PACKED_USUAL, HISTO_PACKED_THESIS };
enum { HISTO_PACKED_MAX_COPIES = 64, HISTO_PACKED_MAX_TILES = 65535 /* of a grid */ };

/* What a layout depends on. Sizes in bytes. */
typedef struct histo_packed_problem {
    int64_t bins, counters; /* of a batch entry; counters also count flow and samples left out */
    int64_t samples;        /* of a batch entry */
    int64_t multiprocessors;
    int64_t shared_each;  /* shared memory that blocks have on a multiprocessor, … */
    int64_t shared_block; /* … and at most in one block */
    int64_t reserve;      /* taken by the system for each block */
} histo_packed_problem;

typedef struct histo_packed_layout {
    histo_packed_block block;
    histo_counter_range region; /* counted on chip; without `dense`, all counters */
    int64_t bin_tiles;
    int64_t shared; /* bytes of a block */
    int threads, streams;
    int coarsening; /* samples of a load; 0: 16 bytes of them */
    int64_t blocks; /* along x, on all streams; 0: as many as the device holds at once */
    bool strided;
} histo_packed_layout;

/* ---- The thesis ---- */

enum {
    HISTO_THESIS_SHARED = 48 << 10, /* bytes on a multiprocessor and in one block */
    HISTO_THESIS_SMALL = 48 << 10,  /* bins, beyond which chapter 6 loads four samples and uses streams */
    HISTO_THESIS_THREADS = 1024,
    HISTO_THESIS_STREAMS = 4
};

/* Chapter 6, with counters of any width: samples of a load, …  */
HISTO_INLINE int histo_thesis_coarsening(int64_t bins)
{
    return bins <= HISTO_THESIS_SMALL ? 1 : 4;
}

/* … and blocks along x for a histogram of so many bytes: as many threads as a multiprocessor has, which are two blocks'
 * where two histograms fit (5.7). */
HISTO_INLINE int64_t histo_thesis_blocks(int64_t bytes, int64_t multiprocessors)
{
    return bytes <= HISTO_THESIS_SHARED / 2 ? 2 * multiprocessors : multiprocessors;
}

/* Copies of a histogram of so many bytes: table 5.1 for room = 24 KiB, half of a multiprocessor's shared memory. */
HISTO_INLINE int64_t histo_packed_copies(int64_t bytes, int64_t room)
{
    int64_t copies = HISTO_PACKED_MAX_COPIES;
    while (copies > 1 && copies * bytes > room)
        copies /= 2;
    return copies;
}

HISTO_INLINE int64_t histo_packed_bytes(int64_t counters, int bits)
{
    return (counters * bits + 7) / 8;
}

/* ---- Both ---- */

HISTO_INLINE int64_t histo_packed_words(int64_t counters, int bits)
{
    return (counters * bits + 31) / 32;
}

/* Counters that one block can have. */
HISTO_INLINE int64_t histo_packed_capacity(const histo_packed_problem *p, int bits)
{
    return p->shared_block / 4 * (32 / bits);
}

/* A width that packing has, from a parameter: the next of them. */
HISTO_INLINE int histo_packed_next_bits(int64_t param)
{
    return param <= 4 ? 4 : param <= 8 ? 8 : 16;
}

/* As wide as leaves one tile, else 8 bits; 4 where a block's counters get so few samples that these hardly overflow. */
HISTO_INLINE int histo_packed_usual_bits(const histo_packed_problem *p, int64_t counters)
{
    const double few = 4;
    if (counters <= histo_packed_capacity(p, 16)) return 16;
    if (counters <= histo_packed_capacity(p, 8)) return 8;
    int64_t bin_tiles = counters / histo_packed_capacity(p, 4) + 1, blocks = p->multiprocessors / bin_tiles + 1;
    return (double)p->samples / (double)blocks / (double)counters < few ? 4 : 8;
}

/* The thesis divides bins among tiles; here the counters of flow and of what is left out are divided along. */
HISTO_INLINE int64_t histo_packed_thesis_tile(int64_t bins, int64_t counters, int64_t tile_bins)
{
    int64_t tiles = (bins + tile_bins - 1) / tile_bins;
    return (counters + tiles - 1) / tiles;
}

/* Samples that the threads of a block may count between two flushes, each once in its copy, without a full counter. */
HISTO_INLINE int histo_packed_before_flush(const histo_packed_block *b, int threads)
{
    const int of_copy = (threads + (int)b->copies - 1) / (int)b->copies;
    return (int)b->packing.full / of_copy;
}

/* The option that 5.2 rejects: so few threads that they may count a sample each before counters are flushed. */
HISTO_INLINE void histo_packed_lay_out_flushes(histo_packed_layout *l)
{
    enum { WARP = 32 };
    l->coarsening = 1;
    while (l->threads > WARP && !histo_packed_before_flush(&l->block, l->threads))
        l->threads -= WARP;
}

HISTO_INLINE histo_packed_layout histo_packed_layout_of(const histo_packed_problem *p, const int64_t *params)
{
    histo_packed_layout l;
    const bool thesis = params[HISTO_PACKED_CONFIG] == HISTO_PACKED_THESIS;
    int64_t dense = params[HISTO_PACKED_DENSE], bins = p->bins, counters = p->counters;
    l.region.first = 0;
    if (dense > 1) {
        bins = bins / dense + 1;
        counters = counters / dense + 1;
        l.region.first = (uint32_t)((p->counters - counters) / 2);
    }
    l.region.size = (uint32_t)counters;
    int64_t tile = params[HISTO_PACKED_TILE] && params[HISTO_PACKED_TILE] < counters ? params[HISTO_PACKED_TILE] : 0;
    int64_t least = counters / HISTO_PACKED_MAX_TILES + 1;
    int bits = 8;
    if (params[HISTO_PACKED_BITS])
        bits = histo_packed_next_bits(params[HISTO_PACKED_BITS]);
    else if (!thesis)
        bits = histo_packed_usual_bits(p, tile ? tile : counters);
    if (params[HISTO_PACKED_FLUSH] && bits < 8) bits = 8; /* those of 4 hold less than a warp's samples */
    if (thesis && !tile) tile = histo_packed_thesis_tile(bins, counters, HISTO_THESIS_SHARED * 8 / bits);
    if (!tile) tile = counters;
    if (tile < least) tile = least;
    if (tile > histo_packed_capacity(p, bits)) tile = histo_packed_capacity(p, bits);
    l.bin_tiles = (counters + tile - 1) / tile;
    int64_t words = histo_packed_words(tile, bits), most = p->shared_block / 4, copies = params[HISTO_PACKED_COPIES];
    if (!copies && !thesis) copies = histo_packed_copies((words | 1) * 4, p->shared_each / 2 - p->reserve);
    if (!copies && thesis) copies = histo_packed_copies(histo_packed_bytes(bins, bits), HISTO_THESIS_SHARED / 2);
    while (copies > 1 && copies * (words | 1) > most)
        copies--;
    l.block.packing = histo_packing_of(bits);
    l.block.size = (uint32_t)tile;
    l.block.copies = (uint32_t)copies;
    l.block.stride = (uint32_t)(copies > 1 ? words | 1 : words);
    l.shared = copies * l.block.stride * 4;
    l.threads = (int)params[HISTO_PACKED_THREADS];
    if (!l.threads) l.threads = thesis || 2 * l.shared > p->shared_each ? HISTO_THESIS_THREADS : 512;
    l.streams = (int)params[HISTO_PACKED_STREAMS];
    if (!l.streams) l.streams = thesis && bins > HISTO_THESIS_SMALL ? HISTO_THESIS_STREAMS : 1;
    l.coarsening = (int)params[HISTO_PACKED_COARSENING];
    if (l.coarsening == 3) l.coarsening = 2;
    if (!l.coarsening && thesis) l.coarsening = histo_thesis_coarsening(bins);
    l.blocks = params[HISTO_PACKED_BLOCKS];
    if (!l.blocks && thesis) l.blocks = histo_thesis_blocks(histo_packed_bytes(bins, bits), p->multiprocessors);
    l.strided = params[HISTO_PACKED_SCAN] ? params[HISTO_PACKED_SCAN] == HISTO_SCAN_STRIDED : thesis;
    if (params[HISTO_PACKED_DIVIDE]) l.coarsening = 4;
    if (params[HISTO_PACKED_FLUSH]) histo_packed_lay_out_flushes(&l);
    return l;
}

/* Blocks along x on each stream: gridDim.x * streams = blocks (5.8.2). */
HISTO_INLINE int64_t histo_packed_blocks_of_stream(const histo_packed_layout *l)
{
    return l->blocks > l->streams ? l->blocks / l->streams : 1;
}

/* Stream s of n gets tiles [first(s), first(s + 1)) of the samples. */
HISTO_INLINE int64_t histo_packed_first_of_stream(int64_t tiles, int s, int n)
{
    return tiles * s / n;
}

/* ---- Pre-processing (5.6): tile, offset and index of a sample's counter in one word ---- */

/* Offsets take the 5 bits that they need, of the 8 published, so that there is room for more than 255 tiles. The last
 * tile is none, so HISTO_NO_SLOT belongs to no tile. */
enum {
    HISTO_MAP_INDEX_BITS = 16, /* of the word in the tile */
    HISTO_MAP_OFFSET_BITS = 5, /* of the counter in its word */
    HISTO_MAP_TILES = (1 << (32 - HISTO_MAP_INDEX_BITS - HISTO_MAP_OFFSET_BITS)) - 1
};

HISTO_INLINE bool histo_packed_has_maps(const histo_packed_layout *l)
{
    return l->bin_tiles <= HISTO_MAP_TILES &&
           histo_packed_words(l->block.size, (int)l->block.packing.bits) <= 1 << HISTO_MAP_INDEX_BITS;
}

/* at: of a counter, from the region's first. */
HISTO_INLINE uint32_t histo_packed_map(const histo_packed_block *b, uint32_t at)
{
    uint32_t tile = at / b->size;
    at -= tile * b->size;
    return tile << (HISTO_MAP_INDEX_BITS + HISTO_MAP_OFFSET_BITS) |
           histo_packed_shift(&b->packing, at) << HISTO_MAP_INDEX_BITS | histo_packed_word(&b->packing, at);
}

HISTO_INLINE uint32_t histo_map_tile(uint32_t map)
{
    return map >> (HISTO_MAP_INDEX_BITS + HISTO_MAP_OFFSET_BITS);
}

HISTO_INLINE uint32_t histo_map_offset(uint32_t map)
{
    return map >> HISTO_MAP_INDEX_BITS & ((1 << HISTO_MAP_OFFSET_BITS) - 1);
}

HISTO_INLINE uint32_t histo_map_index(uint32_t map)
{
    return map & ((1 << HISTO_MAP_INDEX_BITS) - 1);
}

#endif
