/* A file is open only while being read, so that their number is unlimited; standard input and pipes, once spooled to a
 * temporary file, stay open until the end. */
#include "input/feed/feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/failure.h"
#include "base/progress.h"

enum { MOST_AHEAD = 8, MOST_HELD = 64 };

int feed_open(feed *in, const settings *s, bool keep, fault *f)
{
    int count = s->files_count ? s->files_count : 1;
    *in = (feed){.settings = s, .keep = keep, .files = calloc((size_t)count, sizeof *in->files)};
    if (!in->files) return fault_set(f, EXIT_DATA, "no memory for %d files", count);
    in->count = count;
    in->columns = &in->own_columns;
    for (int i = 0; i < count; i++)
        in->files[i].path = s->files_count ? s->files[i] : "-";
    in->shard = s->shard;
    return s->shards ? division_make(&in->division, s->files, s->files_count, s->shards, f) : 0;
}

void feed_close(feed *in)
{
    for (int i = 0; i < in->count; i++)
        samples_close(in->files[i].open);
    free(in->files);
    if (in->forms == &in->own_forms) channel_forms_free(&in->own_forms);
    named_columns_free(&in->own_columns);
    division_free(&in->division);
    *in = (feed){0};
}

int feed_reform(feed *in, fault *f)
{
    for (int i = 0; i < in->count; i++) {
        samples *file = in->files[i].open;
        if (file && samples_reform(file, f) != 0) return -1;
    }
    return 0;
}

const char *feed_name(const feed *in, int i)
{
    return strcmp(in->files[i].path, "-") == 0 ? "standard input" : in->files[i].path;
}

/* Open file i, wherever it is. */
static samples *open_file(feed *in, int i, fault *f)
{
    feed_file *file = &in->files[i];
    if (file->open) return file->open;
    file->used = false;
    file->open = samples_open(file->path, in->settings, in->forms, in->columns, in->keep, f);
    if (file->open && in->settings->verbose && input_was_spooled(samples_reader(file->open)->in))
        note("%s is read more than once, and was copied to a temporary file", feed_name(in, i));
    return file->open;
}

static void close_file(feed *in, int i)
{
    samples_close(in->files[i].open);
    in->files[i].open = NULL;
}

/* Whether the file cannot be opened again. */
static bool is_once(const feed *in, int i)
{
    const feed_file *file = &in->files[i];
    return strcmp(file->path, "-") == 0 || input_was_spooled(samples_reader(file->open)->in);
}

/* Determine the kind of columns without a value in the first file, from the first file in which they have one. */
static int settle_forms(feed *in, int first, fault *f)
{
    channel_forms *all = in->forms;
    if (!all || in->settled) return 0;
    in->settled = true;
    const bool open = channel_forms_are_open(all);
    for (int k = 0; k < in->count && channel_forms_are_open(all); k++) {
        if (k == first || in->files[k].open) continue;
        if (!open_file(in, k, f)) return -1;
        if (!is_once(in, k)) close_file(in, k);
    }
    channel_forms_settle(all);
    return open ? feed_reform(in, f) : 0;
}

samples *feed_begin(feed *in, int i, fault *f)
{
    feed_file *file = &in->files[i];
    if (!open_file(in, i, f) || settle_forms(in, i, f) != 0 || (file->used && samples_rewind(file->open, f) != 0))
        return NULL;
    file->used = false;
    return file->open;
}

void feed_keep(feed *in)
{
    for (int i = 0; i < in->count && !in->keep; i++)
        close_file(in, i);
    in->keep = true;
}

/* Keep a file open if all its samples are cached. */
static bool hold_file(feed *in, int i)
{
    feed_file *file = &in->files[i];
    const reader *r = samples_reader(file->open);
    const bool hold = in->keep && r->caches_all && r->caches_all(r) && (file->held || in->held < MOST_HELD);
    in->held += hold - file->held;
    file->held = hold;
    return hold;
}

void feed_end(feed *in, int i)
{
    if (!is_once(in, i) && in->count > 1 && !hold_file(in, i)) close_file(in, i);
}

bool feed_keeps_all(const feed *in)
{
    return in->held == in->count;
}

/* Start decoding the files after file i. Their errors are reported when it is their turn. */
static void start_files_behind(feed *in, int i)
{
    const settings *s = in->settings;
    const int threads = s->threads ? s->threads : histo_threads(), most = threads < MOST_AHEAD ? threads : MOST_AHEAD;
    if (s->read.in_parts || in->division.shards || s->checkpoint || s->live) return;
    for (int k = i + 1; k < in->count && k < i + most; k++) {
        fault later = {0};
        struct stat status;
        if (in->files[k].open || stat(in->files[k].path, &status) != 0 || !S_ISREG(status.st_mode)) continue;
        samples *file = open_file(in, k, &later);
        if (file) samples_start(file);
    }
}

/* Open the part of file i that is in the shard, which the next shard may continue: 1, 0 if there is none, -1. */
static int begin_part(feed *in, int i, unit_range *taken, fault *f)
{
    if (in->open != i && in->files[in->open].open) close_file(in, in->open);
    in->open = i;
    samples *file = open_file(in, i, f);
    if (!file || settle_forms(in, i, f) != 0) return -1;
    const int64_t units = samples_units(file);
    *taken = division_units(&in->division, in->shard, i, units);
    if (taken->first == taken->end) return 0;
    return taken->first > 0 || taken->end < units || feed_begin(in, i, f) ? 1 : -1;
}

/* Open file i and move to where the pass begins in it: 1, 0 if the shard has nothing of it, -1. */
static int begin_file(feed *in, int i, fault *f)
{
    unit_range taken = {0};
    const samples_place from = in->at.in_file;
    const int begun = in->division.shards ? begin_part(in, i, &taken, f) : feed_begin(in, i, f) ? 1 : -1;
    if (begun < 1) return begun;
    samples *file = in->files[i].open;
    const int64_t units = samples_units(file);
    if (!in->division.shards) taken.end = units;
    if (in->at.file == i && (from.unit > 0 || from.pieces > 0)) {
        if (from.unit < taken.end || units == 1) return samples_continue(file, from, taken.end, f) == 0 ? 1 : -1;
        if (!in->division.shards) feed_end(in, i);
        return 0;
    }
    in->at = (feed_place){.file = i};
    return samples_take(file, taken, f) == 0 ? 1 : -1;
}

static int visit_file(feed *in, int i, const feed_visitor *visitor, fault *f)
{
    const int begun = begin_file(in, i, f);
    if (begun < 1) return begun;
    samples *file = in->files[i].open;
    start_files_behind(in, i);
    if (visitor->enter && visitor->enter(visitor->self, i, file, f) != 0) return -1;
    const input *bytes = samples_reader(file)->in;
    char label[256];
    snprintf(label, sizeof label, "%s %.200s", visitor->verb ? visitor->verb : "", feed_name(in, i));
    if (visitor->verb) progress_start(label, in->settings->quiet);
    in->files[i].used = true;
    piece p;
    int more;
    while ((more = samples_next(file, &p, f)) > 0) {
        if (visitor->take(visitor->self, i, &p, f) != 0) return -1;
        in->at.in_file = samples_at(file);
        if (visitor->pause && visitor->pause(visitor->self, f) != 0) return -1;
        if (visitor->verb) progress_update(samples_position(file), input_size(bytes));
    }
    if (more < 0 || (visitor->leave && visitor->leave(visitor->self, i, file, f) != 0)) return -1;
    if (!in->division.shards) feed_end(in, i);
    return 0;
}

int feed_visit(feed *in, const feed_visitor *visitor, fault *f)
{
    int failed = 0;
    const unit_range files =
        in->division.shards ? division_files(&in->division, in->shard) : (unit_range){.end = in->count};
    for (int i = in->at.file > files.first ? in->at.file : (int)files.first; i < files.end && !failed; i++)
        failed = visit_file(in, i, visitor, f);
    in->at = (feed_place){0};
    if (visitor->verb) progress_end();
    return failed;
}
