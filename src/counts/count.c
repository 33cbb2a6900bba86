/* Counting in one call, without a histogram that the caller keeps: a histogram on the stack, whose counters are on the
 * stack, too, if they are few, or in the caller's array if it has room for all slots. */
#include <string.h>

#include "base/checked.h"
#include "base/floats.h"
#include "counts/count_arrays.h"
#include "counts/hist.h"
#include "view/view.h"

enum { ON_STACK = 384 }; /* slots */

typedef struct one_count {
    histo_hist hist;
    bool borrows; /* the counters do not belong to the histogram */
    uint64_t masked;
    uint64_t counts[ON_STACK];
    double sums[ON_STACK];
} one_count;

/* Where the counters of a histogram without sums of squares may be placed; NULL: it must allocate them. */
static uint64_t *borrowed(one_count *c, const histo_hist_options *kind, int64_t slots,
                          const histo_count_options *options, void *out)
{
    bool only;
    if (kind->batch > 1 || (kind->weighting != HISTO_UNWEIGHTED && kind->weighting != HISTO_WEIGHT_FAST_SUM))
        return NULL;
    if (slots <= ON_STACK) return c->counts;
    const bool whole = options->slots == HISTO_FLOW && (!options->dtype || options->dtype == HISTO_U64);
    const bool can = whole && kind->weighting == HISTO_UNWEIGHTED && (uintptr_t)out % sizeof(uint64_t) == 0;
    return can && histo_device_of(out, &only) == HISTO_DEVICE_CPU ? out : NULL;
}

/* Check everything that can be checked before memory is allocated. hist has been started, and can be cleared. */
static histo_status begin(histo_hist *hist, int naxes, const histo_axis *axes, const histo_hist_options *kind)
{
    histo_accumulators *const accumulators = &hist->accumulators;
    accumulators->batch = kind->batch;
    hist->weighting = kind->weighting;
    histo_status status = histo_hist_check(naxes, axes, kind, &hist->bins, &accumulators->slots);
    return status == HISTO_OK ? histo_hist_own_axes(hist, naxes, axes) : status;
}

static histo_status provide_counters(one_count *c, const histo_hist_options *kind, const histo_count_options *how,
                                     void *out)
{
    histo_accumulators *const accumulators = &c->hist.accumulators;
    const int64_t slots = accumulators->slots;
    uint64_t *const counts = borrowed(c, kind, slots, how, out);
    if (!counts) return histo_accumulators_make(accumulators, slots, kind);
    c->borrows = true;
    c->masked = 0;
    accumulators->masked = &c->masked;
    accumulators->counts = memset(counts, 0, (size_t)slots * sizeof *counts);
    if (kind->weighting != HISTO_UNWEIGHTED) accumulators->sum_w = memset(c->sums, 0, (size_t)slots * sizeof *c->sums);
    return HISTO_OK;
}

static void end(one_count *c)
{
    histo_accumulators *const accumulators = &c->hist.accumulators;
    if (c->borrows) {
        accumulators->counts = accumulators->masked = NULL;
        accumulators->sum_w = NULL;
    }
    histo_hist_clear(&c->hist);
}

static histo_status fill(histo_hist *hist, const histo_view *views, const histo_fill_options *options,
                         const histo_plan_options *wanted)
{
    histo_plan *plan;
    if (!wanted) return histo_hist_fill(hist, views, options);
    histo_status status = histo_plan_create(&plan, hist, views, options, wanted);
    if (status != HISTO_OK) return status;
    status = histo_plan_fill(plan, hist, views, options);
    histo_plan_destroy(plan);
    return status;
}

/* Fill, and write the requested counts or sums. */
static histo_status count(one_count *c, const histo_hist_options *kind, const histo_view *views,
                          const histo_fill_options *options, const histo_count_options *how, void *out, int64_t size,
                          histo_tally *tally)
{
    histo_hist *const hist = &c->hist;
    const histo_read_options read = {.dtype = how->dtype, .stream = options->stream};
    const histo_quantity quantity = kind->weighting == HISTO_UNWEIGHTED ? HISTO_READ_COUNTS : HISTO_READ_W;
    histo_reading reading;
    histo_status status = histo_hist_reading(hist, how->slots, quantity, out, size, &read, &reading);
    if (status == HISTO_OK) status = provide_counters(c, kind, how, out);
    if (status == HISTO_OK) status = fill(hist, views, options, how->plan);
    if (status != HISTO_OK) return status;
    if (hist->accumulators.counts == out)
        status = histo_accumulators_to_host(&hist->accumulators);
    else
        status = histo_hist_read(hist, &reading);
    return status == HISTO_OK && tally ? histo_hist_tally(hist, tally) : status;
}

/* With offsets, the number of segments follows from the size of the output. */
static histo_status find_batch(int naxes, const histo_axis *axes, const histo_view *views,
                               const histo_fill_options *fill, histo_slots which, int64_t size,
                               histo_hist_options *kind)
{
    kind->batch = 1;
    if (!fill->offsets) {
        histo_status status = histo_view_check(&views[0], "samples");
        if (status != HISTO_OK) return status;
        const int64_t weights = fill->weight_count > 0 ? fill->weight_count : 1;
        if (!histo_mul_i64(histo_view_batch(&views[0]), weights, &kind->batch)) kind->batch = INT64_MAX;
        return HISTO_OK;
    }
    int64_t bins, slots;
    histo_status status = histo_hist_check(naxes, axes, kind, &bins, &slots);
    if (status == HISTO_OK) kind->batch = size / (which == HISTO_FLOW ? slots : bins);
    return status;
}

histo_status histo_count(int naxes, const histo_axis *axes, const histo_view *views, const histo_fill_options *fill,
                         void *out, int64_t size, histo_tally *tally, const histo_count_options *options)
{
    HISTO_STANDARD_FLOATS;
    static const histo_count_options defaults;
    if (!options) options = &defaults;
    if (!views) return histo_fail(HISTO_INVALID, "the samples are NULL");
    histo_status status = histo_check_reserved(options->reserved, sizeof options->reserved, "histo_count_options");
    if (status != HISTO_OK) return status;
    if (histo_count_arrays(naxes, axes, views, fill, out, size, tally, options)) return HISTO_OK;
    histo_fill_options filling = fill ? *fill : (histo_fill_options){0};
    filling.replace = false; /* all counters are new */
    histo_hist_options kind = {.weighting = options->weighting};
    if (filling.weights && kind.weighting == HISTO_UNWEIGHTED) kind.weighting = HISTO_WEIGHT_FAST_SUM;
    status = histo_hist_check_kind(naxes, axes, &kind);
    if (status == HISTO_OK) status = find_batch(naxes, axes, views, &filling, options->slots, size, &kind);
    if (status != HISTO_OK) return status;
    one_count c;
    histo_hist_start(&c.hist);
    c.borrows = false;
    status = begin(&c.hist, naxes, axes, &kind);
    if (status == HISTO_OK) status = count(&c, &kind, views, &filling, options, out, size, tally);
    end(&c);
    return status;
}
