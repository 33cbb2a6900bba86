/* The beginning of a run: the first file says what there is to count, then passes over all files find the axes (none,
 * if they are given). */
#include "count/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/text.h"
#include "count/wisdom.h"
#include "output/terminal/progress.h"

int run_fault_memory(fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the histograms: use fewer bins");
}

/* ---- The first file describes the run ------------------------------------------------------------------- */

int run_axis_of(const run *r, int i)
{
    return r->axis_count == r->count ? i : 0;
}

static int make_sources(run *r, int count, bool joint, bool own_axes, fault *f)
{
    r->joint = joint;
    r->count = count;
    r->naxes = joint ? count : 1;
    r->axis_count = own_axes ? count : 1;
    r->names = calloc((size_t)count, sizeof *r->names);
    r->dtypes = calloc((size_t)count, sizeof *r->dtypes);
    r->plans = calloc((size_t)count, sizeof *r->plans);
    r->search = calloc((size_t)count, sizeof *r->search);
    r->axes = calloc((size_t)count, sizeof *r->axes);
    r->in_pass = calloc((size_t)count, sizeof *r->in_pass);
    return r->names && r->dtypes && r->plans && r->search && r->axes && r->in_pass ? 0 : run_fault_memory(f);
}

static int describe(run *r, const samples *in, fault *f)
{
    const choice *c = samples_choice(in);
    r->segments = samples_segments(in);
    if (r->settings->segments && r->feed.count > 1)
        return fault_set(f, EXIT_USAGE, "--segments is for the samples of one file, and there are %d", r->feed.count);
    bool columns = samples_reader(in)->numeric; /* of a table: quantities that have nothing in common */
    if (make_sources(r, c->count, c->joint, c->joint || columns, f) != 0) return -1;
    for (int i = 0; i < c->count; i++) {
        const sample_source *s = &c->sources[i];
        r->dtypes[i] = s->dtype;
        const char *kind = samples_reader(in)->kind->name, *name = s->name;
        if (!name) name = strcmp(kind, "bytes") == 0 ? kind : r->settings->read.dataset;
        if (name && !(r->names[i] = strdup(name))) return run_fault_memory(f);
    }
    return 0;
}

static int describe_stack(run *r, fault *f)
{
    r->segments = 1;
    if (stack_read(&r->stack, &r->feed, f) != 0 || make_sources(r, 2, true, true, f) != 0) return -1;
    r->dtypes[0] = HISTO_I32;
    r->dtypes[1] = r->stack.dtype;
    r->names[0] = strdup("difference");
    r->names[1] = strdup("mean");
    return r->names[0] && r->names[1] ? 0 : run_fault_memory(f);
}

/* The title and the axes' names of the drawing. */
static int name_result(run *r, fault *f)
{
    const settings *s = r->settings;
    char title[300];
    snprintf(title, sizeof title, "%.250s", s->title ? s->title : text_file_name(feed_name(&r->feed, 0)));
    if (!s->title && r->feed.count > 1)
        snprintf(title + strlen(title), sizeof title - strlen(title), " and %d more", r->feed.count - 1);
    r->result->title = strdup(title);
    bool failed = !r->result->title;
    for (int a = 0; a < r->naxes && (r->joint || r->count == 1); a++)
        if (r->names[a] && !(r->result->axis_names[a] = strdup(r->names[a]))) failed = true;
    return failed ? run_fault_memory(f) : 0;
}

/* Files can differ in the type of their samples only where the axes do not depend on it. */
int run_enter_file(void *self, int file, const samples *in, fault *f)
{
    run *r = self;
    const choice *c = samples_choice(in);
    if (c->count != r->count)
        return fault_set(
            f, EXIT_DATA, "%s has %d channel%s to count where %s has %d: count them apart, or name --channel",
            feed_name(&r->feed, file), c->count, c->count == 1 ? "" : "s", feed_name(&r->feed, 0), r->count);
    bool changed = false;
    for (int i = 0; i < c->count; i++) {
        int a = run_axis_of(r, i);
        histo_dtype dtype = c->sources[i].dtype, expected = r->dtypes[a];
        const bins_spec *spec = bins_of_axis(&r->bins, a, r->axis_count, f);
        if (!spec) return -1;
        if (dtype != expected && !bins_are_fixed(spec))
            return fault_set(
                f, EXIT_DATA,
                "%s has %s samples among others of %s, and no range in common: give one with -b N -r lo:hi",
                feed_name(&r->feed, file), histo_dtype_name(dtype), histo_dtype_name(expected));
        changed = changed || dtype != r->dtypes[i];
        r->dtypes[i] = dtype;
    }
    for (int i = 0; i < r->count && changed; i++) {
        histo_plan_destroy(r->plans[i]);
        r->plans[i] = NULL;
    }
    return 0;
}

/* ---- Axes ----------------------------------------------------------------------------------------------- */

static int survey_piece(void *self, int file, const piece *p, fault *f)
{
    run *r = self;
    const char *name = feed_name(&r->feed, file);
    r->surveyed = true;
    for (int i = 0; i < r->count; i++) {
        int a = run_axis_of(r, i);
        histo_fill_options fill = piece_fill(p, i);
        fill.weights = NULL;
        if (r->in_pass[a] && axis_search_add(&r->search[a], &p->views[i], &fill, name, f) != 0) return -1;
    }
    return 0;
}

/* Does any search take another pass? */
static bool next_pass(run *r)
{
    bool any = false;
    for (int a = 0; a < r->axis_count; a++) {
        r->in_pass[a] = axis_search_next_pass(&r->search[a]);
        any = any || r->in_pass[a];
    }
    return any;
}

/* The axes that the searches found. */
static int take_axes(run *r, fault *f)
{
    r->whole = true;
    for (int a = 0; a < r->axis_count; a++) {
        char name[600];
        snprintf(name, sizeof name, "%.400s", feed_name(&r->feed, 0));
        if (r->axis_count > 1 && r->names[a])
            snprintf(name + strlen(name), sizeof name - strlen(name), ", %.150s", r->names[a]);
        if (axis_search_end(&r->search[a], name, f) != 0) return -1;
        if (!r->settings->quiet) axis_search_remark(&r->search[a], name, stderr);
        r->axes[a] = r->search[a].axis;
        r->whole = r->whole && r->axes[a].kind == HISTO_INTEGER && r->dtypes[a] <= HISTO_I64;
    }
    return 0;
}

static int find_axes(run *r, fault *f)
{
    const feed_visitor survey = {.verb = "surveying", .enter = run_enter_file, .take = survey_piece, .self = r};
    for (int a = 0; a < r->axis_count; a++) {
        const bins_spec *spec = bins_of_axis(&r->bins, a, r->axis_count, f);
        if (!spec || axis_search_begin(&r->search[a], spec, r->dtypes[a], f) != 0) return -1;
    }
    while (next_pass(r)) {
        int failed = r->settings->pairs ? stack_visit(&r->stack, r->settings->pairs, &survey, f)
                                        : feed_visit(&r->feed, &survey, f);
        if (failed) return -1;
        if (!r->surveyed)
            return fault_set(f, EXIT_DATA, "%s holds no samples to find a range in: give it with -b N -r lo:hi",
                             feed_name(&r->feed, 0));
    }
    progress_end();
    return take_axes(r, f);
}

/* ---- From begin to end ---------------------------------------------------------------------------------- */

/* May there be more than one pass? Before the first file is open, its dtype may not be known. */
static bool may_read_twice(const run *r)
{
    const read_options *read = &r->settings->read;
    histo_dtype dtype = read->bytes ? HISTO_U8 : read->has_dtype ? read->dtype : HISTO_DTYPE_COUNT;
    return bins_need_data(&r->bins, dtype);
}

/* A device that this machine or build has not is told before anything is read, whatever else may be wrong. */
static int check_device(const settings *s, fault *f)
{
    if (s->device < HISTO_DEVICE_CUDA(0)) return 0;
    static const unsigned char sample;
    const histo_view view = histo_view_1d(&sample, HISTO_U8, 1);
    const histo_axis axis = histo_axis_integer(0, 1);
    const histo_plan_options options = {.device = s->device};
    histo_hist *hist = NULL;
    histo_plan *plan = NULL;
    histo_status status = histo_hist_create(&hist, 1, &axis, NULL);
    if (status == HISTO_OK) status = histo_plan_create(&plan, hist, &view, NULL, &options);
    if (status != HISTO_OK) fault_set(f, EXIT_DATA, "%s; take --device cpu", histo_last_error());
    histo_plan_destroy(plan);
    histo_hist_destroy(hist);
    return status == HISTO_OK ? 0 : -1;
}

int run_begin(run *r, const settings *s, result *to, fault *f)
{
    *r = (run){.settings = s, .result = to};
    bool fresh = s->measure && s->wisdom && access(s->wisdom, F_OK) != 0;
    if (s->wisdom && !fresh && histo_wisdom_load(s->wisdom) != HISTO_OK) return fault_of_wisdom(f);
    if (!s->wisdom && wisdom_load_default(f) != 0) return -1;
    if (bins_parse(&r->bins, s, f) != 0 || check_device(s, f) != 0) return -1;
    if (feed_open(&r->feed, s, may_read_twice(r) && !s->pairs, f) != 0) return -1;
    samples *first = s->pairs ? NULL : feed_begin(&r->feed, 0, f);
    if (s->pairs ? describe_stack(r, f) != 0 : !first || describe(r, first, f) != 0) return -1;
    return name_result(r, f) == 0 ? find_axes(r, f) : -1;
}

void run_end(run *r)
{
    progress_end();
    for (int a = 0; a < r->axis_count && r->search; a++)
        axis_search_free(&r->search[a]);
    for (int i = 0; i < r->count; i++) {
        if (r->names) free(r->names[i]);
        if (r->plans) histo_plan_destroy(r->plans[i]);
    }
    free(r->names);
    free(r->dtypes);
    free(r->plans);
    free(r->search);
    free(r->axes);
    free(r->in_pass);
    stack_free(&r->stack);
    feed_close(&r->feed);
    bins_free(&r->bins);
}
