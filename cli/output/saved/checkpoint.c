/* A checkpoint is a set of saved histograms whose manifest has a place:
 *
 *     FILE UNIT PIECES BAD MISSING: the place in the files (input/feed/feed.h)
 *     FIRST FILE PAGE: the series that are being counted (count/run.h)
 *     and the moments of each series that has some (output/saved/moments.h)
 *
 * A signal to stop waits for the end of the piece, and for a checkpoint. */
#define _GNU_SOURCE
#include "output/saved/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/process/interrupt.h"
#include "base/progress.h"
#include "count/run.h"
#include "output/outfile.h"
#include "output/saved/moments.h"
#include "output/saved/saved.h"

typedef struct checkpoint {
    const settings *settings;
    manifest *shards;
    double written_s; /* when it was last written */
    bool counting;
} checkpoint;

static volatile sig_atomic_t stopped; /* the terminating signal */

/* ---- Writing -------------------------------------------------------------------------------------------- */

/* NULL if out of memory. */
static char *describe_place(const run *r)
{
    char *text = NULL;
    size_t size;
    const feed_place at = r->feed.at;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    fprintf(out, "%d %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d %d %d", at.file, at.in_file.unit,
            at.in_file.pieces, at.in_file.bad, at.in_file.missing, at.in_file.ragged, r->first_series, r->file,
            r->page);
    for (int i = 0; i < r->result->count; i++)
        if (r->result->series[i].sums) moments_put(&r->result->series[i], out);
    return fclose(out) == 0 ? text : NULL;
}

static int write_checkpoint(checkpoint *c, const run *r, fault *f)
{
    result all = *r->result;
    all.shards = c->shards;
    free(c->shards->place);
    if (!(c->shards->place = describe_place(r))) return fault_set(f, EXIT_DATA, "no memory for the checkpoint");
    outfile *o = outfile_open(c->settings->checkpoint, f);
    if (!o) return -1;
    if (saved_write_binary(&all, false, outfile_stream(o), f) == 0) return outfile_commit(o, f);
    outfile_abandon(o);
    return -1;
}

static int save(void *self, run *r, fault *f)
{
    checkpoint *c = self;
    if (!c->counting) {
        c->counting = true;
        interrupt_defer(&stopped);
    }
    const double now = progress_seconds();
    if (!stopped && now - c->written_s < c->settings->every_s) return 0;
    if (write_checkpoint(c, r, f) != 0) return -1;
    c->written_s = progress_seconds();
    if (!stopped) return 0;
    note("%s: the same command goes on from %s", stopped == SIGINT ? "interrupted" : "terminated",
         c->settings->checkpoint);
    interrupt_obey(stopped, true);
    return 0;
}

/* ---- Going on ------------------------------------------------------------------------------------------- */

/* Restore the position in the run, and the moments, from the loaded result. */
static bool take_place(const char *place, run *r, result *loaded)
{
    feed_place *at = &r->feed.at;
    int length = 0;
    if (sscanf(place, "%d %" SCNd64 " %" SCNd64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %d %d %d%n", &at->file,
               &at->in_file.unit, &at->in_file.pieces, &at->in_file.bad, &at->in_file.missing, &at->in_file.ragged,
               &r->first_series, &r->file, &r->page, &length) != 9)
        return false;
    const int64_t each = (r->joint ? 1 : r->count) * r->group_count;
    if (at->file < 0 || at->file >= r->feed.count || at->in_file.unit < 0 || at->in_file.pieces < 0 ||
        r->first_series < 0 || loaded->count - r->first_series != each)
        return false;
    const char *moments = place + length;
    bool good = true;
    for (int i = 0; i < loaded->count && r->moments && good; i++) {
        series *it = &loaded->series[i];
        if (*moments == ' ')
            good = moments_take(&moments, it);
        else /* those of the bins */
            good = (it->stats = calloc((size_t)r->naxes, sizeof *it->stats)) != NULL;
    }
    return good && *moments == '\0';
}

/* Whether the bins of series i have the words and axes that the run has found again. Sources have a series for each
 * group. */
static bool are_found_again(const run *r, const series *s, int i)
{
    const int source = r->joint ? 0 : (int)(i / r->group_count) % r->count;
    bool same = true;
    for (int a = 0; a < r->naxes && same; a++) {
        const int axis = r->joint ? a : run_axis_of(r, source);
        const histo_axis saved = histo_hist_axis(s->hist, a);
        same = histo_axis_equal(&saved, &r->axes[axis]) && bin_names_alike(s->forms[a].names, r->bins_of[axis]);
    }
    return same;
}

/* Whether these are the histograms that the run makes: their axes are those that it found. */
static bool are_made(const run *r, const result *loaded)
{
    bool made = loaded->count > 0;
    for (int i = 0; i < loaded->count && made; i++)
        made = histo_hist_naxes(loaded->series[i].hist) == r->naxes &&
               (!run_has_words(r) || are_found_again(r, &loaded->series[i], i));
    return made;
}

static int load(void *self, run *r, fault *f)
{
    checkpoint *c = self;
    const char *path = c->settings->checkpoint;
    result loaded = {0};
    c->written_s = progress_seconds();
    if (access(path, F_OK) != 0 && errno == ENOENT) return 0;
    int failed = saved_load(path, &loaded, f);
    const manifest *of = loaded.shards;
    if (!failed && (!of || !of->place))
        failed = fault_set(f, EXIT_DATA, "%s is not a checkpoint: name another file", path);
    if (!failed) failed = manifest_compare(c->shards, "this run", of, path, f);
    if (!failed && (of->ranges != 1 || memcmp(of->counted, c->shards->counted, sizeof *of->counted) != 0))
        failed = fault_set(f, EXIT_DATA, "%s is a checkpoint of another shard: name a file for each", path);
    if (!failed && !(are_made(r, &loaded) && take_place(of->place, r, &loaded)))
        failed = fault_set(f, EXIT_DATA, "%s was written by another command: use the same one, or remove it", path);
    if (!failed) {
        r->result->count = loaded.count;
        r->result->series = loaded.series;
        loaded.count = 0;
        loaded.series = NULL;
    }
    result_free(&loaded);
    return failed ? -1 : 1;
}

/* ---- Both ----------------------------------------------------------------------------------------------- */

static int check_outputs(const settings *s, fault *f)
{
    const char *path = s->checkpoint;
    if (!path) return 0;
    if (strcmp(path, "-") == 0 || !*path)
        return fault_set(f, EXIT_USAGE, "--checkpoint takes the name of a file, which it keeps until all is counted");
    if (s->output && strcmp(s->output, path) == 0)
        return fault_set(f, EXIT_USAGE, "-o and --checkpoint are both %s: name another file", path);
    if (outfile_spare(s->output, path, "its checkpoint", f) != 0) return -1;
    return outfile_check(path, f); /* now, rather than when it is first written */
}

/* Files must be unchanged at the end. */
static int check_files(const checkpoint *c, fault *f)
{
    manifest *now = manifest_make(c->settings, f);
    const int failed = now ? manifest_compare(c->shards, "the beginning of counting", now, "its end", f) : -1;
    manifest_free(now);
    return failed;
}

int checkpoint_count(const settings *s, moments_kind moments, result *r, fault *f)
{
    if (!s->shards && !s->checkpoint) return count_files(s, moments, r, f);
    if (check_outputs(s, f) != 0) return -1;
    checkpoint c = {.settings = s, .shards = manifest_make(s, f)};
    const run_checkpointer checkpointer = {.load = load, .save = save, .self = &c};
    int failed = c.shards ? count_with_checkpoints(s, moments, s->checkpoint ? &checkpointer : NULL, r, f) : -1;
    if (c.counting) interrupt_obey(stopped, false);
    if (!failed) failed = check_files(&c, f);
    if (!failed && s->shards) {
        free(c.shards->place);
        c.shards->place = NULL;
        r->shards = c.shards;
    } else {
        manifest_free(c.shards);
    }
    return failed;
}

void checkpoint_remove(const settings *s)
{
    fault ignored = {0};
    if (!s->checkpoint) return;
    outfile_check(s->checkpoint, &ignored);       /* removes leftovers of killed processes */
    char *behind = realpath(s->checkpoint, NULL); /* the file, not a link to it */
    if (behind) unlink(behind);
    free(behind);
}
