#include "bench/random/random_data.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads/pool.h"
#include "bench/random/random_sample.h"
#include "view/dtype.h"

enum { STREAM_SAMPLES = 10, STREAM_WEIGHTS = 30, STREAM_MASK, STREAM_WHERE };

/* ---- Making arrays ---- */

typedef struct making_ranges {
    const sample_making *making;
    int ranges;
} making_ranges;

static void make_range(void *context, int range)
{
    const making_ranges *work = context;
    const int64_t count = work->making->sampler.count, each = count / work->ranges, begin = each * range;
    const int64_t end = range + 1 < work->ranges ? begin + each : count;
    for (int64_t i = begin; i < end; i++)
        making_store(work->making, i);
}

static histo_status allocate(problem_data *data, int array, size_t bytes)
{
    problem_array *made = &data->arrays[array];
    made->bytes = bytes;
    data->bytes += bytes;
    if (data->device && array != PROBLEM_OFFSETS) {
        void *memory = NULL;
        histo_status status = data->device->allocate(bytes + 1, &memory);
        made->placed = memory;
        return status;
    }
    made->host = histo_malloc(bytes + 1);
    if (!made->host) return histo_fail_memory(bytes, "samples of a random problem");
    made->placed = made->host;
    return HISTO_OK;
}

/* The largest value that is not above the limits of an integer type, as a double. */
static void limit(sampler *s)
{
    if (s->type > HISTO_I64) return;
    histo_dtype_limits(s->type, &s->smallest, &s->largest);
    s->largest = s->largest > 0x1p53 ? nextafter(s->largest, 0) : s->largest - 1;
}

/* The first edge that is not below x. */
static int64_t first_edge(const sampler *s, int64_t bins, double x)
{
    int64_t below = 0, end = bins + 1;
    while (below < end) {
        int64_t middle = (below + end) / 2;
        if (sampler_edge(s, middle) < x)
            below = middle + 1;
        else
            end = middle;
    }
    return below;
}

static sampler sampler_of(const problem_data *data, int a, int64_t count)
{
    const random_problem *p = data->problem;
    const problem_axis *axis = &p->axis[a];
    sampler s = {.kind = p->kind, .type = axis->type, .shape = p->shape, .flow = p->flow, .nan = p->nan};
    if (axis->type <= HISTO_I64) s.nan = 0;
    s.by_value = p->by_value;
    s.stream = problem_stream(p, STREAM_SAMPLES + (uint64_t)a);
    s.count = count;
    s.edges = data->edges[a];
    s.edge_count = axis->bins + 1;
    s.lo = s.edges[0];
    s.hi = s.edges[axis->bins];
    s.bins = axis->bins;
    limit(&s);
    if (axis->type <= HISTO_I64) {
        s.from = first_edge(&s, axis->bins, s.smallest);
        int64_t end = first_edge(&s, axis->bins, s.largest);
        if (s.from > 0 && s.edges[s.from > axis->bins ? axis->bins : s.from] > s.smallest) s.from--;
        if (end > axis->bins) end = axis->bins;
        if (s.from >= end) s.from = end > 0 ? end - 1 : 0;
        s.bins = end > s.from ? end - s.from : 1;
    }
    return s;
}

/* Ranks of Zipf: their probability is proportional to 1 / (rank + 1)^exponent. */
static histo_status make_ranks(sampler *s, double **ranks)
{
    const double exponent = s->shape == 0 ? 1 : s->shape, end = (double)s->bins + 1;
    const double reach = exponent == 1 ? log(end) : pow(end, 1 - exponent) - 1;
    *ranks = NULL;
    if (s->kind != PROBLEM_ZIPF && s->kind != PROBLEM_SCATTERED) return HISTO_OK;
    *ranks = histo_malloc(SAMPLER_RANKS * sizeof **ranks);
    if (!*ranks) return histo_fail_memory(SAMPLER_RANKS * sizeof **ranks, "samples of a random problem");
    for (int i = 0; i < SAMPLER_RANKS; i++) {
        double rest = ldexp(1 + (double)(i % (SAMPLER_STEPS + 1)) / SAMPLER_STEPS, -(i / (SAMPLER_STEPS + 1)));
        double u = rest < 1 ? 1 - rest : 0;
        (*ranks)[i] = (exponent == 1 ? exp(u * reach) : pow(1 + u * reach, 1 / (1 - exponent))) - 1;
    }
    s->ranks = *ranks;
    return HISTO_OK;
}

static histo_status run(const problem_data *data, const sample_making *m, int threads)
{
    if (data->device) return data->device->random->make(m);
    making_ranges work = {m, m->sampler.count < 1 << 14 ? 1 : threads};
    histo_pool_run(work.ranges, make_range, &work);
    return HISTO_OK;
}

/* Where an array is made: where it lies on the device, else in host memory. */
static char *made_at(const problem_data *data, int array)
{
    return data->device ? (char *)data->arrays[array].placed : data->arrays[array].host;
}

static histo_status make_column(const problem_data *data, int a, char *to, int64_t step, int64_t count, int threads)
{
    double *ranks;
    sample_making m = {.sampler = sampler_of(data, a, count), .to = to, .step = step};
    histo_status status = make_ranks(&m.sampler, &ranks);
    if (status == HISTO_OK) status = run(data, &m, threads);
    free(ranks);
    return status;
}

/* A column for each axis, in an array of its own; all columns of a table are in one. */
static histo_status make_samples(problem_data *data, int threads)
{
    const random_problem *p = data->problem;
    const bool table = p->layout == PROBLEM_TABLE;
    const int64_t stored = problem_samples_shape(p).stored, columns = table ? p->channels : 1;
    histo_status status = HISTO_OK;
    for (int c = 0; c < (table ? columns : p->axes) && status == HISTO_OK; c++) {
        const int a = c < p->axes ? c : 0, array = table ? 0 : a;
        const int64_t size = (int64_t)histo_dtype_size(p->axis[a].type), at = p->offset + (table ? c * size : 0);
        if (c == array) status = allocate(data, array, (size_t)(stored * size + p->offset));
        if (status == HISTO_OK)
            status = make_column(data, a, made_at(data, array) + at, size * columns, stored / columns, threads);
    }
    return status;
}

/* Weights, a mask or a filter. */
static histo_status make_other(problem_data *data, int array, uint64_t stream, histo_dtype type, int threads)
{
    const random_problem *p = data->problem;
    const int64_t stored = problem_others_shape(p).stored, size = (int64_t)histo_dtype_size(type);
    histo_status status = allocate(data, array, (size_t)(stored * size));
    sample_making m = {
        .sampler = {.type = type, .count = stored, .shape = p->mask, .stream = problem_stream(p, stream)},
        .what = (making_what)(MAKING_WEIGHTS + array - PROBLEM_WEIGHTS),
        .run = p->mask_run,
        .to = made_at(data, array),
        .step = size};
    limit(&m.sampler);
    return status == HISTO_OK ? run(data, &m, threads) : status;
}

static histo_status make_axis(problem_data *data, int a)
{
    const random_problem *p = data->problem;
    const size_t bytes = (size_t)(p->axis[a].bins + 1) * sizeof(double);
    data->edges[a] = histo_malloc(bytes);
    if (!data->edges[a]) return histo_fail_memory(bytes, "edges of a random problem");
    data->axes[a] = problem_axis_make(p, a, data->edges[a]);
    histo_status status = histo_axis_check(&data->axes[a]);
    if (status != HISTO_OK || p->axis[a].kind == HISTO_VARIABLE) return status;
    if (p->axis[a].kind > HISTO_VARIABLE) return histo_axis_edges(&data->axes[a], data->edges[a]);
    const double lo = p->axis[a].lo, hi = p->axis[a].hi, step = (hi - lo) / (double)p->axis[a].bins;
    for (int64_t i = 0; i < p->axis[a].bins; i++)
        data->edges[a][i] = lo + (double)i * step;
    data->edges[a][p->axis[a].bins] = hi;
    return HISTO_OK;
}

histo_status problem_data_make(const random_problem *p, int threads, const bench_device *device, problem_data *data)
{
    histo_status status = HISTO_OK;
    *data = (problem_data){.problem = p, .device = device, .where_hi = 100 * p->where};
    for (int a = 1; a < p->axes && p->layout == PROBLEM_TABLE; a++)
        if (p->axis[a].type != p->axis[0].type)
            return histo_fail(HISTO_INVALID, "a table's columns all have one type in a random problem");
    for (int a = 0; a < p->axes && status == HISTO_OK; a++)
        status = make_axis(data, a);
    if (status == HISTO_OK) status = make_samples(data, threads);
    if (status == HISTO_OK && p->weighting)
        status = make_other(data, PROBLEM_WEIGHTS, STREAM_WEIGHTS, p->weights, threads);
    if (status == HISTO_OK && p->mask < 1) status = make_other(data, PROBLEM_MASK, STREAM_MASK, p->mask_type, threads);
    if (status == HISTO_OK && p->where < 1)
        status = make_other(data, PROBLEM_WHERE, STREAM_WHERE, p->where_type, threads);
    if (status != HISTO_OK || p->layout != PROBLEM_SEGMENTS) return status;
    status = allocate(data, PROBLEM_OFFSETS, (size_t)(p->batch + 1) * sizeof(int64_t));
    if (status == HISTO_OK) problem_offsets(p, data->arrays[PROBLEM_OFFSETS].host);
    return status;
}

void problem_data_free(problem_data *data)
{
    for (int a = 0; a < HISTO_MAX_AXES; a++)
        free(data->edges[a]);
    for (int i = 0; i < PROBLEM_ARRAYS; i++)
        free(data->arrays[i].host);
    *data = (problem_data){0};
}

/* ---- Views ---- */

static histo_view view_of(const problem_shape *at, const void *array, int64_t offset, histo_dtype type)
{
    const int64_t size = (int64_t)histo_dtype_size(type);
    histo_view view = {.dtype = type, .ndim = at->ndim, .batch_ndim = at->batch_ndim};
    view.data = (const char *)array + offset + at->first * size;
    for (int d = 0; d < at->ndim; d++) {
        view.shape[d] = at->shape[d];
        view.strides[d] = at->strides[d] * size;
    }
    return view;
}

static const void *at_place(const problem_data *data, int array, bool on_host)
{
    return on_host ? data->arrays[array].host : data->arrays[array].placed;
}

void problem_fill_make(const problem_data *data, bool on_host, problem_fill *fill)
{
    const random_problem *p = data->problem;
    const problem_shape samples = problem_samples_shape(p), others = problem_others_shape(p);
    *fill = (problem_fill){0};
    for (int a = 0; a < p->axes; a++) {
        const histo_dtype type = p->axis[a].type;
        bool table = p->layout == PROBLEM_TABLE;
        int64_t column = table ? a * (int64_t)histo_dtype_size(type) : 0;
        fill->samples[a] = view_of(&samples, at_place(data, table ? 0 : a, on_host), p->offset + column, type);
    }
    if (p->weighting) {
        fill->weights = view_of(&others, at_place(data, PROBLEM_WEIGHTS, on_host), 0, p->weights);
        fill->options.weights = &fill->weights;
    }
    if (p->mask < 1) {
        fill->mask = view_of(&others, at_place(data, PROBLEM_MASK, on_host), 0, p->mask_type);
        fill->options.mask = &fill->mask;
    }
    if (p->where < 1) {
        fill->where = view_of(&others, at_place(data, PROBLEM_WHERE, on_host), 0, p->where_type);
        fill->options.where = &fill->where;
        fill->options.where_lo = data->where_lo;
        fill->options.where_hi = data->where_hi;
    }
    if (p->layout == PROBLEM_SEGMENTS) fill->options.offsets = at_place(data, PROBLEM_OFFSETS, on_host);
}

/* ---- Counts ---- */

histo_status problem_rule_make(const problem_data *data, bool on_host, reference_rule *rule)
{
    const random_problem *p = data->problem;
    problem_fill fill;
    problem_fill_make(data, on_host, &fill);
    *rule = (reference_rule){.axes = p->axes,
                             .samples = p->samples,
                             .batch = p->batch,
                             .slots = problem_slots(p) / p->batch,
                             .weights = fill.weights,
                             .mask = fill.mask,
                             .where = fill.where,
                             .weighting = p->weighting,
                             .masked = fill.options.mask,
                             .filtered = fill.options.where,
                             .where_lo = data->where_lo,
                             .where_hi = data->where_hi,
                             .offsets = fill.options.offsets};
    memcpy(rule->view, fill.samples, sizeof fill.samples);
    histo_status status = HISTO_OK;
    for (int a = 0; a < p->axes && status == HISTO_OK; a++)
        status = reference_finder_make(&rule->finder[a], data->edges[a], data->axes[a].bins, data->axes[a].closed);
    return status;
}

histo_status problem_counts_make(const problem_data *data, int threads, reference_counts *counts)
{
    reference_rule rule = {0};
    *counts = (reference_counts){0};
    if (problem_slots(data->problem) < 0)
        return histo_fail(HISTO_INVALID, "a random problem has at most 2^62 slots: make bins less");
    histo_status status = problem_rule_make(data, !data->device, &rule);
    if (status == HISTO_OK) status = reference_counts_begin(&rule, data->problem->storage == HISTO_SPARSE, counts);
    if (status == HISTO_OK) status = reference_count(&rule, data->device ? data->device->count : NULL, threads, counts);
    reference_finders_free(&rule);
    return status;
}
