/* Counting some rows of a node on some features.
 *
 * Features are taken in tiles, whose accumulators stay in the L2 cache, and rows in blocks. A block's words are made
 * once for all features of a tile. Tables by rows are added up row by row; additions to one feature are then so far
 * apart that they do not wait for each other, however skewed the bins are. Tables by columns are added up a few columns
 * at a time; where rows are listed, their bins are first copied. */
#include "boosting/piece.h"

#include <string.h>

#include "base/threads/pool.h"
#include "boosting/row_list.h"

enum { LINE = 64, SOME_BINS = 256 };

static size_t rounded_up(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static int most_lanes(const histo_node_fill *fill)
{
    return histo_gradient_lanes(fill->gradients, 0);
}

/* Bytes of the accumulators of a feature. */
static size_t accumulator_bytes(const histo_node_fill *fill, int32_t feature, int lanes)
{
    if (fill->features->dtype == HISTO_U8) return HISTO_NODE_BYTE_STRIDE((size_t)lanes);
    return rounded_up((size_t)fill->features->bins[feature] * (size_t)lanes * sizeof(int64_t)) + HISTO_NODE_PAD;
}

/* The end of the tile that begins with number i. */
static int32_t tile_end(const histo_node_fill *fill, int32_t i, int32_t last, int lanes)
{
    size_t bytes = 0;
    int32_t end = i;
    while (end < last && end - i < HISTO_TILE_FEATURES) {
        bytes += accumulator_bytes(fill, histo_feature_of(fill, end), lanes);
        if (bytes > HISTO_NODE_TILE && end > i) break;
        end++;
    }
    return end;
}

/* ---- Memory ---- */

/* A tile has HISTO_NODE_TILE bytes, or a single feature; both have no more than all features. */
static size_t tile_bytes(const histo_node_fill *fill)
{
    size_t all = 0, largest = HISTO_NODE_TILE;
    for (int32_t i = 0; i < fill->count; i++) {
        const size_t bytes = accumulator_bytes(fill, histo_feature_of(fill, i), most_lanes(fill));
        all += bytes;
        largest = bytes > largest ? bytes : largest;
    }
    return all < largest ? all : largest;
}

static size_t block_rows(int64_t rows)
{
    return rows < HISTO_NODE_BLOCK ? (size_t)rows : HISTO_NODE_BLOCK;
}

static size_t word_bytes(const histo_node_fill *fill, int64_t rows)
{
    return rounded_up(block_rows(rows) * (size_t)most_lanes(fill) * sizeof(int64_t));
}

static size_t row_bytes(int64_t rows)
{
    return rounded_up(block_rows(rows) * sizeof(uint32_t));
}

size_t histo_node_workspace_bytes(const histo_node_fill *fill, int64_t rows)
{
    return tile_bytes(fill) + word_bytes(fill, rows) + row_bytes(rows) +
           rounded_up(block_rows(rows) * sizeof(uint16_t)) * HISTO_NODE_COLUMNS;
}

histo_node_workspace histo_node_workspace_in(const histo_node_fill *fill, int64_t rows, char *memory)
{
    char *words = memory + tile_bytes(fill), *list = words + word_bytes(fill, rows);
    return (histo_node_workspace){
        .accumulators = (int64_t *)(void *)memory,
        .words = (int64_t *)(void *)words,
        .rows = (uint32_t *)(void *)list,
        .columns = list + row_bytes(rows),
    };
}

/* ---- Sums that are complete ---- */

static void write_array(const histo_bin_array *to, int64_t node, int64_t position, const int64_t *from, int n)
{
    if (!to->at) return;
    char *at = to->at + node * to->node_stride + position * to->bin_stride;
    for (int i = 0; i < n; i++, at += to->bin_stride)
        if (to->dtype == HISTO_F64) {
            const double sum = (double)from[i] * to->unit;
            memcpy(at, &sum, sizeof sum);
        } else if (to->dtype == HISTO_U32) {
            const uint32_t count = (uint32_t)from[i];
            memcpy(at, &count, sizeof count);
        } else {
            memcpy(at, &from[i], sizeof from[i]);
        }
}

static const histo_bin_array *array_of(const histo_node_fill *fill, int plane)
{
    return plane ? &fill->sums[plane - 1] : &fill->counts;
}

static int64_t *plane_of(const histo_node_fill *fill, int64_t planes, int plane)
{
    return fill->planes + (planes * (1 + fill->gradients->weights) + plane) * fill->features->total;
}

static int64_t written_at(const histo_node_fill *fill, int32_t feature)
{
    return fill->first ? fill->first[feature] : fill->start[feature];
}

void histo_node_planes_write(const histo_node_fill *fill, int64_t node, int64_t planes, int32_t feature)
{
    for (int plane = 0; plane <= fill->gradients->weights; plane++)
        write_array(array_of(fill, plane), node, written_at(fill, feature),
                    plane_of(fill, planes, plane) + fill->start[feature], fill->features->bins[feature]);
}

/* ---- A piece on a tile ---- */

typedef struct tile {
    histo_node_fill *fill;
    const histo_node_piece *piece;
    const histo_node_workspace *in;
    int pair, lanes;
    int32_t begin, end; /* of the features that are counted */
    bool by_rows;       /* is the table read by rows? */
    const char *table;  /* the table or its copy */
    int64_t row_stride, column_stride;
    int64_t size; /* of a sample */
    int64_t *to[HISTO_TILE_FEATURES];
    int64_t at[HISTO_TILE_FEATURES]; /* of the features, in a row */
    bool adjacent;                   /* are these without gaps? */
    bool skewed;                     /* were many rows in the same bins so far? */
} tile;

static bool is_aligned(const char *address, int64_t size)
{
    return (uintptr_t)address % (uintptr_t)size == 0;
}

/* Choose how the table is read. */
static void choose_table(tile *t)
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

static void place_features(tile *t)
{
    char *at = (char *)t->in->accumulators;
    const int32_t first = histo_feature_of(t->fill, t->begin);
    for (int32_t i = t->begin; i < t->end; i++) {
        const int32_t feature = histo_feature_of(t->fill, i);
        t->to[i - t->begin] = (int64_t *)(void *)at;
        t->at[i - t->begin] = (feature - first) * t->column_stride;
        at += accumulator_bytes(t->fill, feature, t->lanes);
    }
    t->adjacent = histo_feature_of(t->fill, t->end - 1) - first == t->end - 1 - t->begin;
    t->table += first * t->column_stride;
}

#define COPY(type)                                                                                                     \
    for (int i = 0; i < n; i++)                                                                                        \
        memcpy(to + i * (int64_t)sizeof(type), from + (rows ? rows[i] : (uint32_t)i) * stride, sizeof(type));

static void copy_column(const char *from, int64_t stride, const uint32_t *rows, int n, int64_t size, char *to)
{
    if (size == 1)
        COPY(uint8_t)
    else
        COPY(uint16_t)
}
#undef COPY

/* Add a block of rows, whose words are made, to all features: rows from `row` on, or those listed. */
static void add_block(const tile *t, int64_t row, const uint32_t *rows, int n)
{
    const histo_cpu_kernels *kernels = t->fill->kernels;
    const char *table = rows ? t->table : t->table + row * t->row_stride;
    histo_node_adding a = {
        .lanes = t->lanes,
        .wide = t->size == 2,
        .n = n,
        .words = t->in->words,
        .features = t->end - t->begin,
        .to = t->to,
        .table = table,
        .stride = t->row_stride,
        .rows = rows,
        .weights = t->fill->gradients->pairs[t->pair],
        .at = t->adjacent ? NULL : t->at,
    };
    if (t->by_rows) {
        kernels->node_add_rows(&a);
        return;
    }
    const bool in_place = !rows && t->row_stride == t->size && is_aligned(t->table, t->size);
    const size_t room = rounded_up((size_t)n * sizeof(uint16_t));
    const int32_t most = t->skewed ? HISTO_NODE_COLUMNS : HISTO_NODE_FEW_COLUMNS;
    for (int32_t f = 0, some; f < t->end - t->begin; f += some) {
        some = t->end - t->begin - f < most ? t->end - t->begin - f : most;
        for (int c = 0; c < some; c++) {
            const char *column = table + t->at[f + c];
            char *copy = t->in->columns + (size_t)c * room;
            a.columns[c] = in_place && is_aligned(column, t->size) ? column : copy;
            if (a.columns[c] == copy) copy_column(column, t->row_stride, rows, n, t->size, copy);
        }
        a.features = some;
        a.to = t->to + f;
        kernels->node_add_columns(&a);
    }
}

/* Take n numbers out of accumulators, which are zero then. Returns the largest count. */
static int64_t take_sums(int64_t *from, int lanes, int n, int64_t sums[3][SOME_BINS])
{
    int64_t most = 0;
    for (int i = 0; i < n; i++) {
        const int64_t first = from[i * lanes];
        sums[0][i] = first & HISTO_NODE_ROWS;
        sums[1][i] = first >> HISTO_NODE_COUNT_BITS;
        if (lanes == 2) sums[2][i] = from[2 * i + 1];
        most = sums[0][i] > most ? sums[0][i] : most;
    }
    memset(from, 0, (size_t)(n * lanes) * sizeof *from);
    return most;
}

/* Write or add n numbers of bins from `bin` of a feature on. */
static void put_sums(const tile *t, int32_t feature, int bin, int n, int64_t sums[3][SOME_BINS])
{
    for (int number = t->pair ? 1 : 0; number <= t->lanes; number++) {
        const int plane = number ? 2 * t->pair + number : 0;
        if (t->piece->planes < 0) {
            write_array(array_of(t->fill, plane), t->piece->node, written_at(t->fill, feature) + bin, sums[number], n);
            continue;
        }
        int64_t *to = plane_of(t->fill, t->piece->planes, plane) + t->fill->start[feature] + bin;
        for (int i = 0; i < n; i++)
            to[i] += sums[number][i];
    }
}

/* Empty the accumulators, of so many rows. */
static void flush(tile *t, int rows)
{
    enum { SKEWED = 4 }; /* a bin with a fourth of all rows, on average over features */
    int64_t sums[3][SOME_BINS], common = 0;
    const bool shared = t->piece->planes >= 0;
    if (shared) pthread_mutex_lock(&t->fill->lock);
    for (int32_t i = t->begin; i < t->end; i++) {
        const int32_t feature = histo_feature_of(t->fill, i), bins = t->fill->features->bins[feature];
        int64_t most = 0;
        for (int32_t bin = 0, n; bin < bins; bin += n) {
            n = bins - bin < SOME_BINS ? bins - bin : SOME_BINS;
            const int64_t here = take_sums(t->to[i - t->begin] + (int64_t)bin * t->lanes, t->lanes, n, sums);
            put_sums(t, feature, bin, n, sums);
            most = here > most ? here : most;
        }
        common += most;
    }
    if (shared) pthread_mutex_unlock(&t->fill->lock);
    t->skewed = common * SKEWED > (int64_t)rows * (t->end - t->begin);
}

static bool count_tile(tile *t)
{
    const histo_node_fill *fill = t->fill;
    const int64_t begin = t->piece->begin, end = t->piece->end;
    int pending = 0;
    t->skewed = false;
    for (int64_t row = begin; row < end; row += HISTO_NODE_BLOCK) {
        const int n = end - row < HISTO_NODE_BLOCK ? (int)(end - row) : HISTO_NODE_BLOCK;
        const uint32_t *rows = fill->rows ? t->in->rows : NULL;
        if (pending + n > HISTO_NODE_ROWS) {
            flush(t, pending);
            pending = 0;
        }
        pending += n;
        if (rows) histo_row_list_take(fill->rows, row, n, t->in->rows);
        if (!rows || !t->by_rows)
            fill->kernels->node_words(fill->gradients->pairs[t->pair], t->lanes, rows, rows ? 0 : row, n, t->in->words);
        add_block(t, row, rows, n);
        if (histo_stops("counting", (int64_t)n * (t->end - t->begin), row - begin, end - begin)) return false;
    }
    flush(t, pending);
    return true;
}

/* Is anything of this pair of weights to be written? */
static bool is_wanted(const histo_node_fill *fill, int pair)
{
    bool wanted = pair == 0 && fill->counts.at;
    for (int w = 2 * pair; w < fill->gradients->weights && w < 2 * pair + 2; w++)
        wanted = wanted || fill->sums[w].at;
    return wanted;
}

bool histo_node_piece_count(histo_node_fill *fill, const histo_node_piece *piece, const histo_node_workspace *in)
{
    tile t = {.fill = fill, .piece = piece, .in = in};
    for (t.pair = 0; 2 * t.pair < fill->gradients->weights; t.pair++) {
        t.lanes = histo_gradient_lanes(fill->gradients, t.pair);
        for (t.begin = piece->first; is_wanted(fill, t.pair) && t.begin < piece->last; t.begin = t.end) {
            t.end = tile_end(fill, t.begin, piece->last, t.lanes);
            choose_table(&t);
            place_features(&t);
            if (!count_tile(&t)) return false;
        }
    }
    return true;
}
