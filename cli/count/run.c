/* The first file determines what is counted: its sources of samples, which the other files must have too. */
#include "count/run.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/failure.h"
#include "base/progress.h"
#include "count/wisdom.h"

int run_fault_memory(fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the histograms: use fewer bins");
}

channel_form *run_form_of_axis(const run *r, int a)
{
    const channel_forms *forms = r->feed.forms;
    return forms && a < forms->count && !r->settings->pairs ? &forms->forms[a] : NULL;
}

dictionary *run_words_of_axis(const run *r, int a)
{
    const channel_form *form = run_form_of_axis(r, a);
    return form ? form->words : NULL;
}

bool run_has_words(const run *r)
{
    bool any = r->settings->by != NULL;
    for (int a = 0; a < r->axis_count; a++)
        any = any || run_words_of_axis(r, a);
    return any;
}

bool run_has_times(const run *r, int a)
{
    const channel_form *form = run_form_of_axis(r, a);
    return form && form->kind == VALUES_TIMES && !form->words;
}

int run_axis_of(const run *r, int i)
{
    return r->axis_count == r->count ? i : 0;
}

static int make_sources(run *r, int count, bool joint, bool own_axes, fault *f)
{
    r->joint = joint;
    r->count = count;
    r->group_count = 1;
    r->naxes = joint ? count : 1;
    r->axis_count = own_axes ? count : 1;
    r->sources = calloc((size_t)count, sizeof *r->sources);
    r->search = calloc((size_t)count, sizeof *r->search);
    r->axes = calloc((size_t)count, sizeof *r->axes);
    r->bins_of = calloc((size_t)count, sizeof *r->bins_of);
    return r->sources && r->search && r->axes && r->bins_of ? 0 : run_fault_memory(f);
}

/* Formats whose 8-bit samples may be anything. */
static bool is_bare(const char *kind)
{
    return strcmp(kind, "bytes") == 0 || strcmp(kind, "raw") == 0;
}

static int describe(run *r, const samples *in, fault *f)
{
    const choice *c = samples_choice(in);
    r->segments = samples_segments(in);
    if (r->settings->segments && r->feed.count > 1)
        return fault_set(f, EXIT_USAGE, "--segments takes the samples of one file, but there are %d", r->feed.count);
    r->of_pages = r->settings->read.page < 0 || samples_reader(in)->pages < 0;
    if (samples_reader(in)->may_have_header && !r->settings->quiet)
        note("%s: the first row is counted: if it names the columns, add --header yes", feed_name(&r->feed, 0));
    const reader *from = samples_reader(in);
    bool columns = from->numeric; /* columns of a table are unrelated quantities */
    if (make_sources(r, c->count, c->joint, c->joint || columns || r->given_count > 1, f) != 0) return -1;
    for (int i = 0; i < c->count; i++) {
        const sample_source *s = &c->sources[i];
        const char *kind = from->kind->name, *name = s->name;
        r->sources[i].dtype = s->dtype;
        r->sources[i].pixels = !columns && (from->model != CHANNELS_PLAIN || from->width != 1 || is_bare(kind));
        r->characters = !name && strcmp(kind, "bytes") == 0;
        if (!name) name = r->settings->read.letters ? "letters" : r->characters ? kind : r->settings->read.dataset;
        if (name && !(r->sources[i].name = strdup(name))) return run_fault_memory(f);
    }
    return 0;
}

static int describe_stack(run *r, fault *f)
{
    r->segments = 1;
    if (image_stack_read(&r->stack, &r->feed, false, f) != 0 || make_sources(r, 2, true, true, f) != 0) return -1;
    r->sources[0].dtype = r->settings->relative ? HISTO_F32 : HISTO_I32;
    r->sources[1].dtype = r->stack.dtype;
    r->sources[0].name = strdup("difference");
    r->sources[1].name = strdup("mean");
    return r->sources[0].name && r->sources[1].name ? 0 : run_fault_memory(f);
}

/* Whether the dtypes of weights and filter, for which plans are made, differ from those of the previous file. */
static bool changes_beside(run *r, const choice *c)
{
    const int sources[] = {c->weights, c->where};
    bool changed = false;
    for (int i = 0; i < 2; i++) {
        const histo_dtype dtype = sources[i] == NO_SOURCE ? HISTO_DTYPE_COUNT : c->sources[sources[i]].dtype;
        changed = changed || dtype != r->beside[i];
        r->beside[i] = dtype;
    }
    return changed;
}

/* Files may have different dtypes only if the axes do not depend on the dtype. */
int run_enter_file(void *self, int file, const samples *in, fault *f)
{
    run *r = self;
    const choice *c = samples_choice(in);
    if (c->count != r->count)
        return fault_set(
            f, EXIT_DATA, "%s has %d channel%s to count where %s has %d: count them separately, or choose --channel",
            feed_name(&r->feed, file), c->count, c->count == 1 ? "" : "s", feed_name(&r->feed, 0), r->count);
    bool changed = changes_beside(r, c);
    for (int i = 0; i < c->count; i++) {
        int a = run_axis_of(r, i);
        histo_dtype dtype = c->sources[i].dtype, expected = r->sources[a].dtype;
        const bins_spec *spec = bins_of_axis(&r->bins, a, r->axis_count, f);
        if (!spec) return -1;
        if (dtype != expected && !r->given && !bins_are_fixed(spec))
            return fault_set(f, EXIT_DATA,
                             "%s has %s samples among others of %s, and no common range: give one with -b N -r lo:hi",
                             feed_name(&r->feed, file), histo_dtype_name(dtype), histo_dtype_name(expected));
        changed = changed || dtype != r->sources[i].dtype;
        r->sources[i].dtype = dtype;
    }
    for (int i = 0; i < r->count && changed; i++) {
        histo_plan_destroy(r->sources[i].plan);
        r->sources[i].plan = NULL;
    }
    return 0;
}

int run_agree(const run *r, int failed, fault *f)
{
    return r->team ? r->team->agree(r->team->self, failed, f) : failed;
}

int run_visit(run *r, const feed_visitor *visitor, fault *f)
{
    const run_team *team = r->team;
    if (!team) return feed_visit(&r->feed, visitor, f);
    int failed = 0;
    team->begin_pass(team->self);
    for (int64_t shard; !failed && (shard = team->take(team->self)) < r->settings->shards;) {
        r->feed.shard = shard;
        failed = feed_visit(&r->feed, visitor, f);
    }
    team->end_pass(team->self);
    return run_agree(r, failed, f);
}

int run_pause_for_team(void *self, fault *f)
{
    const run *r = self;
    (void)f;
    r->team->pause(r->team->self);
    return 0;
}

/* Whether there may be more than one pass. The first file's dtype may still be unknown. */
static bool may_read_twice(const run *r)
{
    const read_options *read = &r->settings->read;
    histo_dtype dtype = read->bytes ? HISTO_U8 : read->has_dtype ? read->dtype : HISTO_DTYPE_COUNT;
    if (r->settings->by) return true;
    for (int i = 0; i < r->bins.count && dtype == HISTO_DTYPE_COUNT; i++)
        if (bins_reach_far(&r->bins.spec[i])) return true;
    return bins_need_data(&r->bins, dtype, true);
}

bool run_files_have(const settings *s, int64_t most)
{
    bool have = s->files_count > 0;
    for (int i = 0; i < s->files_count && have; i++) {
        struct stat status;
        have = stat(s->files[i], &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= most;
        if (have) most -= status.st_size;
    }
    return have;
}

/* Report a missing device before anything is read. */
static int check_device(const settings *s, fault *f)
{
    if (s->device < HISTO_DEVICE_CUDA(0)) return 0;
    static const unsigned char sample;
    const histo_view view = histo_view_1d(&sample, HISTO_U8, 1);
    const histo_axis axis = histo_axis_integer(0, 1);
    const histo_plan_options options = {.device = s->device};
    histo_hist *hist = NULL;
    histo_plan *plan = NULL;
    histo_status status = histo_hist_create(&hist, 1, &axis, NULL);
    if (status == HISTO_OK) status = histo_plan_create(&plan, hist, &view, NULL, &options);
    if (status != HISTO_OK) fault_set(f, EXIT_DATA, "%s; take --device cpu", histo_last_error());
    histo_plan_destroy(plan);
    histo_hist_destroy(hist);
    return status == HISTO_OK ? 0 : -1;
}

int run_open_files(run *r, fault *f)
{
    const settings *s = r->settings;
    if (wisdom_load(s, f) != 0) return -1;
    if (bins_parse(&r->bins, s, f) != 0 || check_device(s, f) != 0) return -1;
    const int64_t most = s->stats || s->quantiles || s->weights ? INT64_MAX : RUN_SMALL_FILES;
    const bool again = may_read_twice(r) || s->exact || (r->moments >= MOMENTS_ORDER && run_files_have(s, most));
    if (feed_open(&r->feed, s, again && !s->pairs && !s->live, f) != 0) return -1;
    if (!r->team && !s->live) r->feed.forms = &r->feed.own_forms;
    samples *first = s->pairs ? NULL : feed_begin(&r->feed, 0, f);
    if (s->pairs ? describe_stack(r, f) != 0 : !first || describe(r, first, f) != 0) return -1;
    return 0;
}

int run_open(run *r, const settings *s, result *to, fault *f)
{
    *r = (run){.settings = s, .result = to};
    return run_open_files(r, f);
}

void run_end(run *r)
{
    progress_end();
    for (int i = 0; i < r->count && r->sources; i++) {
        free(r->sources[i].name);
        histo_plan_destroy(r->sources[i].plan);
    }
    free(r->sources);
    for (int a = 0; a < r->axis_count && r->search; a++)
        axis_search_free(&r->search[a]);
    free(r->search);
    for (int a = 0; a < r->axis_count && r->bins_of; a++)
        bin_names_free(r->bins_of[a]);
    free(r->bins_of);
    bin_names_free(r->group_names);
    groups_free(&r->groups);
    free(r->axes);
    free(r->resumed);
    free(r->common.edges);
    free(r->found_sums);
    free(r->found_quantiles);
    free(r->q);
    image_stack_free(&r->stack);
    feed_close(&r->feed);
    bins_free(&r->bins);
}
