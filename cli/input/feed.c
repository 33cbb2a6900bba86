/* The input files of one run. A file is open only while it is read, so that any number can be given; standard input and
 * pipes, whose content is in a temporary file then, stay open until the end. */
#include "input/feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/terminal/progress.h"

int feed_open(feed *in, const settings *s, bool keep, fault *f)
{
    int count = s->files_count ? s->files_count : 1;
    *in = (feed){.settings = s, .keep = keep, .files = calloc((size_t)count, sizeof *in->files)};
    if (!in->files) return fault_set(f, EXIT_DATA, "no memory for %d files", count);
    in->count = count;
    for (int i = 0; i < count; i++)
        in->files[i].path = s->files_count ? s->files[i] : "-";
    return 0;
}

void feed_close(feed *in)
{
    for (int i = 0; i < in->count; i++)
        samples_close(in->files[i].open);
    free(in->files);
    *in = (feed){0};
}

const char *feed_name(const feed *in, int i)
{
    return strcmp(in->files[i].path, "-") == 0 ? "standard input" : in->files[i].path;
}

samples *feed_begin(feed *in, int i, fault *f)
{
    feed_file *file = &in->files[i];
    if (!file->open) {
        file->open = samples_open(file->path, in->settings, in->keep, f);
        if (!file->open) return NULL;
        if (in->settings->verbose && input_was_spooled(samples_reader(file->open)->in))
            fprintf(stderr, "histo: %s is read more than once, and was copied to a temporary file\n", feed_name(in, i));
    } else if (file->used && samples_rewind(file->open, f) != 0) {
        return NULL;
    }
    file->used = false;
    return file->open;
}

void feed_end(feed *in, int i)
{
    feed_file *file = &in->files[i];
    bool once = strcmp(file->path, "-") == 0 || input_was_spooled(samples_reader(file->open)->in);
    if (once || in->count == 1) return;
    samples_close(file->open);
    file->open = NULL;
}

static int visit_file(feed *in, int i, const feed_visitor *visitor, fault *f)
{
    samples *file = feed_begin(in, i, f);
    if (!file || (visitor->enter && visitor->enter(visitor->self, i, file, f) != 0)) return -1;
    const input *bytes = samples_reader(file)->in;
    char label[256];
    snprintf(label, sizeof label, "%s %.200s", visitor->verb, feed_name(in, i));
    progress_start(label, in->settings->quiet);
    in->files[i].used = true;
    piece p;
    int more;
    while ((more = samples_next(file, &p, f)) > 0) {
        if (visitor->take(visitor->self, i, &p, f) != 0) return -1;
        progress_update(input_position(bytes), input_size(bytes));
    }
    if (more < 0 || (visitor->leave && visitor->leave(visitor->self, i, file, f) != 0)) return -1;
    feed_end(in, i);
    return 0;
}

int feed_visit(feed *in, const feed_visitor *visitor, fault *f)
{
    int failed = 0;
    for (int i = 0; i < in->count && !failed; i++)
        failed = visit_file(in, i, visitor, f);
    progress_end();
    return failed;
}
