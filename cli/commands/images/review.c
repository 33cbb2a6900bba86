#include "commands/images/review.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"

/* The path of an image's review, owned by the caller; NULL if out of memory. */
static char *path_of(const review *r, int image)
{
    const char *slash = strrchr(r->path, '/'), *dot = strrchr(slash ? slash : r->path, '.');
    const size_t length = strlen(r->path) + 16;
    char *path = malloc(length);
    if (path) snprintf(path, length, "%.*s-%d%s", (int)(dot - r->path), r->path, image, dot);
    return path;
}

static int fault_memory(fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for review images: leave --review out");
}

static int spare_images(const review *r, const settings *s, fault *f)
{
    int failed = 0;
    for (int i = 0; i < HISTO_MAX_IMAGES && !failed; i++) {
        char *path = path_of(r, i);
        if (!path) return fault_memory(f);
        for (int k = 0; k < s->files_count && !failed; k++)
            failed = outfile_spare(path, s->files[k], "an image", f);
        free(path);
    }
    return failed;
}

int review_begin(review *r, const settings *s, fault *f)
{
    const char *path = s->review;
    const image_page like = {.model = CHANNELS_RGB, .channels = 3, .dtype = HISTO_U8, .height = 1, .width = 1};
    r->path = path;
    if (!path) return 0;
    if (strcmp(path, "-") == 0)
        return fault_set(f, EXIT_USAGE, "review images are several files: give --review a name, as in review.png");
    r->writer = image_writer_find(path, NULL, f);
    if (!r->writer) return -1;
    if (!r->writer->limit || !r->writer->limit(&like)) return spare_images(r, s, f);
    return fault_set(f, EXIT_USAGE, "%s: review images have colours: write .png, .jpg or .tif", path);
}

void review_free(review *r)
{
    free(r->places);
    free(r->gray);
    free(r->slot);
}

int review_note(review *r, int image, int64_t x, int64_t y, fault *f)
{
    if (!r->path) return 0;
    if (r->count == r->room) {
        const int64_t room = r->room ? 2 * r->room : 256;
        review_place *places = realloc(r->places, (size_t)room * sizeof *places);
        if (!places) return fault_set(f, EXIT_DATA, "no memory for the places of review images: leave --review out");
        r->places = places;
        r->room = room;
    }
    r->places[r->count++] = (review_place){image, x, y};
    return 0;
}

int review_make(review *r, int images, int64_t height, int64_t width, fault *f)
{
    r->images = images;
    r->height = height;
    r->width = width;
    r->slot = malloc((size_t)images * sizeof *r->slot);
    if (!r->slot) return fault_memory(f);
    for (int i = 0; i < images; i++)
        r->slot[i] = -1;
    int slots = 0;
    for (int64_t k = 0; k < r->count; k++)
        if (r->slot[r->places[k].image] < 0) r->slot[r->places[k].image] = slots++;
    const double bytes = (double)slots * (double)height * (double)width;
    if (fault_beyond_memory(f, bytes, "review images", "leave --review out") != 0) return -1;
    r->gray = calloc(1, bytes > 0 ? (size_t)bytes : 1);
    return r->gray ? 0 : fault_memory(f);
}

/* ---- Frames ---- */

static int64_t clamp(int64_t n, int64_t end)
{
    return n < 0 ? 0 : n > end ? end : n;
}

/* Fill squares around an image's places; close ones merge. */
static void fill_squares(const review *r, int image, int64_t reach, unsigned char *region)
{
    for (int64_t k = 0; k < r->count; k++) {
        const review_place *p = &r->places[k];
        if (p->image != image) continue;
        const int64_t left = clamp(p->x - reach, r->width), right = clamp(p->x + reach + 1, r->width);
        for (int64_t y = clamp(p->y - reach, r->height); y < clamp(p->y + reach + 1, r->height); y++)
            memset(region + y * r->width + left, 1, (size_t)(right - left));
    }
}

/* Whether a pixel of the region is on its rim. */
static bool is_rim(const review *r, const unsigned char *region, int64_t x, int64_t y, int64_t thick)
{
    for (int64_t v = y - thick; v <= y + thick; v++)
        for (int64_t u = x - thick; u <= x + thick; u++)
            if (v >= 0 && u >= 0 && v < r->height && u < r->width && !region[v * r->width + u]) return true;
    return false;
}

static int write_image(const review *r, int image, const char *path, unsigned char *region, unsigned char *row,
                       fault *f)
{
    static const unsigned char red[] = {230, 30, 30};
    const int64_t larger = r->width > r->height ? r->width : r->height;
    const int64_t thick = 1 + larger / 1500, reach = 5 + thick + larger / 200;
    const unsigned char *gray = r->gray + r->slot[image] * r->height * r->width;
    const image_page page = {
        .model = CHANNELS_RGB, .channels = 3, .dtype = HISTO_U8, .height = r->height, .width = r->width};
    image_file *file = image_create_file(path, r->writer, &page, 1, f);
    if (!file) return -1;
    memset(region, 0, (size_t)(r->height * r->width));
    fill_squares(r, image, reach, region);
    int failed = image_begin(file, &page, f);
    for (int64_t y = 0; y < r->height && !failed; y++) {
        for (int64_t x = 0; x < r->width; x++) {
            const int64_t at = y * r->width + x;
            if (region[at] && is_rim(r, region, x, y, thick))
                memcpy(row + 3 * x, red, sizeof red);
            else
                memset(row + 3 * x, gray[at], 3);
        }
        failed = image_rows(file, row, 1, f);
    }
    if (!failed) return image_commit(file, f);
    image_abandon(file);
    return -1;
}

int review_write(const review *r, fault *f)
{
    unsigned char *region = malloc((size_t)(r->height * r->width)), *row = malloc((size_t)(3 * r->width));
    int failed = region && row ? 0 : fault_memory(f);
    for (int i = 0; i < r->images && !failed; i++) {
        if (r->slot[i] < 0) continue;
        char *path = path_of(r, i);
        failed = path ? write_image(r, i, path, region, row, f) : fault_memory(f);
        free(path);
    }
    free(region);
    free(row);
    return failed;
}
