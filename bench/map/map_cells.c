/* The cells of the map, from its table. */
#include <fnmatch.h>
#include <string.h>

#include "base/error.h"
#include "bench/core/layout.h"
#include "bench/map/map.h"
#include "view/dtype.h"

typedef struct group {
    bench_placement placement;
    histo_dtype dtype;
    bench_axis_kind axis;
    int64_t bins;
    unsigned distributions;
    double gpu, cpu;
    const char *target_peer;
    double over_peer;
    int64_t each[BENCH_MAX_AXES]; /* bins of each axis of a joint histogram, 1: no such axis; else 0 */
    bool interleaved, sparse;
    bench_layout layout;
    histo_dtype weights;
    histo_weighting weighting;
} group;

enum {
    UNIFORM = 1 << 0,
    DEGENERATE = 1 << 1,
    VALUES_2 = 1 << 2,
    VALUES_4 = 1 << 3,
    VALUES_16 = 1 << 4,
    VALUES_64 = 1 << 5,
    VALUES_256 = 1 << 6,
    CLUSTERED = 1 << 7,
    TENTH = 1 << 8,
    ZIPF = 1 << 9,
    SORTED = 1 << 10,
    RUNS = 1 << 11,
    WAFER_EIGHTH = 1 << 12,
    WAFER_TENTH = 1 << 13,
    ON_EDGES = 1 << 14,
    COLOURS = 1 << 15,
    ENDS = UNIFORM | DEGENERATE | ZIPF,
    COMMON = ENDS | VALUES_2 | SORTED | RUNS,
    MANY = COMMON | VALUES_16 | CLUSTERED,
    EVERY = MANY | VALUES_4 | VALUES_64 | VALUES_256 | TENTH,
};

static const struct {
    unsigned bit;
    const char *name;
    bench_kind kind;
    double shape;
} distributions[] = {
    {UNIFORM, "uniform", BENCH_UNIFORM, 0},        {DEGENERATE, "degenerate", BENCH_DEGENERATE, 0},
    {VALUES_2, "values-2", BENCH_SPREAD, 2},       {VALUES_4, "values-4", BENCH_SPREAD, 4},
    {VALUES_16, "values-16", BENCH_SPREAD, 16},    {VALUES_64, "values-64", BENCH_SPREAD, 64},
    {VALUES_256, "values-256", BENCH_SPREAD, 256}, {CLUSTERED, "clustered-8", BENCH_CLUSTERED, 0.125},
    {TENTH, "clustered-10", BENCH_CLUSTERED, 0.1}, {ZIPF, "zipf", BENCH_ZIPF, 0},
    {SORTED, "sorted", BENCH_SORTED, 0},           {RUNS, "runs", BENCH_RUNS, 0},
    {WAFER_EIGHTH, "wafer", BENCH_WAFER, 0.125},   {WAFER_TENTH, "wafer", BENCH_WAFER, 0.1},
    {ON_EDGES, "on-edges", BENCH_ON_EDGES, 0},     {COLOURS, "photographs", BENCH_COLOURS, 0},
};
enum { DISTRIBUTIONS = sizeof distributions / sizeof distributions[0], K = 1024, M = 1024 * 1024, NONE = -1 };

#define NAIVE(times) .target_peer = "naive loop", .over_peer = times
#define BOOST .target_peer = "boost-histogram", .over_peer = 3
#define JOINT(x, y) .each = {x, y, 1}
#define PIXELS(bins) .each = {bins, bins, bins}, .interleaved = true
#define WEIGHTED(type, how) .weights = HISTO_##type, .weighting = HISTO_WEIGHT_##how
#define GROUP(placement, dtype, axis, bins, distributions, gpu, cpu, ...)                                              \
    {BENCH_##placement, HISTO_##dtype, BENCH_##axis, (int64_t)(bins), distributions, gpu, cpu, __VA_ARGS__},
static const group groups[] = {
#include "bench/map/map.def"
};
#undef NAIVE
#undef BOOST
#undef JOINT
#undef PIXELS
#undef WEIGHTED
#undef GROUP
enum { GROUPS = sizeof groups / sizeof groups[0] };

static const char *axis_name(const group *g)
{
    static const char *const names[] = {
        [BENCH_QUANTILES] = "quantiles", [BENCH_QUADRATIC] = "quadratic", [BENCH_LOG] = "log"};
    return names[g->axis] ? names[g->axis] : histo_dtype_is_integer(g->dtype) ? "integer" : "regular";
}

static const char *placement_name(bench_placement placement)
{
    return placement == BENCH_PINNED ? "/pinned" : placement == BENCH_PAGEABLE ? "/pageable" : "";
}

/* "integer/4096", "joint/64x64x64" */
static void name_axes(const group *g, char *name, size_t capacity)
{
    if (g->each[0])
        snprintf(name, capacity, g->each[2] > 1 ? "joint/%lldx%lldx%lld" : "joint/%lldx%lld", (long long)g->each[0],
                 (long long)g->each[1], (long long)g->each[2]);
    else
        snprintf(name, capacity, "%s/%lld", axis_name(g), (long long)g->bins);
}

/* "/sparse", or "/f32-fast-sum": the weights' type and how they are summed. */
static void name_storage(const group *g, char *name, size_t capacity)
{
    static const char *const kinds[] = {[HISTO_WEIGHT_FAST] = "fast",
                                        [HISTO_WEIGHT_REPRODUCIBLE] = "exact",
                                        [HISTO_WEIGHT_FAST_SUM] = "fast-sum",
                                        [HISTO_WEIGHT_REPRODUCIBLE_SUM] = "exact-sum"};
    snprintf(name, capacity, "%s", g->sparse ? "/sparse" : "");
    if (g->weighting) snprintf(name, capacity, "/%s-%s", histo_dtype_name(g->weights), kinds[g->weighting]);
}

int bench_map_cells(bench_cell cells[BENCH_MAX_CELLS])
{
    int count = 0;
    for (int i = 0; i < GROUPS; i++) {
        const group *g = &groups[i];
        const char *dtype = histo_dtype_name(g->dtype), *placement = placement_name(g->placement);
        char axes[32];
        name_axes(g, axes, sizeof axes);
        const char *layout = bench_layout_name(g->layout), *slash = *layout ? "/" : "";
        char storage[24];
        name_storage(g, storage, sizeof storage);
        for (int d = 0; d < DISTRIBUTIONS && count < BENCH_MAX_CELLS; d++) {
            if (!(g->distributions & distributions[d].bit)) continue;
            bench_cell *cell = &cells[count++];
            *cell = (bench_cell){.input = {.kind = distributions[d].kind,
                                           .shape = distributions[d].shape,
                                           .dtype = g->dtype,
                                           .bins = g->bins,
                                           .axis = g->axis,
                                           .layout = g->layout,
                                           .weighting = g->weighting,
                                           .weights = g->weights},
                                 .placement = g->placement,
                                 .column = distributions[d].name,
                                 .target = {g->cpu, g->gpu},
                                 .target_peer = g->target_peer,
                                 .over_peer = g->over_peer};
            memcpy(cell->input.each, g->each, sizeof g->each);
            cell->input.interleaved = g->interleaved;
            cell->input.sparse = g->sparse;
            for (int a = 0; a < BENCH_MAX_AXES; a++)
                cell->input.axes += g->each[a] > 1;
            snprintf(cell->row, sizeof cell->row, "%s/%s%s%s%s%s", dtype, axes, storage, placement, slash, layout);
            snprintf(cell->input.name, sizeof cell->input.name, "%s/%s%s/%s%s%s%s", dtype, axes, storage, cell->column,
                     placement, slash, layout);
        }
    }
    return count;
}

bool bench_cell_selected(const bench_cell *cell, const char *patterns)
{
    char pattern[128], wanted[128], part[128];
    while (bench_next_item(&patterns, ',', pattern, sizeof pattern)) {
        const char *name = cell->input.name, *rest = pattern;
        bool matches = *pattern;
        while (matches && bench_next_item(&rest, '/', wanted, sizeof wanted)) {
            matches = false;
            while (!matches && bench_next_item(&name, '/', part, sizeof part))
                matches = fnmatch(wanted, part, 0) == 0;
        }
        if (matches) return true;
    }
    return false;
}
