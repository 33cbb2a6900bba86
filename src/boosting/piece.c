/* Counting some rows of a node on some features.
 *
 * Features are taken in tiles, whose accumulators stay in the L2 cache, and rows in blocks. A block's words are made
 * once for all features of a tile. Kernels then add the block to a few features at a time, whose accumulators stay in
 * the L1 cache. Tables by columns are read where they are if all rows are added; else the bins of a block are first
 * gathered, which reads each row of a table by rows in one piece. */
#include "boosting/piece.h"

#include <string.h>

#include "base/threads/pool.h"
#include "boosting/flush.h"
#include "boosting/row_list.h"

/* The end of the tile that begins with number i. */
static int32_t tile_end(const histo_node_fill *fill, int32_t i, int32_t last, int lanes)
{
    size_t bytes = 0;
    int32_t end = i;
    while (end < last && end - i < HISTO_TILE_FEATURES) {
        bytes += histo_accumulator_bytes(fill->features, histo_feature_of(fill, end), lanes);
        if (bytes > HISTO_NODE_TILE && end > i) break;
        end++;
    }
    return end;
}

static bool is_aligned(const char *address, int64_t size)
{
    return (uintptr_t)address % (uintptr_t)size == 0;
}

/* Choose how the table is read. */
static void choose_table(histo_node_tile *t)
{
    const histo_features *f = t->fill->features;
    t->size = f->dtype == HISTO_U8 ? 1 : 2;
    t->table = f->table;
    t->row_stride = f->row_stride;
    t->column_stride = f->column_stride;
    const bool columns = f->row_stride == t->size && is_aligned(f->table, t->size) && f->column_stride % t->size == 0;
    if (f->copy && (t->fill->rows || !columns)) {
        t->table = f->copy;
        t->row_stride = f->features * t->size;
        t->column_stride = t->size;
    }
    t->by_rows = t->column_stride == t->size && (t->fill->rows || !columns);
}

static void place_features(histo_node_tile *t)
{
    char *at = (char *)t->in->accumulators;
    const int32_t first = histo_feature_of(t->fill, t->begin);
    for (int32_t i = t->begin; i < t->end; i++) {
        const int32_t feature = histo_feature_of(t->fill, i);
        t->to[i - t->begin] = (int64_t *)(void *)at;
        t->at[i - t->begin] = (feature - first) * t->column_stride;
        at += histo_accumulator_bytes(t->fill->features, feature, t->lanes);
    }
    t->adjacent = histo_feature_of(t->fill, t->end - 1) - first == t->end - 1 - t->begin;
    t->table += first * t->column_stride;
}

/* The most rows of a block. */
static int block_rows(const histo_node_tile *t)
{
    enum { LEAST = 64 };
    if (!t->by_rows) return HISTO_NODE_BLOCK;
    const int64_t fit = HISTO_NODE_GATHERED / ((t->end - t->begin) * t->size);
    return fit > HISTO_NODE_LISTED ? HISTO_NODE_LISTED : fit > LEAST ? (int)fit : LEAST;
}

/* Add a block of a table by rows. */
static void add_rows(const histo_node_tile *t, const uint32_t *rows, const char *table, histo_node_adding *a)
{
    a->table = table;
    a->stride = t->row_stride;
    if (rows || !t->adjacent) {
        const histo_node_gathering g = {
            .table = table,
            .stride = t->row_stride,
            .rows = rows,
            .at = t->adjacent ? NULL : t->at,
            .features = t->end - t->begin,
            .size = (int)t->size,
            .n = a->n,
        };
        a->table = t->in->bins;
        a->stride = g.features * t->size;
        t->fill->kernels->node_gather(&g, t->in->bins, a->stride);
    }
    t->fill->kernels->node_add_rows(a);
}

static void copy_column(const char *from, int64_t stride, const uint32_t *rows, int n, int64_t size, char *to)
{
    for (int i = 0; i < n; i++) {
        const char *sample = from + (rows ? rows[i] : (uint32_t)i) * stride;
        if (size == 1)
            to[i] = *sample;
        else
            memcpy(to + 2 * (size_t)i, sample, 2);
    }
}

/* Add a block of a table by columns, a few at a time. */
static void add_columns(const histo_node_tile *t, const uint32_t *rows, const char *table, histo_node_adding *a)
{
    const bool in_place = !rows && t->row_stride == t->size && is_aligned(t->table, t->size);
    const size_t room = HISTO_NODE_BLOCK * sizeof(uint16_t);
    const int32_t most = a->skewed ? HISTO_NODE_COLUMNS : HISTO_NODE_FEW_COLUMNS;
    for (int32_t f = 0, some; f < t->end - t->begin; f += some) {
        some = t->end - t->begin - f < most ? t->end - t->begin - f : most;
        for (int c = 0; c < some; c++) {
            const char *column = table + t->at[f + c];
            char *copy = t->in->bins + (size_t)c * room;
            a->columns[c] = in_place && is_aligned(column, t->size) ? column : copy;
            if (a->columns[c] == copy) copy_column(column, t->row_stride, rows, a->n, t->size, copy);
        }
        a->features = some;
        a->to = t->to + f;
        t->fill->kernels->node_add_columns(a);
    }
}

/* Are many rows in the bins of those before them? */
static bool is_skewed(const histo_node_tile *t, int64_t row, const uint32_t *rows, int n)
{
    enum { SOME = 16, SKEWED = 4 }; /* a fourth of them */
    const int32_t features = t->end - t->begin;
    const int some = n < SOME ? n : SOME;
    int same = 0;
    for (int i = 1; i < some; i++) {
        const char *at = t->table + (rows ? rows[i] : row + i) * t->row_stride;
        const char *before = t->table + (rows ? rows[i - 1] : row + i - 1) * t->row_stride;
        for (int32_t f = 0; f < features; f++)
            same += at[t->at[f]] == before[t->at[f]];
    }
    return same * SKEWED > some * features;
}

static histo_node_ahead ahead_of(const histo_node_tile *t, const uint32_t *rows)
{
    const int64_t bytes = t->at[t->end - t->begin - 1] + t->size;
    return (histo_node_ahead){
        .rows = t->by_rows && bytes <= HISTO_NODE_ROW_BYTES ? rows : NULL,
        .table = t->table,
        .stride = t->row_stride,
        .bytes = bytes,
        .weights = t->fill->gradients->pairs[t->pair],
        .lanes = t->lanes,
    };
}

/* Add a block of rows to all features: rows from `row` on, or those listed, after which come those ahead. */
static void add_block(const histo_node_tile *t, int64_t row, const uint32_t *rows, int n, const uint32_t *ahead)
{
    histo_node_adding a = {
        .lanes = t->lanes,
        .wide = t->size == 2,
        .n = n,
        .words = t->in->words,
        .features = t->end - t->begin,
        .to = t->to,
        .ahead = ahead_of(t, ahead),
        .skewed = is_skewed(t, row, rows, n),
    };
    const char *table = rows ? t->table : t->table + row * t->row_stride;
    a.weights_ahead = t->fill->gradients->pairs[t->pair] + (rows ? 0 : (row + n) * t->lanes);
    t->fill->kernels->node_words(t->fill->gradients->pairs[t->pair], t->lanes, rows, rows ? 0 : row, n, t->in->words);
    (t->by_rows ? add_rows : add_columns)(t, rows, table, &a);
}

static bool count_tile(histo_node_tile *t)
{
    const histo_node_fill *fill = t->fill;
    const int64_t begin = t->piece->begin, end = t->piece->end;
    const int most = block_rows(t);
    uint32_t *const *lists = t->in->rows;
    int pending = 0, n = 0, now = 0;
    if (fill->rows) {
        const int first = end - begin < most ? (int)(end - begin) : most;
        histo_row_list_take(fill->rows, begin, first, lists[0]);
        const histo_node_ahead ahead = ahead_of(t, lists[0]);
        fill->kernels->node_prefetch(&ahead, first);
    }
    for (int64_t row = begin; row < end; row += n, now = 1 - now) {
        n = end - row < most ? (int)(end - row) : most;
        if (pending + n > HISTO_NODE_ROWS) {
            histo_node_flush(t);
            pending = 0;
        }
        pending += n;
        const int64_t left = end - row - n;
        const int later = left < most ? (int)left : most;
        if (fill->rows) histo_row_list_take(fill->rows, row + n, later, lists[1 - now]);
        add_block(t, row, fill->rows ? lists[now] : NULL, n, fill->rows && later == most ? lists[1 - now] : NULL);
        if (histo_stops("counting", (int64_t)n * (t->end - t->begin), row - begin, end - begin)) return false;
    }
    const uint32_t *rows = fill->rows ? lists[1 - now] : NULL;
    if (pending == n && t->piece->planes < 0)
        histo_node_flush_block(t, end - n, rows, n);
    else
        histo_node_flush(t);
    return true;
}

/* Is anything of this pair of weights to be written? */
static bool is_wanted(const histo_written *to, int pair)
{
    bool wanted = pair == 0 && to->arrays[0].at;
    for (int w = 2 * pair; w < to->weights && w < 2 * pair + 2; w++)
        wanted = wanted || to->arrays[1 + w].at;
    return wanted;
}

bool histo_node_piece_count(histo_node_fill *fill, const histo_node_piece *piece, const histo_node_workspace *in)
{
    histo_node_tile t = {.fill = fill, .piece = piece, .in = in};
    for (t.pair = 0; 2 * t.pair < fill->gradients->weights; t.pair++) {
        t.lanes = histo_gradient_lanes(fill->gradients, t.pair);
        for (t.begin = piece->first; is_wanted(&fill->to, t.pair) && t.begin < piece->last; t.begin = t.end) {
            t.end = tile_end(fill, t.begin, piece->last, t.lanes);
            choose_table(&t);
            place_features(&t);
            if (!count_tile(&t)) return false;
        }
    }
    return true;
}
