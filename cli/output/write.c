/* Selects the writer and the destination. */
#include "output/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/text.h"
#include "count/view.h"
#include "options/nearest.h"
#include "options/values.h"
#include "output/writers/writers.h"

static const writer *const writers[] = {
#define OUTPUT(name, what) &writer_##name,
#include "output/outputs.def"
#undef OUTPUT
};

enum { WRITERS = sizeof writers / sizeof *writers };

static const writer *find_writer(const char *name)
{
    for (int i = 0; i < WRITERS; i++)
        if (strcasecmp(writers[i]->name, name) == 0) return writers[i]; /* also x.JSON */
    return NULL;
}

static void list_formats(char *text, size_t size)
{
    size_t length = 0;
    for (int i = 0; i < WRITERS && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s", i ? " " : "", writers[i]->name);
}

static const writer *writer_of_name(const char *name, fault *f)
{
    const writer *found = find_writer(name);
    if (found) return found;
    char known[128];
    nearest meant = {.word = name};
    for (int i = 0; i < WRITERS; i++)
        nearest_try(&meant, writers[i]->name);
    list_formats(known, sizeof known);
    if (meant.best)
        fault_set(f, EXIT_USAGE, "there is no output format '%.40s': did you mean --to %s?", name, meant.best);
    else
        fault_set(f, EXIT_USAGE, "there is no output format '%.40s': --to takes %s", name, known);
    return NULL;
}

static const writer *writer_of_path(const char *path, fault *f)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    char known[128];
    list_formats(known, sizeof known);
    if (!dot || !dot[1]) {
        fault_set(f, EXIT_USAGE, "%s has no suffix that names the format: add one of %s, or use --to",
                  *path ? path : "the empty name after -o", known);
        return NULL;
    }
    const writer *found = find_writer(dot + 1);
    if (!found)
        fault_set(f, EXIT_USAGE, "%s: no format has the suffix .%.40s: use one of %s, or --to", path, dot + 1, known);
    return found;
}

moments_kind output_moments(const output *to)
{
    const settings *s = to->settings;
    if (to->writer == &writer_text || s->stats || s->quantiles || s->verbose) return MOMENTS_ORDER;
    if (to->writer->shows_stats) return MOMENTS_EXACT;
    return to->writer->saves_moments ? MOMENTS_SAVED : MOMENTS_NONE;
}

static int check_axes(const output *to, int naxes, fault *f)
{
    if (to->writer->max_axes == 0 || naxes <= to->writer->max_axes) return 0;
    return fault_set(f, EXIT_USAGE, "a histogram of %d axes cannot be drawn as %s: draw two of them with --joint A,B",
                     naxes, to->writer->name);
}

static int check_sparse(const output *to, int count, bool in_one, fault *f)
{
    if (!to->writer->one_sparse || count <= 1) return 0;
    return fault_set(f, EXIT_USAGE, "%d sparse histograms do not fit into one table: %s", count,
                     in_one ? "draw them with --to text" : "write them as json or histo, or one at a time");
}

static int check_quantiles(const settings *s, fault *f)
{
    double *q = NULL;
    const int count = s->quantiles ? value_quantiles(s->quantiles, &q, f) : 0;
    free(q);
    return count < 0 ? -1 : 0;
}

static int check_stats(const output *to, const settings *s, fault *f)
{
    const writer *const with[] = {&writer_text, &writer_tsv, &writer_csv, &writer_json, &writer_histo};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        if (to->writer == with[i]) return 0;
    if (!s->stats && !s->quantiles) return 0;
    return fault_set(f, EXIT_USAGE, "%s has no room for --%s: write text, tsv, csv or json", to->writer->name,
                     s->stats ? "stats" : "quantiles");
}

/* Refuse views for formats that only write counts, and cumulative views of several axes. */
static int check_view(const output *to, const settings *s, fault *f)
{
    const view v = view_asked(s, NULL);
    if (view_is_plain(&v)) return 0;
    if (to->writer == &writer_npy || to->writer == &writer_histo)
        return fault_set(f, EXIT_USAGE, "%s has counts: write the %s to a table, JSON or a picture", to->writer->name,
                         view_name(&v));
    if (v.cumulative && (s->joint || s->pairs))
        return fault_set(f, EXIT_USAGE, "--cumulative is for histograms of one axis, not for joint ones");
    return 0;
}

int output_open(output *to, const settings *s, fault *f)
{
    bool to_stdout = !s->output || strcmp(s->output, "-") == 0;
    bool to_terminal = to_stdout && isatty(STDOUT_FILENO);
    *to = (output){.settings = s};
    if (s->output_format)
        to->writer = writer_of_name(s->output_format, f);
    else if (to_stdout)
        to->writer = to_terminal ? &writer_text : &writer_tsv;
    else
        to->writer = writer_of_path(s->output, f);
    if (!to->writer || check_quantiles(s, f) != 0 || check_stats(to, s, f) != 0 || check_view(to, s, f) != 0) return -1;
    if (to->writer->binary && to_terminal)
        return fault_set(f, EXIT_USAGE,
                         "%s cannot be written to a terminal: name a file with -o, or take --to kitty or sixel",
                         to->writer->name);
    if (to_terminal && to->writer->ask_terminal && to->writer->ask_terminal(f) != 0) return -1;
    if (check_axes(to, s->joint ? text_list_count(s->joint) : 1, f) != 0) return -1;
    if (s->sparse && check_sparse(to, s->batch ? s->files_count : 1, false, f) != 0) return -1;
    if (s->segments && (to->writer == &writer_json || to->writer == &writer_histo))
        return fault_set(f, EXIT_USAGE, "%s cannot hold segments: write a table, npy or a picture", to->writer->name);
    if (to->writer->prepare && to->writer->prepare(to_stdout ? "a picture" : s->output, f) != 0) return -1;
    to->file = outfile_open(to_stdout ? "-" : s->output, f);
    return to->file ? 0 : -1;
}

int output_write(output *to, const result *r, fault *f)
{
    if (!to->writer->mixes && !result_is_uniform(r))
        return fault_set(f, EXIT_DATA,
                         "the histograms in %s differ in their axes or weighting and do not fit into one %s "
                         "file: take one file at a time, or draw them with --to text",
                         r->title, to->writer->name);
    if (check_axes(to, result_naxes(r), f) != 0) return -1;
    if (to->settings->cumulative && result_naxes(r) > 1)
        return fault_set(f, EXIT_USAGE, "--cumulative is for histograms of one axis, and %s has %d", r->title,
                         result_naxes(r));
    const bool in_one = histo_hist_batch(r->series[0].hist) > 1;
    if (result_is_sparse(r) && check_sparse(to, r->count, in_one, f) != 0) return -1;
    if (to->writer->write(r, to->settings, to->file, f) != 0) return -1;
    outfile *file = to->file;
    to->file = NULL;
    return outfile_commit(file, f);
}

void output_close(output *to)
{
    outfile_abandon(to->file);
    to->file = NULL;
}

int output_command(const settings *s, int (*run)(const settings *s, output *to, result *r, fault *f))
{
    fault f = {0};
    output to = {0};
    result r = {0};
    int failed = run(s, &to, &r, &f);
    output_close(&to);
    result_free(&r);
    return failed ? fault_report(&f) : EXIT_OK;
}
