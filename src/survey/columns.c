/* Extremes of batch entries that are interleaved in memory, like the columns of a table. They are found together, row
 * by row, since reading one after the other would read all memory for each. */
#include <string.h>

#include "base/memory.h"
#include "base/threads/pool.h"
#include "cpu/kernels/kernels.h"
#include "survey/extremes.h"
#include "view/dtype.h"

/* Tables, one after the other. */
typedef struct tables {
    histo_dtype dtype;
    const char *base;
    int64_t tables, rows, columns;
    int64_t pitch;            /* bytes from one row to the next */
    int64_t tiles;            /* tiles of columns per table */
    int64_t parts;            /* parts of the rows */
    int64_t next;             /* next unit of work: a part of a tile */
    histo_extremes *extremes; /* [parts][tables * columns] */
} tables;

/* False if the samples are not laid out like this. */
static bool find_tables(const histo_source *source, tables *t)
{
    histo_strided_iter all;
    histo_entries entries;
    if (source->iter.offsets || histo_source_is_filtered(source) || !histo_dtype_is_plain(source->stored[0]))
        return false;
    histo_strided_iter_span(&source->iter, true, &all, &entries);
    const int last = entries.ndim - 1;
    const int64_t size = (int64_t)histo_dtype_size(source->dtypes[0]);
    if (last < 1 || last > 2 || entries.first || entries.steps[last] != 1 || entries.steps[last - 1] != 0) return false;
    *t = (tables){.dtype = source->dtypes[0],
                  .base = all.base[0],
                  .tables = last == 2 ? entries.shape[0] : 1,
                  .rows = entries.shape[last - 1],
                  .columns = entries.shape[last]};
    if (last == 2 && entries.steps[0] != t->columns) return false;
    const bool gaps = all.ndim == 2 && t->tables == 1 && all.shape[1] == t->columns;
    t->pitch = gaps ? all.strides[0][0] : t->columns * size;
    return (all.ndim == 1 || gaps) && all.strides[0][all.ndim - 1] == size && t->pitch % size == 0 &&
           (uintptr_t)t->base % (uintptr_t)size == 0;
}

/* If there are few columns, several rows are read as one, so that several of its columns belong to the same entry. */
static void add_narrow(const tables *t, const char *at, int64_t rows, histo_extremes *extremes, histo_pool_work *work)
{
    histo_extremes wide[HISTO_COLUMNS] = {0};
    const int columns = (int)t->columns, times = HISTO_COLUMNS / columns;
    const histo_cpu_kernels *kernels = histo_cpu_kernels_usable();
    const int64_t pitch = times * t->pitch;
    int64_t left = rows / times;
    for (int count; left > 0; left -= count, at += count * pitch) {
        count = left < HISTO_COLUMN_ROWS ? (int)left : HISTO_COLUMN_ROWS;
        if (histo_pool_stops(work, (int64_t)count * times * columns, 0, 0)) return;
        kernels->add_column_extremes(t->dtype, at, pitch, count, times * columns, wide);
    }
    kernels->add_column_extremes(t->dtype, at, t->pitch, (int)(rows % times), columns, wide);
    for (int c = 0; c < times * columns; c++)
        histo_extremes_merge(&extremes[c % columns], &wide[c], t->dtype);
}

static void add_wide(const tables *t, const char *at, int64_t rows, int columns, histo_extremes *extremes,
                     histo_pool_work *work)
{
    for (int count; rows > 0; rows -= count, at += count * t->pitch) {
        count = rows < HISTO_COLUMN_ROWS ? (int)rows : HISTO_COLUMN_ROWS;
        if (histo_pool_stops(work, (int64_t)count * columns, 0, 0)) return;
        histo_cpu_kernels_usable()->add_column_extremes(t->dtype, at, t->pitch, count, columns, extremes);
    }
}

static void add_units(void *context, int index)
{
    tables *t = context;
    (void)index;
    histo_pool_work *const work = histo_pool_stoppable();
    const int64_t units = t->tables * t->tiles * t->parts, size = (int64_t)histo_dtype_size(t->dtype);
    for (int64_t unit; (unit = __atomic_fetch_add(&t->next, 1, __ATOMIC_RELAXED)) < units &&
                       !histo_pool_stops(work, 1, unit, units);) {
        const int64_t part = unit % t->parts, tile = unit / t->parts % t->tiles, table = unit / t->parts / t->tiles;
        const int64_t first = t->rows * part / t->parts, rows = t->rows * (part + 1) / t->parts - first;
        const int64_t column = tile * HISTO_COLUMNS, left = t->columns - column;
        const char *at = t->base + (table * t->rows + first) * t->pitch + column * size;
        histo_extremes *extremes = t->extremes + (part * t->tables + table) * t->columns + column;
        if (t->columns <= HISTO_COLUMNS / 2 && t->pitch == t->columns * size)
            add_narrow(t, at, rows, extremes, work);
        else
            add_wide(t, at, rows, left < HISTO_COLUMNS ? (int)left : HISTO_COLUMNS, extremes, work);
    }
}

histo_status histo_extremes_of_columns(const histo_source *source, histo_extremes *extremes, bool *found)
{
    tables t;
    *found = find_tables(source, &t);
    if (!*found) return HISTO_OK;
    const int64_t entries = t.tables * t.columns;
    t.tiles = (t.columns + HISTO_COLUMNS - 1) / HISTO_COLUMNS;
    t.parts = 1;
    t.extremes = extremes;
    if (t.tables * t.tiles < source->threads && t.rows >= source->threads) t.parts = source->threads;
    histo_extremes *own = NULL;
    if (t.parts > 1) own = histo_malloc((size_t)(t.parts * entries) * sizeof *own);
    if (own) {
        t.extremes = own;
        memset(own, 0, (size_t)(t.parts * entries) * sizeof *own);
    } else {
        t.parts = 1;
    }
    const histo_status status = histo_pool_run_long("surveying", source->threads, add_units, &t);
    for (int64_t i = 0; i < t.parts * entries && own; i++)
        histo_extremes_merge(&extremes[i % entries], &own[i], t.dtype);
    histo_free(own);
    return status;
}
