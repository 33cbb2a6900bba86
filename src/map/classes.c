/* Class numbers: tables of the classes into which histograms are split. */
#include <math.h>

#include "base/error.h"
#include "base/floats.h"
#include "base/memory.h"
#include "map/map.h"

static double value_of(const histo_making *m, int number)
{
    const double lo = m->options.lo, hi = m->options.hi;
    if (number == m->n - 1) return hi;
    const double value = lo + (hi - lo) * (double)number / (double)(m->n - 1);
    return m->whole ? rint(value) : value;
}

/* last: of each class but the highest, its last bin */
static void fill_table(const histo_map *map, const histo_making *m, const int64_t *last, double *table)
{
    int number = 0;
    for (int64_t bin = 0; bin < map->axes[0].bins; bin++) {
        while (number < m->n - 1 && bin > last[number])
            number++;
        table[bin + 1] = value_of(m, number);
    }
    histo_map_set_flow(map, table);
}

static histo_status check(const histo_map *map, const histo_hist *hist, int classes, const histo_make_options *o)
{
    histo_status status = histo_map_check_source(map, hist, true);
    if (status != HISTO_OK) return status;
    if (map->within != HISTO_MAP_STEP) return histo_fail(HISTO_INVALID, "class numbers need a HISTO_MAP_STEP map");
    if (classes < 2) return histo_fail(HISTO_INVALID, "%d classes: there must be 2 or more", classes);
    return histo_map_check_options(o, false);
}

histo_status histo_map_classes(histo_map *map, const histo_hist *hist, histo_split_method method, int classes,
                               const histo_make_options *options)
{
    HISTO_STANDARD_FLOATS;
    histo_making m = {.by = HISTO_MAKE_CLASSES, .n = classes, .method = method};
    if (options) m.options = *options;
    histo_status status = check(map, hist, classes, &m.options);
    if (status != HISTO_OK) return status;
    if (m.options.lo == 0 && m.options.hi == 0) m.options.hi = classes - 1;
    m.whole = histo_map_is_whole(m.options.lo) && histo_map_is_whole(m.options.hi);
    bool made;
    status = histo_map_make_there(map, hist, NULL, &m, &made);
    if (status != HISTO_OK || made) return status;
    const int64_t batch = histo_hist_batch(hist), each = classes - 1;
    int64_t *last = histo_malloc((size_t)(batch * each) * sizeof *last);
    if (!last) return histo_fail_memory((size_t)(batch * each) * sizeof *last, "the last bins of classes");
    status = histo_hist_split(hist, method, classes, last);
    for (int64_t b = 0; b < map->batch && status == HISTO_OK; b++)
        fill_table(map, &m, last + (batch > 1 ? b * each : 0), map->values + b * map->length);
    if (status == HISTO_OK) histo_map_changed(map);
    histo_free(last);
    return status;
}
