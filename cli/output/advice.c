#include "output/advice.h"

#include "base/failure.h"

/* The largest share of the samples in bins that a single bin has; 0 if one has all, or there are few. */
static double share_of_one_bin(const series *of)
{
    enum { FEW = 100, MOST_BINS = 1 << 20 };
    const histo_axis axis = histo_hist_axis(of->hist, 0);
    const uint64_t *counts;
    histo_summary summary;
    if (histo_hist_naxes(of->hist) > 1 || histo_hist_batch(of->hist) > 1 || axis.bins > MOST_BINS ||
        histo_hist_summarize(of->hist, &summary) != HISTO_OK ||
        histo_hist_borrow(of->hist, &counts, NULL, NULL) != HISTO_OK)
        return 0;
    const bool compares = summary.occupied > 1 && summary.count >= FEW;
    return compares ? (double)counts[1 + summary.mode] / (double)summary.count : 0;
}

void advise_on_bins(const settings *s, const result *r)
{
    enum { MOST = 99 };
    if (s->quiet || s->range || s->edges || s->log_bins || s->scale || s->stats || s->quantiles) return;
    if (result_is_sparse(r)) return;
    for (int i = 0; i < r->count; i++) {
        const series *of = &r->series[i];
        const axis_form *form = &of->forms[0];
        if (form->names || form->characters || form->kind == VALUES_TIMES) continue;
        const double share = 100 * share_of_one_bin(of);
        if (!(share >= MOST)) continue;
        const histo_axis axis = histo_hist_axis(of->hist, 0);
        const double least = of->stats ? of->stats->min : axis.lo;
        note("%s%s%.100s: %.4g %% of the samples are in one bin: try %s", r->title ? r->title : "the histogram",
             of->name && r->count > 1 ? ", " : "", of->name && r->count > 1 ? of->name : "", share,
             axis.kind == HISTO_INTEGER ? "--scale log"
             : least > 0                ? "--log or -r 1%:99%"
                                        : "-r 1%:99% or --scale log");
        return;
    }
}
