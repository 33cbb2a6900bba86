/* The series of a run: a histogram of each source and group, with its name; with --batch, per file and page. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/text.h"
#include "count/run.h"

/* The histograms of a page, and the copies for writing them, must fit in memory. Check now, because the system assigns
 * memory only when samples touch it. */
static int check_memory(const run *r, fault *f)
{
    const settings *s = r->settings;
    const int count = r->joint ? 1 : r->count, arrays = s->weights ? 3 : 1;
    double slots = 0;
    if (s->sparse) return 0;
    for (int i = 0; i < count; i++) {
        const histo_axis *axes = &r->axes[run_axis_of(r, i)];
        double each = (double)r->segments * (double)r->group_count;
        for (int a = 0; a < r->naxes; a++)
            each *= (double)axes[a].bins + 3;
        if (each <= (double)HISTO_MAX_SLOTS * (double)r->segments * (double)r->group_count)
            slots += each; /* else the library fails */
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
        return fault_set(f, EXIT_USAGE,
                         "%d axes with so many bins are too many for a dense array: --sparse keeps only those that "
                         "samples are in",
                         r->naxes);
    }
    return fault_of_library(f, status == HISTO_NO_MEMORY ? EXIT_DATA : EXIT_USAGE, "the bins");
}

/* The file's name, with its directories if another file has the same name. */
static const char *file_label(const run *r, int file)
{
    const char *path = feed_name(&r->feed, file), *name = text_file_name(path);
    bool alone = true;
    for (int i = 0; i < r->feed.count && alone; i++)
        alone = i == file || strcmp(text_file_name(feed_name(&r->feed, i)), name) != 0;
    return alone ? name : path;
}

/* What distinguishes a series from others, such as "b.png r", "page 3", "r"; "" if nothing does. */
static void name_series(const run *r, int first, int file, int page, char *name, size_t size)
{
    int length = 0;
    name[0] = '\0';
    if ((r->settings->batch || r->settings->compare) && r->feed.count > 1)
        length = snprintf(name, size, "%.150s", file_label(r, file));
    if (r->settings->batch && r->of_pages)
        length += snprintf(name + length, size - (size_t)length, "%spage %d", length ? " " : "", page);
    const bool by_file = r->settings->compare && length && r->count == 1;
    const char *between = length ? " " : "";
    for (int i = first; i < (r->joint ? r->count : first + 1); i++, between = ",") {
        char part[256] = "";
        if (!r->sources[i].name || by_file) continue;
        if (r->joint)
            text_quote_item(r->sources[i].name, part, sizeof part);
        else
            snprintf(part, sizeof part, "%s", r->sources[i].name);
        if ((size_t)length < size) length += snprintf(name + length, size - (size_t)length, "%s%s", between, part);
    }
}

/* "r 0", "r 1", … for the entries of the batch added last. */
static int name_segments(run *r, const char *name, fault *f)
{
    for (int64_t i = 0; i < r->segments; i++) {
        series *s = &r->result->series[r->result->count - r->segments + i];
        char whole[1100];
        snprintf(whole, sizeof whole, "%s%s%" PRId64, name, *name ? " " : "", i);
        free(s->name);
        if (!(s->name = strdup(whole))) return run_fault_memory(f);
    }
    return 0;
}

series *run_series_of(const run *r, int i, int64_t group)
{
    return &r->result->series[r->first_series + (i * r->group_count + group) * r->segments];
}

/* "price alpha" */
static void name_group(const run *r, int64_t group, char *name, size_t size)
{
    size_t length = strlen(name);
    if (!r->group_names) return;
    if (r->count == 1 || r->joint) length = 0; /* the names of axes say the rest */
    snprintf(name + length, size - length, "%s%.300s", length ? " " : "", r->group_names->text[group]);
}

/* Whether bins are single bytes, or the letters of --letters. */
static bool has_characters(const histo_axis *axis)
{
    const bool letters = axis->bins == 'Z' + 1 - 'A' && axis->lo == 'A' && axis->hi == 'Z' + 1;
    return letters || (axis->kind == HISTO_INTEGER && axis->lo >= 0 && axis->hi <= 256);
}

/* Set what the edges of axis a of a series represent. */
static void form_axis(run *r, int made, int a, int axis)
{
    result_name_bins(r->result, made, a, r->bins_of[axis]);
    axis_form *form = &r->result->series[made].forms[a];
    if (run_has_times(r, axis)) form->kind = VALUES_TIMES;
    if (run_form_of_axis(r, axis)) form->unit = run_form_of_axis(r, axis)->unit;
    form->characters = r->characters && r->naxes == 1 && has_characters(&r->axes[axis]);
}

/* Allocate the moments of source i, or of all sources if they are joint. */
static int add_moments(const run *r, int i, series *to, fault *f)
{
    const bool with_sums = !r->whole;
    to->stats = calloc((size_t)r->naxes, sizeof *to->stats);
    if (with_sums) to->sums = calloc((size_t)r->naxes, sizeof *to->sums);
    if (!to->stats || (with_sums && !to->sums)) return run_fault_memory(f);
    if (with_sums && r->found_sums) memcpy(to->sums, r->found_sums + i, (size_t)r->naxes * sizeof *to->sums);
    return 0;
}

int run_add_series(run *r, int file, int page, fault *f)
{
    r->file = file;
    r->page = page;
    r->first_series = r->result->count;
    if (check_memory(r, f) != 0) return -1;
    for (int64_t k = 0; k < (r->joint ? 1 : r->count) * r->group_count; k++) {
        const int i = (int)(k / r->group_count);
        char name[1024];
        histo_hist *hist;
        name_series(r, i, file, page, name, sizeof name);
        name_group(r, k % r->group_count, name, sizeof name);
        if (make_hist(r, i, &hist, f) != 0 || result_add(r->result, hist, name[0] ? name : NULL, f) != 0) return -1;
        if (r->settings->segments && name_segments(r, name, f) != 0) return -1;
        for (int64_t made = r->result->count - r->segments; made < r->result->count; made++) {
            for (int a = 0; a < r->naxes; a++)
                form_axis(r, (int)made, a, r->joint ? a : run_axis_of(r, i));
            const bool last = k % r->group_count == r->group_count - 1;
            r->result->series[made].rest = r->group_names && r->group_names->others && last;
        }
        if (r->moments == MOMENTS_NONE || (r->moments == MOMENTS_SAVED && r->whole) ||
            (r->settings->segments && !r->whole))
            continue; /* whole: statistics come from the bins */
        for (int64_t made = r->result->count - r->segments; made < r->result->count; made++) {
            if (add_moments(r, i, &r->result->series[made], f) != 0) return -1;
            run_add_order(r, i, &r->result->series[made]);
        }
    }
    return 0;
}

/* The title of the drawing, and names of axes. */
int run_name_result(run *r, fault *f)
{
    const settings *s = r->settings;
    char title[300];
    snprintf(title, sizeof title, "%.250s", s->title ? s->title : text_file_name(feed_name(&r->feed, 0)));
    if (!s->title && r->feed.count > 1)
        snprintf(title + strlen(title), sizeof title - strlen(title), " and %d more", r->feed.count - 1);
    r->result->title = strdup(title);
    bool failed = !r->result->title;
    for (int a = 0; a < r->naxes && (r->joint || r->count == 1); a++)
        if (r->sources[a].name && !(r->result->axis_names[a] = strdup(r->sources[a].name))) failed = true;
    return failed ? run_fault_memory(f) : 0;
}
