/* The first pass counts the samples, the next ones find the ends of the range, and the last one counts the bins. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "numbers/key_bins.h"
#include "numbers/thresholds.h"
#include "survey/extremes.h"
#include "view/dtype.h"

enum { LEAST_BINS = 256, SAMPLES_AN_OUTLIER = 100000 };

typedef enum phase { EXTREMES, ENDS, BINS } phase;

struct histo_binned_threshold {
    histo_dtype dtype;
    histo_split_method method;
    int classes;
    int64_t bins; /* 0: default */
    phase phase;
    histo_extremes extremes;
    histo_quantiles *ends;
    histo_hist *hist;
};

histo_status histo_binned_threshold_create(histo_binned_threshold **thresholds, histo_dtype dtype,
                                           histo_split_method method, int classes, int64_t bins)
{
    histo_binned_threshold *made = histo_malloc(sizeof *made);
    if (!made) return histo_fail_memory(sizeof *made, "thresholds");
    *made = (histo_binned_threshold){.dtype = dtype, .method = method, .classes = classes, .bins = bins};
    *thresholds = made;
    return HISTO_OK;
}

void histo_binned_threshold_destroy(histo_binned_threshold *t)
{
    if (!t) return;
    histo_quantiles_destroy(t->ends);
    histo_hist_destroy(t->hist);
    histo_free(t);
}

static histo_status add_extremes(histo_binned_threshold *t, const histo_view *samples,
                                 const histo_fill_options *options)
{
    histo_view flat = *samples;
    histo_extremes more;
    flat.batch_ndim = 0;
    histo_fill_options alike = options ? *options : (histo_fill_options){0};
    alike.offsets = NULL;
    const histo_status status = histo_find_extremes(&flat, &alike, &more, 1);
    if (status == HISTO_OK) histo_extremes_merge(&t->extremes, &more, t->dtype);
    return status;
}

histo_status histo_binned_threshold_add(histo_binned_threshold *t, const histo_source *source,
                                        const histo_view *samples, const histo_fill_options *options)
{
    if (t->phase == EXTREMES) return add_extremes(t, samples, options);
    if (t->phase == ENDS) return histo_quantiles_add(t->ends, samples, options);
    return histo_key_bins_fill(t->hist, source, samples, options);
}

/* Look for the samples that have this many below and above them. */
static histo_status begin_ends(histo_binned_threshold *t)
{
    const histo_extremes *e = &t->extremes;
    const uint64_t n = histo_extremes_finite(e), all = n + e->below + e->above;
    if (n == 0) return histo_fail(HISTO_INVALID, "there is no threshold: no sample is finite and unmasked");
    const uint64_t beyond = n > 2 ? 1 + n / SAMPLES_AN_OUTLIER : 0;
    const double last = all > 1 ? (double)(all - 1) : 1;
    const double q[] = {(double)(e->below + beyond) / last, (double)(e->below + n - 1 - beyond) / last};
    bool more;
    histo_quantiles_destroy(t->ends);
    histo_status status = histo_quantiles_create(&t->ends, t->dtype, HISTO_QUANTILE_NEAREST, 2, q);
    if (status == HISTO_OK) status = histo_quantiles_next_pass(t->ends, &more);
    if (status == HISTO_OK) t->phase = ENDS;
    return status;
}

/* Bins whose width is a power of two and whose edges are its multiples: one sample more or less beyond an end does not
 * move them. */
static histo_axis default_bins(const histo_binned_threshold *t, const double *ends)
{
    int exponent;
    (void)frexp((ends[1] - ends[0]) / LEAST_BINS, &exponent);
    double width = ldexp(1, exponent - 1);
    if (histo_dtype_is_integer(t->dtype) && width < 1) width = 1;
    const double lo = floor(ends[0] / width) * width, hi = (floor(ends[1] / width) + 1) * width;
    const double bins = (hi - lo) / width;
    const bool fits = bins <= 2 * LEAST_BINS + 2; /* because of rounding or overflow, there may be no such bins */
    return fits ? histo_axis_regular((int64_t)bins, lo, hi)
                : histo_axis_closed(histo_axis_regular(LEAST_BINS, ends[0], ends[1]));
}

/* Make bins between the ends; fewer if rounding would close some. */
static histo_status begin_bins(histo_binned_threshold *t)
{
    double ends[2];
    histo_status status = histo_quantiles_read(t->ends, ends);
    if (status != HISTO_OK) return status;
    if (ends[0] == ends[1]) histo_extremes_outwards(&t->extremes, t->dtype, &ends[0], &ends[1]);
    histo_axis axis = ends[0] == ends[1] ? histo_axis_closed(histo_axis_variable(1, ends))
                      : t->bins          ? histo_axis_closed(histo_axis_regular(t->bins, ends[0], ends[1]))
                                         : default_bins(t, ends);
    status = histo_hist_create(&t->hist, 1, &axis, NULL);
    while (status == HISTO_INVALID && axis.kind == HISTO_REGULAR && axis.bins > 1) {
        axis.bins /= 2;
        status = histo_hist_create(&t->hist, 1, &axis, NULL);
    }
    if (status == HISTO_OK) t->phase = BINS;
    return status;
}

static histo_status split(histo_binned_threshold *t, uint64_t *keys)
{
    enum { MOST = 256 };
    int64_t last[MOST];
    const histo_axis axis = histo_hist_axis(t->hist, 0);
    const uint64_t least = histo_finite_keys(t->dtype).first;
    const histo_status status = histo_hist_split(t->hist, t->method, t->classes, last);
    for (int c = 0; c < t->classes - 1 && status == HISTO_OK; c++) {
        const double edge = histo_axis_edge(&axis, last[c] + 1);
        const bool closed = axis.closed && last[c] + 1 == axis.bins;
        keys[c] = closed ? histo_key_upto(t->dtype, edge, least) : histo_key_below(t->dtype, edge, least);
    }
    return status;
}

histo_status histo_binned_threshold_end_pass(histo_binned_threshold *t, uint64_t *keys, bool *more)
{
    *more = true;
    if (t->phase == EXTREMES) return begin_ends(t);
    if (t->phase == BINS) {
        *more = false;
        return split(t, keys);
    }
    bool again;
    const histo_status status = histo_quantiles_next_pass(t->ends, &again);
    return status == HISTO_OK && !again ? begin_bins(t) : status;
}
