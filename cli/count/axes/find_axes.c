/* The axes of a run: given, agreed on by all shards, common to the files that are compared, or found in passes over all
 * samples. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/progress.h"
#include "base/text.h"
#include "count/axes/common.h"
#include "count/axes/surveys.h"
#include "count/run.h"
#include "options/values.h"

static int survey_piece(void *self, int file, const piece *p, fault *f)
{
    run *r = self;
    const char *name = feed_name(&r->feed, file);
    r->surveyed = true;
    for (int i = 0; i < r->count; i++) {
        int a = run_axis_of(r, i);
        histo_fill_options fill = piece_filter(p, i);
        if (r->search[a].words) fill.weights = p->weights;
        r->search[a].sums = r->finds_sums ? &r->found_sums[i] : NULL;
        if (r->search[a].in_pass && axis_search_add(&r->search[a], &p->views[i], &fill, name, f) != 0) return -1;
    }
    if (!r->by.in_pass) return 0;
    histo_fill_options fill = piece_filter(p, 0);
    fill.weights = p->weights;
    return axis_search_add(&r->by, p->by, &fill, name, f);
}

/* Begin a pass, if a search needs another one. */
static bool next_pass(run *r)
{
    bool any = r->settings->by && axis_search_next_pass(&r->by);
    for (int a = 0; a < r->axis_count; a++)
        any |= axis_search_next_pass(&r->search[a]);
    return any;
}

static int name_bins(run *r, int a, const char *name, fault *f)
{
    const dictionary *words = run_words_of_axis(r, a);
    if (!words) return 0;
    const bin_names *names = r->bins_of[a] = bin_names_of_words(words);
    char number[TEXT_NUMBER_BYTES];
    if (!names) return run_fault_memory(f);
    if (dictionary_others(words) && r->settings->shards > 1 && !r->team) /* another shard may give them a bin */
        return fault_set(f, EXIT_USAGE,
                         "%s has more than %u values in this shard, and the most frequent values of all shards may "
                         "differ: add --top all to every shard",
                         name, (unsigned)(names->count - 1));
    if (dictionary_others(words) && !r->settings->quiet)
        note("%s: %s other values share a bin: --top N gives more of them a bin, --top all each", name,
             text_count((uint64_t)names->others, number));
    return 0;
}

/* End a search. If samples are missing, conditions may have excluded them. */
static int end_search(const run *r, axis_search *search, const char *name, fault *f)
{
    fault ending = {0};
    if (axis_search_end(search, name, &ending) == 0) return 0;
    if (r->settings->conditions_count && strstr(ending.text, "no finite sample to take"))
        return fault_set(f, ending.status, "%s: --where leaves no row with a finite number", name);
    if (r->settings->conditions_count && strstr(ending.text, "there are no strings"))
        return fault_set(f, ending.status, "%s: --where leaves no row with a string", name);
    return fault_set(f, ending.status, "%s", ending.text);
}

/* Whether each bin of all axes holds a single value, and every sample has a bin. */
static bool is_whole(const run *r)
{
    bool whole = !r->settings->per_file || r->common_whole; /* files may have different types */
    for (int a = 0; a < r->axis_count; a++) {
        const bins_spec *spec = &r->bins.spec[r->bins.count == 1 ? 0 : a];
        const bool all = !spec->has_range || spec->range == HISTO_RANGE_MINMAX || spec->range == HISTO_RANGE_DTYPE;
        whole = whole && all && !r->search[a].in_bulk && r->axes[a].kind == HISTO_INTEGER &&
                r->sources[a].dtype <= HISTO_I64;
    }
    return whole;
}

/* Take the axes that the searches have found. */
static int take_axes(run *r, fault *f)
{
    for (int a = 0; a < r->axis_count; a++) {
        char name[600];
        snprintf(name, sizeof name, "%.400s", feed_name(&r->feed, 0));
        if (r->axis_count > 1 && r->sources[a].name)
            snprintf(name + strlen(name), sizeof name - strlen(name), ", %.150s", r->sources[a].name);
        if (end_search(r, &r->search[a], name, f) != 0) return -1;
        if (!r->settings->quiet) axis_search_remark(&r->search[a], name);
        r->axes[a] = r->search[a].axis;
        if (name_bins(r, a, name, f) != 0) return -1;
    }
    if (r->settings->compare && !run_words_of_axis(r, 0)) { /* strings of all files share an axis */
        r->common = axis_in_common(r->axes, r->axis_count, &r->bins.spec[0]);
        for (int a = 0; a < r->axis_count; a++)
            r->axes[a] = r->common.axis;
    }
    r->whole = is_whole(r);
    return 0;
}

static int take_given_axes(run *r, fault *f)
{
    if (r->given_count != 1 && r->given_count != r->axis_count)
        return fault_set(f, EXIT_DATA, "%s has %d channel%s to count, not %d", feed_name(&r->feed, 0), r->count,
                         r->count == 1 ? "" : "s", r->given_count);
    if (run_has_words(r))
        return fault_set(f, EXIT_DATA,
                         "%s holds words, whose bins are not those given: compare files, or saved histograms",
                         feed_name(&r->feed, 0));
    for (int a = 0; a < r->axis_count; a++)
        r->axes[a] = r->given[r->given_count == 1 ? 0 : a];
    r->whole = is_whole(r);
    return 0;
}

/* Merge the findings of all processes of a team in this pass. */
static int merge_searches(run *r, fault *f)
{
    int failed = 0;
    for (int a = 0; a < r->axis_count && r->team && !failed; a++)
        if (r->search[a].in_pass) failed = r->team->merge_search(r->team->self, &r->search[a], f);
    return failed;
}

/* The number of words of an axis with their own bins. A number of bins given for several axes applies to those with
 * numbers. */
static uint32_t most_words(const run *r, const bins_spec *spec)
{
    enum { DEFAULT = 20 };                          /* what fits on a screen */
    if (r->settings->every_word) return UINT32_MAX; /* --top is for groups */
    if (r->settings->top) return r->settings->top;
    const bool own = spec->kind == BINS_NUMBER && r->bins.count == r->axis_count;
    return own ? (uint32_t)(spec->number < UINT32_MAX ? spec->number : UINT32_MAX) : DEFAULT;
}

static bool is_about_dates(const bins_spec *spec)
{
    return spec->has_times || spec->step.months || spec->step.us;
}

/* The bin option that does not apply to words, which have a bin each; NULL: none. */
static const char *not_for_words(const bins_spec *spec)
{
    if (spec->log) return "--log";
    if (spec->kind == BINS_EDGES) return "--edges";
    if (spec->kind == BINS_WIDTH) return "--width";
    if (spec->kind == BINS_RULE) return "a rule";
    return spec->has_range ? "-r" : NULL;
}

/* Refuse --cycle without dates, or together with a number of bins. */
static int check_cycle(const run *r, fault *f)
{
    int cycles = 0;
    for (int a = 0; a < r->axis_count; a++)
        cycles += run_form_of_axis(r, a) && run_form_of_axis(r, a)->cycle;
    if (!r->settings->cycle) return 0;
    if (!cycles)
        return fault_set(f, EXIT_USAGE,
                         "there are no dates in what is counted: leave --cycle out, or say with --time "
                         "which numbers are times");
    const bins_spec *spec = &r->bins.spec[0];
    if (cycles < r->axis_count || (spec->kind == BINS_DEFAULT && !spec->has_range && !spec->log)) return 0;
    return fault_set(f, EXIT_USAGE, "--cycle has a bin for each %s: leave the other options of bins out",
                     r->settings->cycle == CYCLE_DAY    ? "hour"
                     : r->settings->cycle == CYCLE_WEEK ? "day"
                                                        : "month");
}

/* Refuse options that do not apply to strings, or only to strings. */
static int check_use_of_words(const run *r, fault *f)
{
    int words = 0, times = 0;
    for (int a = 0; a < r->axis_count; a++) {
        words += run_words_of_axis(r, a) != NULL;
        times += run_has_times(r, a);
    }
    if (r->settings->compare && r->axis_count > 1 && (words || (times && times < r->axis_count)))
        return fault_set(f, EXIT_USAGE, "--compare counts columns on one common axis, and %s have none: leave it out",
                         words ? "strings of several columns" : "dates and numbers");
    if (words && r->settings->segments)
        return fault_set(f, EXIT_USAGE, "--segments is for numbers, and strings are counted: leave it out");
    const char *useless = words == r->axis_count && r->bins.count == 1 ? not_for_words(&r->bins.spec[0]) : NULL;
    if (useless)
        return fault_set(f, EXIT_USAGE,
                         "strings are counted, which have a bin each, and %s is for numbers: leave it out, or give the "
                         "number of bins with --top N",
                         useless);
    if (!words && !r->settings->by && (r->settings->top || r->settings->order))
        return fault_set(f, EXIT_USAGE,
                         "there are no strings in what is counted: leave --%s out, or count numbers as strings with "
                         "--category COLUMN",
                         r->settings->top ? "top" : "sort");
    return 0;
}

/* Begin the search for axis a, according to the kind of its values. A calendar step given for several axes applies to
 * dates. */
static int begin_search(run *r, int a, bool any_times, fault *f)
{
    static const bins_spec as_suits;
    axis_search *search = &r->search[a];
    const channel_form *form = run_form_of_axis(r, a);
    const bins_spec *spec = bins_of_axis(&r->bins, a, r->axis_count, f);
    if (!spec) return -1;
    if (is_about_dates(spec) && !run_has_times(r, a) && !run_words_of_axis(r, a)) {
        if (!any_times || r->bins.count > 1)
            return fault_set(f, EXIT_USAGE, "there are no dates in what is counted: give --width and -r as numbers");
        spec = &as_suits;
    }
    if ((r->team ? axis_search_begin_part : axis_search_begin)(search, spec, r->sources[a].dtype, r->sources[a].pixels,
                                                               r->axis_count, f) != 0)
        return -1;
    if (run_has_times(r, a)) return axis_search_times(search, f);
    if (run_words_of_axis(r, a)) {
        axis_search_words(search, run_words_of_axis(r, a), most_words(r, spec), (dictionary_order)r->settings->order);
        search->may_lack_words = r->settings->shards;
    } else if (form && form->looks) {
        axis_search_look(search);
    }
    return 0;
}

static int begin_searches(run *r, fault *f)
{
    bool any_times = false;
    if (check_cycle(r, f) != 0 || check_use_of_words(r, f) != 0) return -1;
    for (int a = 0; a < r->axis_count; a++)
        any_times = any_times || run_has_times(r, a);
    for (int a = 0; a < r->axis_count; a++)
        if (begin_search(r, a, any_times, f) != 0) return -1;
    return 0;
}

static void begin_groups(run *r)
{
    enum { DEFAULT = 8 };
    static const bins_spec none;
    if (!r->settings->by) return;
    r->by = (axis_search){.spec = &none, .dtype = HISTO_U32};
    axis_search_words(&r->by, r->feed.forms->forms[r->count].words,
                      r->settings->top           ? r->settings->top
                      : r->settings->every_group ? UINT32_MAX
                                                 : DEFAULT,
                      (dictionary_order)r->settings->order);
}

/* Another shard may have other values, so all values become groups. Merging orders them. */
static int take_every_group(run *r, fault *f)
{
    if (r->settings->top && r->settings->top < UINT32_MAX)
        return fault_set(f, EXIT_USAGE,
                         "--by takes every value of a shard, as the most frequent ones of all shards may differ: leave "
                         "--top out, or take --top all");
    if (r->count > 1 && !r->joint)
        return fault_set(f, EXIT_USAGE, "--by takes one column at a time with --shard: choose one with --column");
    r->by.may_lack_words = true;
    return dictionary_freeze_as_is(r->by.words) == 0 ? 0 : run_fault_memory(f);
}

/* Take the groups that the survey found, in each of which all sources are counted. */
static int take_groups(run *r, fault *f)
{
    char number[TEXT_NUMBER_BYTES];
    if (!r->settings->by) return 0;
    if (r->settings->shards && take_every_group(r, f) != 0) return -1;
    if (end_search(r, &r->by, feed_name(&r->feed, 0), f) != 0) return -1;
    r->group_count = r->by.axis.bins;
    r->group_names = bin_names_of_words(r->by.words);
    if (!r->group_names) return run_fault_memory(f);
    if (r->group_names->others && !r->settings->shards && !r->settings->quiet)
        note("%s, %s: %s other values share a group: --top N gives more of them a group, --top all each",
             feed_name(&r->feed, 0), r->settings->by, text_count((uint64_t)r->group_names->others, number));
    return groups_make(&r->groups, r->group_count, r->count, f);
}

/* Whether a survey sees the samples of each series, and no others. */
static bool surveys_series(const run *r)
{
    const settings *s = r->settings;
    return !r->team && !r->checkpointer && !s->by && !s->batch && !s->per_file && !s->segments && !s->pairs;
}

static bool can_find_sums(const run *r)
{
    bool can = r->moments >= MOMENTS_SAVED && r->moments <= MOMENTS_ORDER && surveys_series(r);
    for (int a = 0; a < r->axis_count && can; a++)
        can = r->search[a].in_pass && axis_search_sums(&r->search[a]);
    return can;
}

/* Make the surveys find the quantiles of the series. */
static int ask_for_quantiles(run *r, fault *f)
{
    if (r->moments != MOMENTS_ORDER || r->settings->weights || r->settings->quantile_rule != HISTO_QUANTILE_LINEAR ||
        !surveys_series(r))
        return 0;
    if (!r->q && (r->q_count = value_quantiles(r->settings->quantiles, &r->q, f)) < 0) return -1;
    for (int a = 0; a < r->axis_count; a++)
        axis_search_ask(&r->search[a], r->q_count, r->q);
    return 0;
}

static int take_quantiles(run *r, fault *f)
{
    bool found = r->q && r->axis_count == r->count;
    free(r->found_quantiles);
    r->found_quantiles = NULL;
    if (!found) return 0;
    r->found_quantiles = malloc((size_t)r->count * (size_t)r->q_count * sizeof *r->found_quantiles);
    if (!r->found_quantiles) return run_fault_memory(f);
    for (int a = 0; a < r->count; a++)
        found = axis_search_quantiles(&r->search[a], r->found_quantiles + (size_t)a * (size_t)r->q_count) && found;
    if (found) return 0;
    free(r->found_quantiles);
    r->found_quantiles = NULL;
    return 0;
}

/* As many passes over all samples as the searches need. The first one also computes sums, while samples are in
 * cache. */
static int survey_all(run *r, fault *f)
{
    const feed_visitor survey = {.verb = "surveying",
                                 .enter = run_enter_file,
                                 .take = survey_piece,
                                 .pause = r->team ? run_pause_for_team : NULL,
                                 .self = r};
    const histo_pairs pairs = {.pairing = r->settings->pairs, .relative = r->settings->relative};
    if (run_agree(r, begin_searches(r, f), f) != 0) return -1;
    begin_groups(r);
    if (ask_for_quantiles(r, f) != 0) return -1;
    free(r->found_sums);
    r->found_sums = NULL;
    while (next_pass(r)) {
        r->finds_sums = can_find_sums(r);
        if (r->finds_sums && !(r->found_sums = calloc((size_t)r->count, sizeof *r->found_sums)))
            return run_fault_memory(f);
        int failed = pairs.pairing ? image_stack_visit(&r->stack, &pairs, &survey, f) : run_visit(r, &survey, f);
        if (failed || merge_searches(r, f) != 0) return -1;
        if (!r->surveyed && !r->team && !r->settings->shards)
            return fault_set(f, EXIT_DATA, "%s holds no samples to find a range in: give it with -b N -r lo:hi",
                             feed_name(&r->feed, 0));
    }
    return take_quantiles(r, f);
}

/* Search again, with the forms that have changed: 1, or -1. */
static int search_anew(run *r, fault *f)
{
    for (int a = 0; a < r->axis_count; a++)
        axis_search_free(&r->search[a]);
    return feed_reform(&r->feed, f) == 0 ? 1 : -1;
}

/* Read columns of text as integers if they only have integers, some too large for doubles: 1, 0 if there are none,
 * -1. */
static int turn_to_integers(run *r, fault *f)
{
    int turned = 0;
    for (int a = 0; a < r->axis_count; a++) {
        channel_form *form = run_form_of_axis(r, a);
        if (!form || !form->looks || !axis_search_found_integers(&r->search[a], &form->dtype)) continue;
        form->kind = VALUES_INTEGERS;
        form->looks = axis_search_at_limit(&r->search[a], form->dtype); /* whether some are beyond it */
        r->sources[a].dtype = form->dtype;
        turned = 1;
    }
    return turned ? search_anew(r, f) : 0;
}

/* Some of the integers were beyond 64 bits after all, which doubles do not show: read all as doubles. 1, 0 if there
 * were none, -1. */
static int turn_back(run *r, fault *f)
{
    int turned = 0;
    for (int a = 0; a < r->axis_count; a++) {
        channel_form *form = run_form_of_axis(r, a);
        if (!form || form->kind != VALUES_INTEGERS) continue;
        form->kind = VALUES_NUMBERS;
        form->looks = false;
        r->sources[a].dtype = form->dtype = HISTO_F64;
        turned = 1;
    }
    if (!turned) return 0;
    *f = (fault){0};
    return search_anew(r, f);
}

int run_find_axes(run *r, fault *f)
{
    if (r->given) return take_given_axes(r, f);
    if (r->settings->agreed) return run_agree(r, surveys_load(r, f) != 0 || take_axes(r, f) != 0 ? -1 : 0, f);
    for (int a = 0; a < r->axis_count && r->settings->shards && !r->team; a++)
        if (!run_words_of_axis(r, a) && bins_need_data(&r->bins, r->sources[a].dtype, r->sources[a].pixels))
            return fault_set(
                f, EXIT_USAGE,
                "the bins depend on all samples, of which a shard has some: give them with -b N -r lo:hi, or find "
                "them with histo survey");
    int again;
    do {
        again = survey_all(r, f) == 0 ? turn_to_integers(r, f) : turn_back(r, f) > 0 ? 1 : -1;
        if (again < 0) return -1;
    } while (again);
    progress_end();
    if (take_groups(r, f) != 0) return -1;
    return run_agree(r, take_axes(r, f), f);
}

int run_begin(run *r, const settings *s, result *to, fault *f)
{
    return run_open(r, s, to, f) != 0 ? -1 : run_find_axes(r, f);
}
