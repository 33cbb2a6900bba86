/* Counting files. The first file determines what is counted. Passes over all files find the axes, if necessary, and one
 * more pass counts. Every source of samples has its own histogram, or is an axis of a joint one; with --batch, per file
 * and page. */
#include "count/count.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/places.h"
#include "base/progress.h"
#include "base/text.h"
#include "count/wisdom.h"

static int fault_memory(fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the histograms: use fewer bins");
}

/* ---- The first file describes the run ------------------------------------------------------------------- */

static int axis_of(const run *r, int i)
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
    return r->names && r->dtypes && r->plans && r->search && r->axes && r->in_pass ? 0 : fault_memory(f);
}

static int describe(run *r, const samples *in, fault *f)
{
    const choice *c = samples_choice(in);
    r->segments = samples_segments(in);
    if (r->settings->segments && r->feed.count > 1)
        return fault_set(f, EXIT_USAGE, "--segments takes the samples of one file, but there are %d", r->feed.count);
    r->of_pages = r->settings->read.page < 0 || samples_reader(in)->pages < 0;
    bool columns = samples_reader(in)->numeric; /* columns of a table are unrelated quantities */
    if (make_sources(r, c->count, c->joint, c->joint || columns || r->given_count > 1, f) != 0) return -1;
    for (int i = 0; i < c->count; i++) {
        const sample_source *s = &c->sources[i];
        r->dtypes[i] = s->dtype;
        const char *kind = samples_reader(in)->kind->name, *name = s->name;
        if (!name)
            name = r->settings->read.letters    ? "letters"
                   : strcmp(kind, "bytes") == 0 ? kind
                                                : r->settings->read.dataset;
        if (name && !(r->names[i] = strdup(name))) return fault_memory(f);
    }
    return 0;
}

static int describe_stack(run *r, fault *f)
{
    r->segments = 1;
    if (stack_read(&r->stack, &r->feed, f) != 0 || make_sources(r, 2, true, true, f) != 0) return -1;
    r->dtypes[0] = r->settings->relative ? HISTO_F32 : HISTO_I32;
    r->dtypes[1] = r->stack.dtype;
    r->names[0] = strdup("difference");
    r->names[1] = strdup("mean");
    return r->names[0] && r->names[1] ? 0 : fault_memory(f);
}

/* The drawing's title and names of axes. */
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
    return failed ? fault_memory(f) : 0;
}

/* Files may have different dtypes only if the axes do not depend on the dtype. */
static int enter_file(void *self, int file, const samples *in, fault *f)
{
    run *r = self;
    const choice *c = samples_choice(in);
    if (c->count != r->count)
        return fault_set(
            f, EXIT_DATA, "%s has %d channel%s to count where %s has %d: count them separately, or choose --channel",
            feed_name(&r->feed, file), c->count, c->count == 1 ? "" : "s", feed_name(&r->feed, 0), r->count);
    bool changed = false;
    for (int i = 0; i < c->count; i++) {
        int a = axis_of(r, i);
        histo_dtype dtype = c->sources[i].dtype, expected = r->dtypes[a];
        const bins_spec *spec = bins_of_axis(&r->bins, a, r->axis_count, f);
        if (!spec) return -1;
        if (dtype != expected && !r->given && !bins_are_fixed(spec))
            return fault_set(f, EXIT_DATA,
                             "%s has %s samples among others of %s, and no common range: give one with -b N -r lo:hi",
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
        int a = axis_of(r, i);
        histo_fill_options fill = piece_fill(p, i);
        fill.weights = NULL;
        if (r->in_pass[a] && axis_search_add(&r->search[a], &p->views[i], &fill, name, f) != 0) return -1;
    }
    return 0;
}

/* Does any search need another pass? */
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

static int take_given_axes(run *r, fault *f)
{
    if (r->given_count != 1 && r->given_count != r->axis_count)
        return fault_set(f, EXIT_DATA, "%s has %d channel%s to count, not %d", feed_name(&r->feed, 0), r->count,
                         r->count == 1 ? "" : "s", r->given_count);
    for (int a = 0; a < r->axis_count; a++)
        r->axes[a] = r->given[r->given_count == 1 ? 0 : a];
    return 0;
}

static int find_axes(run *r, fault *f)
{
    if (r->given) return take_given_axes(r, f);
    const feed_visitor survey = {.verb = "surveying", .enter = enter_file, .take = survey_piece, .self = r};
    for (int a = 0; a < r->axis_count; a++) {
        const bins_spec *spec = bins_of_axis(&r->bins, a, r->axis_count, f);
        if (!spec || axis_search_begin(&r->search[a], spec, r->dtypes[a], f) != 0) return -1;
    }
    while (next_pass(r)) {
        int failed = r->settings->pairs ? stack_visit(&r->stack, r->settings->pairs, r->settings->relative, &survey, f)
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

/* May there be more than one pass? The first file's dtype may still be unknown. */
static bool may_read_twice(const run *r)
{
    const read_options *read = &r->settings->read;
    histo_dtype dtype = read->bytes ? HISTO_U8 : read->has_dtype ? read->dtype : HISTO_DTYPE_COUNT;
    return bins_need_data(&r->bins, dtype);
}

/* Report a missing device before anything is read. */
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

/* Without a cache, counting on a GPU is only slower. */
static void use_kernel_cache(const settings *s)
{
    char path[PATH_MAX];
    if (s->device != HISTO_DEVICE_CPU && places_find("XDG_CACHE_HOME", ".cache", "histo/kernels", path))
        histo_kernel_cache(path);
}

/* r has its settings, its result and perhaps its axes. */
static int begin(run *r, fault *f)
{
    const settings *s = r->settings;
    if (wisdom_load(s, f) != 0) return -1;
    use_kernel_cache(s);
    if (bins_parse(&r->bins, s, f) != 0 || check_device(s, f) != 0) return -1;
    if (feed_open(&r->feed, s, may_read_twice(r) && !s->pairs, f) != 0) return -1;
    samples *first = s->pairs ? NULL : feed_begin(&r->feed, 0, f);
    if (s->pairs ? describe_stack(r, f) != 0 : !first || describe(r, first, f) != 0) return -1;
    return find_axes(r, f);
}

int run_begin(run *r, const settings *s, result *to, fault *f)
{
    *r = (run){.settings = s, .result = to};
    return begin(r, f);
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

/* ---- Series --------------------------------------------------------------------------------------------- */

/* The histograms of a page, and the copies for writing them, must fit in memory. We check now, because the system
 * assigns memory only when samples touch it. */
static int check_memory(const run *r, fault *f)
{
    const settings *s = r->settings;
    const int count = r->joint ? 1 : r->count, arrays = s->weights ? 3 : 1;
    double slots = 0;
    if (s->sparse) return 0;
    for (int i = 0; i < count; i++) {
        const histo_axis *axes = &r->axes[axis_of(r, i)];
        double each = (double)r->segments;
        for (int a = 0; a < r->naxes; a++)
            each *= (double)axes[a].bins + 3;
        if (each <= (double)HISTO_MAX_SLOTS * (double)r->segments) slots += each; /* else the library fails */
    }
    char what[96], number[TEXT_NUMBER_BYTES];
    snprintf(what, sizeof what, "%s bins", text_count((uint64_t)fmin(slots, 1e18), number));
    return fault_beyond_memory(
        f, 2 * slots * arrays * sizeof(uint64_t), what,
        r->joint && !s->weights ? "use fewer, or --sparse, which keeps only those that contain samples" : "use fewer");
}

static int make_hist(const run *r, int i, histo_hist **hist, fault *f)
{
    const settings *s = r->settings;
    const histo_axis *axes = r->joint ? r->axes : &r->axes[axis_of(r, i)];
    histo_hist_options options = {.weighting = !s->weights       ? HISTO_UNWEIGHTED
                                               : s->reproducible ? HISTO_WEIGHT_REPRODUCIBLE
                                                                 : HISTO_WEIGHT_FAST,
                                  .batch = r->segments,
                                  .storage = s->sparse ? HISTO_SPARSE : HISTO_DENSE};
    histo_status status = histo_hist_create(hist, r->naxes, axes, &options);
    if (status == HISTO_OK) return 0;
    options.storage = HISTO_SPARSE;
    if (r->joint && !s->sparse && !s->weights && histo_hist_create(hist, r->naxes, axes, &options) == HISTO_OK) {
        histo_hist_destroy(*hist);
        return fault_set(f, EXIT_USAGE,
                         "%d axes with so many bins are too many for a dense array: --sparse keeps only those that "
                         "samples are in",
                         r->naxes);
    }
    return fault_of_library(f, status == HISTO_NO_MEMORY ? EXIT_DATA : EXIT_USAGE, "the bins");
}

/* "b.png r", "page 3", "r": what distinguishes a series from others; "" if nothing does. */
static void name_series(const run *r, int first, int file, int page, char *name, size_t size)
{
    int length = 0;
    name[0] = '\0';
    if (r->settings->batch && r->feed.count > 1)
        length = snprintf(name, size, "%.150s", text_file_name(feed_name(&r->feed, file)));
    if (r->settings->batch && r->of_pages)
        length += snprintf(name + length, size - (size_t)length, "%spage %d", length ? " " : "", page);
    for (int i = first; i < (r->joint ? r->count : first + 1); i++)
        if (r->names[i])
            length += snprintf(name + length, size - (size_t)length, "%s%.50s",
                               i > first ? ","
                               : length  ? " "
                                         : "",
                               r->names[i]);
}

/* "r 0", "r 1", … for the entries of the batch added last. */
static int name_segments(run *r, const char *name, fault *f)
{
    for (int64_t i = 0; i < r->segments; i++) {
        series *it = &r->result->series[r->result->count - r->segments + i];
        char whole[1100];
        snprintf(whole, sizeof whole, "%s%s%" PRId64, name, *name ? " " : "", i);
        free(it->name);
        if (!(it->name = strdup(whole))) return fault_memory(f);
    }
    return 0;
}

static int add_series(run *r, int file, int page, fault *f)
{
    r->file = file;
    r->page = page;
    r->first_series = r->result->count;
    if (check_memory(r, f) != 0) return -1;
    for (int i = 0; i < (r->joint ? 1 : r->count); i++) {
        char name[1024];
        histo_hist *hist;
        name_series(r, i, file, page, name, sizeof name);
        if (make_hist(r, i, &hist, f) != 0 || result_add(r->result, hist, name[0] ? name : NULL, f) != 0) return -1;
        if (r->settings->segments && name_segments(r, name, f) != 0) return -1;
        if (!r->want_stats || (r->settings->segments && !r->whole)) continue; /* whole: statistics come from the bins */
        for (int64_t made = r->result->count - r->segments; made < r->result->count; made++) {
            histo_stats *stats = r->result->series[made].stats = calloc((size_t)r->naxes, sizeof *stats);
            if (!stats) return fault_memory(f);
        }
    }
    return 0;
}

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
    const histo_hist *hist = r->result->series[r->first_series + i * r->segments].hist;
    histo_status status = histo_plan_create(plan, hist, &p->views[i], &fill, &options);
    if (status == HISTO_OK) return 0;
    return fault_set(f, status == HISTO_NO_MEMORY ? EXIT_DATA : EXIT_USAGE, "%s", histo_last_error());
}

/* Sources of one dtype and axis share a plan. */
static const histo_plan *plan_of(run *r, int i, const piece *p, fault *f)
{
    int first = 0;
    while (!r->joint && (r->dtypes[first] != r->dtypes[i] || axis_of(r, first) != axis_of(r, i)))
        first++;
    if (!r->plans[first] && make_plan(r, first, p, &r->plans[first], f) != 0) return NULL;
    return r->plans[first];
}

static int add_stats(series *to, int naxes, const histo_view *views, const histo_fill_options *fill, const char *name,
                     fault *f)
{
    histo_fill_options options = *fill;
    options.weights = NULL;
    for (int a = 0; a < naxes; a++)
        if (histo_stats_add(&to->stats[a], &views[a], &options) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, name);
    return 0;
}

static double piece_bytes(const run *r, const piece *p)
{
    double bytes = 0, beside = p->mask ? 1 : 0; /* bytes per sample */
    for (int i = 0; i < (p->pairs ? 1 : r->count); i++)
        bytes += (double)histo_dtype_size(p->views[i].dtype) * (double)histo_view_size(&p->views[i]);
    if (p->weights) beside += (double)histo_dtype_size(p->weights->dtype);
    if (p->where) beside += (double)histo_dtype_size(p->where->dtype);
    return bytes + beside * (double)histo_view_size(&p->views[0]);
}

static int count_piece(void *self, int file, const piece *p, fault *f)
{
    run *r = self;
    const settings *s = r->settings;
    const char *name = feed_name(&r->feed, file);
    bool another = s->batch && (file != r->file || p->page != r->page);
    if ((r->result->count == 0 || another) && add_series(r, file, p->page, f) != 0) return -1;
    for (int i = 0; i < (r->joint ? 1 : r->count); i++) {
        series *to = &r->result->series[r->first_series + i * r->segments];
        histo_fill_options fill = piece_fill(p, i);
        const histo_plan *plan = plan_of(r, i, p, f);
        if (!plan) return -1;
        double begun = progress_seconds();
        if (histo_plan_fill(plan, to->hist, &p->views[i], &fill) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, name);
        r->counting_s += progress_seconds() - begun;
        if (to->stats && !r->whole && !p->pairs && add_stats(to, r->naxes, &p->views[i], &fill, name, f) != 0)
            return -1;
    }
    r->bytes += piece_bytes(r, p);
    return 0;
}

/* The stack as one piece. */
static piece whole_stack(const run *r, histo_view *view)
{
    *view = stack_view(&r->stack);
    return (piece){.views = view, .pairs = r->settings->pairs, .relative = r->settings->relative};
}

static int add_stats_of_pairs(void *self, int file, const piece *p, fault *f)
{
    run *r = self;
    const histo_fill_options none = {0};
    return add_stats(&r->result->series[0], r->naxes, p->views, &none, feed_name(&r->feed, file), f);
}

static int count_stack(run *r, fault *f)
{
    histo_view view;
    const piece p = whole_stack(r, &view);
    const feed_visitor stats = {.take = add_stats_of_pairs, .self = r};
    if (count_piece(r, 0, &p, f) != 0) return -1;
    if (r->whole || !r->result->series[0].stats) return 0;
    return stack_visit(&r->stack, r->settings->pairs, r->settings->relative, &stats, f);
}

static int leave_file(void *self, int file, const samples *in, fault *f)
{
    (void)self;
    (void)file;
    (void)f;
    samples_remark(in);
    return 0;
}

/* ---- The whole run -------------------------------------------------------------------------------------- */

/* "cpu/privatized, 2 threads · 0.922 MB in 1.84 ms, 0.502 GB/s · 3.58 ms in all" */
static void describe_run(run *r, double whole_s)
{
    char counting[TEXT_NUMBER_BYTES], whole[TEXT_NUMBER_BYTES], bytes[TEXT_NUMBER_BYTES];
    int threads = histo_plan_threads(r->plans[0]);
    snprintf(r->result->ran, sizeof r->result->ran, "%s, %d thread%s · %s in %s, %.3g GB/s · %s in all",
             histo_plan_strategy(r->plans[0]), threads, threads == 1 ? "" : "s", text_bytes(r->bytes, bytes),
             text_seconds(r->counting_s, counting), r->counting_s > 0 ? r->bytes * 1e-9 / r->counting_s : 0,
             text_seconds(whole_s, whole));
}

/* If bins identify values, statistics are computed from bins, without rounding. */
static int stats_from_bins(run *r, fault *f)
{
    if (!r->want_stats || !r->whole) return 0;
    table *tables = tables_read(r->result, TABLE_OF_OCCUPIED, f);
    if (!tables) return -1;
    for (int i = 0; i < r->result->count; i++)
        for (int a = 0; a < r->naxes; a++)
            r->result->series[i].stats[a] = table_stats(&tables[i], a, true);
    tables_free(tables, r->result);
    return 0;
}

/* With its histograms, even if it has no samples. */
static int enter_apart(void *self, int file, const samples *in, fault *f)
{
    return enter_file(self, file, in, f) == 0 ? add_series(self, file, 0, f) : -1;
}

static int count(run *r, fault *f)
{
    const settings *s = r->settings;
    const double begun = progress_seconds();
    const feed_visitor counting = {.verb = "counting",
                                   .enter = s->apart ? enter_apart : enter_file,
                                   .take = count_piece,
                                   .leave = leave_file,
                                   .self = r};
    int failed = begin(r, f);
    if (!failed) failed = s->pairs ? count_stack(r, f) : feed_visit(&r->feed, &counting, f);
    if (!failed && r->result->count == 0) failed = add_series(r, 0, 0, f); /* a file without samples */
    if (!failed) failed = stats_from_bins(r, f);
    if (!failed) failed = name_result(r, f);
    if (!failed) failed = wisdom_save_measured(s, f);
    if (!failed && r->plans[0]) describe_run(r, progress_seconds() - begun);
    run_end(r);
    return failed ? -1 : 0;
}

int count_files(const settings *s, bool want_stats, result *to, fault *f)
{
    run r = {.settings = s, .result = to, .want_stats = want_stats};
    return count(&r, f);
}

int count_on(const settings *s, const histo_axis *axes, int naxes, result *to, fault *f)
{
    run r = {.settings = s, .result = to, .given = axes, .given_count = naxes};
    return count(&r, f);
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
    if (first_piece(r, &view, &p, f) != 0 || add_series(r, 0, p.page, f) != 0) return NULL;
    const histo_plan *plan = plan_of(r, 0, &p, f);
    if (!plan || !r->settings->compile) return plan;
    const histo_fill_options fill = piece_fill(&p, 0); /* the first fill has the kernel compiled */
    if (histo_plan_fill(plan, r->result->series[r->first_series].hist, &p.views[0], &fill) == HISTO_OK) return plan;
    fault_of_library(f, EXIT_DATA, feed_name(&r->feed, 0));
    return NULL;
}
