/* Moments in two passes over the occupied bins: the mean, then powers of the deviations from it. */
#include <math.h>

#include "base/floats.h"
#include "numbers/occupied.h"

/* Relative to the lowest value, as all values here, so that a narrow peak far from zero loses no digits. */
static double mean_of(const histo_axis *axis, const histo_levels *levels, double origin, histo_pace *pace)
{
    double sum = 0;
    for (int64_t i = 0; i < levels->n && histo_goes_on(pace, 1); i++)
        sum += (double)levels->count[i] * (histo_bin_value(axis, levels->bin[i]) - origin);
    return sum / (double)levels->total;
}

/* Meaningless if the pace stops. */
static histo_summary summary_of(const histo_axis *axis, const histo_levels *levels, histo_pace *pace)
{
    histo_summary s = {.count = levels->total, .occupied = levels->n, .first = -1, .last = -1, .mode = -1};
    if (levels->n == 0) {
        s.mean = s.variance = s.skewness = s.kurtosis = s.entropy = NAN;
        return s;
    }
    s.first = levels->bin[0];
    s.last = levels->bin[levels->n - 1];
    const double origin = histo_bin_value(axis, s.first), mean = mean_of(axis, levels, origin, pace);
    s.mean = origin + mean;
    const double n = (double)levels->total;
    double m2 = 0, m3 = 0, m4 = 0;
    uint64_t most = 0;
    for (int64_t i = 0; i < levels->n && histo_goes_on(pace, 1); i++) {
        const double share = (double)levels->count[i] / n;
        const double d = histo_bin_value(axis, levels->bin[i]) - origin - mean;
        m2 += share * (d * d);
        m3 += share * (d * d * d);
        m4 += share * ((d * d) * (d * d));
        s.entropy -= share * log2(share);
        if (levels->count[i] <= most) continue;
        most = levels->count[i];
        s.mode = levels->bin[i];
    }
    if (levels->n == 1) { /* rounding errors of the mean must not look like deviations, and log2(1) like -0 */
        m2 = m3 = m4 = 0;
        s.entropy = 0;
    }
    s.variance = m2;
    s.skewness = m3 / (m2 * sqrt(m2));
    s.kurtosis = m4 / (m2 * m2) - 3;
    return s;
}

histo_status histo_hist_summarize(const histo_hist *hist, histo_summary *summaries)
{
    HISTO_STANDARD_FLOATS;
    histo_status status = histo_numbers_check(hist, 1, summaries, "summaries");
    if (status != HISTO_OK) return status;
    const histo_axis axis = histo_hist_axis(hist, 0);
    histo_occupied all;
    status = histo_occupied_read_finite(&all, hist, "the summary");
    histo_pace pace = {.stage = "summarizing", .all = 3 * all.size};
    for (int64_t b = 0; b < histo_hist_batch(hist) && status == HISTO_OK; b++) {
        const histo_levels levels = histo_occupied_next(&all, &pace);
        summaries[b] = summary_of(&axis, &levels, &pace);
        status = pace.status;
    }
    histo_occupied_release(&all);
    return status;
}
