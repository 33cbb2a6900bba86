/* histo mi: the mutual information of two images or volumes, from the joint histogram of their samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/progress.h"
#include "count/axes/axes.h"
#include "input/samples/lockstep.h"
#include "output/rows.h"

/* How many of n samples, at each end, may be outliers far from all others. Among a few samples, none is taken for an
 * outlier. */
enum { SAMPLES_AN_OUTLIER = 100000, A_FEW_SAMPLES = 100 };

/* The range of the samples without outliers, which are counted in the bins at its ends. */
typedef struct inner_range {
    uint64_t count, below, above; /* of finite samples, and of infinite ones */
    double min, max, ends[2];
    histo_quantiles *quantiles;
    int64_t bins;
    double *edges; /* [bins + 1]; NULL: there are no outliers */
} inner_range;

typedef struct joint {
    const settings *settings;
    bool finds_outliers; /* no range is given */
    inner_range inner[2];
    bins_list bins;
    axis_search search[2];
    lockstep files;
    histo_hist *hist;
    histo_plan *plan;
} joint;

/* ---- Outliers ---- */

static bool may_have_outliers(const joint *j, int a)
{
    return j->finds_outliers && lockstep_dtype(&j->files, a) > HISTO_I16;
}

static double as_double(histo_dtype dtype, histo_number number)
{
    if (dtype >= HISTO_F16) return number.f64;
    return dtype == HISTO_U32 || dtype == HISTO_U64 ? (double)number.u64 : (double)number.i64;
}

static histo_status add_extremes(inner_range *r, const histo_view *view, const histo_fill_options *fill)
{
    histo_extremes e;
    const histo_dtype dtype = (histo_dtype)(view->dtype & ~(unsigned)HISTO_SWAPPED);
    const histo_status status = histo_find_extremes(view, fill, &e, 1);
    const uint64_t finite = e.samples - e.nan - e.below - e.above;
    if (status != HISTO_OK) return status;
    r->below += e.below;
    r->above += e.above;
    if (finite == 0) return HISTO_OK;
    const double min = as_double(dtype, e.min), max = as_double(dtype, e.max);
    r->min = r->count ? fmin(r->min, min) : min;
    r->max = r->count ? fmax(r->max, max) : max;
    r->count += finite;
    return HISTO_OK;
}

/* One pass over both files for the ranges that need it. */
static int add_ranges(joint *j, const bool wanted[2], fault *f)
{
    int more;
    if (lockstep_rewind(&j->files, f) != 0) return -1;
    while ((more = lockstep_next(&j->files, f)) > 0)
        for (int a = 0; a < 2; a++) {
            const histo_fill_options fill = {.mask = j->files.mask};
            const histo_view *view = &j->files.views[a];
            inner_range *r = &j->inner[a];
            if (wanted[a] && (r->quantiles ? histo_quantiles_add(r->quantiles, view, &fill)
                                           : add_extremes(r, view, &fill)) != HISTO_OK)
                return fault_of_library(f, EXIT_DATA, lockstep_name(&j->files, a));
        }
    return more;
}

/* Start to look for the ends that all samples but the outliers are between. */
static int begin_ends(joint *j, int a, fault *f)
{
    inner_range *r = &j->inner[a];
    const uint64_t all = r->below + r->count + r->above, beyond = 1 + r->count / SAMPLES_AN_OUTLIER;
    const double q[] = {(double)(r->below + beyond) / (double)(all - 1),
                        (double)(r->below + r->count - 1 - beyond) / (double)(all - 1)};
    const histo_dtype dtype = lockstep_dtype(&j->files, a);
    if (histo_quantiles_create(&r->quantiles, dtype, HISTO_QUANTILE_NEAREST, 2, q) == HISTO_OK) return 0;
    return fault_of_library(f, EXIT_DATA, lockstep_name(&j->files, a));
}

/* Set edges for the axis if a sample is farther from the others than these are from each other. */
static int set_edges(joint *j, int a, int64_t bins, fault *f)
{
    inner_range *r = &j->inner[a];
    if (histo_quantiles_read(r->quantiles, r->ends) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, lockstep_name(&j->files, a));
    const double width = r->ends[1] - r->ends[0];
    const double lo = r->ends[0] - r->min > width ? r->ends[0] : r->min;
    const double hi = r->max - r->ends[1] > width ? r->ends[1] : r->max;
    if (width == 0 || (lo == r->min && hi == r->max)) return 0;
    r->bins = bins;
    r->edges = malloc((size_t)(bins + 1) * sizeof *r->edges);
    if (!r->edges) return fault_set(f, EXIT_DATA, "no memory for the bins");
    if (histo_linspace(bins, lo, hi, HISTO_F64, HISTO_F64, r->edges) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, lockstep_name(&j->files, a));
    r->edges[0] = r->min;
    r->edges[bins] = r->max;
    return 0;
}

static int find_inner_ranges(joint *j, fault *f)
{
    bool wanted[] = {may_have_outliers(j, 0), may_have_outliers(j, 1)};
    if (!wanted[0] && !wanted[1]) return 0;
    if (add_ranges(j, wanted, f) != 0) return -1;
    for (int a = 0; a < 2; a++) {
        wanted[a] = wanted[a] && j->inner[a].count >= A_FEW_SAMPLES;
        if (wanted[a] && begin_ends(j, a, f) != 0) return -1;
    }
    for (;;) {
        bool more[2] = {false, false};
        for (int a = 0; a < 2; a++)
            if (wanted[a] && histo_quantiles_next_pass(j->inner[a].quantiles, &more[a]) != HISTO_OK)
                return fault_of_library(f, EXIT_DATA, lockstep_name(&j->files, a));
        if (!more[0] && !more[1]) break;
        if (add_ranges(j, more, f) != 0) return -1;
    }
    for (int a = 0; a < 2; a++) {
        const bins_spec *spec = bins_of_axis(&j->bins, a, 2, f);
        if (!spec || (wanted[a] && spec->kind == BINS_NUMBER && set_edges(j, a, spec->number, f) != 0)) return -1;
    }
    return 0;
}

/* ---- The joint histogram ---- */

/* Make passes over both files until their axes are known. */
static int find_axes(joint *j, histo_axis axes[2], fault *f)
{
    for (int a = 0; a < 2; a++) {
        const bins_spec *spec = bins_of_axis(&j->bins, a, 2, f);
        if (!spec || axis_search_begin(&j->search[a], spec, lockstep_dtype(&j->files, a), true, 2, f) != 0) return -1;
    }
    for (;;) {
        const bool wanted[] = {axis_search_next_pass(&j->search[0]), axis_search_next_pass(&j->search[1])};
        if (!wanted[0] && !wanted[1]) break;
        if (lockstep_rewind(&j->files, f) != 0) return -1;
        int more;
        while ((more = lockstep_next(&j->files, f)) > 0)
            for (int a = 0; a < 2; a++) {
                const histo_fill_options fill = {.mask = j->files.mask};
                if (wanted[a] &&
                    axis_search_add(&j->search[a], &j->files.views[a], &fill, lockstep_name(&j->files, a), f) != 0)
                    return -1;
            }
        if (more < 0) return -1;
    }
    for (int a = 0; a < 2; a++) {
        if (axis_search_end(&j->search[a], lockstep_name(&j->files, a), f) != 0) return -1;
        axes[a] = j->search[a].axis;
        if (j->inner[a].edges) axes[a] = histo_axis_closed(histo_axis_variable(j->inner[a].bins, j->inner[a].edges));
    }
    return 0;
}

static int make_hist(joint *j, const histo_axis axes[2], fault *f)
{
    const double slots = ((double)axes[0].bins + 3) * ((double)axes[1].bins + 3);
    const histo_hist_options options = {.storage = slots < 0x1p28 ? HISTO_DENSE : HISTO_SPARSE};
    if (histo_hist_create(&j->hist, 2, axes, &options) == HISTO_OK) return 0;
    return fault_of_library(f, EXIT_USAGE, "the bins");
}

static int count(joint *j, fault *f)
{
    const settings *s = j->settings;
    const histo_plan_options options = {.device = s->device, .threads = s->threads};
    int more;
    if (lockstep_rewind(&j->files, f) != 0) return -1;
    while ((more = lockstep_next(&j->files, f)) > 0) {
        const histo_fill_options fill = {.mask = j->files.mask};
        if (!j->plan && histo_plan_create(&j->plan, j->hist, j->files.views, &fill, &options) != HISTO_OK)
            return fault_set(f, EXIT_USAGE, "%s", histo_last_error());
        if (histo_plan_fill(j->plan, j->hist, j->files.views, &fill) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, lockstep_name(&j->files, 0));
    }
    return more;
}

static int print(const joint *j, rows *to, fault *f)
{
    static const char *const columns[] = {"samples", "h_a", "h_b", "h_ab", "mi", "nmi"};
    histo_tally tally;
    histo_information found;
    if (histo_hist_tally(j->hist, &tally) != HISTO_OK || histo_hist_inform(j->hist, &found) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, "the information");
    if (tally.bins == 0)
        return fault_set(f, EXIT_DATA, "%s and %s have no unmasked samples in the bins", lockstep_name(&j->files, 0),
                         lockstep_name(&j->files, 1));
    rows_begin(to, columns, 6);
    rows_count(to, tally.bins);
    const double values[] = {found.entropy[0], found.entropy[1], found.joint_entropy, found.mutual, found.normalized};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        rows_number(to, values[i]);
    return 0;
}

static int run_joint(joint *j, rows *to, fault *f)
{
    histo_axis axes[2];
    if (bins_parse(&j->bins, j->settings, f) != 0 || lockstep_open(&j->files, j->settings, true, f) != 0) return -1;
    if (find_inner_ranges(j, f) != 0 || find_axes(j, axes, f) != 0 || make_hist(j, axes, f) != 0 || count(j, f) != 0)
        return -1;
    lockstep_remark(&j->files);
    return print(j, to, f);
}

static int print_mi(const settings *s, rows *to, fault *f)
{
    settings with_defaults = *s;
    joint j = {.settings = &with_defaults};
    if (s->files_count != 2)
        return fault_set(f, EXIT_USAGE, "mi takes two images or volumes, as in histo mi a.npy b.npy");
    if (!s->bins && !s->edges) with_defaults.bins = "64";
    j.finds_outliers = !s->range && !s->edges && !s->log_bins && !(s->bins && strchr(s->bins, '@'));
    if (!s->range && !s->edges && !(s->bins && strchr(s->bins, '@'))) with_defaults.range = "minmax";
    int failed = run_joint(&j, to, f);
    histo_plan_destroy(j.plan);
    histo_hist_destroy(j.hist);
    for (int a = 0; a < 2; a++) {
        axis_search_free(&j.search[a]);
        histo_quantiles_destroy(j.inner[a].quantiles);
        free(j.inner[a].edges);
    }
    lockstep_close(&j.files);
    bins_free(&j.bins);
    return failed;
}

int command_mi(const settings *s)
{
    return rows_command(s, print_mi);
}
