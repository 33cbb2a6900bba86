/* A tile of a flattened array is delivered as bands of its contiguous runs, so that the position of each band is
 * exact. */
#include "input/readers/arrays/tiled.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "input/readers/arrays/column_words.h"

enum { MOST_RECORD_BYTES = BAND_BYTES / 4 };

typedef struct tiled_reader {
    reader base;
    tiled_source source;
    array_info info;
    array_page page;
    histo_dtype dtypes[4];
    bool booleans[4];
    packing packings[4];
    time_epoch epochs[4];
    unpacker unpacker;
    word_maker words;
    unsigned char *buffer;
    int64_t sample_bytes;          /* in the buffer; for records, of the selected columns */
    int64_t sample_room;           /* used for planning tiles: includes what is derived from a sample */
    int64_t block[HISTO_MAX_DIMS]; /* complete chunks, read before the next block begins */
    int64_t tile[HISTO_MAX_DIMS];  /* the part of a block read at once */
    /* Position: the block, its tile, and in a flattened page the tile's run. */
    int64_t at_block[HISTO_MAX_DIMS], at_tile[HISTO_MAX_DIMS];
    int64_t start[HISTO_MAX_DIMS], count[HISTO_MAX_DIMS]; /* the tile in the buffer */
    int64_t run, runs, run_length;
    int64_t blocks_left; /* number to read, including the current one; -1: all */
    bool begun, ended;
} tiled_reader;

/* ---- Tiles ---------------------------------------------------------------------------------------------- */

static int64_t box_bytes(const tiled_reader *r, const int64_t *box)
{
    int64_t bytes = r->sample_room;
    for (int d = 0; d < r->info.ndim; d++)
        bytes *= box[d];
    return bytes;
}

/* Plan blocks of chunks about as large as a band, grown along the last dimensions first, and tiles that split larger
 * blocks along the first. chunk is NULL for contiguous datasets. */
static void plan_tiles(tiled_reader *r, const int64_t *chunk)
{
    const int ndim = r->info.ndim;
    const int64_t *shape = r->info.shape;
    for (int d = 0; d < ndim; d++)
        r->block[d] = chunk && chunk[d] < shape[d] ? chunk[d] : shape[d];
    if (r->page.channels > 1) r->block[2] = shape[2];
    for (int d = ndim - 1; d >= 0; d--) {
        int64_t fit = BAND_BYTES / box_bytes(r, r->block);
        if (fit < 2) break;
        r->block[d] = shape[d] / r->block[d] < fit ? shape[d] : r->block[d] * fit;
        if (r->block[d] < shape[d]) break;
    }
    memcpy(r->tile, r->block, sizeof r->tile);
    for (int d = 0; d < ndim; d++) {
        while (box_bytes(r, r->tile) > BAND_BYTES && r->tile[d] > 1)
            r->tile[d] = (r->tile[d] + 1) / 2;
    }
}

/* Advance by `step` through [0, size), the last dimension fastest; false at the end. */
static bool advance(int ndim, int64_t *at, const int64_t *step, const int64_t *size)
{
    for (int d = ndim - 1; d >= 0; d--) {
        at[d] += step[d];
        if (at[d] < size[d]) return true;
        at[d] = 0;
    }
    return false;
}

static void block_size(const tiled_reader *r, int64_t *size)
{
    for (int d = 0; d < r->info.ndim; d++) {
        int64_t left = r->info.shape[d] - r->at_block[d];
        size[d] = r->block[d] < left ? r->block[d] : left;
    }
}

/* Advance to the next tile; false at the end. */
static bool next_tile(tiled_reader *r)
{
    int64_t size[HISTO_MAX_DIMS];
    block_size(r, size);
    if (!r->begun) {
        r->begun = true;
        return r->blocks_left != 0;
    }
    if (advance(r->info.ndim, r->at_tile, r->tile, size)) return true;
    if (r->blocks_left > 0) r->blocks_left--;
    return r->blocks_left != 0 && advance(r->info.ndim, r->at_block, r->block, r->info.shape);
}

/* The number of blocks along a dimension. */
static int64_t blocks_along(const tiled_reader *r, int d)
{
    return (r->info.shape[d] - 1) / r->block[d] + 1;
}

static int64_t count_blocks(const tiled_reader *r)
{
    int64_t blocks = 1;
    for (int d = 0; d < r->info.ndim; d++)
        blocks *= blocks_along(r, d);
    return blocks;
}

static int read_tile(tiled_reader *r, fault *f)
{
    int64_t size[HISTO_MAX_DIMS];
    block_size(r, size);
    for (int d = 0; d < r->info.ndim; d++) {
        int64_t left = size[d] - r->at_tile[d];
        r->start[d] = r->at_block[d] + r->at_tile[d];
        r->count[d] = r->tile[d] < left ? r->tile[d] : left;
    }
    return r->source.read(r->source.self, r->start, r->count, r->buffer, f);
}

/* Find the runs of the tile in a flattened page: the trailing dimensions that it covers completely, and one more. */
static void find_runs(tiled_reader *r)
{
    int64_t samples = box_bytes(r, r->count) / r->sample_room;
    r->run = 0;
    r->run_length = 1;
    for (int d = r->info.ndim - 1; d >= 0; d--) {
        r->run_length *= r->count[d];
        if (r->count[d] < r->info.shape[d]) break;
    }
    r->runs = samples / r->run_length;
}

/* The position of the next run in the flattened array. */
static int64_t run_position(const tiled_reader *r)
{
    int64_t first = r->run * r->run_length, position = 0, stride = 1;
    for (int d = r->info.ndim - 1; d >= 0; d--) {
        position += (r->start[d] + first % r->count[d]) * stride;
        first /= r->count[d];
        stride *= r->info.shape[d];
    }
    return position;
}

/* ---- The reader ----------------------------------------------------------------------------------------- */

/* Read only the selected columns of records. */
static int select_columns(tiled_reader *r, fault *f)
{
    const selection *s = &r->base.selected;
    column_table *table = &r->info.columns;
    const char *name = input_name(r->base.in);
    if (columns_check(table, s, name, f) != 0) return -1;
    bool *wanted = calloc((size_t)table->count, sizeof *wanted);
    if (!wanted) return fault_set(f, EXIT_DATA, "no memory to read %s", name);
    for (int i = 0; i < s->count; i++)
        wanted[s->wanted[i]] = true;
    r->sample_bytes = r->source.select(r->source.self, table, wanted, f);
    free(wanted);
    return r->sample_bytes < 0 ? -1 : 0;
}

static int tiled_select(reader *base, fault *f)
{
    tiled_reader *r = (tiled_reader *)base;
    return r->info.record_bytes ? select_columns(r, f) : 0;
}

/* Point the views of the selected columns at `rows` records, starting here. */
static void view_columns(tiled_reader *r, const unsigned char *records, int64_t rows)
{
    for (int i = 0; i < r->base.selected.count; i++) {
        const table_column *c = &r->info.columns.column[r->base.selected.wanted[i]];
        r->base.selected.views[i] = (histo_view){
            records + c->offset, c->dtype, 2, 0, {rows, 1}, {r->sample_bytes, (int64_t)histo_dtype_size(c->dtype)}};
    }
}

static int tiled_next(reader *base, band *b, fault *f)
{
    tiled_reader *r = (tiled_reader *)base;
    if (r->run == r->runs) {
        r->ended = r->ended || r->page.bytes == 0 || !next_tile(r);
        if (r->ended) return 0;
        if (read_tile(r, f) != 0) return -1;
        find_runs(r);
    }
    const unsigned char *samples = r->buffer;
    if (r->page.flat) {
        samples += r->run * r->run_length * r->sample_bytes;
        *b = (band){.y = run_position(r), .rows = r->run_length, .cols = 1};
        r->run++;
    } else {
        *b = (band){.y = r->start[0], .x = r->start[1], .rows = r->count[0], .cols = r->count[1]};
        r->run = r->runs;
    }
    b->views = r->base.selected.views;
    if (r->info.record_bytes)
        view_columns(r, samples, b->rows);
    else
        reader_interleaved_views(b->views, r->base.selected.wanted, r->base.selected.count, samples, r->info.dtype,
                                 r->page.channels, b->rows, b->cols, b->cols * r->page.channels * r->sample_bytes);
    const char *name = input_name(base->in);
    if (unpack_band(&r->unpacker, &r->base.selected, b, name, f) != 0) return -1;
    if (!r->info.record_bytes) return 1;
    return word_maker_band(&r->words, &r->info.columns, &r->base.selected, b, name, f) == 0 ? 1 : -1;
}

static int tiled_rewind(reader *base, fault *f)
{
    (void)f;
    tiled_reader *r = (tiled_reader *)base;
    memset(r->at_block, 0, sizeof r->at_block);
    memset(r->at_tile, 0, sizeof r->at_tile);
    r->run = r->runs = 0;
    r->blocks_left = -1;
    r->begun = r->ended = false;
    return 0;
}

static int tiled_take(reader *base, int64_t first, int64_t end, fault *f)
{
    tiled_reader *r = (tiled_reader *)base;
    int64_t block = first;
    tiled_rewind(base, f);
    r->blocks_left = end - first;
    for (int d = r->info.ndim - 1; d >= 0; d--) {
        r->at_block[d] = block % blocks_along(r, d) * r->block[d];
        block /= blocks_along(r, d);
    }
    return 0;
}

static int64_t tiled_unit(const reader *base)
{
    const tiled_reader *r = (const tiled_reader *)base;
    int64_t size[HISTO_MAX_DIMS], tile[HISTO_MAX_DIMS], block = 0;
    block_size(r, size);
    memcpy(tile, r->at_tile, sizeof tile);
    const bool inside = r->begun && !r->ended && (r->run < r->runs || advance(r->info.ndim, tile, r->tile, size));
    for (int d = 0; d < r->info.ndim; d++)
        block = block * blocks_along(r, d) + r->at_block[d] / r->block[d];
    return inside ? -1 : block + r->begun;
}

static void tiled_close(reader *base)
{
    tiled_reader *r = (tiled_reader *)base;
    r->source.close(r->source.self);
    unpack_free(&r->unpacker);
    word_maker_free(&r->words);
    array_info_free(&r->info);
    free(r->buffer);
}

static void measure_samples(tiled_reader *r)
{
    r->sample_bytes = r->info.record_bytes ? r->info.record_bytes : (int64_t)histo_dtype_size(r->info.dtype);
    r->sample_room = r->sample_bytes;
    if (!unpack_is_idle(&r->info.rule)) r->sample_room += (int64_t)histo_dtype_size(HISTO_F64) + 1; /* unpacked */
}

bool tiled_split_bytes(const array_info *info, const int64_t *chunk, int64_t *bytes)
{
    tiled_reader planned = {.info = *info};
    *bytes = 0;
    if (!array_page_of(info, &planned.page)) return false;
    if (planned.page.bytes == 0) return true;
    measure_samples(&planned);
    plan_tiles(&planned, chunk);
    if (memcmp(planned.tile, planned.block, sizeof planned.tile) != 0) *bytes = box_bytes(&planned, planned.block);
    return true;
}

static int prepare(tiled_reader *r, const int64_t *chunk, fault *f)
{
    const char *name = input_name(r->base.in);
    if (r->info.record_bytes > MOST_RECORD_BYTES)
        return fault_set(f, EXIT_DATA, "%s has records of %" PRId64 " bytes, more than %d", name, r->info.record_bytes,
                         (int)MOST_RECORD_BYTES);
    if (!array_page_of(&r->info, &r->page)) return fault_set(f, EXIT_DATA, "%s is damaged: it is too large", name);
    measure_samples(r);
    if (r->page.bytes > 0) plan_tiles(r, chunk);
    r->buffer = aligned_alloc(4096, BAND_BYTES);
    r->base.about = metadata_create();
    if (!r->buffer || !r->base.about) return fault_set(f, EXIT_DATA, "no memory to read %s", name);
    r->base.about->ndim = r->info.ndim;
    memcpy(r->base.about->shape, r->info.shape, sizeof r->info.shape);
    r->base.about->boolean = r->info.boolean;
    for (int c = 0; c < r->page.channels; c++) {
        r->dtypes[c] = unpack_dtype(&r->info.rule, r->info.dtype);
        r->booleans[c] = r->info.boolean;
        r->packings[c] = r->info.rule;
        r->epochs[c] = r->info.rule.epoch;
    }
    r->base.channels = r->page.channels;
    r->unpacker.packings = r->packings;
    r->base.booleans = r->booleans;
    r->base.epochs = r->epochs;
    if (r->info.record_bytes) {
        if (columns_publish(&r->info.columns, &r->base, name, f) != 0) return -1;
        r->unpacker.packings = r->info.columns.packings;
    }
    r->base.height = r->page.height;
    r->base.width = r->page.width;
    if (r->page.bytes > 0) {
        r->base.units = count_blocks(r);
        r->base.take = tiled_take;
        r->base.unit = tiled_unit;
    }
    return 0;
}

reader *tiled_open(input *in, tiled_source source, const array_info *info, const int64_t *chunk, fault *f)
{
    const reader_functions functions = {
        .select = tiled_select, .next = tiled_next, .rewind = tiled_rewind, .close = tiled_close};
    tiled_reader *r = reader_create(sizeof *r, in, functions, f);
    if (!r) {
        array_info owned = *info;
        array_info_free(&owned);
        source.close(source.self);
        return NULL;
    }
    r->base.dtypes = r->dtypes;
    r->blocks_left = -1;
    r->source = source;
    r->info = *info;
    if (prepare(r, chunk, f) == 0) return &r->base;
    reader_destroy(&r->base);
    return NULL;
}
