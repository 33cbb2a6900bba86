/* Histograms: creation, copies, properties. */
#include "counts/hist.h"
#include "base/floats.h"
#include "base/memory.h"

#include <string.h>

histo_status histo_hist_check(int naxes, const histo_axis *axes, const histo_hist_options *kind, int64_t *bins,
                              int64_t *slots)
{
    histo_status status = HISTO_OK;
    for (int a = 0; a < naxes && status == HISTO_OK; a++)
        status = histo_axis_check_description(&axes[a]);
    return status == HISTO_OK ? histo_slots_count(naxes, axes, kind, bins, slots) : status;
}

histo_status histo_hist_own_axes(histo_hist *hist, int naxes, const histo_axis *axes)
{
    histo_status status = HISTO_OK;
    for (int a = 0; a < naxes && status == HISTO_OK; a++) {
        status = histo_axis_own(&axes[a], &hist->axes[a]);
        if (status == HISTO_OK) hist->naxes++;
    }
    return status;
}

void histo_hist_start(histo_hist *hist)
{
    hist->naxes = 0;
    hist->accumulators = (histo_accumulators){0};
    hist->plans = NULL;
    hist->last_fitted = 0;
    hist->unplanned.spent = 0;
    hist->unplanned.noted = false;
    hist->name = hist->metadata = NULL;
}

histo_status histo_hist_make(histo_hist **out, int naxes, const histo_axis *axes, const histo_hist_options *kind)
{
    /* Check sizes first: nothing is allocated or computed for absurd ones. */
    int64_t bins, slots;
    histo_status status = histo_hist_check(naxes, axes, kind, &bins, &slots);
    if (status != HISTO_OK) return status;
    histo_hist *hist = histo_malloc(sizeof *hist);
    if (!hist) return histo_fail_memory(sizeof *hist, "a histogram");
    histo_hist_start(hist);
    hist->weighting = kind->weighting;
    hist->bins = bins;
    status = histo_accumulators_make(&hist->accumulators, slots, kind);
    if (status == HISTO_OK) status = histo_hist_own_axes(hist, naxes, axes);
    if (status != HISTO_OK) {
        histo_hist_destroy(hist);
        return status;
    }
    hist->accumulators.on_host = true;
    *out = hist;
    return HISTO_OK;
}

histo_status histo_hist_check_kind(int naxes, const histo_axis *axes, const histo_hist_options *kind)
{
    if (!axes) return histo_fail(HISTO_INVALID, "the axes are NULL");
    if (naxes < 1 || naxes > HISTO_MAX_AXES)
        return histo_fail(HISTO_INVALID, "%d axes, not 1 to %d", naxes, HISTO_MAX_AXES);
    const histo_status status = histo_check_reserved(kind->reserved, sizeof kind->reserved, "histo_hist_options");
    if (status != HISTO_OK) return status;
    if (kind->weighting > HISTO_WEIGHT_REPRODUCIBLE_SUM)
        return histo_fail(HISTO_INVALID, "unknown weighting %d", (int)kind->weighting);
    if (kind->storage != HISTO_DENSE && kind->storage != HISTO_SPARSE)
        return histo_fail(HISTO_INVALID, "unknown storage %d: use HISTO_DENSE or HISTO_SPARSE", (int)kind->storage);
    if (kind->storage == HISTO_SPARSE && kind->weighting != HISTO_UNWEIGHTED)
        return histo_fail(HISTO_INVALID, "sparse histograms keep counts, and no sums of weights");
    return HISTO_OK;
}

histo_status histo_hist_create(histo_hist **hist, int naxes, const histo_axis *axes, const histo_hist_options *options)
{
    HISTO_STANDARD_FLOATS;
    if (hist) *hist = NULL;
    histo_hist_options kind = options ? *options : (histo_hist_options){0};
    if (!hist) return histo_fail(HISTO_INVALID, "the place for the histogram is NULL");
    histo_status status = histo_hist_check_kind(naxes, axes, &kind);
    if (status != HISTO_OK) return status;
    if (kind.batch == 0) kind.batch = 1;
    status = histo_hist_make(hist, naxes, axes, &kind);
    if (status == HISTO_OK) (*hist)->accumulators.on_host = false;
    return status;
}

void histo_hist_clear(histo_hist *hist)
{
    for (int a = 0; a < hist->naxes; a++)
        histo_axis_disown(&hist->axes[a]);
    histo_accumulators_free(&hist->accumulators);
    histo_free(hist->name);
    histo_free(hist->metadata);
    while (hist->plans)
        histo_hist_forget_plan(hist, hist->plans->problem.home);
}

void histo_hist_destroy(histo_hist *hist)
{
    if (!hist) return;
    histo_hist_clear(hist);
    histo_free(hist);
}

histo_status histo_hist_clone(const histo_hist *hist, histo_hist **clone)
{
    HISTO_STANDARD_FLOATS;
    if (clone) *clone = NULL;
    if (!hist || !clone) return histo_fail(HISTO_INVALID, "the histogram or the place for its clone is NULL");
    histo_hist *copy;
    const histo_hist_options kind = histo_hist_kind(hist);
    histo_status status = histo_hist_make(&copy, hist->naxes, hist->axes, &kind);
    if (status != HISTO_OK) return status;
    status = histo_hist_merge(copy, hist);
    if (status == HISTO_OK) status = histo_hist_copy_texts(copy, hist);
    if (status != HISTO_OK) {
        histo_hist_destroy(copy);
        return status;
    }
    *clone = copy;
    return HISTO_OK;
}

void histo_hist_swap(histo_hist *a, histo_hist *b)
{
    if (!a || !b) return;
    const histo_hist kept = *a;
    *a = *b;
    *b = kept;
}

histo_status histo_fail_captured(const char *what)
{
    return histo_fail(HISTO_UNSUPPORTED,
                      "a graph can %s only a dense histogram without reproducible sums that one GPU alone has counted "
                      "since it was created or reset",
                      what);
}

histo_status histo_hist_reset(histo_hist *hist, void *stream)
{
    if (!hist) return histo_fail(HISTO_INVALID, "the histogram is NULL");
    const histo_device_accumulators *device = hist->accumulators.on_devices;
    if (stream && device && (device->next || !histo_accumulators_home(&hist->accumulators)) &&
        device->backend->capturing(stream))
        return histo_fail_captured("reset");
    histo_accumulators_clear(&hist->accumulators, stream);
    return HISTO_OK;
}

int histo_hist_naxes(const histo_hist *hist)
{
    return hist ? hist->naxes : 0;
}

histo_axis histo_hist_axis(const histo_hist *hist, int a)
{
    return hist && a >= 0 && a < hist->naxes ? hist->axes[a] : (histo_axis){0};
}

int64_t histo_hist_batch(const histo_hist *hist)
{
    return hist ? hist->accumulators.batch : 0;
}

histo_weighting histo_hist_weighting(const histo_hist *hist)
{
    return hist ? hist->weighting : HISTO_UNWEIGHTED;
}

histo_storage histo_hist_storage(const histo_hist *hist)
{
    return hist && hist->accumulators.sparse ? HISTO_SPARSE : HISTO_DENSE;
}

histo_status histo_hist_alike(const histo_hist *a, const histo_hist *b)
{
    if (!a || !b) return histo_fail(HISTO_INVALID, "a histogram is NULL");
    if (a->naxes != b->naxes) return histo_fail(HISTO_INVALID, "one has %d axes, the other %d", a->naxes, b->naxes);
    if (a->weighting != b->weighting) return histo_fail(HISTO_INVALID, "their weightings differ");
    if (histo_hist_storage(a) != histo_hist_storage(b))
        return histo_fail(HISTO_INVALID, "one is sparse, the other dense");
    if (a->accumulators.batch != b->accumulators.batch)
        return histo_fail(HISTO_INVALID, "one is a batch of %lld, the other of %lld", (long long)a->accumulators.batch,
                          (long long)b->accumulators.batch);
    for (int i = 0; i < a->naxes; i++)
        if (!histo_axis_equal(&a->axes[i], &b->axes[i]))
            return histo_fail(HISTO_INVALID, "their edges on axis %d differ", i);
    return HISTO_OK;
}
