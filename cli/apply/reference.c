#include "apply/reference.h"

#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "output/saved/saved.h"

static int count_of(const reference *r)
{
    return r->saved.count ? r->saved.count : r->image.tones.tables;
}

static int load(reference *r, fault *f)
{
    if (saved_load(r->path, &r->saved, f) != 0) return -1;
    for (int i = 0; i < r->saved.count; i++)
        if (histo_hist_naxes(r->saved.series[i].hist) != 1 || histo_hist_batch(r->saved.series[i].hist) > 1)
            return fault_set(f, EXIT_DATA,
                             "%s holds histograms with more than one axis, or of segments: a reference has one axis",
                             r->path);
    return 0;
}

static int find_curves(reference *r, fault *f)
{
    const int count = count_of(r);
    r->curves = calloc((size_t)count, sizeof *r->curves);
    if (!r->curves) return fault_set(f, EXIT_DATA, "no memory for the values of %s", r->path);
    if (!r->saved.count) return ranks_find(&r->image, r->curves, f);
    for (int i = 0; i < count; i++)
        if (ranks_of_hist(r->saved.series[i].hist, r->path, &r->curves[i], f) != 0) return -1;
    return 0;
}

/* Read the samples of the reference, or its saved histograms. */
static int gather(reference *r, const job *for_job, fault *f)
{
    r->ranked = !pages_video(for_job->pages) && ranks_allowed(for_job->settings) && !for_job->settings->landmarks &&
                (ranks_suit(for_job->tones.dtype) || (!r->saved.count && ranks_suit(r->image.tones.dtype)));
    if (r->ranked) return find_curves(r, f);
    return r->saved.count ? 0 : job_count(&r->image, f);
}

int reference_open(reference *r, const job *for_job, const char *path, const char *mask_path, fault *f)
{
    const bool saved = strcmp(path, "-") != 0 && saved_is_file(path);
    r->path = path;
    if (saved && mask_path) return fault_set(f, EXIT_USAGE, "%s holds histograms: leave --reference-mask out", path);
    if (saved ? load(r, f) != 0 : job_open(&r->image, for_job, path, mask_path, f) != 0) return -1;
    if (gather(r, for_job, f) != 0) return -1;
    const int wanted = for_job->tones.tables, count = count_of(r);
    if (count == wanted || count == 1) return 0;
    return fault_set(
        f, EXIT_DATA,
        "the reference %s has %d channels where %d of %s are matched: take one with as many, or choose --channel", path,
        count, wanted, job_name(for_job));
}

void reference_close(reference *r)
{
    for (int i = 0; r->curves && i < count_of(r); i++)
        curve_free(&r->curves[i]);
    free(r->curves);
    result_free(&r->saved);
    job_close(&r->image);
}

const histo_hist *reference_hist(const reference *r, int t)
{
    const int i = count_of(r) == 1 ? 0 : t;
    return r->saved.count ? r->saved.series[i].hist : r->image.hists[i];
}

const curve *reference_curve(const reference *r, int t)
{
    return &r->curves[count_of(r) == 1 ? 0 : t];
}
