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
    LOG_FAST_CELLS = 16,  /* of so many cells entries are surely more than that */
    WARP = 32             /* samples that wait for each other on a GPU */
};

/* Linear maps go to positions between these: a golden section of 2^31, so that regular steps of samples are no power of
 * two of cells; and away from 0, for whatever rounding does there. */
#define FIRST_POSITION 16.
#define LAST_POSITION 0x1.3c6ef372p30

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
    uint32_t entries; /* so far */
    uint32_t room;    /* words */
    bool no_memory;
    /* Cells that have narrower ones, thresholds in them, and those too close for all. */
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
    return fabs(value) >= 0x1p53 ? value : value - 1; /* as a double, which a sample below it may share */
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

static void place_thresholds(maker *m)
{
    for (uint32_t i = 0; i < m->thresholds; i++) {
        double value = m->values[i];
        m->where[i].position = position_of(m, value);
        bool told = i == 0 && m->cells.from_below;
        m->where[i].shared = !told && position_of(m, value_below(m->dtype, value)) == m->where[i].position;
    }
}

/* ---- Entries ---- */

/* Room for `entries` entries. */
static bool make_room(maker *m, uint32_t entries)
{
    uint32_t words = histo_spread(entries) + 1, room = words + words / 2;
    if (words <= m->room) return true;
    uint32_t *entry = realloc(m->entry, room * sizeof *entry);
    m->no_memory |= !entry;
    if (!entry) return false;
    m->entry = entry;
    m->room = room;
    return true;
}

/* The entry whose sum at the beginning of the cell is this. */
static void put(maker *m, uint32_t index, uint32_t sum, uint32_t cell)
{
    m->entry[histo_cells_word(m->cells.by_bits, index)] = sum - (cell << 1);
}

/* The entry of a cell, or of a narrower cell of it, whose thresholds are [first, end), one at most. */
static void put_simple(maker *m, uint32_t index, uint32_t first, uint32_t end, uint32_t cell)
{
    uint32_t base = first << (m->cells.low + 1), beyond = (uint32_t)2 << m->cells.low;
    const threshold *t = &m->where[first];
    if (end > first) base += beyond - ((t->position - cell) << 1 | (uint32_t)t->shared);
    put(m, index, base, cell);
}

/* The first threshold from `first` on that is not below `position`. */
static uint32_t end_of(const maker *m, uint32_t first, uint64_t position)
{
    while (first < m->thresholds && m->where[first].position < position)
        first++;
    return first;
}

static void put_search(maker *m, uint32_t index, uint32_t thresholds, uint32_t cell)
{
    m->close += thresholds;
    put(m, index, m->cells.special, cell);
}

/* log2 of the number of narrower cells that part the thresholds [first, end), as far as may be. */
static int log_narrower(const maker *m, uint32_t first, uint32_t end)
{
    uint32_t closest = UINT32_MAX;
    for (uint32_t i = first; i + 1 < end; i++) {
        uint32_t apart = m->where[i + 1].position - m->where[i].position;
        if (apart && apart < closest) closest = apart;
    }
    int shift = 0, least = m->cells.low > MOST_LOG_NARROWER ? m->cells.low - MOST_LOG_NARROWER : 0;
    while (shift < m->cells.low - 1 && closest >> (shift + 1))
        shift++;
    return m->cells.low - (shift < least ? least : shift);
}

/* An entry for the thresholds [first, end) of one cell, which are several or shared: narrower cells. */
static void put_narrower(maker *m, uint32_t index, uint32_t first, uint32_t end, uint32_t cell)
{
    int log_cells = m->cells.low ? log_narrower(m, first, end) : 0, shift = m->cells.low - log_cells;
    uint32_t count = (uint32_t)1 << log_cells, begin = m->entries;
    uint64_t sum = m->cells.special + ((uint64_t)begin << HISTO_NARROWER_BITS | (uint32_t)log_cells);
    bool fits = log_cells && begin + count <= MOST_ENTRIES && sum + ((uint64_t)2 << m->cells.low) <= UINT32_MAX;
    if (!fits || !make_room(m, begin + count)) {
        put_search(m, index, end - first, cell);
        return;
    }
    m->entries += count;
    for (uint32_t c = 0; c < count; c++) {
        uint32_t next = end_of(m, first, cell + ((uint64_t)(c + 1) << shift));
        if (next - first > 1)
            put_search(m, begin + c, next - first, cell);
        else
            put_simple(m, begin + c, first, next, cell);
        first = next;
    }
    put(m, index, (uint32_t)sum, cell);
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
        if (end - first > 1 || (end > first && m->cells.certain && m->where[first].shared)) {
            m->narrowed++;
            m->crowded += end - first;
            put_narrower(m, c, first, end, cell);
        } else {
            put_simple(m, c, first, end, cell);
        }
        first = end;
    }
    m->cells.words = histo_cells_word(m->cells.by_bits, m->entries - 1) + 1;
}

/* ---- Maps ---- */

static bool map_linearly(maker *m)
{
    double least = value_below(m->dtype, m->values[0]), most = m->values[m->thresholds - 1], span = most - least;
    m->cells.by_bits = m->cells.from_below = false;
    m->cells.scale = (LAST_POSITION - FIRST_POSITION) / span;
    m->cells.offset = FIRST_POSITION - least * m->cells.scale;
    m->cells.least = (float)least;
    m->cells.most = (float)most;
    m->cells.first = 0;
    m->cells.last = (int32_t)(LAST_POSITION + FIRST_POSITION);
    return span > 0 && isfinite(span) && isfinite(m->cells.scale) && isfinite(m->cells.offset);
}

static int32_t leading_bits(const maker *m, double value)
{
    return m->dtype == HISTO_F32 ? histo_leading_bits_f32((float)value) : histo_leading_bits_f64(value);
}

/* Of positive values, the bits increase with the value; those of all others are below. The first bin of an axis from 0
 * on has one position. */
static bool map_by_bits(maker *m)
{
    m->cells.from_below = m->values[0] == 0 && m->thresholds > 1;
    double first = m->values[m->cells.from_below];
    if (!(first > 0)) return false;
    m->cells.by_bits = true;
    m->cells.first = leading_bits(m, first) - 1;
    m->cells.last = leading_bits(m, m->values[m->thresholds - 1]) + 1;
    return m->cells.first >= 0 && m->cells.last > m->cells.first;
}

/* Cells of the map, about 2^log_cells, and their entries; false if sums would not fit. */
static bool cut_map(maker *m, int log_cells)
{
    uint32_t first = (uint32_t)m->cells.first, last = (uint32_t)m->cells.last;
    int low = 0;
    while ((last - first) >> low >> log_cells)
        low++;
    uint64_t special = ((uint64_t)m->thresholds + 1) << (low + 1);
    if (special + ((uint64_t)2 << low) > UINT32_MAX) return false;
    m->cells.special = (uint32_t)special;
    m->cells.low = (uint8_t)low;
    m->cells.skipped = first >> low;
    uint32_t count = (last >> low) - (first >> low) + 1;
    if (!make_room(m, count)) return false;
    place_thresholds(m);
    make_entries(m, count);
    return !m->no_memory;
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
 * evenly spread over positions, and half like the thresholds, as edges are set where samples are. Large tables leave
 * less room to samples on their way. */
static double cost_of(const maker *m, uint32_t cells)
{
    double narrowed = (double)m->narrowed / cells, crowded = (double)m->crowded / m->thresholds;
    double close = (double)m->close / m->thresholds;
    double special = (narrowed + crowded) / 2;
    return 8 * in_a_warp(special) + 8 * special + 100 * in_a_warp(close / 2) + (m->cells.certain ? 0 : 2) +
           m->cells.words / 8192. + (m->cells.words > FAST_ENTRIES ? 100 : 0);
}

static void try_map(maker *m, choice *best, int log_cells)
{
    for (int more = 0; more <= MORE_CELLS && log_cells + more <= MOST_LOG_CELLS; more++)
        for (int certain = 0; certain < 2; certain++) {
            m->cells.certain = certain;
            if (best->log_cells && log_cells + more > LOG_FAST_CELLS && more > 0) return;
            if (!cut_map(m, log_cells + more)) continue;
            double cost = cost_of(m, (uint32_t)1 << (log_cells + more));
            if (!best->log_cells || cost < best->cost) *best = (choice){m->cells, log_cells + more, cost};
        }
}

static uint32_t *shrunk(uint32_t *words, uint32_t count)
{
    uint32_t *less = realloc(words, count * sizeof *words);
    return less ? less : words;
}

histo_status histo_cells_make(histo_cells *cells, const histo_axis *owned, histo_dtype dtype)
{
    *cells = (histo_cells){.entry = NULL};
    int log_cells = 5;
    while ((INT64_C(1) << (log_cells - 1)) <= owned->bins + 3) /* so that sums fit */
        log_cells++;
    if (log_cells > MOST_LOG_CELLS) return HISTO_OK;
    maker m = {.dtype = dtype};
    choice best = {.log_cells = 0};
    bool any = list_thresholds(&m, owned);
    m.no_memory = !m.values || !m.where;
    if (any && map_linearly(&m)) try_map(&m, &best, log_cells);
    if (any && map_by_bits(&m)) try_map(&m, &best, log_cells);
    m.cells = best.cells;
    if (!m.no_memory && best.log_cells && cut_map(&m, best.log_cells)) {
        *cells = m.cells;
        cells->entry = shrunk(m.entry, cells->words);
    } else {
        free(m.entry);
    }
    free(m.values);
    free(m.where);
    return m.no_memory ? histo_fail_memory(((size_t)owned->bins + 1) * 16, "a table of cells") : HISTO_OK;
}

void histo_cells_free(histo_cells *cells)
{
    free((void *)cells->entry);
    cells->entry = NULL;
}
