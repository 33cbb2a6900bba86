/* histo threshold: find the thresholds between the classes of an image, and write its classes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apply/command.h"
#include "base/failure.h"
#include "base/progress.h"
#include "base/text.h"

enum { DEFAULT_CLASSES = 2, FLOAT_BINS = 256 };

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

/* The threshold above a bin: samples above it are in higher bins. A sample on the edge is in the higher one, too. */
static double threshold_of(const levels *l, int64_t last)
{
    const double edge = histo_axis_edge(&l->axis, last + 1);
    if (l->axis.closed && last + 1 == l->axis.bins) return edge;
    if (l->dtype <= HISTO_I64) return ceil(edge) - 1;
    if (l->dtype == HISTO_F64) return nextafter(edge, -INFINITY);
    return (float)edge == edge ? nextafterf((float)edge, -INFINITY) : edge;
}

/* The line of a threshold, on standard error if the result is on standard output. */
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
        fprintf(out, "%s\t%s\n", method_name(s), text_exact(threshold_of(&j->levels[0], last[k]), text));
    }
}

static int make(job *j, int table, fault *f)
{
    enum { MOST_CLASSES = 256 };
    int64_t last[MOST_CLASSES];
    const int classes = classes_of(j);
    const histo_make_options values = {.hi = classes == 2 ? 255 : 0};
    if (histo_hist_split(j->hists[table], j->settings->split, classes, last) != HISTO_OK ||
        (j->settings->output &&
         (job_new_map(j, table, HISTO_MAP_STEP, f) != 0 ||
          histo_map_classes(j->maps[table], j->hists[table], j->settings->split, classes, &values) != HISTO_OK)))
        return fault_of_library(f, EXIT_DATA, job_name(j));
    print(j, last, classes - 1);
    return 0;
}

int command_threshold(const settings *s)
{
    static const job_kind threshold = {
        .verb = "thresholding", .bins = FLOAT_BINS, .reads_only = true, .classes = true, .begin = begin, .make = make};
    return job_command(s, &threshold);
}
