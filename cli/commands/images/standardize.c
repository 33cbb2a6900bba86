/* histo standardize: bring scans to one scale, by landmarks trained on many (Nyul and Udupa, "On standardizing the MR
 * image intensity scale", 1999; the percentiles are those of TorchIO). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply/command.h"
#include "apply/landmarks.h"
#include "base/failure.h"
#include "base/text.h"
#include "output/outfile.h"

enum { POINTS = 13, LARGEST_FILE = 1 << 20 };

static const double percentiles[POINTS] = {1, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 99};

static const job_kind kind;

/* ---- The file of landmarks ---- */

static int write_landmarks(const char *path, const double *values, int scans, fault *f)
{
    char text[TEXT_NUMBER_BYTES];
    outfile *o = outfile_open(path, f);
    if (!o) return -1;
    FILE *out = outfile_stream(o);
    fprintf(out, "{\"percentiles\": [");
    for (int k = 0; k < POINTS; k++)
        fprintf(out, "%s%s", k ? ", " : "", text_exact(percentiles[k], text));
    fprintf(out, "],\n \"values\": [");
    for (int k = 0; k < POINTS; k++)
        fprintf(out, "%s%s", k ? ", " : "", text_exact(values[k], text));
    fprintf(out, "],\n \"scans\": %d}\n", scans);
    return outfile_commit(o, f);
}

/* The numbers in a member of the object: how many, or -1. */
static int read_member(const char *text, const char *name, double *numbers)
{
    const char *at = strstr(text, name);
    int count = 0;
    at = at ? strchr(at, '[') : NULL;
    if (!at) return -1;
    for (at++; count < LANDMARKS_MOST; at++) {
        char *end;
        numbers[count] = strtod(at, &end);
        if (end == at || !isfinite(numbers[count])) return -1;
        count++;
        at = end + strspn(end, " \t\r\n");
        if (*at == ']') return count;
        if (*at != ',') return -1;
    }
    return -1;
}

/* Whether numbers increase, or do not decrease with or_equal. */
static bool increase(const double *numbers, int count, bool or_equal)
{
    for (int k = 1; k < count; k++)
        if (!(numbers[k - 1] < numbers[k] || (or_equal && numbers[k - 1] == numbers[k]))) return false;
    return true;
}

typedef struct landmarks {
    int count;
    double q[LANDMARKS_MOST], values[LANDMARKS_MOST], found[LANDMARKS_MOST];
} landmarks;

static int read_landmarks(const char *path, landmarks *l, fault *f)
{
    size_t size;
    char *text = text_of_file(path, LARGEST_FILE, &size);
    if (!text) return fault_set(f, EXIT_DATA, "%s cannot be read: name a file that --train made", path);
    l->count = read_member(text, "\"percentiles\"", l->q);
    const int values = read_member(text, "\"values\"", l->values);
    free(text);
    for (int k = 0; k < l->count; k++)
        l->q[k] /= 100;
    if (l->count >= 2 && values == l->count && l->q[0] >= 0 && l->q[l->count - 1] <= 1 &&
        increase(l->q, l->count, false) && increase(l->values, values, true))
        return 0;
    return fault_set(f, EXIT_DATA, "%s holds no landmarks: name a file that --train made", path);
}

/* ---- Training ---- */

/* Add a scan's landmarks, mapped to `lo` at the first and `hi` at the last. */
static int add_scan(const settings *s, const char *path, double lo, double hi, double *sums, fault *f)
{
    job scan;
    double q[POINTS], found[POINTS];
    const job like = {.settings = s, .kind = &kind};
    for (int k = 0; k < POINTS; k++)
        q[k] = percentiles[k] / 100;
    int failed = job_open(&scan, &like, path, s->mask, f);
    if (!failed) failed = landmarks_find(&scan, POINTS, q, NULL, found, f);
    if (!failed && !(found[0] < found[POINTS - 1]))
        failed = fault_set(f, EXIT_DATA, "%s has the same value at its 1st and 99th percentiles: leave it out", path);
    for (int k = 0; k < POINTS && !failed; k++)
        sums[k] += lo + (found[k] - found[0]) * ((hi - lo) / (found[POINTS - 1] - found[0]));
    job_close(&scan);
    return failed;
}

static int train(const settings *s, fault *f)
{
    const double lo = s->has_target ? s->target[0] : 0, hi = s->has_target ? s->target[1] : 100;
    double values[POINTS] = {0};
    if (s->files_count == 0)
        return fault_set(f, EXIT_USAGE,
                         "nothing to train on: name the scans, as in histo standardize --train "
                         "landmarks.json a.npy b.npy");
    if (!(lo < hi)) return fault_set(f, EXIT_USAGE, "--to needs the lower end first, as in 0:100");
    if (outfile_spare(s->train, s->mask, "the mask", f) != 0) return -1;
    for (int i = 0; i < s->files_count; i++)
        if (outfile_spare(s->train, s->files[i], "a scan", f) != 0) return -1;
    if (outfile_check(s->train, f) != 0) return -1;
    for (int i = 0; i < s->files_count; i++)
        if (add_scan(s, s->files[i], lo, hi, values, f) != 0) return -1;
    for (int k = 0; k < POINTS; k++)
        values[k] /= s->files_count;
    return write_landmarks(s->train, values, s->files_count, f);
}

/* ---- Applying ---- */

static int begin(job *j, fault *f)
{
    landmarks *own = j->own = calloc(1, sizeof *own);
    if (!own) return fault_set(f, EXIT_DATA, "no memory to standardize %s", job_name(j));
    if (j->tones.tables > 1 || j->tones.kind != TONE_CHANNEL || j->tones.count < pages_reader(j->pages)->channels)
        return fault_set(f, EXIT_USAGE, "%s has colours or alpha, and scans have neither: convert it", job_name(j));
    if (j->dtype != HISTO_F64) j->dtype = HISTO_F32;
    return read_landmarks(j->settings->with, own, f);
}

static int gather(job *j, fault *f)
{
    landmarks *own = j->own;
    return landmarks_find(j, own->count, own->q, NULL, own->found, f);
}

static int make(job *j, int table, fault *f)
{
    const landmarks *own = j->own;
    if (job_line_map(j, table, own->count, own->found, own->values, true, f) == 0) return 0;
    return f->status ? -1 : fault_set(f, EXIT_DATA, "%s has a single value, and landmarks need more", job_name(j));
}

static void end(job *j)
{
    free(j->own);
}

static const job_kind kind = {
    .verb = "standardizing", .color = "joint", .begin = begin, .gather = gather, .make = make, .end = end};

int command_standardize(const settings *s)
{
    fault f = {0};
    if (s->train && s->with)
        fault_set(&f, EXIT_USAGE, "--train makes landmarks and --with uses them: leave one out");
    else if (!s->train && !s->with)
        fault_set(&f, EXIT_USAGE,
                  "make landmarks with --train LANDMARKS.json SCAN..., or use them with --with "
                  "LANDMARKS.json IN OUT");
    else if (s->with && s->files_count > 1)
        fault_set(&f, EXIT_USAGE, "--with takes one image and the result, and '%s' is one too many", s->files[1]);
    else if (s->with)
        return job_command(s, &kind);
    else if (train(s, &f) == 0)
        return EXIT_OK;
    return fault_report(&f);
}
