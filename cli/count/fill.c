/* Plans, and filling the series of a run with pieces of samples. */
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/progress.h"
#include "count/run.h"

static int make_plan(run *r, int i, const piece *p, histo_plan **plan, fault *f)
{
    const settings *s = r->settings;
    const histo_plan_options options = {.effort = s->measure || s->vary ? HISTO_MEASURE
                                                  : s->compile          ? HISTO_COMPILE
                                                                        : HISTO_ESTIMATE,
                                        .device = s->device,
                                        .strategy = s->strategy,
                                        .params = s->params,
                                        .threads = s->threads,
                                        .vary = s->vary};
    histo_fill_options fill = piece_fill(p, i);
    const histo_hist *hist = run_series_of(r, i, 0)->hist;
    histo_status status = p->pairs.pairing
                              ? histo_plan_create_pairs(plan, hist, &p->views[i], &p->pairs, &fill, &options)
                              : histo_plan_create(plan, hist, &p->views[i], &fill, &options);
    if (status == HISTO_OK) return 0;
    return fault_set(f, status == HISTO_NO_MEMORY ? EXIT_DATA : EXIT_USAGE, "%s", histo_last_error());
}

/* Sources with the same dtype and axis share a plan. */
static const histo_plan *plan_of(run *r, int i, const piece *p, fault *f)
{
    int first = 0;
    while (!r->joint && (r->sources[first].dtype != r->sources[i].dtype || run_axis_of(r, first) != run_axis_of(r, i)))
        first++;
    if (!r->sources[first].plan && make_plan(r, first, p, &r->sources[first].plan, f) != 0) return NULL;
    return r->sources[first].plan;
}

/* The plan is made for views whose memory is never accessed. */
bool run_counts_on_cpu(run *r)
{
    const settings *s = r->settings;
    if (s->device != HISTO_DEVICE_AUTO) return s->device == HISTO_DEVICE_CPU;
    enum { SAMPLES = 1 << 23 };
    histo_view views[HISTO_MAX_AXES];
    void *memory = malloc((size_t)SAMPLES * sizeof(double));
    for (int i = 0; memory && i < HISTO_MAX_AXES && i < r->count; i++)
        views[i] = histo_view_1d(memory, r->sources[i].dtype, SAMPLES);
    const piece p = {.views = views, .weights = s->weights ? views : NULL};
    fault ignored = {0};
    histo_plan *plan = NULL;
    const bool on_cpu =
        memory && make_plan(r, 0, &p, &plan, &ignored) == 0 && strncmp(histo_plan_strategy(plan), "cpu/", 4) == 0;
    histo_plan_destroy(plan);
    free(memory);
    return on_cpu;
}

int run_add_moments(const run *r, series *to, const histo_view *views, const histo_fill_options *fill, const char *name,
                    fault *f)
{
    histo_fill_options options = *fill;
    options.weights = NULL;
    options.offsets = NULL;
    histo_status status = HISTO_OK;
    for (int a = 0; a < r->naxes && to->stats && !r->whole && status == HISTO_OK; a++) {
        if (r->moments == MOMENTS_ALL) status = histo_stats_add(&to->stats[a], &views[a], &options);
        if (r->found_sums || status != HISTO_OK) continue;
        status = histo_power_sums_add(&to->sums[a], &views[a], &options);
        if (to->forms[a].names) /* strings are numbered differently in each shard */
            to->sums[a] = (histo_power_sums){.samples = to->sums[a].samples};
    }
    return status == HISTO_OK ? 0 : fault_of_library(f, EXIT_DATA, name);
}

static double piece_bytes(const run *r, const piece *p)
{
    double bytes = 0, beside = p->mask ? 1 : 0; /* bytes per sample */
    for (int i = 0; i < (p->pairs.pairing ? 1 : r->count); i++)
        bytes += (double)histo_dtype_size(p->views[i].dtype) * (double)histo_view_size(&p->views[i]);
    if (p->weights) beside += (double)histo_dtype_size(p->weights->dtype);
    if (p->where) beside += (double)histo_dtype_size(p->where->dtype);
    return bytes + beside * (double)histo_view_size(&p->views[0]);
}

static int count_group(run *r, const char *name, const piece *p, int64_t group, fault *f)
{
    for (int i = 0; i < (r->joint ? 1 : r->count); i++) {
        series *to = run_series_of(r, i, group);
        histo_fill_options fill = piece_fill(p, i);
        const histo_plan *plan = plan_of(r, i, p, f);
        if (!plan) return -1;
        double begun = progress_seconds();
        if (histo_plan_fill(plan, to->hist, &p->views[i], &fill) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, name);
        r->counting_s += progress_seconds() - begun;
        if (p->pairs.pairing) continue;
        if (run_add_moments(r, to, &p->views[i], &fill, name, f) != 0) return -1;
        const histo_fill_options filter = piece_filter(p, i);
        if (run_take_order(r, (int)(to - r->result->series), &p->views[i], &filter, name, f) != 0) return -1;
    }
    return 0;
}

static int count_groups(run *r, const char *name, const piece *p, fault *f)
{
    int failed = groups_sort(&r->groups, p, f);
    for (int64_t group = 0; group < r->group_count && !failed; group++) {
        const piece samples_of_group = groups_of(&r->groups, p, group);
        if (histo_view_size(&samples_of_group.views[0]) > 0) failed = count_group(r, name, &samples_of_group, group, f);
    }
    return failed;
}

int run_count_piece(void *self, int file, const piece *p, fault *f)
{
    run *r = self;
    const char *name = feed_name(&r->feed, file);
    bool another = r->settings->batch && (file != r->file || p->page != r->page);
    if ((r->result->count == 0 || another) && run_add_series(r, file, p->page, f) != 0) return -1;
    r->bytes += piece_bytes(r, p);
    return p->by ? count_groups(r, name, p, f) : count_group(r, name, p, 0, f);
}

/* The whole stack as a piece. */
static piece whole_stack(const run *r, histo_view *view)
{
    *view = image_stack_view(&r->stack);
    return (piece){.views = view, .pairs = {r->settings->pairs, r->settings->relative}};
}

static int add_moments_of_pairs(void *self, int file, const piece *p, fault *f)
{
    run *r = self;
    const histo_fill_options none = {0};
    return run_add_moments(r, &r->result->series[0], p->views, &none, feed_name(&r->feed, file), f);
}

int run_count_stack(run *r, fault *f)
{
    histo_view view;
    const piece p = whole_stack(r, &view);
    const feed_visitor moments = {.take = add_moments_of_pairs, .self = r};
    if (run_count_piece(r, 0, &p, f) != 0) return -1;
    if (r->whole || !r->result->series[0].stats) return 0;
    return image_stack_visit(&r->stack, &p.pairs, &moments, f);
}

static int first_piece(run *r, histo_view *view, piece *p, fault *f)
{
    if (r->settings->pairs) {
        *p = whole_stack(r, view);
        return 0;
    }
    samples *in = feed_begin(&r->feed, 0, f);
    int more = in ? samples_next(in, p, f) : -1;
    if (more == 0) fault_set(f, EXIT_DATA, "%s holds no samples to plan for", feed_name(&r->feed, 0));
    return more > 0 ? 0 : -1;
}

const histo_plan *run_plan(run *r, fault *f)
{
    piece p;
    histo_view view;
    if (first_piece(r, &view, &p, f) != 0 || run_add_series(r, 0, p.page, f) != 0) return NULL;
    const histo_plan *plan = plan_of(r, 0, &p, f);
    if (!plan || !r->settings->compile) return plan;
    const histo_fill_options fill = piece_fill(&p, 0); /* the first fill compiles the kernel */
    if (histo_plan_fill(plan, r->result->series[r->first_series].hist, &p.views[0], &fill) == HISTO_OK) return plan;
    fault_of_library(f, EXIT_DATA, feed_name(&r->feed, 0));
    return NULL;
}
