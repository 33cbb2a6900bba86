/* See columns.h. */
#include "modules/fits/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "input/readers/arrays/array.h"

typedef struct columns_reader {
    reader base;
    columns_source source;
    const column *columns;
    int64_t rows, at;
    int64_t values, room; /* in the selected columns: values per row; rows per band */
    unsigned char *samples, *valid;
    histo_view *masks; /* [selected]: views of valid */
    size_t bytes;      /* per row of all selected columns */
} columns_reader;

static int fault_memory(const columns_reader *r, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory to read %s", input_name(r->base.in));
}

size_t fits_column_bytes(const column *c)
{
    return c->bytes ? (size_t)c->bytes : histo_dtype_size(c->dtype);
}

/* The column in the form shared with other formats whose columns can be strings. */
static table_column as_table_column(const column *c)
{
    return (table_column){
        .name = (char *)c->name,
        .what = c->words,
        .dtype = c->dtype,
        .boolean = c->boolean,
        .string = {.kind = c->bytes ? STRING_BYTES : STRING_NONE, .bytes = c->bytes, .ends = true, .blanks = true}};
}

static const channel_form *form_of(const columns_reader *r, int i)
{
    static const channel_form numbers = {.kind = VALUES_NUMBERS};
    return r->base.selected.forms ? &r->base.selected.forms[i] : &numbers;
}

static int check_selected(const columns_reader *r, fault *f)
{
    const char *name = input_name(r->base.in);
    const column *first = &r->columns[r->base.selected.wanted[0]];
    for (int i = 0; i < r->base.selected.count; i++) {
        const column *c = &r->columns[r->base.selected.wanted[i]];
        const table_column as = as_table_column(c);
        if (column_words_check(&as, form_of(r, i), name, f) != 0) return -1;
        if (c->values != first->values)
            return fault_set(f, EXIT_USAGE,
                             "%s: column %.100s has %" PRId64 " values in a row, and column %.100s has %" PRId64
                             ": count them one by one",
                             name, first->name, first->values, c->name, c->values);
    }
    return 0;
}

static int columns_select(reader *base, fault *f)
{
    columns_reader *r = (columns_reader *)base;
    const int *channels = base->selected.wanted, count = base->selected.count;
    if (check_selected(r, f) != 0) return -1;
    r->values = r->columns[channels[0]].values;
    r->bytes = 0;
    for (int i = 0; i < count; i++)
        r->bytes += (size_t)r->values * (fits_column_bytes(&r->columns[channels[i]]) + sizeof(uint32_t)); /* or codes */
    r->room = r->bytes == 0 || r->bytes > BAND_BYTES ? 1 : (int64_t)(BAND_BYTES / r->bytes);
    if (r->room > r->rows) r->room = r->rows ? r->rows : 1;
    const size_t size = (size_t)r->room * r->bytes;
    if (size > BAND_BYTES && fault_beyond_memory(f, (double)size, input_name(base->in), "it has too wide rows") != 0)
        return -1;
    free(r->samples);
    r->samples = aligned_alloc(64, (size + 128 * (size_t)count + 63) / 64 * 64);
    r->valid = arena_take(&base->selected.memory, (size_t)(r->room * r->values), (size_t)count);
    r->masks = arena_take(&base->selected.memory, (size_t)count, sizeof *r->masks);
    if (!r->samples || !r->valid || !r->masks) return fault_memory(r, f);
    base->width = r->values;
    return 0;
}

static unsigned char *behind(unsigned char *samples, size_t bytes)
{
    return samples + (bytes + 63) / 64 * 64;
}

static int columns_next(reader *base, band *b, fault *f)
{
    columns_reader *r = (columns_reader *)base;
    const int64_t left = r->rows - r->at, rows = left < r->room ? left : r->room, count = rows * r->values;
    unsigned char *samples = r->samples, *valid = r->valid;
    if (rows == 0) return 0;
    *b = (band){.y = r->at, .rows = rows, .cols = r->values, .views = r->base.selected.views};
    for (int i = 0; i < r->base.selected.count; i++, valid += count) {
        const column *c = &r->columns[r->base.selected.wanted[i]];
        const int64_t shape[] = {rows, r->values}, bytes = (int64_t)fits_column_bytes(c);
        histo_view *v = &r->base.selected.views[i];
        if (r->source.read(r->source.self, r->base.selected.wanted[i], r->at, rows, samples, valid, f) != 0) return -1;
        *v = (histo_view){samples, c->dtype, 2, 0, {rows, r->values}, {r->values * bytes, bytes}};
        r->masks[i] = histo_view_nd(valid, HISTO_U8, 2, shape);
        samples = behind(samples, (size_t)(count * bytes));
        if (form_of(r, i)->kind == VALUES_WORDS) {
            const table_column as = as_table_column(c);
            uint32_t *codes = (uint32_t *)(void *)samples;
            if (column_words_make(&as, v, &r->masks[i], form_of(r, i)->words, codes, valid, input_name(base->in), f) !=
                0)
                return -1;
            *v = histo_view_nd(codes, HISTO_U32, 2, shape);
            samples = behind(samples, (size_t)count * sizeof *codes);
        }
        if (memchr(valid, 0, (size_t)count)) b->valid = r->masks;
    }
    r->at += rows;
    return 1;
}

static int columns_rewind(reader *base, fault *f)
{
    (void)f;
    ((columns_reader *)base)->at = 0;
    return 0;
}

static void columns_close(reader *base)
{
    columns_reader *r = (columns_reader *)base;
    r->source.close(r->source.self);
    free(r->samples);
}

static int describe(columns_reader *r, int count, fault *f)
{
    const size_t n = (size_t)count;
    const char **names = arena_take(&r->base.memory, n, sizeof *names);
    histo_dtype *dtypes = arena_take(&r->base.memory, n, sizeof *dtypes);
    bool *is_numeric = arena_take(&r->base.memory, n, sizeof *is_numeric);
    bool *booleans = arena_take(&r->base.memory, n, sizeof *booleans);
    values_kind *kinds = arena_take(&r->base.memory, n, sizeof *kinds);
    if (!names || !dtypes || !is_numeric || !booleans || !kinds) return fault_memory(r, f);
    int numeric = 0;
    for (int c = 0; c < count; c++) {
        const column *of = &r->columns[c];
        names[c] = of->name;
        dtypes[c] = of->dtype;
        kinds[c] = of->bytes ? VALUES_WORDS : VALUES_NUMBERS;
        is_numeric[c] = !of->words && !of->bytes && of->values == 1; /* all of them, if none is named */
        booleans[c] = of->boolean;
        numeric += !of->words;
    }
    if (numeric == 0) return fault_set(f, EXIT_DATA, "%s has no column of numbers or strings", input_name(r->base.in));
    r->base.channels = count;
    r->base.names = names;
    r->base.dtypes = dtypes;
    r->base.numeric = is_numeric;
    r->base.booleans = booleans;
    r->base.kinds = kinds;
    r->base.takes_forms = r->base.declares = true;
    r->base.height = r->rows;
    r->base.width = 1;
    r->base.pages = 1;
    return 0;
}

reader *fits_columns_open(input *in, const column *columns, int count, int64_t rows, columns_source source, fault *f)
{
    const reader_functions functions = {
        .select = columns_select, .next = columns_next, .rewind = columns_rewind, .close = columns_close};
    columns_reader *r = reader_create(sizeof *r, in, functions, f);
    if (!r) {
        source.close(source.self);
        return NULL;
    }
    r->source = source;
    r->columns = columns;
    r->rows = rows;
    if (describe(r, count, f) == 0) return &r->base;
    reader_destroy(&r->base);
    return NULL;
}
