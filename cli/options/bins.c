/* Parsing -b, -r, --width, --edges and --log. Each may be a list with one entry per axis, separated by ';'. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dates/reading.h"
#include "base/list.h"
#include "base/text.h"
#include "options/bins.h"
#include "options/steps.h"

enum { LARGEST_EDGES_FILE = 1 << 28 };

static int fault_memory(fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the bins");
}

/* Append an edge; where: for messages. */
static int add_edge(bins_spec *spec, double edge, const char *where, fault *f)
{
    double last = spec->number ? spec->edges[spec->number - 1] : (double)NAN;
    if (edge <= last) {
        char before[TEXT_NUMBER_BYTES], after[TEXT_NUMBER_BYTES];
        return fault_set(f, EXIT_USAGE, "%s: edges must increase, and %s follows %s", where, text_exact(edge, after),
                         text_exact(last, before));
    }
    double *edges = list_grown(spec->edges, spec->number, sizeof *edges);
    if (!edges) return fault_memory(f);
    spec->edges = edges;
    spec->edges[spec->number++] = edge;
    return 0;
}

static int add_edge_text(bins_spec *spec, const char *text, const char *where, fault *f)
{
    double edge;
    if (text_to_f64(text, &edge)) return add_edge(spec, edge, where, f);
    return fault_set(f, EXIT_USAGE, "%s: '%s' is not a number: edges are numbers separated by blanks or commas", where,
                     text);
}

static int add_steps(bins_spec *spec, const char *text, const char *where, fault *f)
{
    steps edges;
    if (steps_parse(&edges, text, where, f) != 0) return -1;
    for (int64_t i = 0; i <= edges.count; i++) {
        const double edge = steps_at(&edges, i);
        const bool joins = i == 0 && spec->number && spec->edges[spec->number - 1] == edge; /* 0:1:.1,1:10:1 */
        if (!joins && add_edge(spec, edge, where, f) != 0) return -1;
    }
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
    int64_t line = 1;
    bool number_next = true; /* a comma may not follow */
    spec->kind = BINS_EDGES;
    while (*text) {
        size_t length = strcspn(text, between);
        char item[512], place[400] = "--edges";
        if (path) snprintf(place, sizeof place, "%.360s, line %" PRId64, path, line);
        const char *colon = memchr(text, ':', length);
        if (*text == '#') {
            text += strcspn(text, "\n");
        } else if (length >= sizeof item) {
            return fault_set(f, EXIT_USAGE, "%s: '%.40s...' is longer than any number", place, text);
        } else if (length > 0) {
            snprintf(item, sizeof item, "%.*s", (int)length, text);
            if ((colon ? add_steps : add_edge_text)(spec, item, place, f) != 0) return -1;
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
    spec->number--; /* number of bins */
    return 0;
}

static int parse_edges_file(bins_spec *spec, const char *path, fault *f)
{
    size_t size;
    char *text = text_of_file(path, LARGEST_EDGES_FILE, &size);
    if (!text)
        return fault_set(f, EXIT_DATA, "the file of edges %s cannot be read (%s): name another after the @", path,
                         strerror(errno));
    int failed = 0;
    if (strlen(text) != size)
        failed = fault_set(
            f, EXIT_DATA, "the file of edges %s is not text: it must hold numbers separated by blanks or commas", path);
    if (!failed) failed = parse_edges(spec, text, path, f);
    free(text);
    return failed;
}

/* "1000", "2^10", "1e6", "10k" or "1M". */
static bool parse_number_of_bins(const char *text, int64_t *number)
{
    char digits[64];
    const size_t size = strlen(text);
    const char unit = size ? text[size - 1] : '\0';
    const int64_t thousands = unit == 'k' ? 1000 : unit == 'M' ? 1000000 : 1;
    if (text_to_i64(text, number)) return true;
    if (strncmp(text, "2^", 2) == 0) {
        int64_t power;
        if (!text_to_i64(text + 2, &power) || power < 0 || power > 62) return false;
        *number = INT64_C(1) << power;
        return true;
    }
    double value;
    snprintf(digits, sizeof digits, "%.*s", (int)(thousands > 1 ? size - 1 : size), text);
    if (!text_to_f64(digits, &value)) return false;
    value *= (double)thousands;
    if (!(fabs(value) < 0x1p62) || value != rint(value)) return false;
    *number = (int64_t)value;
    return true;
}

static int parse_bins(bins_spec *spec, const char *text, fault *f)
{
    if (text[0] == '@') return parse_edges_file(spec, text + 1, f);
    if (parse_number_of_bins(text, &spec->number)) {
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
    spec->kind = BINS_WIDTH;
    if (time_step_parse(text, &spec->step)) return 0;
    if (!text_to_f64(text, &spec->width) || !(spec->width > 0) || isinf(spec->width))
        return fault_set(f, EXIT_USAGE,
                         "--width '%.40s' must be a number above 0, or of dates one such as 1d, 1mo or 15min", text);
    return 0;
}

/* An end of a range: "" takes it from the samples, "5" is a number, "p5" and "5%" are percentiles. */
typedef struct range_end {
    enum { END_OPEN, END_NUMBER, END_PERCENTILE } kind;
    double value;
} range_end;

static int parse_end(range_end *end, const char *text, const char *range, fault *f)
{
    char number[64];
    const size_t size = strlen(text), prefix = text[0] == 'p', suffix = size > 0 && text[size - 1] == '%';
    *end = (range_end){.kind = size == 0 ? END_OPEN : prefix || suffix ? END_PERCENTILE : END_NUMBER};
    if (end->kind == END_OPEN) return 0;
    snprintf(number, sizeof number, "%.*s", (int)(size - prefix - suffix), text + prefix);
    if ((prefix && suffix) || !text_to_f64(number, &end->value))
        return fault_set(f, EXIT_USAGE,
                         "-r '%.60s': '%.40s' is not an end of a range: give a number, a percentile such as 1%%, or "
                         "nothing to take the end from the samples",
                         range, text);
    if (end->kind == END_PERCENTILE && !(end->value >= 0 && end->value <= 100))
        return fault_set(f, EXIT_USAGE, "-r %.60s: percentiles run from 0%% to 100%%", range);
    if (isinf(end->value))
        return fault_set(f, EXIT_USAGE,
                         "-r %.60s: both ends must be finite: leave one out, as in -r 0:, to take it "
                         "from the samples",
                         range);
    return 0;
}

static int fault_order(const char *range, const char *lo, const char *hi, fault *f)
{
    return fault_set(f, EXIT_USAGE, "-r %.60s: the lower end comes first, as in -r %.60s:%.60s", range, hi, lo);
}

/* Check a range of two numbers; the spec has those that are given. */
static int check_numbers(const bins_spec *spec, const char *range, fault *f)
{
    const bool both = isfinite(spec->lo) && isfinite(spec->hi);
    if (both && isinf(spec->hi - spec->lo))
        return fault_set(f, EXIT_USAGE,
                         "-r %.60s: the ends are further apart than the largest double, 1.8e308: choose closer ones",
                         range);
    return 0;
}

static int parse_ends(bins_spec *spec, const char *text, fault *f)
{
    char ends[2][128];
    range_end lo, hi;
    snprintf(ends[0], sizeof ends[0], "%.*s", (int)strcspn(text, ":"), text);
    snprintf(ends[1], sizeof ends[1], "%s", strchr(text, ':') + 1);
    const char *first = text_trim(ends[0]), *second = text_trim(ends[1]);
    if (parse_end(&lo, first, text, f) != 0 || parse_end(&hi, second, text, f) != 0) return -1;
    const bool from_percentile = lo.kind == END_PERCENTILE, to_percentile = hi.kind == END_PERCENTILE;
    if (from_percentile || to_percentile) { /* percentiles 0 and 100 are the ends of the samples */
        const bool from = lo.kind != END_NUMBER, to = hi.kind != END_NUMBER;
        spec->range = from && to ? HISTO_RANGE_PERCENTILE
                      : from     ? HISTO_RANGE_FROM_PERCENTILE
                                 : HISTO_RANGE_TO_PERCENTILE;
        spec->lo = lo.value;
        spec->hi = hi.kind == END_OPEN ? 100 : hi.value;
        return from && to && spec->lo > spec->hi ? fault_order(text, first, second, f) : 0;
    }
    spec->range = lo.kind == END_OPEN && hi.kind == END_OPEN ? HISTO_RANGE_MINMAX : HISTO_RANGE_FIXED;
    spec->lo = lo.kind == END_OPEN ? -INFINITY : lo.value;
    spec->hi = hi.kind == END_OPEN ? INFINITY : hi.value;
    return spec->lo > spec->hi ? fault_order(text, first, second, f) : check_numbers(spec, text, f);
}

/* Dates: from the beginning of one to the beginning of another. Years alone are numbers. */
static bool parse_times(bins_spec *spec, const char *text)
{
    const char *end = text + strlen(text);
    time_span from, to;
    for (const char *colon = text; (colon = strchr(colon, ':')); colon++) {
        if (!time_parse(text, colon, false, &from) || !time_parse(colon + 1, end, false, &to)) continue;
        spec->lo = (double)from.begin;
        spec->hi = (double)to.begin;
        spec->has_times = spec->lo < spec->hi;
        return spec->has_times;
    }
    return false;
}

static int parse_range(bins_spec *spec, const char *text, fault *f)
{
    spec->has_range = true;
    if (strcmp(text, "minmax") == 0) {
        spec->range = HISTO_RANGE_MINMAX;
    } else if (strcmp(text, "dtype") == 0) {
        spec->range = HISTO_RANGE_DTYPE;
    } else if (parse_times(spec, text)) {
        spec->range = HISTO_RANGE_FIXED;
    } else if (strchr(text, ':') && !strchr(strchr(text, ':') + 1, ':')) {
        return parse_ends(spec, text, f);
    } else {
        return fault_set(f, EXIT_USAGE,
                         "-r '%.60s' is not a range: give LO:HI, of which one may be left out, percentiles like "
                         "1%%:99%%, minmax or dtype",
                         text);
    }
    return 0;
}

static int parse_edges_option(bins_spec *spec, const char *text, fault *f)
{
    if (text[0] == '@') return parse_edges_file(spec, text + 1, f);
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
    if (spec->has_range && bins_lower_end_is_given(spec) && !(spec->lo > 0))
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
        b->spec[i].letters = s->read.letters;
        failed = check_spec(&b->spec[i], f);
    }
    if (failed) bins_free(b);
    return failed;
}

bool bins_lower_end_is_given(const bins_spec *spec)
{
    return spec->range == HISTO_RANGE_TO_PERCENTILE || (spec->range == HISTO_RANGE_FIXED && isfinite(spec->lo));
}

bool bins_upper_end_is_given(const bins_spec *spec)
{
    return spec->range == HISTO_RANGE_FROM_PERCENTILE || (spec->range == HISTO_RANGE_FIXED && isfinite(spec->hi));
}

void bins_free(bins_list *b)
{
    for (int i = 0; i < HISTO_MAX_AXES; i++) {
        free(b->spec[i].edges);
        b->spec[i].edges = NULL;
    }
}
