#include "apply/reference.h"

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

int reference_open(reference *r, const job *for_job, const char *path, const char *mask_path, fault *f)
{
    const bool saved = strcmp(path, "-") != 0 && saved_is_file(path);
    r->path = path;
    if (saved && mask_path) return fault_set(f, EXIT_USAGE, "%s holds histograms: leave --reference-mask out", path);
    if (saved ? load(r, f) != 0 : job_open(&r->image, for_job, path, mask_path, f) != 0 || job_count(&r->image, f) != 0)
        return -1;
    const int wanted = for_job->tones.tables, count = count_of(r);
    if (count == wanted || count == 1) return 0;
    return fault_set(
        f, EXIT_DATA,
        "the reference %s has %d channels where %d of %s are matched: take one with as many, or choose --channel", path,
        count, wanted, job_name(for_job));
}

void reference_close(reference *r)
{
    result_free(&r->saved);
    job_close(&r->image);
}

const histo_hist *reference_hist(const reference *r, int t)
{
    const int i = count_of(r) == 1 ? 0 : t;
    return r->saved.count ? r->saved.series[i].hist : r->image.hists[i];
}
