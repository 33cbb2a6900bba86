#define _GNU_SOURCE
#include "count/axes/surveys.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/text.h"
#include "count/axes/survey_file.h"

typedef struct surveys {
    survey_file file;
    axis_search *search; /* [axes] */
} surveys;

static void surveys_free(surveys *s)
{
    for (int a = 0; a < s->file.axes && s->search; a++)
        axis_search_free(&s->search[a]);
    survey_file_free(&s->file);
    free(s->search);
}

/* ---- Passes --------------------------------------------------------------------------------------------- */

static int begin_searches(surveys *s, fault *f)
{
    const survey_file *file = &s->file;
    s->search = calloc((size_t)file->axes, sizeof *s->search);
    if (!s->search) return fault_set(f, EXIT_DATA, "no memory for the surveys");
    for (int a = 0; a < file->axes; a++)
        if (axis_search_begin_part(&s->search[a], &file->specs[a], file->dtypes[a], file->pixels[a], file->axes, f) !=
            0)
            return -1;
    return 0;
}

/* Begin a pass, if any axis needs one. */
static bool next_pass(surveys *s)
{
    bool any = false;
    for (int a = 0; a < s->file.axes; a++)
        any |= axis_search_next_pass(&s->search[a]);
    return any;
}

/* Merge or replace the findings of the current pass. */
static int take_findings(surveys *s, const survey_file *from, int pass, bool replace, fault *f)
{
    for (int a = 0; a < s->file.axes; a++) {
        const survey_finding *finding = &from->findings[pass * s->file.axes + a];
        axis_search *search = &s->search[a];
        if (search->in_pass != (finding->size > 0)) return survey_file_fault(from, f);
        if (!search->in_pass) continue;
        histo_stats *positive = &search->found.positive;
        if (positive->samples == positive->infinite) *positive = finding->found.positive;
        search->found.some_fraction |= finding->found.some_fraction;
        if (pass == 0) search->found.samples = finding->found.samples + (replace ? 0 : search->found.samples);
        if ((replace ? histo_survey_replace(search->survey, finding->data, finding->size)
                     : histo_survey_merge(search->survey, finding->data, finding->size)) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, from->name);
    }
    return 0;
}

/* Repeat the passes before `passes`, on which all shards agreed. */
static int repeat_passes(surveys *s, const survey_file *from, int passes, fault *f)
{
    for (int pass = 0; pass < passes; pass++) {
        next_pass(s);
        if (take_findings(s, from, pass, true, f) != 0) return -1;
    }
    return 0;
}

static int save_finding(survey_finding *to, const axis_search *search, fault *f)
{
    void *saved;
    size_t size;
    if (histo_survey_save(search->survey, &saved, &size) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, "the survey");
    const survey_finding finding = {search->found, saved, size};
    const int failed = survey_finding_copy(to, &finding, f);
    histo_free(saved);
    return failed;
}

/* Append the findings of the pass to those before. */
static int keep_findings(surveys *s, fault *f)
{
    survey_file *file = &s->file;
    for (int a = 0; a < file->axes; a++)
        if (s->search[a].in_pass && save_finding(&file->findings[file->passes * file->axes + a], &s->search[a], f) != 0)
            return -1;
    file->passes++;
    return 0;
}

/* Copy the findings of earlier passes from `from`. */
static int copy_findings(survey_file *file, const survey_file *from, fault *f)
{
    for (int i = 0; i < file->axes * file->passes; i++)
        if (survey_finding_copy(&file->findings[i], &from->findings[i], f) != 0) return -1;
    return 0;
}

/* ---- Surveying ------------------------------------------------------------------------------------------ */

static int survey_piece(void *self, int file, const piece *p, fault *f)
{
    run *r = self;
    for (int i = 0; i < r->count; i++) {
        const int a = run_axis_of(r, i);
        const histo_fill_options fill = piece_filter(p, i);
        if (r->search[a].in_pass &&
            axis_search_add(&r->search[a], &p->views[i], &fill, feed_name(&r->feed, file), f) != 0)
            return -1;
    }
    return 0;
}

/* Read what all shards agree on, for the run of s. */
static int read_agreed(survey_file *agreed, const settings *s, const manifest *mine, int axes, fault *f)
{
    char missing[600];
    if (survey_file_read(agreed, s->agreed, f) != 0 ||
        manifest_compare_runs(mine, "this run", agreed->shards, s->agreed, f) != 0)
        return -1;
    if (!manifest_is_complete(agreed->shards))
        return fault_set(f, EXIT_DATA, "%s is not a survey of all samples: %s; merge them with histo survey --merge",
                         s->agreed, manifest_missing(agreed->shards, missing, sizeof missing));
    return agreed->axes == axes ? 0 : survey_file_fault(agreed, f);
}

static int survey_shard(surveys *mine, survey_file *agreed, run *r, fault *f)
{
    const settings *s = r->settings;
    if (s->agreed && read_agreed(agreed, s, mine->file.shards, r->axis_count, f) != 0) return -1;
    if (survey_file_make_room(&mine->file, r->axis_count, agreed->passes, f) != 0) return -1;
    for (int a = 0; a < r->axis_count; a++) {
        const bins_spec *spec = bins_of_axis(&r->bins, a, r->axis_count, f);
        if (!spec) return -1;
        mine->file.specs[a] = *spec;
        mine->file.dtypes[a] = r->sources[a].dtype;
        mine->file.pixels[a] = r->sources[a].pixels;
    }
    bool needed = false;
    for (int a = 0; a < r->axis_count; a++)
        needed = needed || bins_need_data(&r->bins, r->sources[a].dtype, r->sources[a].pixels);
    if (!needed) return fault_set(f, EXIT_USAGE, "the bins do not depend on the samples: nothing is to be surveyed");
    if (copy_findings(&mine->file, agreed, f) != 0 || begin_searches(mine, f) != 0 ||
        repeat_passes(mine, agreed, agreed->passes, f) != 0)
        return -1;
    if (!next_pass(mine))
        return fault_set(f, EXIT_DATA, "%s needs no other pass: count with --survey %s", s->agreed, s->agreed);
    axis_search *const before = r->search;
    r->search = mine->search;
    const feed_visitor visitor = {.verb = "surveying", .take = survey_piece, .self = r};
    const int failed = feed_visit(&r->feed, &visitor, f);
    r->search = before;
    return failed ? -1 : keep_findings(mine, f);
}

int surveys_make(const settings *s, FILE *out, fault *f)
{
    result none = {0};
    run r;
    surveys mine = {0};
    survey_file agreed = {0};
    if (!(mine.file.shards = manifest_make(s, f))) return -1;
    int failed = run_open(&r, s, &none, f);
    if (!failed && run_has_words(&r))
        failed =
            fault_set(f, EXIT_USAGE, "strings are not surveyed: count each shard, and histo merge adds up by value");
    if (!failed) failed = survey_shard(&mine, &agreed, &r, f);
    if (!failed) failed = survey_file_write(&mine.file, out, f);
    run_end(&r);
    surveys_free(&mine);
    survey_file_free(&agreed);
    return failed;
}

/* ---- Merging -------------------------------------------------------------------------------------------- */

/* Merge the last pass of a survey. first: the name of the first survey. */
static int merge_survey(surveys *sum, const survey_file *more, const char *first, fault *f)
{
    survey_file *file = &sum->file;
    if (manifest_compare(file->shards, first, more->shards, more->name, f) != 0) return -1;
    if (more->axes != file->axes || more->passes != file->passes + 1)
        return fault_set(f, EXIT_DATA, "%s is of pass %d, and %s of another: survey all shards in the same pass", first,
                         file->passes + 1, more->name);
    const int64_t common = manifest_common(file->shards, more->shards);
    if (common) return fault_set(f, EXIT_DATA, "shard %" PRId64 " is in %s again: leave one out", common, more->name);
    if (manifest_merge(file->shards, more->shards, f) != 0) return -1;
    return take_findings(sum, more, more->passes - 1, false, f);
}

/* Start the sum like the first survey, before its last pass. */
static int begin_sum(surveys *sum, survey_file *first, fault *f)
{
    survey_file *file = &sum->file;
    if (survey_file_make_room(file, first->axes, first->passes - 1, f) != 0) return -1;
    memcpy(file->specs, first->specs, (size_t)file->axes * sizeof *file->specs);
    memcpy(file->dtypes, first->dtypes, (size_t)file->axes * sizeof *file->dtypes);
    memcpy(file->pixels, first->pixels, (size_t)file->axes * sizeof *file->pixels);
    if (copy_findings(file, first, f) != 0) return -1;
    fault searching = {0};
    if (begin_searches(sum, &searching) != 0) { /* a file may hold options that are not possible */
        if (searching.status == EXIT_USAGE) return survey_file_fault(first, f);
        *f = searching;
        return -1;
    }
    if (repeat_passes(sum, first, file->passes, f) != 0) return -1;
    next_pass(sum);
    if (take_findings(sum, first, first->passes - 1, false, f) != 0) return -1;
    file->shards = first->shards;
    first->shards = NULL;
    return 0;
}

static int print_bins(surveys *sum, FILE *to, fault *f)
{
    for (int a = 0; a < sum->file.axes; a++) {
        char lo[TEXT_NUMBER_BYTES], hi[TEXT_NUMBER_BYTES];
        if (sum->file.specs[a].kind == BINS_EDGES) continue; /* given by options, not by the survey */
        if (axis_search_end(&sum->search[a], sum->file.name, f) != 0) return -1;
        const histo_axis *axis = &sum->search[a].axis;
        fprintf(to, "%" PRId64 "\t%s\t%s\n", axis->bins, text_exact(axis->lo, lo), text_exact(axis->hi, hi));
    }
    return 0;
}

static int merge_all(surveys *sum, const char *const *files, int count, FILE *out, FILE *bins, bool *again, fault *f)
{
    char missing[600];
    sum->file.name = strdup("the sum");
    for (int i = 0; i < count; i++) {
        survey_file more = {0};
        int failed = survey_file_read(&more, files[i], f);
        if (!failed) failed = i ? merge_survey(sum, &more, files[0], f) : begin_sum(sum, &more, f);
        survey_file_free(&more);
        if (failed) return -1;
    }
    if (!manifest_is_complete(sum->file.shards))
        return fault_set(f, EXIT_DATA, "%s", manifest_missing(sum->file.shards, missing, sizeof missing));
    if (keep_findings(sum, f) != 0 || survey_file_write(&sum->file, out, f) != 0) return -1;
    *again = next_pass(sum);
    return *again ? 0 : print_bins(sum, bins, f);
}

int surveys_merge(const char *const *files, int count, FILE *out, FILE *bins, bool *again, fault *f)
{
    surveys sum = {0};
    const int failed = merge_all(&sum, files, count, out, bins, again, f);
    surveys_free(&sum);
    return failed;
}

/* ---- Counting ------------------------------------------------------------------------------------------- */

int surveys_load(run *r, fault *f)
{
    surveys agreed = {0};
    survey_file *file = &agreed.file;
    manifest *mine = manifest_make(r->settings, f);
    int failed = mine ? read_agreed(file, r->settings, mine, r->axis_count, f) : -1;
    for (int a = 0; a < r->axis_count && !failed; a++) {
        const bins_spec *spec = bins_of_axis(&r->bins, a, r->axis_count, f);
        failed = spec ? 0 : -1;
        if (spec) file->specs[a] = *spec;
        if (file->dtypes[a] != r->sources[a].dtype) failed = survey_file_fault(file, f);
    }
    if (!failed) failed = begin_searches(&agreed, f);
    if (!failed) failed = repeat_passes(&agreed, file, file->passes, f);
    if (!failed && next_pass(&agreed))
        failed = fault_set(f, EXIT_DATA, "%s needs another pass: histo survey --survey %s", r->settings->agreed,
                           r->settings->agreed);
    for (int a = 0; a < r->axis_count && !failed; a++) {
        const bins_spec *spec = bins_of_axis(&r->bins, a, r->axis_count, f);
        r->search[a] = agreed.search[a];
        r->search[a].spec = spec;
        agreed.search[a] = (axis_search){0};
    }
    manifest_free(mine);
    surveys_free(&agreed);
    return failed;
}
