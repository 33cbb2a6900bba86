/* histo threshold: find the thresholds between the classes of an image, and write its classes. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply/command.h"
#include "apply/ranks.h"
#include "base/failure.h"
#include "base/progress.h"
#include "base/text.h"

enum { DEFAULT_CLASSES = 2, MOST_CLASSES = 256 };

/* Thresholds of samples with too many values for a bin each. */
typedef struct found {
    histo_number numbers[MOST_CLASSES - 1];
} found;

static int classes_of(const job *j)
{
    return j->settings->classes ? j->settings->classes : DEFAULT_CLASSES;
}

static const char *method_name(const settings *s)
{
    return s->split_name ? s->split_name : "otsu";
}

static int begin(job *j, fault *f)
{
    if (j->tones.count > 1)
        return fault_set(f, EXIT_USAGE, "%s has %d channels to split: choose one with --channel", job_name(j),
                         j->tones.count);
    if (classes_of(j) > 2 && j->settings->split != HISTO_SPLIT_OTSU)
        return fault_set(f, EXIT_USAGE, "%s finds two classes: leave --classes out, or take --method otsu",
                         method_name(j->settings));
    return 0;
}

/* ---- Of samples ---- */

static bool is_found_in_samples(const job *j)
{
    return !j->frame && ranks_suit(j->tones.dtype) && !j->settings->log_bins;
}

static int add_samples(job *j, void *context, int i, const histo_view *view, const job_part *part, fault *f)
{
    (void)i;
    if (histo_thresholds_add(context, view, &part->fill) == HISTO_OK) return 0;
    return fault_of_library(f, EXIT_DATA, job_name(j));
}

static int count_samples(job *j, void *context, int i, const histo_view *view, const job_part *part, fault *f)
{
    (void)i;
    histo_extremes extremes;
    uint64_t *finite = context;
    if (histo_find_extremes(view, &part->fill, &extremes, 1) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, job_name(j));
    *finite += extremes.samples - extremes.nan - extremes.below - extremes.above;
    return 0;
}

/* Report why there is no threshold: no samples, or what the library says. */
static int fault_of_thresholds(job *j, fault *f)
{
    uint64_t finite = 0;
    fault_of_library(f, EXIT_DATA, job_name(j));
    fault other = {0};
    if (job_visit(j, count_samples, &finite, &other) == 0 && finite == 0) return job_fault_nothing(j, f);
    return -1;
}

static int find_in_samples(job *j, histo_thresholds *t, fault *f)
{
    found *own = j->own;
    bool more;
    histo_status status;
    while ((status = histo_thresholds_next_pass(t, &more)) == HISTO_OK && more)
        if (job_visit(j, add_samples, t, f) != 0) return -1;
    if (status != HISTO_OK) return fault_of_thresholds(j, f);
    return histo_thresholds_read(t, own->numbers) == HISTO_OK ? 0 : fault_of_library(f, EXIT_DATA, job_name(j));
}

static int gather(job *j, fault *f)
{
    const settings *s = j->settings;
    histo_thresholds *t;
    if (j->frame) return 0;
    if (!is_found_in_samples(j)) return job_count(j, f);
    if (!j->own) j->own = calloc(1, sizeof(found));
    if (!j->own) return fault_set(f, EXIT_DATA, "no memory for the thresholds of %s", job_name(j));
    if (ranks_levels(j, 0, 0, 0, f) != 0) return -1;
    if (histo_thresholds_create(&t, j->tones.dtype, s->split, classes_of(j), s->bin_count) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, job_name(j));
    const int failed = find_in_samples(j, t, f);
    histo_thresholds_destroy(t);
    return failed;
}

static bool is_unsigned(histo_dtype dtype)
{
    return dtype == HISTO_U32 || dtype == HISTO_U64;
}

static bool has_64_bits(histo_dtype dtype)
{
    return dtype == HISTO_U64 || dtype == HISTO_I64;
}

static double step_of(const job *j)
{
    return classes_of(j) == 2 ? 255 : 1;
}

/* Make an axis whose edges are the thresholds, with the highest class as overflow; if nothing is above, all are in the
 * lowest class. */
static int make_classes(job *j, int table, fault *f)
{
    const found *own = j->own;
    const int bins = classes_of(j) - 1;
    const bool is_float = j->tones.dtype >= HISTO_F16;
    double edges[MOST_CLASSES], values[MOST_CLASSES + 2] = {0}; /* below the axis, in its bins, above, and for NaN */
    if (has_64_bits(j->tones.dtype)) return 0;                  /* doubles cannot represent these */
    for (int k = 0; k <= bins; k++) {
        const histo_number *number = &own->numbers[k ? k - 1 : 0];
        const double value = is_float                      ? number->f64
                             : is_unsigned(j->tones.dtype) ? (double)number->u64
                                                           : (double)number->i64;
        edges[k] = k == 0 ? value : is_float ? nextafter(value, INFINITY) : value + 1;
        if (k > 0) values[k + 1] = k * step_of(j);
    }
    if (isinf(edges[bins])) { /* the only value is the largest possible one */
        edges[0] = nextafter(edges[0], 0);
        edges[1] = own->numbers[0].f64;
        values[2] = 0;
    }
    const histo_axis axis = histo_axis_variable(bins, edges);
    if (job_axis_map(j, table, &axis, HISTO_MAP_STEP, f) != 0) return -1;
    if (histo_map_write(j->maps[table], values, bins + 3) == HISTO_OK) return 0;
    return fault_of_library(f, EXIT_DATA, "the map");
}

static int class_of(const job *j, const char *sample)
{
    const found *own = j->own;
    histo_number x;
    int above = 0;
    memcpy(&x, sample, sizeof x);
    for (int k = 0; k < classes_of(j) - 1; k++)
        above += is_unsigned(j->tones.dtype) ? x.u64 > own->numbers[k].u64 : x.i64 > own->numbers[k].i64;
    return above;
}

static int apply(job *j, int i, const band *b, const histo_view *from, const histo_view *to, fault *f)
{
    const histo_apply_options options = {.threads = j->settings->threads};
    if (!is_found_in_samples(j) || !has_64_bits(j->tones.dtype)) {
        const histo_map *map = j->maps[j->frame ? 0 : j->tones.tone[i].table];
        return histo_map_apply(map, from, to, &options) == HISTO_OK ? 0 : fault_of_library(f, EXIT_DATA, job_name(j));
    }
    (void)b;
    uint8_t *out = j->rows.data; /* `to` is there */
    for (int64_t y = 0; y < from->shape[0]; y++)
        for (int64_t x = 0; x < from->shape[1]; x++)
            *out++ = (uint8_t)(step_of(j) *
                               class_of(j, (const char *)from->data + y * from->strides[0] + x * from->strides[1]));
    return 0;
}

/* ---- Of bins ---- */

/* The threshold above a bin: samples above it are in higher bins. A sample on the edge is in the higher bin, too. */
static double threshold_of(const levels *l, int64_t last)
{
    const double edge = histo_axis_edge(&l->axis, last + 1);
    if (l->axis.closed && last + 1 == l->axis.bins) return edge;
    if (l->dtype <= HISTO_I64) return ceil(edge) - 1;
    if (l->dtype == HISTO_F64) return nextafter(edge, -INFINITY);
    return (float)edge == edge ? nextafterf((float)edge, -INFINITY) : edge;
}

/* ---- Both ---- */

/* Threshold k as text[TEXT_NUMBER_BYTES]. last: bins, or NULL. */
static const char *text_of(const job *j, const int64_t *last, int k, char *text)
{
    const found *own = j->own;
    if (last) return text_exact(threshold_of(&j->levels[0], last[k]), text);
    if (j->tones.dtype >= HISTO_F16) return text_exact(own->numbers[k].f64, text);
    if (is_unsigned(j->tones.dtype))
        snprintf(text, TEXT_NUMBER_BYTES, "%" PRIu64, own->numbers[k].u64);
    else
        snprintf(text, TEXT_NUMBER_BYTES, "%" PRId64, own->numbers[k].i64);
    return text;
}

/* Print the line of a threshold, on standard error if the result is on standard output. */
static void print(const job *j, const int64_t *last, int count)
{
    const settings *s = j->settings;
    FILE *out = s->output && strcmp(s->output, "-") == 0 ? stderr : stdout;
    char text[TEXT_NUMBER_BYTES];
    progress_end();
    const bool numbered = s->batch || j->frame;
    if (j->unit == 0) fprintf(out, "%smethod\tthreshold\n", numbered ? "page\t" : "");
    for (int k = 0; k < count; k++) {
        if (numbered) fprintf(out, "%d\t", j->unit);
        fprintf(out, "%s\t%s\n", method_name(s), text_of(j, last, k, text));
    }
}

static int make(job *j, int table, fault *f)
{
    int64_t last[MOST_CLASSES];
    const int classes = classes_of(j);
    if (is_found_in_samples(j)) {
        if (j->settings->output && make_classes(j, table, f) != 0) return -1;
        print(j, NULL, classes - 1);
        return 0;
    }
    const histo_make_options values = {.hi = classes == 2 ? 255 : 0};
    if (histo_hist_split(j->hists[table], j->settings->split, classes, last) != HISTO_OK ||
        (j->settings->output &&
         (job_new_map(j, table, HISTO_MAP_STEP, f) != 0 ||
          histo_map_classes(j->maps[table], j->hists[table], j->settings->split, classes, &values) != HISTO_OK)))
        return fault_of_library(f, EXIT_DATA, job_name(j));
    print(j, last, classes - 1);
    return 0;
}

static void end(job *j)
{
    free(j->own);
}

int command_threshold(const settings *s)
{
    static const job_kind threshold = {.verb = "thresholding",
                                       .reads_only = true,
                                       .classes = true,
                                       .begin = begin,
                                       .gather = gather,
                                       .gathers_counts = true,
                                       .make = make,
                                       .apply = apply,
                                       .end = end};
    return job_command(s, &threshold);
}
