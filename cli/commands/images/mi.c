/* histo mi: the mutual information of two images or volumes, from the joint histogram of their samples. */
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/progress.h"
#include "count/axes/axes.h"
#include "input/samples/lockstep.h"
#include "output/rows.h"

typedef struct joint {
    const settings *settings;
    bins_list bins;
    axis_search search[2];
    lockstep files;
    histo_hist *hist;
    histo_plan *plan;
} joint;

/* Passes over both files, until their axes are known. */
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
    if (find_axes(j, axes, f) != 0 || make_hist(j, axes, f) != 0 || count(j, f) != 0) return -1;
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
    if (!s->range && !s->edges && !(s->bins && strchr(s->bins, '@'))) with_defaults.range = "minmax";
    int failed = run_joint(&j, to, f);
    histo_plan_destroy(j.plan);
    histo_hist_destroy(j.hist);
    axis_search_free(&j.search[0]);
    axis_search_free(&j.search[1]);
    lockstep_close(&j.files);
    bins_free(&j.bins);
    return failed;
}

int command_mi(const settings *s)
{
    return rows_command(s, print_mi);
}
