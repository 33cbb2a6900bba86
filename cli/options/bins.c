/* Parsing -b, -r, --width, --edges and --log. Each may be a list with one entry per axis, separated by ';'. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "options/bins.h"

enum { LARGEST_EDGES_FILE = 1 << 28 };

static int fault_memory(fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the bins");
}

/* Append an edge given as text; where: for messages. */
static int add_edge(bins_spec *spec, int64_t *room, const char *text, const char *where, fault *f)
{
    double edge;
    if (!text_to_f64(text, &edge))
        return fault_set(f, EXIT_USAGE, "%s: '%s' is not a number: edges are numbers separated by blanks or commas",
                         where, text);
    double last = spec->number ? spec->edges[spec->number - 1] : (double)NAN;
    if (edge <= last) {
        char before[TEXT_NUMBER_BYTES], after[TEXT_NUMBER_BYTES];
        return fault_set(f, EXIT_USAGE, "%s: edges must increase, and %s follows %s", where, text_exact(edge, after),
                         text_exact(last, before));
    }
    if (spec->number == *room) {
        *room = *room ? *room * 2 : 64;
        double *more = realloc(spec->edges, (size_t)*room * sizeof *more);
        if (!more) return fault_memory(f);
        spec->edges = more;
    }
    spec->edges[spec->number++] = edge;
    return 0;
}

static int fault_comma(const char *where, fault *f)
{
    return fault_set(f, EXIT_USAGE,
                     "%s: a comma lacks a number on one side: edges are numbers separated by blanks or commas", where);
}

/* Parse edges: numbers separated by white space and commas, with # comments. path: the file, NULL for --edges. */
static int parse_edges(bins_spec *spec, const char *text, const char *path, fault *f)
{
    static const char between[] = " \t\r\n,";
    int64_t room = 0, line = 1;
    bool number_next = true; /* a comma may not follow */
    spec->kind = BINS_EDGES;
    while (*text) {
        size_t length = strcspn(text, between);
        char item[512], place[400] = "--edges";
        if (path) snprintf(place, sizeof place, "%.360s, line %" PRId64, path, line);
        if (*text == '#') {
            text += strcspn(text, "\n");
        } else if (length >= sizeof item) {
            return fault_set(f, EXIT_USAGE, "%s: '%.40s...' is longer than any number", place, text);
        } else if (length > 0) {
            snprintf(item, sizeof item, "%.*s", (int)length, text);
            if (add_edge(spec, &room, item, place, f) != 0) return -1;
            number_next = false;
            text += length;
        } else {
            if (*text == ',' && number_next) return fault_comma(place, f);
            number_next |= *text == ',';
            line += *text++ == '\n';
        }
    }
    if (spec->number > 0 && number_next) return fault_comma(path ? path : "--edges", f);
    if (spec->number < 2)
        return fault_set(f, EXIT_USAGE, "%s: %s: give at least two edges", path ? path : "--edges",
                         spec->number ? "one edge makes no bin" : "there are no edges");
    spec->number--; /* bins */
    return 0;
}

static int parse_edges_file(bins_spec *spec, const char *path, fault *f)
{
    size_t size;
    char *text = text_of_file(path, LARGEST_EDGES_FILE, &size);
    if (!text)
        return fault_set(f, EXIT_DATA, "the file of edges %s cannot be read (%s): name another after -b @", path,
                         strerror(errno));
    int failed = 0;
    if (strlen(text) != size)
        failed = fault_set(
            f, EXIT_DATA, "the file of edges %s is not text: it must hold numbers separated by blanks or commas", path);
    if (!failed) failed = parse_edges(spec, text, path, f);
    free(text);
    return failed;
}

static int parse_bins(bins_spec *spec, const char *text, fault *f)
{
    if (text[0] == '@') return parse_edges_file(spec, text + 1, f);
    if (text_to_i64(text, &spec->number)) {
        if (spec->number < 1 || spec->number > HISTO_MAX_BINS)
            return fault_set(f, EXIT_USAGE, "-b %s is out of range: give 1 to %" PRId64 " bins", text, HISTO_MAX_BINS);
        spec->kind = BINS_NUMBER;
        return 0;
    }
    if (histo_rule_parse(text, &spec->rule) != HISTO_OK)
        return fault_set(f, EXIT_USAGE,
                         "-b '%.40s' is not a number of bins from 1 to %" PRId64
                         ", no rule (auto fd scott stone sturges doane rice "
                         "sqrt) and no @FILE of edges",
                         text, HISTO_MAX_BINS);
    spec->kind = BINS_RULE;
    return 0;
}

static int parse_width(bins_spec *spec, const char *text, fault *f)
{
    if (!text_to_f64(text, &spec->width) || !(spec->width > 0) || isinf(spec->width))
        return fault_set(f, EXIT_USAGE, "--width '%.40s' must be a number above 0", text);
    spec->kind = BINS_WIDTH;
    return 0;
}

/* "lo:hi", each number after an optional prefix. */
static bool parse_pair(const char *text, const char *prefix, double *lo, double *hi)
{
    size_t skip = strlen(prefix), size = strcspn(text, ":");
    if (text[size] != ':' || size >= 64) return false;
    char first[64];
    memcpy(first, text, size);
    first[size] = '\0';
    const char *second = text + size + 1;
    return strncmp(first, prefix, skip) == 0 && strncmp(second, prefix, skip) == 0 && text_to_f64(first + skip, lo) &&
           text_to_f64(second + skip, hi);
}

static int parse_range(bins_spec *spec, const char *text, fault *f)
{
    spec->has_range = true;
    if (strcmp(text, "minmax") == 0) {
        spec->range = HISTO_RANGE_MINMAX;
    } else if (strcmp(text, "dtype") == 0) {
        spec->range = HISTO_RANGE_DTYPE;
    } else if (parse_pair(text, "p", &spec->lo, &spec->hi)) {
        spec->range = HISTO_RANGE_PERCENTILE;
        if (!(spec->lo >= 0 && spec->lo <= spec->hi && spec->hi <= 100))
            return fault_set(f, EXIT_USAGE, "-r %.60s: percentiles run from p0 to p100, lower end first", text);
    } else if (parse_pair(text, "", &spec->lo, &spec->hi)) {
        spec->range = HISTO_RANGE_FIXED;
        if (isinf(spec->lo) || isinf(spec->hi))
            return fault_set(f, EXIT_USAGE, "-r %.60s: both ends must be finite", text);
        if (spec->lo > spec->hi)
            return fault_set(f, EXIT_USAGE, "-r %.60s: the lower end comes first, as in -r %.17g:%.17g", text, spec->hi,
                             spec->lo);
        if (isinf(spec->hi - spec->lo))
            return fault_set(
                f, EXIT_USAGE,
                "-r %.60s: the ends are further apart than the largest double, 1.8e308: choose closer ones", text);
    } else {
        return fault_set(f, EXIT_USAGE,
                         "-r '%.60s' is not a range: give lo:hi, minmax, dtype or percentiles like p1:p99", text);
    }
    return 0;
}

static int parse_edges_option(bins_spec *spec, const char *text, fault *f)
{
    return parse_edges(spec, text, NULL, f);
}

static int count_entries(const char *list)
{
    int entries = list != NULL;
    for (; list && *list; list++)
        entries += *list == ';';
    return entries;
}

/* Parse a list: one entry for all axes, or one per axis. */
static int parse_list(bins_list *b, const char *option, const char *list,
                      int (*parse)(bins_spec *, const char *, fault *), fault *f)
{
    int entries = count_entries(list);
    if (entries == 0) return 0;
    if (entries > 1 && entries != b->count)
        return fault_set(f, EXIT_USAGE,
                         "%s has %d entries separated by ';': give one for all axes, or one for each of %d", option,
                         entries, b->count);
    char *items = strdup(list), *rest = items, *item = NULL;
    if (!items) return fault_memory(f);
    int failed = 0;
    for (int i = 0; i < b->count && !failed; i++) {
        if (i < entries) item = text_trim(strsep(&rest, ";"));
        failed = parse(&b->spec[i], item, f);
    }
    free(items);
    return failed;
}

static int count_axes(bins_list *b, const settings *s, fault *f)
{
    const char *const lists[] = {s->bins, s->width, s->edges, s->range};
    b->count = 1;
    for (int i = 0; i < 4; i++)
        if (count_entries(lists[i]) > b->count) b->count = count_entries(lists[i]);
    if (b->count <= HISTO_MAX_AXES) return 0;
    return fault_set(f, EXIT_USAGE, "the bins of %d axes are given, separated by ';', and a histogram has at most %d",
                     b->count, HISTO_MAX_AXES);
}

static int check_together(const settings *s, fault *f)
{
    const struct {
        const char *option, *value;
    } ways[] = {{"-b", s->bins}, {"--width", s->width}, {"--edges", s->edges}};
    const char *first = NULL;
    for (int i = 0; i < 3; i++) {
        if (!ways[i].value) continue;
        if (first)
            return fault_set(f, EXIT_USAGE, "%s and %s both define the bins: give only one", first, ways[i].option);
        first = ways[i].option;
    }
    return 0;
}

static int check_spec(const bins_spec *spec, fault *f)
{
    if (spec->kind == BINS_EDGES && spec->has_range)
        return fault_set(f, EXIT_USAGE, "the edges already define the range: leave -r out");
    if (!spec->log) return 0;
    if (spec->kind != BINS_DEFAULT && spec->kind != BINS_NUMBER)
        return fault_set(f, EXIT_USAGE, "--log takes a number of bins (-b N), not a rule, width or edges");
    if (spec->has_range && spec->range == HISTO_RANGE_FIXED && !(spec->lo > 0))
        return fault_set(f, EXIT_USAGE, "--log needs a range above 0, but -r begins at %g: give one such as -r 1:1000",
                         spec->lo);
    if (spec->has_range && spec->range == HISTO_RANGE_DTYPE)
        return fault_set(f, EXIT_USAGE,
                         "--log needs a range above 0, which -r dtype is not: give one such as -r 1:1000");
    return 0;
}

int bins_parse(bins_list *b, const settings *s, fault *f)
{
    *b = (bins_list){0};
    int failed = check_together(s, f);
    if (!failed) failed = count_axes(b, s, f);
    if (!failed) failed = parse_list(b, "-b", s->bins, parse_bins, f);
    if (!failed) failed = parse_list(b, "--width", s->width, parse_width, f);
    if (!failed) failed = parse_list(b, "--edges", s->edges, parse_edges_option, f);
    if (!failed) failed = parse_list(b, "-r", s->range, parse_range, f);
    for (int i = 0; i < b->count && !failed; i++) {
        b->spec[i].log = s->log_bins;
        b->spec[i].every_value = s->every_value;
        failed = check_spec(&b->spec[i], f);
    }
    if (failed) bins_free(b);
    return failed;
}

void bins_free(bins_list *b)
{
    for (int i = 0; i < HISTO_MAX_AXES; i++) {
        free(b->spec[i].edges);
        b->spec[i].edges = NULL;
    }
}
