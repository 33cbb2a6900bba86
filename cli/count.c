/* The run of `histo hist`. First the passes over the data that finding the axes needs (none, if they are given), then
 * the pass that counts. Every source of samples has a histogram of its own on common axes, or is an axis of a joint
 * one; with --batch, so for each file and page. */
#include "count.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bins.h"
#include "failure.h"
#include "feed.h"
#include "progress.h"
#include "text.h"

typedef struct run {
    const settings *settings;
    bins_list bins;
    feed feed;
    result *result;

    /* As the first file has it; all others must be like it. */
    bool joint;
    int count; /* sources that are counted */
    char **names;
    histo_dtype *dtypes;

    int naxes;
    axis_search search[HISTO_MAX_AXES];
    histo_axis axes[HISTO_MAX_AXES];
    bool in_pass[HISTO_MAX_AXES];
    bool surveyed; /* a sample, at least */

    histo_plan **plans; /* [count], for the sources of each dtype one; a joint histogram has the first */
    int file, page;     /* that series are counted for */
    int first_series;   /* of them */

    bool want_stats, whole; /* whole: the bins tell every sample's value */
    double counting_s, bytes;
} run;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int fault_memory(fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the histograms: use fewer bins");
}

/* ---- The first file describes the run ------------------------------------------------------------------- */

static int describe(run *r, const samples *in, fault *f)
{
    const choice *c = samples_choice(in);
    r->joint = c->joint;
    r->count = c->count;
    r->naxes = c->joint ? c->count : 1;
    r->names = calloc((size_t)c->count, sizeof *r->names);
    r->dtypes = calloc((size_t)c->count, sizeof *r->dtypes);
    r->plans = calloc((size_t)c->count, sizeof *r->plans);
    if (!r->names || !r->dtypes || !r->plans) return fault_memory(f);
    for (int i = 0; i < c->count; i++) {
        const sample_source *s = &c->sources[i];
        r->dtypes[i] = s->dtype;
        const char *kind = samples_reader(in)->kind->name, *name = s->name;
        if (!name) name = strcmp(kind, "bytes") == 0 ? kind : r->settings->read.dataset;
        if (name && !(r->names[i] = strdup(name))) return fault_memory(f);
    }
    return 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* The title and the axes' names of the drawing. */
static int name_result(run *r, fault *f)
{
    const settings *s = r->settings;
    char title[300];
    snprintf(title, sizeof title, "%.250s", s->title ? s->title : base_name(feed_name(&r->feed, 0)));
    if (!s->title && r->feed.count > 1)
        snprintf(title + strlen(title), sizeof title - strlen(title), " and %d more", r->feed.count - 1);
    r->result->title = strdup(title);
    bool failed = !r->result->title;
    for (int a = 0; a < r->naxes && (r->joint || r->count == 1); a++)
        if (r->names[a] && !(r->result->axis_names[a] = strdup(r->names[a]))) failed = true;
    return failed ? fault_memory(f) : 0;
}

/* Files can differ in the type of their samples only where the axes do not depend on it. */
static int enter_file(void *self, int file, const samples *in, fault *f)
{
    run *r = self;
    const choice *c = samples_choice(in);
    if (c->count != r->count)
        return fault_set(
            f, EXIT_DATA, "%s has %d channel%s to count where %s has %d: count them apart, or name --channel",
            feed_name(&r->feed, file), c->count, c->count == 1 ? "" : "s", feed_name(&r->feed, 0), r->count);
    bool changed = false;
    for (int i = 0; i < c->count; i++) {
        histo_dtype dtype = c->sources[i].dtype, expected = r->dtypes[r->joint ? i : 0];
        const bins_spec *spec = bins_of_axis(&r->bins, r->joint ? i : 0, r->naxes, f);
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
        int a = r->joint ? i : 0;
        histo_fill_options fill = piece_fill(p, i);
        fill.weights = NULL;
        if (r->in_pass[a] && axis_search_add(&r->search[a], &p->views[i], &fill, name, f) != 0) return -1;
    }
    return 0;
}

static int find_axes(run *r, fault *f)
{
    const feed_visitor survey = {.verb = "surveying", .enter = enter_file, .take = survey_piece, .self = r};
    for (int a = 0; a < r->naxes; a++) {
        const bins_spec *spec = bins_of_axis(&r->bins, a, r->naxes, f);
        if (!spec || axis_search_begin(&r->search[a], spec, r->dtypes[a], f) != 0) return -1;
    }
    for (;;) {
        bool any = false;
        for (int a = 0; a < r->naxes; a++) {
            r->in_pass[a] = axis_search_next_pass(&r->search[a]);
            any = any || r->in_pass[a];
        }
        if (!any) break;
        if (feed_visit(&r->feed, &survey, f) != 0) return -1;
        if (!r->surveyed)
            return fault_set(f, EXIT_DATA, "%s holds no samples to find a range in: give it with -b N -r lo:hi",
                             feed_name(&r->feed, 0));
    }
    r->whole = true;
    for (int a = 0; a < r->naxes; a++) {
        if (axis_search_end(&r->search[a], feed_name(&r->feed, 0), f) != 0) return -1;
        r->axes[a] = r->search[a].axis;
        r->whole = r->whole && r->axes[a].kind == HISTO_INTEGER && r->dtypes[a] <= HISTO_I64;
    }
    return 0;
}

/* ---- Counting ------------------------------------------------------------------------------------------- */

static int make_hist(const run *r, histo_hist **hist, fault *f)
{
    const settings *s = r->settings;
    const histo_hist_options options = {.weighting = !s->weights       ? HISTO_UNWEIGHTED
                                                     : s->reproducible ? HISTO_WEIGHT_REPRODUCIBLE
                                                                       : HISTO_WEIGHT_FAST};
    histo_status status = histo_hist_create(hist, r->naxes, r->axes, &options);
    if (status == HISTO_OK) return 0;
    return fault_of_library(f, status == HISTO_NO_MEMORY ? EXIT_DATA : EXIT_USAGE, "the bins");
}

/* "b.png r", "page 3", "r": what tells a series from the others; "" if nothing does. */
static void name_series(const run *r, int first, int file, int page, char *name, size_t size)
{
    int length = 0;
    name[0] = '\0';
    if (r->settings->batch && r->feed.count > 1)
        length = snprintf(name, size, "%.150s", base_name(feed_name(&r->feed, file)));
    if (r->settings->batch && r->settings->read.page < 0)
        length += snprintf(name + length, size - (size_t)length, "%spage %d", length ? " " : "", page);
    for (int i = first; i < (r->joint ? r->count : first + 1); i++)
        if (r->names[i])
            length += snprintf(name + length, size - (size_t)length, "%s%.50s",
                               i > first ? ","
                               : length  ? " "
                                         : "",
                               r->names[i]);
}

static int add_series(run *r, int file, int page, fault *f)
{
    r->file = file;
    r->page = page;
    r->first_series = r->result->count;
    for (int i = 0; i < (r->joint ? 1 : r->count); i++) {
        char name[1024];
        histo_hist *hist;
        name_series(r, i, file, page, name, sizeof name);
        if (make_hist(r, &hist, f) != 0 || result_add(r->result, hist, name[0] ? name : NULL, f) != 0) return -1;
        if (!r->want_stats) continue;
        series *made = &r->result->series[r->result->count - 1];
        made->stats = calloc((size_t)r->naxes, sizeof *made->stats);
        if (!made->stats) return fault_memory(f);
    }
    return 0;
}

static int make_plan(run *r, int i, const piece *p, histo_plan **plan, fault *f)
{
    const settings *s = r->settings;
    const histo_plan_options options = {.effort = s->measure ? HISTO_MEASURE : HISTO_ESTIMATE,
                                        .device = s->device,
                                        .strategy = s->strategy,
                                        .params = s->params,
                                        .threads = s->threads};
    histo_fill_options fill = piece_fill(p, i);
    const histo_hist *hist = r->result->series[r->first_series + i].hist;
    histo_status status = histo_plan_create(plan, hist, &p->views[i], &fill, &options);
    if (status == HISTO_OK) return 0;
    return fault_set(f, status == HISTO_NO_MEMORY ? EXIT_DATA : EXIT_USAGE, "%s", histo_last_error());
}

/* Sources of one dtype share a plan. */
static const histo_plan *plan_of(run *r, int i, const piece *p, fault *f)
{
    int first = 0;
    while (!r->joint && r->dtypes[first] != r->dtypes[i])
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
    double bytes = 0;
    for (int i = 0; i < r->count; i++)
        bytes += (double)histo_dtype_size(p->views[i].dtype);
    if (p->weights) bytes += (double)histo_dtype_size(p->weights->dtype);
    if (p->where) bytes += (double)histo_dtype_size(p->where->dtype);
    return (bytes + (p->mask ? 1 : 0)) * (double)histo_view_size(&p->views[0]);
}

static int count_piece(void *self, int file, const piece *p, fault *f)
{
    run *r = self;
    const char *name = feed_name(&r->feed, file);
    bool another = r->settings->batch && (file != r->file || p->page != r->page);
    if ((r->result->count == 0 || another) && add_series(r, file, p->page, f) != 0) return -1;
    for (int i = 0; i < (r->joint ? 1 : r->count); i++) {
        series *to = &r->result->series[r->first_series + i];
        histo_fill_options fill = piece_fill(p, i);
        const histo_plan *plan = plan_of(r, i, p, f);
        if (!plan) return -1;
        double begun = now_s();
        if (histo_plan_fill(plan, to->hist, &p->views[i], &fill) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, name);
        r->counting_s += now_s() - begun;
        if (to->stats && !r->whole && add_stats(to, r->naxes, &p->views[i], &fill, name, f) != 0) return -1;
    }
    r->bytes += piece_bytes(r, p);
    return 0;
}

static int leave_file(void *self, int file, const samples *in, fault *f)
{
    run *r = self;
    uint64_t bad = samples_reader(in)->bad;
    (void)f;
    if (!bad || r->settings->quiet) return 0;
    progress_end();
    fprintf(stderr, "histo: %s: skipped %" PRIu64 " sample%s with a cell that is no number\n",
            feed_name(&r->feed, file), bad, bad == 1 ? "" : "s");
    return 0;
}

/* ---- The whole run -------------------------------------------------------------------------------------- */

/* May there be more than one pass? Before the first file is open, its dtype may not be known. */
static bool may_read_twice(const run *r)
{
    const read_options *read = &r->settings->read;
    histo_dtype dtype = read->bytes ? HISTO_U8 : read->has_dtype ? read->dtype : HISTO_DTYPE_COUNT;
    return bins_need_data(&r->bins, dtype);
}

static int begin(run *r, const settings *s, result *to, fault *f)
{
    *r = (run){.settings = s, .result = to};
    bool fresh = s->measure && s->wisdom && access(s->wisdom, F_OK) != 0;
    if (s->wisdom && !fresh && histo_wisdom_load(s->wisdom) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, s->wisdom);
    if (bins_parse(&r->bins, s, f) != 0) return -1;
    if (feed_open(&r->feed, s, may_read_twice(r), f) != 0) return -1;
    samples *first = feed_begin(&r->feed, 0, f);
    if (!first || describe(r, first, f) != 0 || name_result(r, f) != 0) return -1;
    return find_axes(r, f);
}

static void end(run *r)
{
    progress_end();
    for (int a = 0; a < HISTO_MAX_AXES; a++)
        axis_search_free(&r->search[a]);
    for (int i = 0; i < r->count; i++) {
        if (r->names) free(r->names[i]);
        if (r->plans) histo_plan_destroy(r->plans[i]);
    }
    free(r->names);
    free(r->dtypes);
    free(r->plans);
    feed_close(&r->feed);
    bins_free(&r->bins);
}

/* Keep what a measuring plan found. */
static int save_wisdom(const settings *s, fault *f)
{
    if (!s->measure || !s->wisdom || histo_wisdom_save(s->wisdom) == HISTO_OK) return 0;
    return fault_of_library(f, EXIT_DATA, s->wisdom);
}

static char *explain_plan(const histo_plan *plan)
{
    size_t size = histo_plan_explain(plan, NULL, 0) + 1;
    char *text = malloc(size);
    if (text) histo_plan_explain(plan, text, size);
    return text;
}

/* "cpu/privatized, 2 threads · 0.922 MB in 1.84 ms, 0.502 GB/s · 3.58 ms in all" */
static void describe_run(run *r, double whole_s)
{
    char *text = explain_plan(r->plans[0]), counting[TEXT_NUMBER_BYTES], whole[TEXT_NUMBER_BYTES],
         bytes[TEXT_NUMBER_BYTES];
    const char *threads = text ? strstr(text, " with ") : NULL;
    threads = threads ? threads + strlen(" with ") : "";
    snprintf(r->result->ran, sizeof r->result->ran, "%s, %.*s · %s in %s, %.3g GB/s · %s in all",
             histo_plan_strategy(r->plans[0]), (int)strcspn(threads, ",\n"), threads, text_bytes(r->bytes, bytes),
             text_seconds(r->counting_s, counting), r->counting_s > 0 ? r->bytes * 1e-9 / r->counting_s : 0,
             text_seconds(whole_s, whole));
    free(text);
}

/* Where the bins tell every value, the statistics come from them, without rounding on the way. */
static int stats_from_bins(run *r, fault *f)
{
    for (int i = 0; i < r->result->count && r->want_stats && r->whole; i++) {
        table t;
        if (table_read(&t, &r->result->series[i], f) != 0) return -1;
        for (int a = 0; a < r->naxes; a++)
            r->result->series[i].stats[a] = table_stats(&t, a, true);
        table_free(&t);
    }
    return 0;
}

int count_files(const settings *s, bool want_stats, result *to, fault *f)
{
    run r;
    double begun = now_s();
    int failed = begin(&r, s, to, f);
    const feed_visitor counting = {
        .verb = "counting", .enter = enter_file, .take = count_piece, .leave = leave_file, .self = &r};
    r.want_stats = want_stats;
    if (!failed) failed = feed_visit(&r.feed, &counting, f);
    if (!failed && to->count == 0) failed = add_series(&r, 0, 0, f); /* a file without samples */
    if (!failed) failed = stats_from_bins(&r, f);
    if (!failed) failed = save_wisdom(s, f);
    if (!failed && r.plans[0]) describe_run(&r, now_s() - begun);
    end(&r);
    return failed ? -1 : 0;
}

static void print_axes(const run *r, FILE *out)
{
    static const char *const kinds[] = {"integer", "regular", "variable", "log", "sqrt", "power"};
    for (int a = 0; a < r->naxes; a++) {
        const histo_axis *axis = &r->axes[a];
        char lo[TEXT_NUMBER_BYTES], hi[TEXT_NUMBER_BYTES], bins[TEXT_NUMBER_BYTES];
        double first = axis->edges ? axis->edges[0] : axis->lo, last = axis->edges ? axis->edges[axis->bins] : axis->hi;
        fprintf(out, "axis");
        if (r->joint && r->names[a]) fprintf(out, " %s", r->names[a]);
        fprintf(out, ": %s, %s bin%s over [%s, %s%c\n", kinds[axis->kind], text_count((uint64_t)axis->bins, bins),
                axis->bins == 1 ? "" : "s", text_exact(first, lo), text_exact(last, hi), axis->closed ? ']' : ')');
    }
}

static int print_plan(run *r, const piece *p, FILE *out, fault *f)
{
    if (add_series(r, 0, p->page, f) != 0) return -1;
    const histo_plan *plan = plan_of(r, 0, p, f);
    char *text = plan ? explain_plan(plan) : NULL;
    if (!text) return plan ? fault_memory(f) : -1;
    fputs(text, out);
    free(text);
    return save_wisdom(r->settings, f);
}

int count_explain(const settings *s, FILE *out, fault *f)
{
    run r;
    result to = {0};
    piece p;
    samples *in = NULL;
    int failed = begin(&r, s, &to, f);
    if (!failed) failed = (in = feed_begin(&r.feed, 0, f)) ? 0 : -1;
    int more = failed ? 0 : samples_next(in, &p, f);
    if (!failed && more == 0)
        failed = fault_set(f, EXIT_DATA, "%s holds no samples to plan for", feed_name(&r.feed, 0));
    if (more < 0) failed = -1;
    if (!failed) {
        print_axes(&r, out);
        failed = print_plan(&r, &p, out, f);
    }
    end(&r);
    result_free(&to);
    return failed;
}
