/* Kernels for maps: lookup tables, and blends of several tables. */
#ifndef CPU_MAPS_H
#define CPU_MAPS_H

#include <histo/histo.h>

#include "cpu/samples/block.h"

/* Four tables of bytes, in the layout that the kernels of a level prefer. */
typedef struct histo_joined_bytes {
    _Alignas(64) uint8_t of[4 * 256];
} histo_joined_bytes;

/* A table for pairs of bytes a, b: the result is results[(high[a] << 8 | low[a]) + column[b]]. The low bytes are
 * multiples of a power of two above all columns, so that | adds them. */
typedef struct histo_pair_table {
    _Alignas(64) uint8_t low[256];
    uint8_t high[256], column[256];
    int size; /* number of results, whose memory is a multiple of 128 bytes */
    const uint8_t *results;
} histo_pair_table;

/* How to locate samples between the edges of an axis. */
typedef struct histo_between_edges {
    const double *edges; /* NULL: edges are lo + i * step, except `top` for the last one */
    double lo, step, top;
    int32_t bins;
} histo_between_edges;

/* Samples may be overwritten by results of the same type. */
typedef struct histo_map_kernels {
    /* to[i] = table[samples[i]] */
    void (*map_bytes)(const uint8_t table[256], const uint8_t *samples, int64_t n, uint8_t *to);
    /* to[i] = min(slots[i], last), in `size` bytes: 1, 2 or 4. */
    void (*map_numbers)(const uint32_t *slots, uint32_t last, size_t size, int n, void *to);
    void (*map_pairs)(const histo_pair_table *table, const uint8_t *a, const uint8_t *b, int n, uint8_t *to);

    void (*join_bytes)(const uint8_t *const tables[4], histo_joined_bytes *joined);
    /* joined[i] = tables[0][i] | tables[1][i] << 16 | tables[2][i] << 32 | tables[3][i] << 48 */
    void (*join_shorts)(const uint16_t *const tables[4], int n, uint64_t *joined);
    /* (a * (1 - share[i]) + b * share[i]) * (1 - down) + (c * (1 - share[i]) + d * share[i]) * down, where a, b, c and
     * d are the values of tables 0 to 3 for samples[i]: in float, each operation rounded. to: floats, or rounded to
     * bytes. */
    void (*blend_bytes)(const histo_joined_bytes *joined, const uint8_t *samples, int n, const float *share, float down,
                        bool rounded, void *to);
    /* to[i] = the blend for samples[i]; samples above `last` are treated as `last`. to: floats, or rounded to
     * shorts. */
    void (*blend_shorts)(const uint64_t *joined, uint16_t last, const uint16_t *samples, int n, const float *share,
                         float down, bool rounded, void *to);
    /* share[i] = at - floor(at), for at = (first + i) * scale - 0.5 in float */
    void (*find_shares)(int32_t first, float scale, int n, float *share);
    /* Round half to even and clamp; NaN becomes 0. */
    void (*round_bytes)(const float *values, int n, uint8_t *to);
    void (*round_shorts)(const float *values, int n, uint16_t *to);

    /* slots[i], of samples with these values, is replaced by the edge below; share[i] is the fraction of the way to the
     * next edge, from 0 to 1, NaN for NaN. */
    void (*find_places)(const histo_between_edges *axis, const double *samples, int n, uint32_t *slots, double *share);
    /* values[i] = entries[edges[i]] + share[i] of the difference to the next entry */
    void (*interpolate)(const double *entries, const uint32_t *edges, const double *share, int n, double *values);

    /* sums[k] = the sum of i^k * values[i], n <= HISTO_BLOCK */
    void (*sum_moments)(const uint8_t *values, int n, uint64_t sums[3]);
} histo_map_kernels;

#endif
