/* Building the table of cells: see cells.h. */

#include "axis/axis.h"
#include "axis/whole.h"
#include "base/memory.h"
#include "view/dtype.h"

enum {
    MAX_LOG_CELLS = 21,
    MAX_LEVELS = 6,
    MAX_ENTRIES = 1 << 22,
    MORE_CELLS = 6,       /* how often the number of cells may double to separate all thresholds */
    GOOD_ENTRIES = 44000, /* leaves room for counters in a GPU's shared memory */
    FAST_ENTRIES = 52000, /* fits there without counters */
    LOG_FAST_CELLS = 16,  /* more cells always exceed GOOD_ENTRIES */
    LOG_QUICK_CELLS = 17, /* above this, only one number of finer cells is tried, to save time */
    QUICK_LOG_FINER = 3,  /* log2 of that number */
    WARP = 32,            /* samples that a GPU processes in lockstep */
    GROUP = 8 * WARP      /* samples that branch together */
};

/* Linear maps use positions in this range. Its length is a golden section of 2^31, so that regularly spaced samples are
 * not a power of two of cells apart; it starts above 0 to leave room for rounding. */
#define FIRST_POSITION 16.
#define LAST_POSITION 0x1.3c6ef372p30

/* The position of a threshold, and whether samples below it share that position. */
typedef struct threshold {
    uint32_t position;
    bool shared;
} threshold;

typedef struct maker {
    histo_cells cells;
    histo_dtype dtype;
    double samples;   /* samples per fill */
    double *values;   /* exact values of the thresholds */
    threshold *where; /* their positions */
    uint32_t thresholds;
    bool coincide; /* whether some positions coincide */
    uint32_t *entry;
    uint32_t words, room, most; /* most: tables with more words are not wanted */
    bool no_memory, too_many;
    double special[MAX_LEVELS + 1]; /* approximate fraction of samples that are special at each level */
} maker;

/* ---- Thresholds ---- */

double histo_first_value(histo_dtype dtype, double edge, bool above)
{
    if (above && edge == (double)INFINITY) return NAN;
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
    return fabs(value) >= 0x1p53 ? value : value - 1; /* as a double, which samples below the threshold may also round
                                                       * to */
}

static bool list_thresholds(maker *m, const histo_axis *owned)
{
    double least = -INFINITY, most = INFINITY;
    if (histo_dtype_is_integer(m->dtype)) {
        histo_dtype_limits(m->dtype, &least, &most);
        most = nextafter(most, 0);
    }
    m->values = histo_malloc(((size_t)owned->bins + 1) * sizeof *m->values);
    m->where = histo_malloc(((size_t)owned->bins + 1) * sizeof *m->where);
    if (!m->values || !m->where) return false;
    /* If the last edge was rounded up, it lies above what a closed axis takes. */
    const bool closed = owned->closed && !(histo_axis_is_whole(owned) && !histo_whole_is_double(owned, owned->bins));
    for (int64_t i = 0; i <= owned->bins; i++) {
        double value = histo_first_value(m->dtype, histo_edge_at(owned, i), i == owned->bins && closed);
        if (!(value <= most)) break; /* above all possible samples */
        value = value > least ? value : least;
        m->coincide |= i > 0 && value == m->values[i - 1];
        m->values[m->thresholds++] = value;
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
        bool told = i == 0 && (m->cells.from_below || value == -INFINITY); /* else every sample would need a
                                                                            * comparison */
        m->where[i].shared = !told && position_of(m, value_below(m->dtype, value)) == m->where[i].position;
    }
}

/* ---- Entries ---- */

static bool make_room(maker *m, uint32_t words)
{
    uint32_t room = words + words / 2;
    if (words <= m->room) return true;
    uint32_t *entry = histo_realloc(m->entry, room * sizeof *entry);
    m->no_memory |= !entry;
    if (!entry) return false;
    m->entry = entry;
    m->room = room;
    return true;
}

/* A cell of any level: its first position `begin`, its thresholds [first, end), and the first position `cell` of the
 * first-level cell around it. */
typedef struct part {
    uint32_t first, end, cell, begin;
    int level;
} part;

/* The first threshold, from `first` on, that is not below `position`. */
static uint32_t end_of(const maker *m, uint32_t first, uint64_t position)
{
    while (first < m->thresholds && m->where[first].position < position)
        first++;
    return first;
}

/* The sum at the beginning of the first-level cell of a part with at most one threshold. */
static uint32_t simple_sum(const maker *m, const part *p)
{
    uint32_t base = p->first << (m->cells.low + 1), beyond = (uint32_t)2 << m->cells.low;
    const threshold *t = &m->where[p->first];
    return p->end > p->first ? base + beyond - ((t->position - p->cell) << 1 | (uint32_t)t->shared) : base;
}

/* Whether all thresholds of a part are at one value, and it has no samples below that. */
static bool is_above_all(const maker *m, const part *p)
{
    const threshold *first = &m->where[p->first];
    return first->position == p->begin && !first->shared && m->values[p->first] == m->values[p->end - 1];
}

/* Append `count` words, to which special sums refer by a number with this shift; false if they do not fit. */
static bool add_words(maker *m, uint32_t count, int shift)
{
    const histo_cells *c = &m->cells;
    uint64_t highest = c->special + ((uint64_t)(m->words - c->finer + count) << shift);
    m->too_many |= highest > UINT32_MAX || m->words + count > m->most;
    if (m->too_many || !make_room(m, m->words + count)) return false;
    m->words += count;
    return true;
}

/* Make the cells of a part; a part with several thresholds gets finer cells, up to MAX_LEVELS deep. */
static uint32_t sum_of(maker *m, const part *p)
{
    if (p->end - p->first <= 1) return simple_sum(m, p);
    histo_cells *c = &m->cells;
    if (is_above_all(m, p)) return p->end << (c->low + 1);
    int width = histo_cells_shift(c, p->level) - 1; /* log2 of the number of positions in the part */
    int level = p->level + 1;
    bool is_last = level > MAX_LEVELS || width == 0;
    int shift = is_last ? width + 1 : histo_cells_shift(c, level), finer_width = shift - 1;
    m->special[p->level] +=
        ldexp(1, width) / ((double)c->last - c->first) / 2 + (double)(p->end - p->first) / m->thresholds / 2;
    uint32_t first = m->words - c->finer, count = is_last ? 2 : (uint32_t)1 << (width - finer_width);
    if (!add_words(m, count, shift)) return 0;
    uint32_t sum = c->special + (first << shift) - ((p->begin - p->cell) << 1);
    if (is_last) {
        m->entry[c->finer + first] = p->first;
        m->entry[c->finer + first + 1] = p->end;
        return sum;
    }
    if (c->levels < level) c->levels = (uint8_t)level;
    part finer = {p->first, p->first, p->cell, p->begin, level};
    for (uint32_t i = 0; i < count; i++) {
        finer.first = finer.end;
        finer.begin = p->begin + (i << finer_width);
        finer.end = end_of(m, finer.first, finer.begin + (UINT64_C(1) << finer_width));
        uint32_t finer_sum = sum_of(m, &finer);
        m->entry[c->finer + first + i] = finer_sum - sum;
    }
    return sum;
}

/* Make the entries for the map and cell width in m->cells. */
static bool make_entries(maker *m, uint32_t count)
{
    memset(m->special, 0, sizeof m->special);
    m->too_many = false;
    m->cells.levels = 0;
    m->cells.finer = m->words =
        (uint32_t)histo_cells_word(&m->cells, m->cells.by_bits, m->cells.skipped + count - 1) + 1;
    if (!make_room(m, m->words)) return false;
    part p = {0, 0, 0, 0, 0};
    m->too_many = m->words > m->most;
    for (uint32_t c = 0; c < count && !m->too_many; c++) {
        p.first = p.end;
        p.cell = p.begin = (c + m->cells.skipped) << m->cells.low;
        p.end = end_of(m, p.first, (uint64_t)p.cell + ((uint64_t)1 << m->cells.low));
        uint32_t sum = sum_of(m, &p);
        m->entry[histo_cells_word(&m->cells, m->cells.by_bits, m->cells.skipped + c)] = sum - (p.cell << 1);
    }
    m->cells.words = m->words;
    return !m->too_many && !m->no_memory;
}

/* ---- Maps ---- */

/* Map the finite thresholds linearly to this many positions. Infinite ones share the positions at the ends. */
static bool map_linearly_to(maker *m, double positions)
{
    uint32_t first = 0, last = m->thresholds - 1;
    while (first < last && m->values[first] == -INFINITY)
        first++;
    while (last > first && m->values[last] == INFINITY)
        last--;
    double least = value_below(m->dtype, m->values[first]), most = m->values[last], span = most - least;
    m->cells.by_bits = m->cells.from_below = false;
    m->cells.scale = positions / span;
    m->cells.offset = FIRST_POSITION - least * m->cells.scale;
    m->cells.least = (float)least;
    m->cells.most = (float)most;
    m->cells.first = 0;
    m->cells.last = (int32_t)(positions + 2 * FIRST_POSITION);
    return span > 0 && isfinite(span) && isfinite(m->cells.scale) && isfinite(m->cells.offset);
}

static bool map_linearly(maker *m)
{
    return map_linearly_to(m, LAST_POSITION - FIRST_POSITION);
}

/* A position for each value that a sample may have. For thresholds that coincide otherwise, because edges are closer
 * together than floats: few finer cells are needed to separate them. */
static bool map_each_value(maker *m)
{
    const double least = value_below(m->dtype, m->values[0]), most = m->values[m->thresholds - 1];
    const double smallest = fmin(fabs(least), fabs(most)), exact = 0x1p51;
    double unit = 1;
    if (m->dtype == HISTO_F64) return false;
    if (m->dtype == HISTO_F32) {
        if (!(least > 0 || most < 0)) return false;
        unit = (double)nextafterf((float)smallest, INFINITY) - smallest;
    }
    const double positions = (most - least) / unit;
    return positions <= LAST_POSITION - FIRST_POSITION && fmax(fabs(least), fabs(most)) / unit <= exact &&
           map_linearly_to(m, positions);
}

static int32_t leading_bits(const maker *m, double value)
{
    return m->dtype == HISTO_F32 ? histo_leading_bits_f32((float)value) : histo_leading_bits_f64(value);
}

/* The bits of positive values increase with the value; other values compare below them. The first bin of an axis that
 * starts at 0 has a single position. */
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

/* Divide the map into about 2^log_cells cells and make their entries; false if sums would overflow. */
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
    return make_entries(m, (last >> low) - (first >> low) + 1);
}

/* ---- Choosing a map ---- */

typedef struct cell_choice {
    histo_cells cells;
    int log_cells; /* 0: none chosen yet */
    double cost;
} cell_choice;

/* The probability that at least one of n samples has a property that `fraction` of all samples have. */
static double in_any(double fraction, int n)
{
    return 1 - pow(1 - fmin(fraction, 1), n);
}

/* Approximate cycles of a multiprocessor for a warp of samples, above the cost common to all tables. Assumes that half
 * of the samples are spread evenly over positions, and half follow the thresholds, because users place edges where
 * samples are. Large tables leave less shared memory for counters and for samples in flight, and each multiprocessor
 * copies them. */
static double cost_of(const maker *m)
{
    const double copied = 400; /* warps that are counted in the time that a word of all copies takes */
    uint32_t words = m->cells.words;
    double cost = words / 131072. + (words > GOOD_ENTRIES ? 3 : 0) + (words > FAST_ENTRIES ? 100 : 0);
    if (words <= FAST_ENTRIES) cost += words * copied / m->samples;
    for (int level = 0; level <= MAX_LEVELS; level++) {
        double fraction = m->special[level];
        bool last = level == MAX_LEVELS || level == m->cells.levels;
        cost +=
            last ? 8 * in_any(fraction, GROUP) : in_any(fraction, WARP) + 2 * fraction + 2 * in_any(fraction, GROUP);
        if (last) break;
    }
    return cost;
}

static void try_map(maker *m, cell_choice *best, int log_cells)
{
    static const uint8_t log_finer[] = {2, QUICK_LOG_FINER, 4, 6, 9};
    place_thresholds(m);
    for (int more = 0; more <= MORE_CELLS && log_cells + more <= MAX_LOG_CELLS; more++)
        for (size_t f = 0; f < sizeof log_finer / sizeof *log_finer; f++) {
            m->cells.log_finer = log_finer[f];
            if (best->log_cells && log_cells + more > LOG_FAST_CELLS && more > 0) return;
            if (log_cells > LOG_QUICK_CELLS && log_finer[f] != QUICK_LOG_FINER) continue;
            if (!cut_map(m, log_cells + more)) continue;
            double cost = cost_of(m);
            if (!best->log_cells || cost < best->cost) *best = (cell_choice){m->cells, log_cells + more, cost};
            if (best->cells.words <= FAST_ENTRIES) m->most = FAST_ENTRIES; /* larger ones cost more than all else */
            if (!m->cells.levels) return; /* nothing that finer or more cells could separate */
        }
}

static uint32_t *shrunk(uint32_t *words, uint32_t count)
{
    uint32_t *less = histo_realloc(words, count * sizeof *words);
    return less ? less : words;
}

histo_status histo_cells_make(histo_cells *cells, const histo_axis *owned, histo_dtype dtype, int64_t samples)
{
    *cells = (histo_cells){.entry = NULL};
    int log_cells = 5;
    while ((INT64_C(1) << (log_cells - 1)) <= owned->bins + 3) /* so that sums do not overflow */
        log_cells++;
    if (log_cells > MAX_LOG_CELLS) return HISTO_OK;
    maker m = {.dtype = dtype, .samples = (double)samples, .most = MAX_ENTRIES};
    cell_choice best = {.log_cells = 0};
    bool any = list_thresholds(&m, owned);
    m.no_memory = !m.values || !m.where;
    if (any && ((m.coincide && map_each_value(&m)) || map_linearly(&m))) try_map(&m, &best, log_cells);
    if (any && map_by_bits(&m)) try_map(&m, &best, log_cells);
    m.cells = best.cells;
    if (best.log_cells) place_thresholds(&m);
    if (!m.no_memory && best.log_cells && cut_map(&m, best.log_cells)) {
        *cells = m.cells;
        cells->entry = shrunk(m.entry, cells->words);
    } else {
        histo_free(m.entry);
    }
    histo_free(m.values);
    histo_free(m.where);
    return m.no_memory ? histo_fail_memory(((size_t)owned->bins + 1) * 16, "a table of cells") : HISTO_OK;
}

void histo_cells_free(histo_cells *cells)
{
    histo_free((void *)cells->entry);
    cells->entry = NULL;
}
