/* Making cells: see cells.h. */
#include <stdlib.h>

#include "axis/axis.h"
#include "view/dtype.h"

enum {
    MOST_LOG_CELLS = 21,
    MOST_LOG_NARROWER = 12, /* cells within one cell */
    MOST_ENTRIES = 1 << 22,
    MORE_CELLS = 5,       /* times that the number of cells may be doubled to have one threshold in each */
    FAST_ENTRIES = 52000, /* that fit where reading is fast: a GPU's shared memory, the first caches */
    WARP = 32             /* samples that wait for each other on a GPU */
};

/* A threshold: its position, and whether samples below it have the same. */
typedef struct threshold {
    uint32_t position;
    bool shared;
} threshold;

typedef struct maker {
    histo_cells cells;
    histo_dtype dtype;
    double *values;   /* of the thresholds, exactly */
    threshold *where; /* of each */
    uint32_t thresholds;
    uint32_t *entry;
    uint32_t entries;  /* so far */
    uint32_t room;     /* for entries */
    /* Cells that have narrower ones, thresholds in them, and thresholds too close even for these. */
    uint32_t narrowed, crowded, close;
} maker;

/* ---- Thresholds ---- */

double histo_first_value(histo_dtype dtype, double edge, bool above)
{
    if (dtype == HISTO_F64) return above ? nextafter(edge, INFINITY) : edge;
    if (dtype != HISTO_F32) return above ? floor(edge) + 1 : ceil(edge);
    float x = (float)edge;
    while (above ? !((double)x > edge) : (double)x < edge)
        x = nextafterf(x, INFINITY);
    return (double)x;
}

static double value_below(histo_dtype dtype, double value)
{
    if (dtype == HISTO_F64) return nextafter(value, -INFINITY);
    if (dtype == HISTO_F32) return (double)nextafterf((float)value, -INFINITY);
    return value - 1;
}

static bool list_thresholds(maker *m, const histo_axis *owned)
{
    double least = -INFINITY, most = INFINITY;
    if (histo_dtype_is_integer(m->dtype)) {
        histo_dtype_limits(m->dtype, &least, &most);
        most = nextafter(most, 0);
    }
    m->values = malloc(((size_t)owned->bins + 1) * sizeof *m->values);
    m->where = malloc(((size_t)owned->bins + 1) * sizeof *m->where);
    if (!m->values || !m->where) return false;
    for (int64_t i = 0; i <= owned->bins; i++) {
        double value = histo_first_value(m->dtype, histo_axis_edge(owned, i), i == owned->bins && owned->closed);
        if (value > most) break; /* no sample reaches it */
        m->values[m->thresholds++] = value > least ? value : least;
    }
    return m->thresholds > 0;
}

static uint32_t position_of(const maker *m, double value)
{
    return m->dtype == HISTO_F32 ? histo_position_f32(&m->cells, m->cells.by_bits, (float)value)
                                 : histo_position_f64(&m->cells, m->cells.by_bits, value);
}

/* Samples below the first threshold are told by a comparison. */
static void place_thresholds(maker *m)
{
    for (uint32_t i = 0; i < m->thresholds; i++) {
        double value = m->values[i];
        m->where[i].position = position_of(m, value);
        m->where[i].shared = i > 0 && position_of(m, value_below(m->dtype, value)) == m->where[i].position;
    }
}

/* ---- Entries ---- */

/* What an entry has beside the thresholds: twice the position counts from the cell's beginning, and 1 more. */
static uint32_t entry_of(uint32_t sum, uint32_t cell)
{
    return sum + 1 - (cell << 1);
}

/* The entry of a cell, or of a narrower cell of it, whose thresholds are [first, end), one at most. */
static uint32_t simple_entry(const maker *m, uint32_t first, uint32_t end, uint32_t cell)
{
    uint32_t most = ((uint32_t)2 << m->cells.low) - 1, base = first << (m->cells.low + 1);
    if (end == first) return entry_of(base - 1, cell); /* as if one were just below it */
    const threshold *t = &m->where[first];
    return entry_of(base + most - ((t->position - cell) << 1 | (uint32_t)t->shared), cell);
}

static uint32_t special_entry(uint32_t where, uint32_t cell)
{
    return entry_of((uint32_t)1 << 31 | where, cell);
}

/* The first threshold from `first` on that is not below `position`. */
static uint32_t end_of(const maker *m, uint32_t first, uint64_t position)
{
    while (first < m->thresholds && m->where[first].position < position)
        first++;
    return first;
}

static uint32_t too_close(maker *m, uint32_t thresholds, uint32_t cell)
{
    m->close += thresholds;
    return special_entry(HISTO_CELLS_TOO_CLOSE, cell);
}

/* Narrower cells for the thresholds [first, end) of one cell; the entry that leads there. */
static uint32_t narrower(maker *m, uint32_t first, uint32_t end, uint32_t cell)
{
    uint32_t closest = UINT32_MAX;
    for (uint32_t i = first; i + 1 < end; i++) {
        uint32_t apart = m->where[i + 1].position - m->where[i].position;
        if (apart && apart < closest) closest = apart;
    }
    int shift = 0, least = m->cells.low > MOST_LOG_NARROWER ? m->cells.low - MOST_LOG_NARROWER : 0;
    while (shift < m->cells.low && closest >> (shift + 1))
        shift++;
    if (shift < least) shift = least;
    uint32_t count = (uint32_t)1 << (m->cells.low - shift), index = m->entries;
    if (index + count > m->room) return too_close(m, end - first, cell);
    m->entries += count;
    for (uint32_t c = 0; c < count; c++) {
        uint32_t next = end_of(m, first, cell + ((uint64_t)(c + 1) << shift));
        m->entry[histo_spread(index + c)] = 
            next - first > 1 ? too_close(m, next - first, cell) : simple_entry(m, first, next, cell);
        first = next;
    }
    return special_entry(index << 5 | (uint32_t)shift, cell);
}

/* Entries for the map and width of cells that m->cells has. */
static void make_entries(maker *m, uint32_t count)
{
    m->narrowed = m->crowded = m->close = 0;
    m->entries = count;
    uint32_t first = 0;
    for (uint32_t c = 0; c < count; c++) {
        uint32_t cell = (c + m->cells.skipped) << m->cells.low;
        uint32_t end = end_of(m, first, (uint64_t)cell + ((uint64_t)1 << m->cells.low));
        bool many = end - first > 1;
        m->narrowed += many;
        m->crowded += many ? end - first : 0;
        m->entry[histo_spread(c)] = many ? narrower(m, first, end, cell) : simple_entry(m, first, end, cell);
        first = end;
    }
}

/* ---- Maps ---- */

static bool map_linearly(maker *m)
{
    double lo = m->values[0], span = m->values[m->thresholds - 1] - lo;
    if (!(span > 0) || !isfinite(span)) return false;
    int exponent;
    frexp(span, &exponent); /* span < 2^exponent */
    m->cells.by_bits = false;
    m->cells.scale = ldexp(1, 32 - exponent);
    m->cells.offset = -lo * m->cells.scale;
    bool fits = m->dtype != HISTO_F32 || (isfinite((float)m->cells.scale) && isfinite((float)m->cells.offset));
    return fits && isfinite(m->cells.scale) && isfinite(m->cells.offset) && m->cells.scale > 0;
}

static int32_t leading_bits(const maker *m, double value)
{
    return m->dtype == HISTO_F32 ? histo_leading_bits_f32((float)value) : histo_leading_bits_f64(value);
}

/* Of positive values, the bits increase with the value; those of all others are below. */
static bool map_by_bits(maker *m)
{
    if (!(m->values[0] > 0)) return false;
    m->cells.by_bits = true;
    m->cells.first = leading_bits(m, m->values[0]) - 1;
    m->cells.last = leading_bits(m, m->values[m->thresholds - 1]) + 1;
    return m->cells.first >= 0 && m->cells.last > m->cells.first;
}

/* Cells of the map, about 2^log_cells, and their entries; false if sums would not fit. */
static bool cut_map(maker *m, int log_cells)
{
    uint32_t first = m->cells.by_bits ? (uint32_t)m->cells.first : 0;
    uint32_t last = m->cells.by_bits ? (uint32_t)m->cells.last : UINT32_MAX;
    int low = 0;
    while ((last - first) >> low >> log_cells)
        low++;
    if (((uint64_t)m->thresholds + 1) << (low + 1) >= (uint64_t)1 << 31) return false;
    m->cells.low = (uint8_t)low;
    m->cells.skipped = first >> low;
    place_thresholds(m);
    make_entries(m, (last >> low) - (first >> low) + 1);
    m->cells.words = histo_spread(m->entries - 1) + 1;
    m->cells.certain = m->narrowed == 0;
    for (uint32_t i = 0; i < m->thresholds; i++)
        m->cells.certain &= !m->where[i].shared;
    return true;
}

/* ---- The best of them ---- */

typedef struct choice {
    histo_cells cells;
    int log_cells; /* 0: there is no choice yet */
    double cost;
} choice;

/* The chance that one of a warp's samples has what `share` of them have. */
static double in_a_warp(double share)
{
    return 1 - pow(1 - share, WARP);
}

/* Instructions a sample, roughly, beside those that any table takes: samples are thought to be half like the cells,
 * evenly spread over positions, and half like the thresholds, as edges are set where samples are. */
static double cost_of(const maker *m, uint32_t cells)
{
    double narrowed = (double)m->narrowed / cells, crowded = (double)m->crowded / m->thresholds;
    double close = (double)m->close / m->thresholds;
    return 10 * in_a_warp((narrowed + crowded) / 2) + 100 * in_a_warp(close / 2) + m->cells.words / 16384. +
           (m->cells.words > FAST_ENTRIES ? 100 : 0);
}

static void try_map(maker *m, choice *best, int log_cells)
{
    for (int more = 0; more <= MORE_CELLS && log_cells + more <= MOST_LOG_CELLS; more++) {
        if (!cut_map(m, log_cells + more)) continue;
        double cost = cost_of(m, (uint32_t)1 << (log_cells + more));
        if (!best->log_cells || cost < best->cost) *best = (choice){m->cells, log_cells + more, cost};
    }
}

histo_status histo_cells_make(histo_cells *cells, const histo_axis *owned, histo_dtype dtype)
{
    *cells = (histo_cells){.entry = NULL};
    int log_cells = 5;
    while ((INT64_C(1) << (log_cells - 2)) <= owned->bins + 2) /* so that sums fit */
        log_cells++;
    if (log_cells > MOST_LOG_CELLS) return HISTO_OK;
    maker m = {.dtype = dtype, .room = MOST_ENTRIES};
    choice best = {.log_cells = 0};
    m.entry = malloc((histo_spread(m.room) + 1) * sizeof *m.entry);
    bool have_memory = m.entry != NULL;
    if (have_memory && list_thresholds(&m, owned)) {
        if (map_linearly(&m)) try_map(&m, &best, log_cells);
        if (map_by_bits(&m)) try_map(&m, &best, log_cells);
    }
    have_memory &= m.values && m.where;
    if (best.log_cells) {
        m.cells = best.cells;
        cut_map(&m, best.log_cells);
        uint32_t *entry = realloc(m.entry, m.cells.words * sizeof *entry);
        *cells = m.cells;
        cells->entry = entry ? entry : m.entry;
        m.entry = NULL;
    }
    free(m.entry);
    free(m.values);
    free(m.where);
    return have_memory ? HISTO_OK : histo_fail_memory(MOST_ENTRIES * sizeof(uint32_t), "a table of cells");
}

void histo_cells_free(histo_cells *cells)
{
    free((void *)cells->entry);
    cells->entry = NULL;
}
