/* Counting files, from the first to the last: passes over all of them find the axes, if necessary, and one more pass
 * counts. */
#include "count/count.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/progress.h"
#include "base/text.h"
#include "count/axes/common.h"
#include "count/parts.h"
#include "count/run.h"
#include "count/wisdom.h"

/* ---- The axis of --compare ---- */

/* The axis for one file's samples. */
static int axis_of_file(const settings *s, const char *const *file, histo_axis *axis, bool *whole, fault *f)
{
    settings alone = *s;
    result none = {0};
    run r;
    alone.files = file;
    alone.files_count = 1;
    alone.per_file = false;
    const int failed = run_begin(&r, &alone, &none, f);
    if (!failed) *axis = r.axes[0];
    *whole = *whole && !failed && r.whole;
    run_end(&r);
    result_free(&none);
    return failed;
}

/* Find the axis that the samples of all files of a run have in common, whatever their types: 1; 0 if the run finds it
 * by itself, as for a single file or given bins; -1. *whole: all samples are integers. */
static int find_common_axis(const run *r, round_axis *axis, bool *whole, fault *f)
{
    const settings *s = r->settings;
    const bins_spec *spec = &r->bins.spec[0];
    const int n = s->files_count;
    bool alone = n < 2 || r->bins.count > 1 || bins_are_fixed(spec);
    for (int i = 0; i < n; i++)
        alone = alone || strcmp(s->files[i], "-") == 0;
    *whole = !alone;
    if (alone) return 0;
    histo_axis *axes = calloc((size_t)n, sizeof *axes);
    int failed = axes ? 0 : fault_set(f, EXIT_DATA, "no memory for the axes of %d files", n);
    for (int i = 0; i < n && !failed; i++)
        failed = axis_of_file(s, &s->files[i], &axes[i], whole, f);
    if (!failed) *axis = axis_in_common(axes, n, spec);
    free(axes);
    return failed ? -1 : 1;
}

static int give_common_axis(run *r, fault *f)
{
    if (!r->settings->compare || r->given || run_has_words(r)) return 0;
    const int found = find_common_axis(r, &r->common, &r->common_whole, f);
    if (found < 0) return -1;
    if (found) r->given = &r->common.axis;
    r->given_count = found;
    return 0;
}

/* ---- Counting ---- */

/* Continue with the histograms of an earlier process, if there are any. */
static int resume(run *r, fault *f)
{
    if (run_has_words(r)) return 0; /* their bins and groups are found anew */
    const int loaded = r->checkpointer ? r->checkpointer->load(r->checkpointer->self, r, f) : 0;
    if (loaded < 1) return loaded;
    r->resumed = calloc((size_t)r->axis_count, sizeof *r->resumed);
    if (!r->resumed) return run_fault_memory(f);
    for (int a = 0; a < r->axis_count; a++)
        r->resumed[a] = histo_hist_axis(r->result->series[r->joint ? 0 : a].hist, r->joint ? a : 0);
    r->given = r->resumed;
    r->given_count = r->axis_count;
    return 0;
}

static int resume_words(run *r, fault *f)
{
    if (!r->checkpointer || !run_has_words(r)) return 0;
    return r->checkpointer->load(r->checkpointer->self, r, f) < 0 ? -1 : 0;
}

static int save_checkpoint(void *self, fault *f)
{
    run *r = self;
    return r->checkpointer->save(r->checkpointer->self, r, f);
}

static int leave_file(void *self, int file, const samples *in, fault *f)
{
    run *r = self;
    const bool uncounted = r->result->count == 0 || file != r->file; /* all of its values are missing */
    if (r->settings->batch && uncounted && run_add_series(r, file, 0, f) != 0) return -1;
    const leftovers left = samples_leftovers(in);
    r->bad += left.bad;
    r->missing += left.missing;
    r->ragged += left.ragged;
    if (!r->team) samples_remark(in);
    return 0;
}

/* "cpu/privatized, 2 threads · 0.922 MB in 1.84 ms, 0.502 GB/s · 3.58 ms in all" */
static void describe_run(run *r, double whole_s)
{
    char counting[TEXT_NUMBER_BYTES], whole[TEXT_NUMBER_BYTES], bytes[TEXT_NUMBER_BYTES];
    int threads = r->threads ? r->threads : histo_plan_threads(r->sources[0].plan);
    snprintf(r->result->ran, sizeof r->result->ran, "%s, %d thread%s · %s in %s, %.3g GB/s · %s in all",
             histo_plan_strategy(r->sources[0].plan), threads, threads == 1 ? "" : "s", text_bytes(r->bytes, bytes),
             text_seconds(r->counting_s, counting), r->counting_s > 0 ? r->bytes * 1e-9 / r->counting_s : 0,
             text_seconds(whole_s, whole));
}

/* Exact, except for the higher moments that were added to the statistics. */
static void read_sums(const histo_power_sums *sums, histo_stats *stats)
{
    const double m3 = stats->m3, m4 = stats->m4;
    const bool higher = stats->samples > 0;
    histo_power_sums_read(sums, stats);
    if (higher) stats->m3 = m3;
    if (higher) stats->m4 = m4;
}

/* Compute statistics from bins if these identify values, else from the sums. */
static int read_stats(run *r, fault *f)
{
    for (int i = 0; i < r->result->count && !r->whole; i++)
        for (int a = 0; a < r->naxes && r->result->series[i].sums; a++)
            read_sums(&r->result->series[i].sums[a], &r->result->series[i].stats[a]);
    if (r->moments < MOMENTS_EXACT || !r->whole) return 0;
    table *tables = tables_read(r->result, TABLE_OF_OCCUPIED, f);
    if (!tables) return -1;
    for (int i = 0; i < r->result->count; i++)
        for (int a = 0; a < r->naxes; a++)
            r->result->series[i].stats[a] = table_stats(&tables[i], a, true);
    tables_free(tables, r->result);
    return 0;
}

/* Enter a file of the run and make its histograms, even if it has no samples. */
static int enter_with_series(void *self, int file, const samples *in, fault *f)
{
    return run_enter_file(self, file, in, f) == 0 ? run_add_series(self, file, 0, f) : -1;
}

/* Run the pass that counts. */
static int count_all(run *r, const feed_visitor *counting, fault *f)
{
    if (r->team) return run_visit(r, counting, f);
    if (r->settings->pairs) return run_count_stack(r, f);
    const bool one_result = !r->settings->batch && !r->settings->per_file && r->result->count == 0;
    if (one_result && run_add_series(r, 0, 0, f) != 0) return -1;
    return one_result && parts_suit(r) && run_counts_on_cpu(r) ? parts_visit(r, counting, f)
                                                               : feed_visit(&r->feed, counting, f);
}

/* Give the first process of a team everything that was counted. */
static int merge_counts(run *r, fault *f)
{
    if (run_agree(r, r->result->count == 0 ? run_add_series(r, 0, 0, f) : 0, f) != 0)
        return -1; /* a file without samples */
    return r->team ? r->team->merge_counts(r->team->self, r, f) : 0;
}

/* Print what a team left out of all files. */
static void remark_left_out(const run *r)
{
    if (!r->team || !r->team->first || r->settings->quiet || !(r->bad || r->missing || r->ragged)) return;
    note("left out %" PRIu64 " missing values, and skipped %" PRIu64 " that are not numbers and %" PRIu64
         " rows of another length",
         r->missing, r->bad, r->ragged);
}

static int count(run *r, fault *f)
{
    const settings *s = r->settings;
    const double begun = progress_seconds();
    const feed_visitor counting = {.verb = "counting",
                                   .enter = s->per_file ? enter_with_series : run_enter_file,
                                   .take = run_count_piece,
                                   .pause = r->checkpointer ? save_checkpoint
                                            : r->team       ? run_pause_for_team
                                                            : NULL,
                                   .leave = leave_file,
                                   .self = r};
    int failed = run_agree(r, run_open_files(r, f), f);
    if (!failed) failed = resume(r, f);
    if (!failed) failed = give_common_axis(r, f);
    if (!failed) failed = run_find_axes(r, f);
    if (!failed) failed = resume_words(r, f);
    if (!failed) failed = run_begin_order(r, f);
    if (!failed) failed = count_all(r, &counting, f);
    if (!failed) failed = merge_counts(r, f);
    if (!failed) remark_left_out(r);
    if (!failed) failed = read_stats(r, f);
    if (!failed) failed = run_find_order(r, f);
    if (!failed) failed = run_name_result(r, f);
    if (!failed) failed = wisdom_save_measured(s, f);
    if (!failed && r->sources[0].plan && !r->team) describe_run(r, progress_seconds() - begun);
    run_end(r);
    return failed ? -1 : 0;
}

int count_files(const settings *s, moments_kind moments, result *to, fault *f)
{
    run r = {.settings = s, .result = to, .moments = moments};
    return count(&r, f);
}

int count_together(const settings *s, moments_kind moments, const run_team *team, result *to, fault *f)
{
    run r = {.settings = s, .result = to, .moments = moments, .team = team};
    return run_agree(&r, count(&r, f), f);
}

int count_with_checkpoints(const settings *s, moments_kind moments, const run_checkpointer *checkpointer, result *to,
                           fault *f)
{
    run r = {.settings = s, .result = to, .moments = moments, .checkpointer = checkpointer};
    return count(&r, f);
}

int count_on(const settings *s, const histo_axis *axes, int naxes, result *to, fault *f)
{
    run r = {.settings = s, .result = to, .given = axes, .given_count = naxes};
    return count(&r, f);
}
