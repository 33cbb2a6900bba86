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
    int64_t values, room; /* of the selected columns: values in a row; rows of a band */
    unsigned char *samples, *valid;
    histo_view *masks; /* [selected]: of valid */
    size_t bytes;      /* of a row: of all selected columns */
} columns_reader;

static int fault_memory(const columns_reader *r, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory to read %s", input_name(r->base.in));
}

static int check_selected(const columns_reader *r, fault *f)
{
    const char *name = input_name(r->base.in);
    const column *first = &r->columns[r->base.selected.wanted[0]];
    for (int i = 0; i < r->base.selected.count; i++) {
        const column *c = &r->columns[r->base.selected.wanted[i]];
        if (c->words)
            return fault_set(f, EXIT_DATA, "%s: column %.100s holds %s, not numbers: choose another with --column",
                             name, c->name, c->words);
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
        r->bytes += (size_t)r->values * histo_dtype_size(r->columns[channels[i]].dtype);
    r->room = r->bytes == 0 || r->bytes > BAND_BYTES ? 1 : (int64_t)(BAND_BYTES / r->bytes);
    if (r->room > r->rows) r->room = r->rows ? r->rows : 1;
    const size_t size = (size_t)r->room * r->bytes;
    if (size > BAND_BYTES && fault_beyond_memory(f, (double)size, input_name(base->in), "it has too wide rows") != 0)
        return -1;
    free(r->samples);
    r->samples = aligned_alloc(64, (size + 64 * (size_t)count + 63) / 64 * 64);
    r->valid = arena_take(&base->selected.memory, (size_t)(r->room * r->values), (size_t)count);
    r->masks = arena_take(&base->selected.memory, (size_t)count, sizeof *r->masks);
    if (!r->samples || !r->valid || !r->masks) return fault_memory(r, f);
    base->width = r->values;
    return 0;
}

static int columns_next(reader *base, band *b, fault *f)
{
    columns_reader *r = (columns_reader *)base;
    const int64_t left = r->rows - r->at, rows = left < r->room ? left : r->room, count = rows * r->values;
    unsigned char *samples = r->samples, *valid = r->valid;
    if (rows == 0) return 0;
    *b = (band){.y = r->at, .rows = rows, .cols = r->values, .views = r->base.selected.views};
    for (int i = 0; i < r->base.selected.count; i++, valid += count) {
        const histo_dtype dtype = r->columns[r->base.selected.wanted[i]].dtype;
        const int64_t shape[] = {rows, r->values};
        if (r->source.read(r->source.self, r->base.selected.wanted[i], r->at, rows, samples, valid, f) != 0) return -1;
        r->base.selected.views[i] = histo_view_nd(samples, dtype, 2, shape);
        r->masks[i] = histo_view_nd(valid, HISTO_U8, 2, shape);
        if (memchr(valid, 0, (size_t)count)) b->valid = r->masks;
        samples += ((size_t)count * histo_dtype_size(dtype) + 63) / 64 * 64;
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
    if (!names || !dtypes || !is_numeric || !booleans) return fault_memory(r, f);
    int numeric = 0;
    for (int c = 0; c < count; c++) {
        const column *of = &r->columns[c];
        names[c] = of->name;
        dtypes[c] = of->dtype;
        is_numeric[c] = !of->words && of->values == 1; /* all of them, where none is named */
        booleans[c] = of->boolean;
        numeric += !of->words;
    }
    if (numeric == 0) return fault_set(f, EXIT_DATA, "%s has no column of numbers", input_name(r->base.in));
    r->base.channels = count;
    r->base.names = names;
    r->base.dtypes = dtypes;
    r->base.numeric = is_numeric;
    r->base.booleans = booleans;
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
