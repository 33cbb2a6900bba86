/* Parquet files, and Arrow's own (Feather): rows in batches, of which only the selected columns are read. Columns
 * without missing values are counted in place. Row groups, and batches of files, are read by several threads. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dates/zone.h"
#include "base/failure.h"
#include "base/text.h"
#include "base/times.h"
#include "input/readers/arrays/array.h"
#include "input/readers/readers.h"
#include "modules/arrow/leaf.h"
#include "modules/arrow/source.h"

typedef struct arrow_slot {
    int column;
    channel_form as;
    void *values;    /* [capacity] */
    uint32_t *codes; /* for the entries of the batch's dictionary; UINT32_MAX: not known yet */
    int64_t codes_room;
} arrow_slot;

typedef struct arrow_reader {
    reader base;
    source_format format;
    source *source;
    leaves columns;   /* of the file */
    leaves projected; /* of the batches */
    int *place_of;    /* [columns]: index among the projected ones, or -1 */
    bool paired;
    arrow_slot *slot; /* [selected.count] */
    int *fields;      /* the fields read from the source */
    int fields_count;
    int first, end; /* groups to read */
    struct ArrowArray batch;
    int64_t at; /* rows of the batch that have been read */
    int group;  /* after the batch */
    bool begun;
    bool *valid, *row_valid; /* [capacity] */
    int64_t capacity;
    int64_t row;
    fault trouble; /* a failure of the byte functions below the source */
} arrow_reader;

/* ---- Bytes ---------------------------------------------------------------------------------------------- */

static int64_t read_at(void *self, int64_t position, void *buffer, int64_t size)
{
    arrow_reader *r = self;
    return input_read_at(r->base.in, position, buffer, (size_t)size, &r->trouble);
}

static int64_t read_on(void *self, void *buffer, int64_t size)
{
    arrow_reader *r = self;
    int64_t filled = 0, got = 1;
    while (filled < size && got > 0) {
        got = input_read(r->base.in, (char *)buffer + filled, (size_t)(size - filled), &r->trouble);
        if (got > 0) filled += got;
    }
    return got < 0 ? -1 : filled;
}

static int fault_source(arrow_reader *r, const source_error *why, fault *f)
{
    if (r->trouble.status != EXIT_OK) return fault_set(f, r->trouble.status, "%s", r->trouble.text);
    return fault_set(f, EXIT_DATA, "%s cannot be read as %s: %s", input_name(r->base.in),
                     r->format == SOURCE_PARQUET ? "Parquet" : "an Arrow file", why->text);
}

static int open_source(arrow_reader *r, fault *f)
{
    source_bytes bytes = {.self = r};
    source_error why = {""};
    if (r->format == SOURCE_STREAM) {
        bytes.read = read_on;
    } else {
        bytes.read_at = read_at;
        bytes.size = input_random(r->base.in, f);
        if (bytes.size < 0) return -1;
    }
    double memory = (double)histo_memory_available() / 2;
    if (bytes.read_at) memory = fmin(memory, memory_of_file((double)bytes.size));
    r->source = source_open(r->format, &bytes, memory < 0x1p63 ? (int64_t)memory : INT64_MAX, &why);
    return r->source ? 0 : fault_source(r, &why, f);
}

/* ---- Columns -------------------------------------------------------------------------------------------- */

static int fault_memory(const arrow_reader *r, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory to read %s", input_name(r->base.in));
}

static int find_columns(arrow_reader *r, fault *f)
{
    struct ArrowSchema schema;
    source_error why = {""};
    if (source_schema(r->source, &schema, &why) < 0) return fault_source(r, &why, f);
    bool complete = leaves_find(&r->columns, &schema);
    schema.release(&schema);
    const size_t n = (size_t)r->columns.count;
    if (complete && n == 0) return fault_set(f, EXIT_DATA, "%s has no columns", input_name(r->base.in));
    arena *memory = &r->base.memory;
    const char **names = arena_take(memory, n, sizeof *names);
    histo_dtype *dtypes = arena_take(memory, n, sizeof *dtypes);
    bool *numeric = arena_take(memory, n, sizeof *numeric), *booleans = arena_take(memory, n, sizeof *booleans);
    values_kind *kinds = arena_take(memory, n, sizeof *kinds);
    time_epoch *epochs = arena_take(memory, n, sizeof *epochs);
    r->place_of = arena_take(memory, n, sizeof *r->place_of);
    if (!complete || !names || !dtypes || !numeric || !booleans || !kinds || !epochs || !r->place_of)
        return fault_memory(r, f);
    for (size_t i = 0; i < n; i++) {
        const leaf *c = &r->columns.of[i];
        names[i] = c->name;
        dtypes[i] = leaf_dtype(c);
        booleans[i] = c->type == LEAF_BITS;
        kinds[i] = leaf_kind(c);
        if (c->type == LEAF_NUMBERS && c->per_second) epochs[i] = epoch_per_second(c->per_second);
        epochs[i].span = epochs[i].units != 0;
        numeric[i] = kinds[i] == VALUES_NUMBERS && c->type != LEAF_OTHER && c->type != LEAF_NULLS;
    }
    r->base.channels = (int)n;
    r->base.names = names;
    r->base.dtypes = dtypes;
    r->base.numeric = numeric;
    r->base.booleans = booleans;
    r->base.kinds = kinds;
    r->base.epochs = epochs;
    return 0;
}

/* Read groups first … end - 1 from now on. */
static int begin(arrow_reader *r, int first, int end, fault *f)
{
    source_error why = {""};
    if (r->batch.release) r->batch.release(&r->batch);
    r->batch.release = NULL;
    r->base.bad = r->base.missing = 0;
    r->row = 0;
    r->first = r->group = first;
    r->end = end;
    r->begun = true;
    if (source_begin(r->source, first, end, r->fields, r->fields_count, &why) < 0) return fault_source(r, &why, f);
    if (r->projected.of) return 0;
    struct ArrowSchema schema;
    if (source_fields(r->source, &schema, &why) < 0) return fault_source(r, &why, f);
    const bool complete = leaves_find(&r->projected, &schema);
    schema.release(&schema);
    if (!complete) return fault_memory(r, f);
    /* Both have the same order. */
    int place = 0;
    for (int c = 0; c < r->columns.count; c++) {
        const int field = r->format == SOURCE_PARQUET ? c : r->columns.of[c].field;
        bool is_read = r->format == SOURCE_STREAM;
        for (int i = 0; i < r->fields_count && !is_read; i++)
            is_read = r->fields[i] == field;
        r->place_of[c] = is_read ? place++ : -1;
    }
    return place == r->projected.count
               ? 0
               : fault_set(f, EXIT_DATA, "%s is damaged: its columns are not those of its schema",
                           input_name(r->base.in));
}

static int check_form(const arrow_reader *r, int channel, const channel_form *as, fault *f)
{
    const leaf *c = &r->columns.of[channel];
    const values_kind kind = leaf_kind(c);
    if (c->type == LEAF_OTHER)
        return fault_set(f, EXIT_DATA, "%s, column %.80s: %s are not numbers: choose another --column",
                         input_name(r->base.in), c->name, c->what);
    if (c->type == LEAF_NULLS || as->kind == kind || as->kind == VALUES_WORDS) return 0;
    static const char *const names[] = {"numbers", "numbers", "strings", "dates"};
    return fault_set(f, EXIT_DATA, "%s, column %.80s: %s are not %s", input_name(r->base.in), c->name, names[kind],
                     names[as->kind]);
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* The fields to read from the source: each leaf or field once, in its order. */
static void find_fields(arrow_reader *r)
{
    for (int i = 0; i < r->base.selected.count; i++) {
        const int channel = r->base.selected.wanted[i];
        r->fields[i] = r->format == SOURCE_PARQUET ? channel : r->columns.of[channel].field;
    }
    qsort(r->fields, (size_t)r->base.selected.count, sizeof *r->fields, compare);
    r->fields_count = 0;
    for (int i = 0; i < r->base.selected.count; i++)
        if (i == 0 || r->fields[i] != r->fields[r->fields_count - 1]) r->fields[r->fields_count++] = r->fields[i];
}

static int arrow_select(reader *base, fault *f)
{
    arrow_reader *r = (arrow_reader *)base;
    selection *selected = &base->selected;
    const int count = selected->count;
    leaves_free(&r->projected);
    r->begun = false;
    r->fields = arena_take(&selected->memory, (size_t)count, sizeof *r->fields);
    r->slot = arena_take(&selected->memory, (size_t)count, sizeof *r->slot);
    if (!r->fields || !r->slot) return fault_memory(r, f);
    for (int i = 0; i < count; i++) {
        arrow_slot *s = &r->slot[i];
        s->column = selected->wanted[i];
        if (selected->forms) s->as = selected->forms[i];
        if (s->as.kind == VALUES_NUMBERS) s->as.dtype = base->dtypes[s->column];
        if (check_form(r, s->column, &s->as, f) != 0) return -1;
    }
    find_fields(r);
    r->capacity = BAND_BYTES / (int64_t)sizeof(double) / count;
    if (r->capacity < 1) r->capacity = 1;
    r->valid = arena_take(&selected->memory, (size_t)r->capacity, sizeof *r->valid);
    r->row_valid = arena_take(&selected->memory, (size_t)r->capacity, sizeof *r->row_valid);
    bool complete = r->valid && r->row_valid;
    for (int i = 0; i < count && complete; i++)
        complete = (r->slot[i].values = arena_take(&selected->memory, (size_t)r->capacity, sizeof(double)));
    return complete ? 0 : fault_memory(r, f);
}

/* ---- Rows ----------------------------------------------------------------------------------------------- */

static int code_of(const arrow_reader *r, const arrow_slot *s, leaf_type type, const struct ArrowArray *strings,
                   int64_t at, uint32_t *code, fault *f)
{
    size_t size;
    char name[320];
    const char *text = leaf_string(type, strings, at, &size);
    if (dictionary_code(s->as.words, text ? text : "", size, code) == 0) return 0;
    snprintf(name, sizeof name, "%.150s, %.150s", input_name(r->base.in), r->base.names[s->column]);
    return dictionary_fault(s->as.words, name, f);
}

/* Convert numbers, booleans and times that are counted as strings to what text would have. */
static int code_of_value(const arrow_reader *r, const arrow_slot *s, const leaf *c, const struct ArrowArray *array,
                         int64_t at, uint32_t *code, fault *f)
{
    char text[TIME_TEXT_BYTES]; /* longer than TEXT_NUMBER_BYTES */
    char name[320];
    if (c->type == LEAF_BITS) {
        snprintf(text, sizeof text, "%s", leaf_bit(array->buffers[1], at) ? "true" : "false");
    } else if (c->type == LEAF_DATES || c->type == LEAF_TIMES) {
        const int64_t us = leaf_microseconds(c, array, at);
        time_text(us, time_digits_of(us, TIME_DAYS), text);
    } else if (c->type == LEAF_DECIMALS) {
        text_exact(leaf_decimal(c, array, at), text);
    } else {
        const unpack_number value = leaf_number(c, array, at);
        if (c->dtype >= HISTO_F16)
            text_exact(value.f, text);
        else
            snprintf(text, sizeof text, c->dtype == HISTO_U64 ? "%" PRIu64 : "%" PRId64, value.i);
    }
    if (dictionary_code(s->as.words, text, strlen(text), code) == 0) return 0;
    snprintf(name, sizeof name, "%.150s, %.150s", input_name(r->base.in), r->base.names[s->column]);
    return dictionary_fault(s->as.words, name, f);
}

/* NaN is a missing value, not a string. */
static void clear_nan(const leaf *c, const channel_form *as, const struct ArrowArray *array, int64_t first,
                      int64_t count, bool *valid)
{
    if (c->type != LEAF_NUMBERS || c->dtype < HISTO_F16 || as->kind != VALUES_WORDS) return;
    for (int64_t i = 0; i < count; i++)
        valid[i] = valid[i] && !isnan(leaf_number(c, array, first + i).f);
}

/* Codes of this batch's dictionary are looked up when needed. */
static int reset_codes(arrow_reader *r, arrow_slot *s, const struct ArrowArray *strings, fault *f)
{
    if (strings->length > s->codes_room) {
        const int64_t room = strings->length > 2 * s->codes_room ? strings->length : 2 * s->codes_room;
        uint32_t *codes = arena_take(&r->base.selected.memory, (size_t)room, sizeof *codes);
        if (!codes) return fault_memory(r, f);
        s->codes = codes;
        s->codes_room = room;
    }
    if (strings->length > 0) memset(s->codes, 0xff, (size_t)strings->length * sizeof *s->codes);
    return 0;
}

static int code_of_entry(const arrow_reader *r, const arrow_slot *s, const leaf *c, const struct ArrowArray *array,
                         int64_t at, uint32_t *code, fault *f)
{
    const struct ArrowArray *strings = array->dictionary;
    const int64_t index = leaf_index(c, array, at);
    if (index < 0 || index >= strings->length)
        return fault_set(f, EXIT_DATA, "%s is damaged: a dictionary has no entry %lld", input_name(r->base.in),
                         (long long)index);
    if (s->codes[index] == UINT32_MAX &&
        code_of(r, s, c->words, strings, strings->offset + index, &s->codes[index], f) != 0)
        return -1;
    *code = s->codes[index];
    return 0;
}

static int store(const arrow_reader *r, arrow_slot *s, const leaf *c, const struct ArrowArray *array, int64_t at,
                 int64_t to, fault *f)
{
    if (s->as.kind == VALUES_WORDS && leaf_kind(c) != VALUES_WORDS)
        return code_of_value(r, s, c, array, at, (uint32_t *)s->values + to, f);
    switch (c->type) {
    case LEAF_BITS:
        ((uint8_t *)s->values)[to] = leaf_bit(array->buffers[1], at);
        return 0;
    case LEAF_DECIMALS:
        ((double *)s->values)[to] = leaf_decimal(c, array, at);
        return 0;
    case LEAF_DATES:
    case LEAF_TIMES:
        ((int64_t *)s->values)[to] = leaf_microseconds(c, array, at);
        if (c->zoned) ((int64_t *)s->values)[to] = zone_clock_of_utc(((int64_t *)s->values)[to]);
        if (epoch_has_year((double)((int64_t *)s->values)[to])) return 0;
        return fault_set(f, EXIT_DATA, "%s, column %.80s: a time is not in the years 0 to 9999", input_name(r->base.in),
                         c->name);
    case LEAF_STRINGS:
    case LEAF_LARGE_STRINGS:
    case LEAF_STRING_VIEWS:
        return code_of(r, s, c->type, array, at, (uint32_t *)s->values + to, f);
    case LEAF_DICTIONARY:
        return code_of_entry(r, s, c, array, at, (uint32_t *)s->values + to, f);
    default:
        return 0;
    }
}

/* Copy plain numbers, skipping missing ones. */
static int64_t pack(void *to, const void *from, size_t size, const bool *valid, int64_t count)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        memcpy((char *)to + (size_t)kept * size, (const char *)from + (size_t)i * size, size);
        kept += valid[i];
    }
    return kept;
}

/* The view of a selected column, for rows from … from + count - 1 of the batch. */
static int make_view(arrow_reader *r, int i, int64_t from, int64_t count, histo_view *view, fault *f)
{
    arrow_slot *s = &r->slot[i];
    const leaf *c = &r->projected.of[r->place_of[s->column]];
    int64_t first, kept = 0;
    const bool *valid = r->paired ? r->row_valid : r->valid;
    memset(r->valid, true, (size_t)count);
    const struct ArrowArray *array = leaf_array(c, &r->batch, from, count, r->valid, &first);
    clear_nan(c, &s->as, array, first + from, count, r->valid);
    const bool all = !memchr(valid, 0, (size_t)count);
    const void *values = s->values;
    if (c->type == LEAF_DICTIONARY && from == 0 && reset_codes(r, s, array->dictionary, f) != 0) return -1;
    if (c->type == LEAF_NUMBERS && s->as.kind == VALUES_NUMBERS) {
        const size_t size = histo_dtype_size(c->dtype);
        const char *begin = (const char *)array->buffers[1] + (size_t)(first + from) * size;
        kept = all ? count : pack(s->values, begin, size, valid, count);
        if (all) values = begin;
    } else if (c->type != LEAF_NULLS) {
        for (int64_t k = 0; k < count; k++)
            if (valid[k] && store(r, s, c, array, first + from + k, kept++, f) != 0) return -1;
    }
    const int64_t shape[] = {kept, 1};
    *view = histo_view_nd(values, s->as.dtype, 2, shape);
    if (!r->paired) r->base.missing += (uint64_t)(count - kept);
    return 0;
}

/* The next batch with rows: 1, 0 at the end, -1. */
static int next_batch(arrow_reader *r, fault *f)
{
    source_error why = {""};
    while (!r->batch.release || r->at == r->batch.length) {
        if (r->batch.release) r->batch.release(&r->batch);
        r->batch.release = NULL;
        const int got = source_next(r->source, &r->batch, &why);
        if (got < 0) fault_source(r, &why, f);
        if (got < 1) return got;
        r->at = 0;
        r->group++;
    }
    return 1;
}

static int arrow_next(reader *base, band *b, fault *f)
{
    arrow_reader *r = (arrow_reader *)base;
    if (!r->begun && begin(r, 0, source_groups(r->source), f) != 0) return -1;
    for (;;) {
        const int more = next_batch(r, f);
        if (more < 1) return more;
        const int64_t from = r->at, left = r->batch.length - from, count = left < r->capacity ? left : r->capacity;
        r->at += count;
        memset(r->row_valid, true, (size_t)count);
        for (int i = 0; i < r->base.selected.count && r->paired; i++) {
            const leaf *c = &r->projected.of[r->place_of[r->slot[i].column]];
            int64_t first;
            const struct ArrowArray *array = leaf_array(c, &r->batch, from, count, r->row_valid, &first);
            clear_nan(c, &r->slot[i].as, array, first + from, count, r->row_valid);
            if (c->type == LEAF_NULLS) memset(r->row_valid, false, (size_t)count);
        }
        *b = (band){.y = r->row, .rows = 0, .cols = 1, .views = r->base.selected.views};
        for (int i = 0; i < r->base.selected.count; i++) {
            if (make_view(r, i, from, count, &b->views[i], f) != 0) return -1;
            if (b->views[i].shape[0] > b->rows) b->rows = b->views[i].shape[0];
        }
        if (r->paired) r->base.missing += (uint64_t)(count - b->rows);
        r->row += b->rows;
        if (b->rows > 0) return 1;
    }
}

static int arrow_rewind(reader *base, fault *f)
{
    arrow_reader *r = (arrow_reader *)base;
    if (r->format != SOURCE_STREAM) return begin(r, 0, source_groups(r->source), f);
    source_close(r->source);
    r->source = NULL;
    if (input_rewind(base->in, f) != 0 || open_source(r, f) != 0) return -1;
    return begin(r, 0, 0, f);
}

static int arrow_take(reader *base, int64_t first, int64_t end, fault *f)
{
    return begin((arrow_reader *)base, (int)first, (int)end, f);
}

/* Batches of Parquet do not show where row groups end. */
static int64_t arrow_unit(const reader *base)
{
    const arrow_reader *r = (const arrow_reader *)base;
    if (!r->batch.release) return r->first;
    return r->format == SOURCE_FILE && r->at == r->batch.length ? r->group : -1;
}

static void arrow_close(reader *base)
{
    arrow_reader *r = (arrow_reader *)base;
    if (r->batch.release) r->batch.release(&r->batch);
    source_close(r->source);
    leaves_free(&r->columns);
    leaves_free(&r->projected);
}

static reader *open_as(source_format format, input *in, const read_options *options, fault *f)
{
    const reader_functions functions = {arrow_select, arrow_next, arrow_rewind, arrow_close};
    arrow_reader *r = reader_create(sizeof *r, in, functions, f);
    if (!r) return NULL;
    r->format = format;
    r->paired = options->paired;
    r->base.takes_forms = r->base.declares = true;
    r->base.height = -1;
    r->base.width = 1;
    if (open_source(r, f) != 0 || find_columns(r, f) != 0) {
        reader_destroy(&r->base);
        return NULL;
    }
    if (source_groups(r->source) > 0) {
        r->base.units = source_groups(r->source);
        r->base.take = arrow_take;
        r->base.unit = arrow_unit;
    }
    return &r->base;
}

reader *parquet_open(input *in, const read_options *options, fault *f)
{
    return open_as(SOURCE_PARQUET, in, options, f);
}

reader *arrow_open(input *in, const read_options *options, fault *f)
{
    size_t size;
    const unsigned char *head = input_peek(in, &size, f);
    const bool file = head && size >= 6 && memcmp(head, "ARROW1", 6) == 0;
    return open_as(file ? SOURCE_FILE : SOURCE_STREAM, in, options, f);
}
