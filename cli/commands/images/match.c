/* histo match: give an image the distribution of another. */
#include <math.h>
#include <stdlib.h>

#include "apply/command.h"
#include "apply/landmarks.h"
#include "apply/ranks.h"
#include "apply/reference.h"
#include "base/failure.h"
#include "base/text.h"

typedef struct match {
    reference to;
    int points;      /* landmarks per table; 0: match the whole distribution */
    double *targets; /* of the reference, [tables][points] */
    double *found;   /* of the image, likewise */
    curve *curves;   /* [tables] of the image, if samples are ranked */
} match;

/* The lowest and highest value of the reference for a table. */
static int ends_of(const reference *r, int t, double *lowest, double *highest, fault *f)
{
    if (r->ranked) {
        const curve *c = reference_curve(r, t);
        *lowest = c->values[0];
        *highest = c->values[c->count - 1];
        return 0;
    }
    const histo_hist *hist = reference_hist(r, t);
    const histo_axis axis = histo_hist_axis(hist, 0);
    const double last = axis.kind == HISTO_INTEGER ? 1 : 0;
    histo_summary s;
    if (histo_hist_summarize(hist, &s) != HISTO_OK) return fault_of_library(f, EXIT_DATA, r->path);
    if (s.count == 0) return fault_set(f, EXIT_DATA, "the reference %s has no samples in bins", r->path);
    *lowest = histo_axis_edge(&axis, s.first);
    *highest = histo_axis_edge(&axis, s.last + 1) - last;
    return 0;
}

/* Check that the result's dtype can represent the reference's values. */
static int check_values(const job *j, const reference *r, fault *f)
{
    double lo, hi, lowest = 0, highest = 0;
    if (j->dtype >= HISTO_F16) return 0;
    levels_of_dtype(j->dtype, &lo, &hi);
    if (j->largest) hi = (double)j->largest;
    for (int t = 0; t < j->tones.tables; t++) {
        char text[TEXT_NUMBER_BYTES], ends[2][TEXT_NUMBER_BYTES];
        if (ends_of(r, t, &lowest, &highest, f) != 0) return -1;
        if (lowest >= lo && highest <= hi) continue;
        return fault_set(f, EXIT_DATA, "the reference %s reaches %s, and samples of %s are %s to %s: convert one",
                         r->path, text_exact(lowest < lo ? lowest : highest, text), job_name(j),
                         text_exact(lo, ends[0]), text_exact(hi, ends[1]));
    }
    return 0;
}

/* The landmarks of ITK's HistogramMatchingImageFilter: the ends, the mean, and quantiles of the samples above it. */
static int find_itk(job *j, int points, double *values, fault *f)
{
    const int tables = j->tones.tables, inner = points - 3;
    double ends[2], q[LANDMARKS_MOST];
    double *means = calloc((size_t)tables, sizeof *means),
           *all = calloc((size_t)tables, (size_t)(2 + inner) * sizeof *all);
    int failed = means && all ? 0 : fault_set(f, EXIT_DATA, "no memory for the landmarks of %s", job_name(j));
    for (int k = 0; k < inner; k++)
        q[k] = (double)(k + 1) / (inner + 1);
    ends[0] = 0;
    ends[1] = 1;
    if (!failed) failed = landmarks_means(j, means, f);
    if (!failed) failed = landmarks_find(j, 2, ends, NULL, all, f);
    if (!failed) failed = landmarks_find(j, inner, q, means, all + 2 * tables, f);
    for (int t = 0; t < tables && !failed; t++) {
        double *to = values + t * points;
        to[0] = all[2 * t];
        to[1] = means[t];
        for (int k = 0; k < inner; k++)
            to[2 + k] = all[2 * tables + t * inner + k];
        to[points - 1] = all[2 * t + 1];
    }
    free(means);
    free(all);
    return failed;
}

/* Quantiles equally spaced from 0 to 0.99. */
static void spread(int n, double *q)
{
    for (int k = 0; k < n; k++)
        q[k] = 0.01 + 0.98 * k / (n - 1);
}

static int find(job *j, int points, double *values, fault *f)
{
    double q[LANDMARKS_MOST];
    if (j->settings->landmarks_itk) return find_itk(j, points, values, f);
    spread(points, q);
    if (!j->frame) return landmarks_find(j, points, q, NULL, values, f);
    if (histo_hist_quantiles(j->hists[0], HISTO_QUANTILE_LINEAR, points, q, values) == HISTO_OK) return 0;
    return fault_of_library(f, EXIT_DATA, job_name(j));
}

static int find_targets(job *j, match *own, fault *f)
{
    double q[LANDMARKS_MOST];
    if (!own->to.saved.count) return find(&own->to.image, own->points, own->targets, f);
    if (j->settings->landmarks_itk)
        return fault_set(f, EXIT_USAGE, "%s holds histograms: --landmarks itk:N is for images", own->to.path);
    spread(own->points, q);
    for (int i = 0; i < own->to.saved.count; i++)
        if (histo_hist_quantiles(own->to.saved.series[i].hist, HISTO_QUANTILE_LINEAR, own->points, q,
                                 own->targets + i * own->points) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, own->to.path);
    return 0;
}

static int begin(job *j, fault *f)
{
    const settings *s = j->settings;
    match *own = j->own = calloc(1, sizeof *own);
    if (!own) return fault_set(f, EXIT_DATA, "no memory to match %s", job_name(j));
    if (reference_open(&own->to, j, s->files[1], s->reference_mask, f) != 0) return -1;
    if (check_values(j, &own->to, f) != 0) return -1;
    if (!s->landmarks) return 0;
    if (s->landmarks_itk && s->smooth)
        return fault_set(f, EXIT_USAGE,
                         "--smooth counts frames together, and --landmarks itk:N takes each: leave one out");
    own->points = s->landmarks + (s->landmarks_itk ? 3 : 0);
    const size_t all = (size_t)(j->tones.tables * own->points);
    own->targets = calloc(all, sizeof *own->targets);
    own->found = calloc(all, sizeof *own->found);
    if (!own->targets || !own->found) return fault_set(f, EXIT_DATA, "no memory to match %s", job_name(j));
    return find_targets(j, own, f);
}

static int gather(job *j, fault *f)
{
    match *own = j->own;
    if (j->frame) return 0;
    if (!own->to.ranked) return job_count(j, f);
    if (!own->curves) own->curves = calloc((size_t)j->tones.tables, sizeof *own->curves);
    if (!own->curves) return fault_set(f, EXIT_DATA, "no memory to match %s", job_name(j));
    return ranks_find(j, own->curves, f);
}

/* Map each value of the image to the one up to which the reference has the same share of samples. */
static int make_ranked(job *j, int t, const curve *from, const curve *to, fault *f)
{
    double *results = malloc((size_t)from->count * sizeof *results);
    if (!results) return fault_set(f, EXIT_DATA, "no memory to match %s", job_name(j));
    int64_t at = 0;
    for (int64_t i = 0; i < from->count; i++)
        results[i] = curve_value(to, curve_share(from, i), &at);
    const int failed = ranks_map(j, t, from, results, f);
    free(results);
    return failed;
}

static int make(job *j, int t, fault *f)
{
    const match *own = j->own;
    const reference *r = &own->to;
    if (own->points) {
        const int target = r->saved.count == 1 || r->image.tones.tables == 1 ? 0 : t;
        if (t == 0 && find(j, own->points, own->found, f) != 0) return -1;
        if (job_line_map(j, t, own->points, own->found + t * own->points, own->targets + target * own->points, true,
                         f) == 0)
            return 0;
        if (!f->status && j->frame) return job_same_map(j, t, f);
        return f->status ? -1 : fault_set(f, EXIT_DATA, "%s has a single value, and landmarks need more", job_name(j));
    }
    if (r->ranked) return make_ranked(j, t, &own->curves[t], reference_curve(r, t), f);
    if (job_new_map(j, t, j->levels[t].within, f) != 0) return -1;
    if (histo_map_match(j->maps[t], j->hists[t], reference_hist(r, t), NULL) == HISTO_OK) return 0;
    return fault_of_library(f, EXIT_DATA, job_name(j));
}

static void end(job *j)
{
    match *own = j->own;
    if (!own) return;
    reference_close(&own->to);
    for (int t = 0; own->curves && t < j->tones.tables; t++)
        curve_free(&own->curves[t]);
    free(own->curves);
    free(own->targets);
    free(own->found);
    free(own);
}

int command_match(const settings *s)
{
    static const job_kind kind = {.verb = "matching",
                                  .color = "each",
                                  .begin = begin,
                                  .gather = gather,
                                  .gathers_counts = true,
                                  .make = make,
                                  .end = end};
    return job_command(s, &kind);
}
