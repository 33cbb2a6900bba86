/* Counting, once the axes are known: every source of samples has a histogram of its own, or is an axis of a joint one;
 * with --batch, so for each file and page. */
#include "count/count.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/failure.h"
#include "base/text.h"
#include "count/run.h"
#include "output/terminal/progress.h"

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The histograms of a page and the copies that writing them takes must fit into memory together: their pages are only
 * taken from the system as samples touch them. */
static int check_memory(const run *r, fault *f)
{
    const settings *s = r->settings;
    const int count = r->joint ? 1 : r->count, arrays = s->weights ? 3 : 1;
    double slots = 0;
    if (s->sparse) return 0;
    for (int i = 0; i < count; i++) {
        const histo_axis *axes = &r->axes[run_axis_of(r, i)];
        double each = (double)r->segments;
        for (int a = 0; a < r->naxes; a++)
            each *= (double)axes[a].bins + 3;
        if (each <= (double)HISTO_MAX_SLOTS * (double)r->segments) slots += each; /* else the library refuses */
    }
    char what[96], number[TEXT_NUMBER_BYTES];
    snprintf(what, sizeof what, "%s bins", text_count((uint64_t)fmin(slots, 1e18), number));
    return fault_beyond_memory(
        f, 2 * slots * arrays * sizeof(uint64_t), what,
        r->joint && !s->weights ? "use fewer, or --sparse, which keeps only those that samples are in" : "use fewer");
}

static int make_hist(const run *r, int i, histo_hist **hist, fault *f)
{
    const settings *s = r->settings;
    const histo_axis *axes = r->joint ? r->axes : &r->axes[run_axis_of(r, i)];
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
        return fault_set(
            f, EXIT_USAGE,
            "%d axes with so many bins are too many for an array of all of them: --sparse keeps those that "
            "samples are in",
            r->naxes);
    }
    return fault_of_library(f, status == HISTO_NO_MEMORY ? EXIT_DATA : EXIT_USAGE, "the bins");
}

/* "b.png r", "page 3", "r": what tells a series from the others; "" if nothing does. */
static void name_series(const run *r, int first, int file, int page, char *name, size_t size)
{
    int length = 0;
    name[0] = '\0';
    if (r->settings->batch && r->feed.count > 1)
        length = snprintf(name, size, "%.150s", text_file_name(feed_name(&r->feed, file)));
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

/* "r 0", "r 1", … for the entries of the batch that was added last. */
static int name_segments(run *r, const char *name, fault *f)
{
    for (int64_t i = 0; i < r->segments; i++) {
        series *it = &r->result->series[r->result->count - r->segments + i];
        char whole[1100];
        snprintf(whole, sizeof whole, "%s%s%" PRId64, name, *name ? " " : "", i);
        free(it->name);
        if (!(it->name = strdup(whole))) return run_fault_memory(f);
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
        if (!r->want_stats || (r->settings->segments && !r->whole)) continue; /* whole: they come from the bins */
        for (int64_t made = r->result->count - r->segments; made < r->result->count; made++) {
            histo_stats *stats = r->result->series[made].stats = calloc((size_t)r->naxes, sizeof *stats);
            if (!stats) return run_fault_memory(f);
        }
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
    const histo_hist *hist = r->result->series[r->first_series + i * r->segments].hist;
    histo_status status = histo_plan_create(plan, hist, &p->views[i], &fill, &options);
    if (status == HISTO_OK) return 0;
    return fault_set(f, status == HISTO_NO_MEMORY ? EXIT_DATA : EXIT_USAGE, "%s", histo_last_error());
}

/* Sources of one dtype and axis share a plan. */
static const histo_plan *plan_of(run *r, int i, const piece *p, fault *f)
{
    int first = 0;
    while (!r->joint && (r->dtypes[first] != r->dtypes[i] || run_axis_of(r, first) != run_axis_of(r, i)))
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
    double bytes = 0, beside = p->mask ? 1 : 0; /* a sample */
    for (int i = 0; i < (p->pairs ? 1 : r->count); i++)
        bytes += (double)histo_dtype_size(p->views[i].dtype) * (double)histo_view_size(&p->views[i]);
    if (p->weights) beside += (double)histo_dtype_size(p->weights->dtype);
    if (p->where) beside += (double)histo_dtype_size(p->where->dtype);
    return bytes + beside * (double)histo_view_size(&p->views[0]);
}

static int count_piece(void *self, int file, const piece *p, fault *f)
{
    run *r = self;
    const char *name = feed_name(&r->feed, file);
    bool another = r->settings->batch && (file != r->file || p->page != r->page);
    if ((r->result->count == 0 || another) && add_series(r, file, p->page, f) != 0) return -1;
    for (int i = 0; i < (r->joint ? 1 : r->count); i++) {
        series *to = &r->result->series[r->first_series + i * r->segments];
        histo_fill_options fill = piece_fill(p, i);
        const histo_plan *plan = plan_of(r, i, p, f);
        if (!plan) return -1;
        double begun = now_s();
        if (histo_plan_fill(plan, to->hist, &p->views[i], &fill) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, name);
        r->counting_s += now_s() - begun;
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
    return (piece){.views = view, .pairs = r->settings->pairs};
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
    return stack_visit(&r->stack, r->settings->pairs, &stats, f);
}

static int leave_file(void *self, int file, const samples *in, fault *f)
{
    run *r = self;
    const char *name = feed_name(&r->feed, file);
    const reader *from = samples_reader(in);
    (void)f;
    if (r->settings->quiet) return 0;
    if (from->bad) {
        const char *plural = from->bad == 1 ? "" : "s";
        progress_end();
        if (r->settings->read.paired)
            fprintf(stderr, "histo: %s: skipped %" PRIu64 " row%s with a cell that is no number\n", name, from->bad,
                    plural);
        else
            fprintf(stderr, "histo: %s: skipped %" PRIu64 " cell%s that %s no number\n", name, from->bad, plural,
                    from->bad == 1 ? "is" : "are");
    }
    if (from->pages_in_file) {
        progress_end();
        if (from->pages_in_file > 0)
            fprintf(stderr, "histo: %s: page 0 of %" PRId64 ": --page all counts every page\n", name,
                    from->pages_in_file);
        else
            fprintf(stderr, "histo: %s: page 0 of several: --page all counts every page\n", name);
    }
    return 0;
}

/* ---- The whole run -------------------------------------------------------------------------------------- */

/* Keep what a measuring plan found. */
static int save_wisdom(const settings *s, fault *f)
{
    if (!s->measure || !s->wisdom || histo_wisdom_save(s->wisdom) == HISTO_OK) return 0;
    return fault_of_wisdom(f);
}

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

/* Where the bins tell every value, the statistics come from them, without rounding on the way. */
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

int count_files(const settings *s, bool want_stats, result *to, fault *f)
{
    run r;
    double begun = now_s();
    int failed = run_begin(&r, s, to, f);
    const feed_visitor counting = {
        .verb = "counting", .enter = run_enter_file, .take = count_piece, .leave = leave_file, .self = &r};
    r.want_stats = want_stats;
    if (!failed) failed = s->pairs ? count_stack(&r, f) : feed_visit(&r.feed, &counting, f);
    if (!failed && to->count == 0) failed = add_series(&r, 0, 0, f); /* a file without samples */
    if (!failed) failed = stats_from_bins(&r, f);
    if (!failed) failed = save_wisdom(s, f);
    if (!failed && r.plans[0]) describe_run(&r, now_s() - begun);
    run_end(&r);
    return failed ? -1 : 0;
}

static void print_axes(const run *r, FILE *out)
{
    static const char *const kinds[] = {"integer", "regular", "variable", "log", "sqrt", "power"};
    for (int a = 0; a < r->axis_count; a++) {
        const histo_axis *axis = &r->axes[a];
        char lo[TEXT_NUMBER_BYTES], hi[TEXT_NUMBER_BYTES], bins[TEXT_NUMBER_BYTES];
        double first = axis->edges ? axis->edges[0] : axis->lo, last = axis->edges ? axis->edges[axis->bins] : axis->hi;
        fprintf(out, "axis");
        if (r->axis_count > 1 && r->names[a]) fprintf(out, " %s", r->names[a]);
        fprintf(out, ": %s, %s bin%s over [%s, %s%c\n", kinds[axis->kind], text_count((uint64_t)axis->bins, bins),
                axis->bins == 1 ? "" : "s", text_exact(first, lo), text_exact(last, hi), axis->closed ? ']' : ')');
    }
}

static int print_plan(run *r, const piece *p, FILE *out, fault *f)
{
    if (add_series(r, 0, p->page, f) != 0) return -1;
    const histo_plan *plan = plan_of(r, 0, p, f);
    if (!plan) return -1;
    size_t size = histo_plan_explain(plan, NULL, 0) + 1;
    char *text = malloc(size);
    if (!text) return run_fault_memory(f);
    histo_plan_explain(plan, text, size);
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
    int failed = run_begin(&r, s, &to, f);
    histo_view view;
    if (!failed && s->pairs) p = whole_stack(&r, &view);
    if (!failed && !s->pairs) failed = (in = feed_begin(&r.feed, 0, f)) ? 0 : -1;
    int more = failed ? 0 : s->pairs ? 1 : samples_next(in, &p, f);
    if (!failed && more == 0)
        failed = fault_set(f, EXIT_DATA, "%s holds no samples to plan for", feed_name(&r.feed, 0));
    if (more < 0) failed = -1;
    if (!failed) {
        print_axes(&r, out);
        failed = print_plan(&r, &p, out, f);
    }
    run_end(&r);
    result_free(&to);
    return failed;
}
