/* See series.h. */
#define _GNU_SOURCE
#include "modules/dicom/series.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"
#include "input/readers/isolated_process.h"
#include "input/readers/names.h"
#include "input/stream/folder.h"

enum { MOST_ENTRIES = 1 << 20 };

static int fault_memory(const char *folder, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory to read the files in %s", folder);
}

static int fault_slice(const char *path, const char *why, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s cannot be read as DICOM (GDCM): %s", path, why);
}

/* ---- The images in the directory ---- */

/* Add the file, if it is an image. */
static int add_file(dicom_series *s, const char *path, const dicom_wishes *wishes, fault *f)
{
    char why[256] = "";
    dicom_slice slice = {0};
    const dicom_found found = dicom_decode_header(path, wishes, &slice.about, &slice.place, why);
    if (found == DICOM_DAMAGED) return fault_slice(path, why, f);
    if (found != DICOM_IMAGE) return 0;
    dicom_slice *slices = list_grown(s->slices, s->count, sizeof *slices);
    if (!slices) return fault_memory(path, f);
    s->slices = slices;
    slice.path = strdup(path);
    if (!slice.path) return fault_memory(path, f);
    s->slices[s->count++] = slice;
    return 0;
}

typedef struct collection {
    dicom_series *series;
    const dicom_reading *how;
    fault *f;
} collection;

static bool collect(void *self, const char *path)
{
    const collection *c = self;
    if (!folder_dicom_file(path, c->how->bare))
        return !folder_dicom_name(path) || fault_slice(path, "it is empty, truncated or damaged", c->f) == 0;
    isolated_reads(c->how->memory, path, path);
    return add_file(c->series, path, &c->how->wishes, c->f) == 0;
}

static int add_files(dicom_series *s, const char *folder, const dicom_reading *how, fault *f)
{
    int64_t entries = MOST_ENTRIES;
    const bool all = folder_walk(folder, &entries, collect, &(collection){s, how, f});
    if (f->status != EXIT_OK) return -1;
    if (!all) return fault_set(f, EXIT_DATA, "%s, or a directory in it, cannot be read", folder);
    if (entries > 0) return 0;
    return fault_set(f, EXIT_DATA, "%s holds more than %d files: name a directory in it", folder, MOST_ENTRIES);
}

/* ---- Which series ---- */

static int order(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_series(const void *a, const void *b)
{
    const dicom_place *x = &((const dicom_slice *)a)->place, *y = &((const dicom_slice *)b)->place;
    const int by_number = order((double)x->series_number, (double)y->series_number);
    return by_number ? by_number : strcmp(x->series, y->series);
}

static int end_of_series(const dicom_series *s, int first)
{
    int end = first + 1;
    while (end < s->count && strcmp(s->slices[end].place.series, s->slices[first].place.series) == 0)
        end++;
    return end;
}

/* The name of the series in the header, in printable characters. */
static void describe_series(const dicom_place *place, int number, int files, char text[128])
{
    char name[sizeof place->description];
    snprintf(name, sizeof name, "%s", place->description[0] ? place->description : "without description");
    for (char *at = name; *at;) {
        const size_t size = text_character_bytes(at);
        if (size == 0) *at = '?';
        at += size ? size : 1;
    }
    snprintf(text, 128, "%d: %s (%d file%s)", number, name, files, files == 1 ? "" : "s");
}

/* Find slices first … end - 1 of the wanted series. */
static int choose(dicom_series *s, const char *folder, const char *wanted, int *first, int *end, fault *f)
{
    name_list names = {0};
    int64_t wanted_number = -1;
    const bool by_number = wanted && text_to_i64(wanted, &wanted_number);
    int number = 0;
    if (s->count) qsort(s->slices, (size_t)s->count, sizeof *s->slices, compare_series);
    for (int at = 0, next; at < s->count; at = next, number++) {
        char text[128];
        next = end_of_series(s, at);
        describe_series(&s->slices[at].place, number, next - at, text);
        name_list_add(&names, text);
        *first = at;
        *end = next;
        if (wanted && (by_number ? number == wanted_number : strcmp(s->slices[at].place.series, wanted) == 0)) return 0;
    }
    if (number == 0) return fault_set(f, EXIT_DATA, "%s holds DICOM files, but no images", folder);
    if (wanted)
        return fault_set(f, EXIT_USAGE, "%s has no series '%.80s': choose one with --dataset, by number or UID: %s",
                         folder, wanted, name_list_text(&names));
    if (number == 1) return 0;
    return fault_set(f, EXIT_DATA, "%s holds %d series: choose one with --dataset, by number or UID: %s", folder,
                     number, name_list_text(&names));
}

static void keep_only(dicom_series *s, int first, int end)
{
    for (int i = 0; i < s->count; i++)
        if (i < first || i >= end) free(s->slices[i].path);
    s->count = end - first;
    memmove(s->slices, s->slices + first, (size_t)s->count * sizeof *s->slices);
}

/* ---- The order of its slices ---- */

static bool is_parallel(const double a[3], const double b[3])
{
    return fabs(a[0] - b[0]) < 1e-2 && fabs(a[1] - b[1]) < 1e-2 && fabs(a[2] - b[2]) < 1e-2;
}

/* Compute the depth of all slices; false if their directions differ. */
static bool find_depths(dicom_series *s)
{
    const dicom_place *one = &s->slices[0].place;
    const double *u = one->row, *v = one->column;
    const double normal[] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    for (int i = 0; i < s->count; i++) {
        const dicom_place *p = &s->slices[i].place;
        if (!p->has_position || !is_parallel(p->row, one->row) || !is_parallel(p->column, one->column)) return false;
        for (int k = 0; k < 3; k++)
            s->slices[i].depth += normal[k] * p->position[k];
    }
    return true;
}

static int compare_slices(const void *a, const void *b)
{
    const dicom_slice *x = a, *y = b;
    const int by_depth = order(x->depth, y->depth);
    if (by_depth) return by_depth;
    const int by_number = order((double)x->place.number, (double)y->place.number);
    return by_number ? by_number : strverscmp(x->path, y->path);
}

/* Make depths equal that differ only by rounding. Returns how many different ones there are. */
static int unite_depths(dicom_series *s)
{
    int depths = 1;
    for (int i = 1; i < s->count; i++) {
        if (s->slices[i].depth - s->slices[i - 1].depth > 1e-3)
            depths++;
        else
            s->slices[i].depth = s->slices[i - 1].depth;
    }
    return depths;
}

/* If each position occurs several times, make that many volumes, one after the other. */
static int divide_times(dicom_series *s, int depths, const char *folder, fault *f)
{
    const int times = s->count / depths;
    if (depths == 1 || times == 1 || depths * times != s->count || s->frames != s->count) return 0;
    for (int i = 0; i < s->count; i++)
        if (s->slices[i].depth != s->slices[i / times * times].depth) return 0;
    dicom_slice *slices = malloc((size_t)s->count * sizeof *slices);
    if (!slices) return fault_memory(folder, f);
    for (int i = 0; i < s->count; i++)
        slices[i % times * depths + i / times] = s->slices[i];
    free(s->slices);
    s->slices = slices;
    s->times = times;
    return 0;
}

static int sort(dicom_series *s, const char *folder, fault *f)
{
    const bool has_depths = find_depths(s);
    for (int i = 0; i < s->count && !has_depths; i++)
        s->slices[i].depth = 0;
    qsort(s->slices, (size_t)s->count, sizeof *s->slices, compare_slices);
    const int depths = unite_depths(s);
    qsort(s->slices, (size_t)s->count, sizeof *s->slices, compare_slices);
    return divide_times(s, depths, folder, f);
}

/* Check that all slices have the size of the first one, and the same meaning. */
static int compare_pixels(const dicom_series *s, const char *folder, const dicom_wishes *wishes, fault *f)
{
    const dicom_slice *one = &s->slices[0];
    for (int i = 0; i < s->count; i++) {
        const dicom_slice *other = &s->slices[i];
        const dicom_about *a = &one->about, *b = &other->about;
        if (b->columns == 0) {
            char why[256] = "it is damaged";
            dicom_about about;
            dicom_decode_close(dicom_decode_open(other->path, wishes, &about, NULL, why));
            return fault_slice(other->path, why, f);
        }
        if (a->columns != b->columns || a->rows != b->rows)
            return fault_set(f, EXIT_DATA,
                             "the slices of %s differ in size: %s has %" PRId64 " x %" PRId64 " pixels, and %s %" PRId64
                             " x %" PRId64 "; name the files to count",
                             folder, text_file_name(one->path), a->columns, a->rows, text_file_name(other->path),
                             b->columns, b->rows);
        if (a->channels != b->channels)
            return fault_set(f, EXIT_DATA, "the slices of %s differ: of %s and %s, only one is in colour", folder,
                             text_file_name(one->path), text_file_name(other->path));
        if (a->white_first != b->white_first && !wishes->raw && !wishes->window)
            return fault_set(f, EXIT_DATA,
                             "the slices of %s differ: of %s and %s, only one has white as its smallest value "
                             "(MONOCHROME1); name the files to count, or take all with --raw",
                             folder, text_file_name(one->path), text_file_name(other->path));
    }
    return 0;
}

int dicom_series_find(dicom_series *s, const char *folder, const char *wanted, const dicom_reading *how, fault *f)
{
    int first = 0, end = 0;
    *s = (dicom_series){.times = 1};
    if (add_files(s, folder, how, f) != 0 || choose(s, folder, wanted, &first, &end, f) != 0) return -1;
    keep_only(s, first, end);
    for (int i = 0; i < s->count; i++)
        s->frames += s->slices[i].about.frames;
    if (compare_pixels(s, folder, &how->wishes, f) != 0 || sort(s, folder, f) != 0) return -1;
    for (int i = 1; i < s->count; i++)
        s->slices[i].first = s->slices[i - 1].first + s->slices[i - 1].about.frames;
    return 0;
}
