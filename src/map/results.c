#include "map/results.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cpu/backend/backend.h"
#include "cpu/kernels/pick.h"
#include "map/convert.h"
#include "map/patterns.h"

/* ---- Tables ---- */

static histo_status allocate(histo_map_results *r, int64_t length)
{
    const size_t bytes = (size_t)(r->map->batch * length) * r->size;
    r->length = length;
    r->tables = histo_malloc(bytes + 2 * HISTO_LINE); /* that may be read, not used */
    return r->tables ? HISTO_OK : histo_fail_memory(bytes, "lookup tables");
}

static char *table_of(const histo_map_results *r, int64_t table)
{
    return (char *)r->tables + (size_t)(table * r->length) * r->size;
}

static histo_status tabulate_patterns(histo_map_results *r, int used)
{
    const int all = histo_dtype_size(r->lookup->dtypes[0]) == 1 ? 256 : 65536;
    histo_status status = allocate(r, all);
    histo_map_slots slots;
    double values[HISTO_BLOCK];
    for (int first = 0; first < used && status == HISTO_OK; first += HISTO_BLOCK) {
        const int n = used - first < HISTO_BLOCK ? used - first : HISTO_BLOCK;
        histo_map_find_patterns(r->lookup, first, n, &slots);
        for (int64_t t = 0; t < r->map->batch; t++) {
            histo_map_values(r->map, t, &slots, n, values);
            histo_convert_values(values, n, r->dtype, table_of(r, t) + (size_t)first * r->size);
        }
    }
    for (int64_t t = 0; t < r->map->batch && status == HISTO_OK; t++) {
        char *table = table_of(r, t);
        for (int i = used; i < all; i++)
            memcpy(table + (size_t)i * r->size, table + (size_t)(used - 1) * r->size, r->size);
    }
    return status;
}

static histo_status tabulate_slots(histo_map_results *r)
{
    histo_status status = allocate(r, r->map->length);
    if (status == HISTO_OK) histo_convert_values(r->map->values, r->map->batch * r->map->length, r->dtype, r->tables);
    return status;
}

/* Whether results are the numbers of slots, up to the last slot's result. */
static bool are_numbers(histo_map_results *r)
{
    const double *values = r->map->values, last = values[r->map->length - 1];
    bool are = r->map->batch == 1 && (r->dtype == HISTO_U8 || r->dtype == HISTO_U16 || r->dtype == HISTO_U32);
    are = are && last >= 0 && last < ldexp(1, 8 * (int)r->size) && last == floor(last);
    for (int64_t k = 0; k < r->map->length && are; k++)
        are = values[k] == ((double)k < last ? (double)k : last);
    if (are) r->last = (uint32_t)last;
    return are;
}

/* Number the slots that bytes have on an axis: slots[number], and numbers[byte]. */
static int number_slots(const histo_map_lookup *lookup, int a, uint32_t slots[256], uint8_t numbers[256])
{
    const uint32_t *table = lookup->lookups[a].table;
    int last = 0;
    slots[0] = table[0];
    for (int byte = 0; byte < 256; byte++) {
        if (slots[last] != table[byte]) slots[++last] = table[byte];
        numbers[byte] = (uint8_t)last;
    }
    return last + 1;
}

static histo_status tabulate_pairs(histo_map_results *r)
{
    uint32_t rows[256], columns[256];
    histo_pair_table table;
    uint8_t of_row[256];
    const int nrows = number_slots(r->lookup, 0, rows, of_row);
    const int ncolumns = number_slots(r->lookup, 1, columns, table.column);
    int pitch = 1;
    while (pitch < ncolumns)
        pitch *= 2;
    for (int i = 0; i < 256; i++) {
        table.low[i] = (uint8_t)(of_row[i] * pitch);
        table.high[i] = (uint8_t)(of_row[i] * pitch >> 8);
    }
    table.size = nrows * pitch;
    const int64_t extent = r->map->axes[1].bins + 3;
    histo_status status = allocate(r, (table.size + 127) / 128 * 128);
    if (status == HISTO_OK) r->pairs = histo_cpu_allocate((size_t)r->map->batch * sizeof *r->pairs);
    if (status == HISTO_OK && !r->pairs)
        status = histo_fail_memory((size_t)r->map->batch * sizeof *r->pairs, "lookup tables");
    for (int64_t t = 0; t < r->map->batch && status == HISTO_OK; t++) {
        r->pairs[t] = table;
        r->pairs[t].results = (const uint8_t *)table_of(r, t);
        double values[256];
        for (int row = 0; row < nrows; row++) {
            for (int c = 0; c < ncolumns; c++)
                values[c] = r->map->values[t * r->map->length + rows[row] * extent + columns[c]];
            histo_convert_values(values, ncolumns, r->dtype, table_of(r, t) + row * pitch);
        }
    }
    return status;
}

static bool are_pairs_of_bytes(const histo_map_results *r)
{
    return r->map->naxes == 2 && r->size == 1 && r->lookup->lookups[0].table && r->lookup->lookups[1].table &&
           histo_dtype_size(r->lookup->dtypes[0]) == 1 && histo_dtype_size(r->lookup->dtypes[1]) == 1;
}

histo_status histo_map_results_make(histo_map_results *r, const histo_map *map, const histo_map_lookup *lookup,
                                    int64_t samples, histo_dtype dtype)
{
    enum { PAIRS = 256 * 256 };
    *r = (histo_map_results){.map = map, .lookup = lookup, .dtype = dtype, .size = histo_dtype_size(dtype)};
    const int64_t of_table = samples / map->batch;
    const int patterns = of_table >= 256 ? histo_map_patterns(lookup) : 0;
    if (patterns && of_table >= patterns) {
        r->by = HISTO_BY_PATTERN;
        return tabulate_patterns(r, patterns);
    }
    if (map->within != HISTO_MAP_STEP) return HISTO_OK;
    if (are_pairs_of_bytes(r) && of_table >= (map->length < PAIRS ? map->length : PAIRS)) {
        r->by = HISTO_BY_PAIR;
        return tabulate_pairs(r);
    }
    if (of_table < map->length || dtype == HISTO_F64) return HISTO_OK;
    r->by = are_numbers(r) ? HISTO_BY_NUMBER : HISTO_BY_SLOT;
    return r->by == HISTO_BY_SLOT ? tabulate_slots(r) : HISTO_OK;
}

void histo_map_results_free(histo_map_results *r)
{
    histo_free(r->tables);
    histo_free(r->pairs);
}

/* ---- Lookups ---- */

#define DEFINE_PICK(type, result) HISTO_DEFINE_PICK(pick_##type##_##result, type##_t, result##_t)
#define DEFINE_PICKS(type)                                                                                             \
    DEFINE_PICK(type, uint8)                                                                                           \
    DEFINE_PICK(type, uint16)                                                                                          \
    DEFINE_PICK(type, uint32)                                                                                          \
    DEFINE_PICK(type, uint64)                                                                                          \
    static void pick_##type(const void *at, const void *table, size_t size, int n, void *to)                           \
    {                                                                                                                  \
        if (size == 1)                                                                                                 \
            pick_##type##_uint8(at, table, n, to);                                                                     \
        else if (size == 2)                                                                                            \
            pick_##type##_uint16(at, table, n, to);                                                                    \
        else if (size == 4)                                                                                            \
            pick_##type##_uint32(at, table, n, to);                                                                    \
        else                                                                                                           \
            pick_##type##_uint64(at, table, n, to);                                                                    \
    }
DEFINE_PICKS(uint8)
DEFINE_PICKS(uint16)
DEFINE_PICKS(uint32)

void histo_map_results_of(const histo_map_results *r, int64_t table, const void *const *samples, int n,
                          histo_results_block *block, void *to)
{
    const histo_map_kernels *kernels = histo_cpu_kernels_usable()->maps;
    switch (r->by) {
    case HISTO_BY_PAIR:
        kernels->map_pairs(&r->pairs[table], samples[0], samples[1], n, to);
        break;
    case HISTO_BY_PATTERN:
        if (histo_dtype_size(r->lookup->dtypes[0]) == 2)
            pick_uint16(samples[0], table_of(r, table), r->size, n, to);
        else if (r->size == 1)
            kernels->map_bytes((const uint8_t *)table_of(r, table), samples[0], n, to);
        else
            pick_uint8(samples[0], table_of(r, table), r->size, n, to);
        break;
    case HISTO_BY_SLOT:
        histo_map_find(r->lookup, samples, n, &block->slots);
        pick_uint32(block->slots.slot, table_of(r, table), r->size, n, to);
        break;
    case HISTO_BY_NUMBER:
        histo_map_find(r->lookup, samples, n, &block->slots);
        kernels->map_numbers(block->slots.slot, r->last, r->size, n, to);
        break;
    case HISTO_BY_VALUE:
        histo_map_find(r->lookup, samples, n, &block->slots);
        histo_map_values(r->map, table, &block->slots, n, block->values);
        histo_convert_values(block->values, n, r->dtype, to);
        break;
    }
}
