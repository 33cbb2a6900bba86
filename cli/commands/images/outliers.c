/* histo outliers: samples of images of one scene (dies of a wafer) that differ from the others (Ross 2014, 4.2,
 * extended). The differences of pairs of images are counted against the mean of all images. In each row of the
 * histogram, which holds one mean, most differences are noise; those far outside are outliers. Two passes over the
 * files, which are read in step, so images may be larger than memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/failure.h"
#include "base/progress.h"
#include "base/scratch.h"
#include "commands/images/die_levels.h"
#include "commands/images/review.h"
#include "input/samples/image_stack.h"
#include "input/samples/lockstep.h"
#include "output/images/images.h"
#include "output/rows.h"

enum {
    BLOCK = 1 << 20,     /* samples of all images at once */
    LEVELS_16 = 1 << 16, /* u16 images: several means per row, … */
    ROWS_16 = 1 << 10,
    MOST_16 = 1 << 12, /* … and differences up to this; larger ones are in the flow */
    ENOUGH = 1 << 10,  /* differences that make a row stand alone; with fewer, it borrows those of its neighbours */
    FEWEST = 2,        /* images: of two, the last is the reference */
    STRIP = 512,       /* places that are judged together */
};

/* The images at a range of places, which are contiguous in memory. */
typedef struct block {
    histo_view view;           /* images x places: levels */
    histo_view samples;        /* the samples that they are the levels of */
    const unsigned char *gone; /* for each place, 1 if an image is not finite there; NULL: all are finite */
    int64_t y, x;              /* of the first place, … */
    int64_t cols;              /* … and the width of the rectangle */
} block;

typedef struct inspection {
    const settings *settings;
    int images;
    histo_dtype stored; /* of the images … */
    histo_dtype dtype;  /* … and of their levels */
    die_levels levels_of;
    scratch made, gone, kept; /* for a block: levels, places to skip, levels without these */
    lockstep files;           /* the images, one from each file */
    image_stack stack;        /* or the pages of a file */
    feed feed;
    char *pixels; /* [BLOCK], of a block of images */

    int64_t most;       /* the largest difference */
    histo_axis axes[2]; /* differences, means */
    histo_hist *hist;
    histo_plan *plan;
    int32_t *lowest, *highest; /* [rows]: range of normal differences */
    double *reach;             /* [rows]: half of it */
    int32_t *levels;           /* [images][STRIP] */

    image_file *picture; /* of the outliers; NULL: not requested */
    int64_t height, width;
    unsigned char *flags; /* [height][width]: 255 where an image has an outlier */
    review review;
    double black, white; /* as levels, for review images */
    rows *to;
} inspection;

typedef int visit(inspection *in, const block *b, fault *f);

/* ---- The images, block by block ---- */

static bool has_pages(const inspection *in)
{
    return in->settings->read.page < 0;
}

/* Find the levels of a block, and the places that have none. */
static int find_levels(inspection *in, block *b, fault *f)
{
    const int64_t places = b->samples.shape[1];
    const size_t size = histo_dtype_size(in->stored);
    if (!scratch_reserve(&in->made, (size_t)(in->images * places) * sizeof(uint16_t)) ||
        !scratch_reserve(&in->gone, (size_t)places))
        return fault_set(f, EXIT_DATA, "no memory for the images");
    uint16_t *to = (uint16_t *)(void *)in->made.data;
    memset(in->gone.data, 0, (size_t)places);
    for (int i = 0; i < in->images; i++) {
        const char *from = (const char *)b->samples.data + i * b->samples.strides[0];
        for (int64_t k = 0; k < places; k++, from += size) {
            const int level = die_level(&in->levels_of, histo_sample_value(from, in->stored));
            *to++ = level < 0 ? 0 : (uint16_t)level;
            if (level < 0) in->gone.data[k] = 1;
        }
    }
    b->view = histo_view_nd(in->made.data, in->dtype, 2, b->samples.shape);
    b->gone = memchr(in->gone.data, 1, (size_t)places) ? in->gone.data : NULL;
    return 0;
}

static int take_block(inspection *in, block *b, visit *take, fault *f)
{
    b->view = b->samples;
    if (die_levels_needed(in->stored) && in->levels_of.known && find_levels(in, b, f) != 0) return -1;
    return take(in, b, f);
}

/* Visit a rectangle of all images: y, x, height, cols are within the current one. */
static int visit_rectangle(inspection *in, int64_t y, int64_t x, int64_t height, int64_t cols, visit *take, fault *f)
{
    const size_t size = histo_dtype_size(in->stored);
    char *to = in->pixels;
    for (int i = 0; i < in->images; i++) {
        const histo_view *from = &in->files.views[i];
        for (int64_t r = 0; r < height; r++, to += (size_t)cols * size) {
            const char *row = (const char *)from->data + (y + r) * from->strides[0] + x * from->strides[1];
            if (from->strides[1] == (int64_t)size)
                memcpy(to, row, (size_t)cols * size);
            else
                for (int64_t c = 0; c < cols; c++)
                    memcpy(to + (size_t)c * size, row + c * from->strides[1], size);
        }
    }
    block b = {.samples = histo_view_nd(in->pixels, in->stored, 2, (const int64_t[]){in->images, height * cols}),
               .y = in->files.y + y,
               .x = in->files.x + x,
               .cols = cols};
    return take_block(in, &b, take, f);
}

static int64_t at_most(int64_t n, int64_t most)
{
    return n < most ? n : most;
}

static int visit_files(inspection *in, visit *take, fault *f)
{
    const int64_t room = BLOCK / in->images;
    int more;
    if (lockstep_rewind(&in->files, f) != 0) return -1;
    while ((more = lockstep_next(&in->files, f)) > 0) {
        const int64_t lines = in->files.views[0].shape[0], width = in->files.views[0].shape[1];
        const int64_t cols = at_most(width, room), height = room / cols;
        if (in->files.page > 0)
            return fault_set(f, EXIT_USAGE, "%s has several pages: choose one with --page",
                             lockstep_name(&in->files, 0));
        for (int64_t y = 0; y < lines; y += height)
            for (int64_t x = 0; x < width; x += cols)
                if (visit_rectangle(in, y, x, at_most(height, lines - y), at_most(cols, width - x), take, f) != 0)
                    return -1;
    }
    return more;
}

/* Visit whole rows of the stack, which is in memory. */
static int visit_pages(inspection *in, visit *take, fault *f)
{
    const image_stack *s = &in->stack;
    const int64_t size = (int64_t)histo_dtype_size(in->stored), height = BLOCK / s->width / in->images + 1;
    for (int64_t first = 0; first < s->places; first += height * s->width) {
        block b = {.samples = {.data = s->pixels + first * size,
                               .dtype = in->stored,
                               .ndim = 2,
                               .shape = {s->images, at_most(height * s->width, s->places - first)},
                               .strides = {s->places * size, size}},
                   .y = first / s->width,
                   .cols = s->width};
        if (take_block(in, &b, take, f) != 0) return -1;
    }
    return 0;
}

static int visit_all(inspection *in, const char *verb, visit *take, fault *f)
{
    progress_start(verb, in->settings->quiet);
    const int failed = has_pages(in) ? visit_pages(in, take, f) : visit_files(in, take, f);
    progress_end();
    return failed;
}

static int check_images(inspection *in, fault *f)
{
    const histo_pairing pairs = in->settings->pairs;
    if (in->images < FEWEST)
        return fault_set(f, EXIT_USAGE, "there is %d image: give its reference, too, or more images of the scene",
                         in->images);
    if (in->images > HISTO_MAX_IMAGES)
        return fault_set(f, EXIT_USAGE, "there are %d images, more than %d: inspect them in groups", in->images,
                         HISTO_MAX_IMAGES);
    if (pairs == HISTO_PAIRS_APART && in->images % 2)
        return fault_set(f, EXIT_USAGE, "--pairs apart needs an even number of images, not %d: take --pairs ring",
                         in->images);
    in->dtype = in->stored == HISTO_U8 ? HISTO_U8 : HISTO_U16;
    return die_levels_begin(&in->levels_of, in->stored, f);
}

static int open_images(inspection *in, fault *f)
{
    const settings *s = in->settings;
    if (has_pages(in)) {
        if (feed_open(&in->feed, s, false, f) != 0 || image_stack_read(&in->stack, &in->feed, true, f) != 0) return -1;
        in->images = (int)in->stack.images;
        in->stored = in->stack.dtype;
        return check_images(in, f);
    }
    if (s->files_count == 0)
        return fault_set(f, EXIT_USAGE,
                         "nothing to inspect: name the images, as in histo outliers --pairs ring die-*.png");
    if (s->files_count <= HISTO_MAX_IMAGES && lockstep_open(&in->files, s, true, f) != 0) return -1;
    in->images = s->files_count;
    in->stored = in->files.files ? lockstep_dtype(&in->files, 0) : HISTO_U8;
    if (check_images(in, f) != 0) return -1;
    for (int i = 1; i < in->images; i++)
        if (lockstep_dtype(&in->files, i) != in->stored)
            return fault_set(f, EXIT_DATA, "%s has %s samples where %s has %s: all images need the same type",
                             lockstep_name(&in->files, i), histo_dtype_name(lockstep_dtype(&in->files, i)),
                             lockstep_name(&in->files, 0), histo_dtype_name(in->stored));
    in->pixels = malloc(BLOCK * histo_dtype_size(in->stored));
    return in->pixels ? 0 : fault_set(f, EXIT_DATA, "no memory for the images");
}

/* ---- The normal range ---- */

static int make_hist(inspection *in, fault *f)
{
    const bool bytes = in->dtype == HISTO_U8;
    in->most = bytes ? UINT8_MAX : MOST_16;
    in->axes[0] = histo_axis_integer(-in->most, 2 * in->most + 1);
    in->axes[1] = bytes ? histo_axis_integer(0, UINT8_MAX + 1) : histo_axis_regular(ROWS_16, 0, LEVELS_16);
    if (histo_hist_create(&in->hist, 2, in->axes, NULL) == HISTO_OK) return 0;
    return fault_of_library(f, EXIT_DATA, "the differences");
}

static int64_t at_least(int64_t n, int64_t least)
{
    return n > least ? n : least;
}

/* With two images, one pair is enough. */
static histo_pairing pairing_of(const inspection *in)
{
    return in->images == 2 ? HISTO_PAIRS_APART : in->settings->pairs;
}

/* Keep the levels of places that have one in all images. */
static int keep_levels(inspection *in, const block *b, histo_view *view, fault *f)
{
    const int64_t places = view->shape[1];
    if (!scratch_reserve(&in->kept, (size_t)(in->images * places) * sizeof(uint16_t)))
        return fault_set(f, EXIT_DATA, "no memory for the images");
    uint16_t *to = (uint16_t *)(void *)in->kept.data;
    const uint16_t *from = view->data;
    for (int i = 0; i < in->images; i++)
        for (int64_t k = 0; k < places; k++, from++)
            if (!b->gone[k]) *to++ = *from;
    const int64_t kept = (to - (uint16_t *)(void *)in->kept.data) / in->images;
    *view = histo_view_nd(in->kept.data, in->dtype, 2, (const int64_t[]){in->images, kept});
    return 0;
}

static int survey_block(inspection *in, const block *b, fault *f)
{
    return die_levels_add(&in->levels_of, &b->samples, f);
}

static int count_block(inspection *in, const block *b, fault *f)
{
    const settings *s = in->settings;
    histo_view view = b->view;
    if (b->gone && keep_levels(in, b, &view, f) != 0) return -1;
    in->height = at_least(in->height, b->y + b->view.shape[1] / b->cols);
    in->width = at_least(in->width, b->x + b->cols);
    const histo_plan_options options = {.device = s->device, .threads = s->threads};
    const histo_pairs pairs = {.pairing = pairing_of(in)};
    if (view.shape[1] == 0) return 0;
    if (!in->plan && histo_plan_create_pairs(&in->plan, in->hist, &view, &pairs, NULL, &options) != HISTO_OK)
        return fault_set(f, EXIT_USAGE, "%s", histo_last_error());
    if (histo_plan_fill(in->plan, in->hist, &view, NULL) == HISTO_OK) return 0;
    return fault_of_library(f, EXIT_DATA, "the differences");
}

/* The occupied cells, row by row. */
typedef struct cells {
    int64_t size, rows;
    int64_t *index; /* as read, by difference and row */
    uint64_t *counts;
    int64_t *by_row;  /* [size]: indices of cells ordered by row, … */
    int64_t *first;   /* … [rows + 1]: where each row begins */
    uint64_t *of_row; /* [rows]: number of differences in each */
    uint64_t *spread; /* [differences]: the sum of the rows examined together */
    arena memory;
} cells;

static size_t slots_of(const inspection *in, int axis)
{
    return (size_t)in->axes[axis].bins + 3;
}

/* Means are never in the flow. */
static int64_t row_of_cell(const inspection *in, const cells *c, int64_t i)
{
    return c->index[i] % (int64_t)slots_of(in, 1) - 1;
}

static int cells_read(cells *c, const inspection *in, fault *f)
{
    c->rows = in->axes[1].bins;
    if (histo_hist_occupied(in->hist, HISTO_FLOW, &c->size) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, "the differences");
    c->index = arena_take(&c->memory, (size_t)c->size, sizeof *c->index);
    c->counts = arena_take(&c->memory, (size_t)c->size, sizeof *c->counts);
    c->by_row = arena_take(&c->memory, (size_t)c->size, sizeof *c->by_row);
    c->first = arena_take(&c->memory, (size_t)c->rows + 2, sizeof *c->first);
    c->of_row = arena_take(&c->memory, (size_t)c->rows, sizeof *c->of_row);
    c->spread = arena_take(&c->memory, slots_of(in, 0), sizeof *c->spread);
    if (!c->index || !c->counts || !c->by_row || !c->first || !c->of_row || !c->spread)
        return fault_set(f, EXIT_DATA, "no memory for %lld differences", (long long)c->size);
    if (histo_hist_read_occupied(in->hist, HISTO_FLOW, c->index, c->counts, c->size) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, "the differences");
    int64_t *end = c->first + 1; /* moves to the end of each row as it is filled */
    for (int64_t i = 0; i < c->size; i++)
        end[row_of_cell(in, c, i) + 1]++;
    for (int64_t row = 0; row < c->rows; row++)
        end[row + 1] += end[row];
    for (int64_t i = 0; i < c->size; i++) {
        const int64_t row = row_of_cell(in, c, i);
        c->by_row[end[row]++] = i;
        c->of_row[row] += c->counts[i];
    }
    return 0;
}

/* The difference with this rank, taken to be spread evenly over its level. Differences in the flow are taken as the
 * next larger ones. */
static double difference_at(const cells *c, const inspection *in, double rank)
{
    double before = 0;
    for (int64_t i = 0; i < in->axes[0].bins + 2; i++) {
        const double count = (double)c->spread[i];
        if (count > 0 && before + count >= rank) return (double)(i - 1 - in->most) - 0.5 + (rank - before) / count;
        before += count;
    }
    return (double)in->most;
}

/* Set the normal differences of row `row`, from rows [begin, end). */
static void set_normal(inspection *in, cells *c, int64_t row, int64_t begin, int64_t end)
{
    const double sigma = in->settings->sigma > 0 ? in->settings->sigma : 6;
    uint64_t all = 0;
    memset(c->spread, 0, slots_of(in, 0) * sizeof *c->spread);
    for (int64_t k = c->first[begin]; k < c->first[end]; k++) {
        const int64_t i = c->by_row[k];
        c->spread[c->index[i] / (int64_t)slots_of(in, 1)] += c->counts[i];
        all += c->counts[i];
    }
    const double n = (double)all, middle = difference_at(c, in, 0.5 * n);
    const double low = difference_at(c, in, 0.15865525393145705 * n),
                 high = difference_at(c, in, 0.84134474606854295 * n);
    const double reach = sigma * fmax(0.5, 0.5 * (high - low));
    in->reach[row] = reach;
    in->lowest[row] = (int32_t)fmax(ceil(middle - reach), -(double)INT32_MAX);
    in->highest[row] = (int32_t)fmin(floor(middle + reach), INT32_MAX);
}

static int find_normal(inspection *in, fault *f)
{
    cells c = {0};
    int failed = cells_read(&c, in, f);
    in->lowest = malloc((size_t)in->axes[1].bins * sizeof *in->lowest);
    in->highest = malloc((size_t)in->axes[1].bins * sizeof *in->highest);
    in->reach = malloc((size_t)in->axes[1].bins * sizeof *in->reach);
    in->levels = malloc((size_t)in->images * STRIP * sizeof *in->levels);
    if (!failed && (!in->lowest || !in->highest || !in->reach || !in->levels))
        failed = fault_set(f, EXIT_DATA, "no memory for the differences");
    for (int64_t row = 0; row < c.rows && !failed; row++) {
        int64_t begin = row, end = row + 1;
        uint64_t differences = c.of_row[row];
        if (differences == 0) continue;
        while (differences < ENOUGH && (begin > 0 || end < c.rows)) {
            if (begin > 0) differences += c.of_row[--begin];
            if (end < c.rows) differences += c.of_row[end++];
        }
        set_normal(in, &c, row, begin, end);
    }
    arena_free(&c.memory);
    return failed;
}

/* ---- Outliers ---- */

static int compare_pixels(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Twice the median of the images at place k. */
static int twice_median(const inspection *in, int64_t k)
{
    const int n = in->images;
    int sorted[HISTO_MAX_IMAGES];
    for (int i = 0; i < n; i++)
        sorted[i] = in->levels[i * STRIP + k];
    qsort(sorted, (size_t)n, sizeof *sorted, compare_pixels);
    return sorted[(n - 1) / 2] + sorted[n / 2];
}

/* The histogram row of a mean. */
static int64_t row_of(const inspection *in, int64_t mean)
{
    return in->dtype == HISTO_U8 ? mean : mean / (LEVELS_16 / ROWS_16);
}

/* The sample of an image at a place of the block. */
static double sample_of(const block *b, int image, int64_t place)
{
    const char *at = (const char *)b->samples.data + image * b->samples.strides[0] + place * b->samples.strides[1];
    return histo_sample_value(at, b->samples.dtype);
}

/* Print the mean of the samples at a place, and the difference of image i from another image there. */
static void print_samples(const inspection *in, const block *b, int64_t place, int i, int other)
{
    double sum = 0;
    for (int k = 0; k < in->images; k++)
        sum += sample_of(b, k, place);
    rows_number(in->to, sum / in->images);
    rows_number(in->to, sample_of(b, i, place) - sample_of(b, other, place));
}

/* List the outliers at place k of the strip that begins at place `first` of the block. Of two images, the last is the
 * reference. */
static int judge_place(inspection *in, const block *b, int64_t first, int64_t k, int64_t mean, fault *f)
{
    const int n = in->images, step = pairing_of(in) == HISTO_PAIRS_APART ? 2 : 1;
    const int64_t row = row_of(in, mean), place = first + k, x = b->x + place % b->cols, y = b->y + place / b->cols;
    const double reach = in->reach[row];
    const int twice = twice_median(in, k);
    int worst[HISTO_MAX_IMAGES] = {0}, from[HISTO_MAX_IMAGES] = {0};
    for (int i = 0; i < n; i += step) {
        const int next = (i + 1) % n, a = in->levels[i * STRIP + k], c = in->levels[next * STRIP + k];
        if (a - c >= in->lowest[row] && a - c <= in->highest[row]) continue;
        const int off_a = abs(2 * a - twice), off_c = abs(2 * c - twice);
        const bool is_a = n == 2 || off_a >= off_c || 0.5 * off_a > reach;
        const bool is_c = n > 2 && (off_c > off_a || 0.5 * off_c > reach);
        if (is_a && abs(a - c) > abs(worst[i])) worst[i] = a - c, from[i] = next;
        if (is_c && abs(a - c) > abs(worst[next])) worst[next] = c - a, from[next] = i;
    }
    for (int i = 0; i < n; i++) {
        if (!worst[i]) continue;
        if (in->flags) in->flags[y * in->width + x] = UINT8_MAX;
        rows_count(in->to, (uint64_t)i);
        rows_count(in->to, (uint64_t)x);
        rows_count(in->to, (uint64_t)y);
        if (die_levels_needed(in->stored)) {
            print_samples(in, b, place, i, from[i]);
        } else {
            rows_count(in->to, (uint64_t)mean);
            rows_number(in->to, worst[i]);
        }
        if (review_note(&in->review, i, x, y, f) != 0) return -1;
    }
    return 0;
}

/* Widen the strip of one image, which begins at `from`. */
static void widen(const inspection *in, const char *from, int64_t n, int32_t *to)
{
    if (in->dtype == HISTO_U8)
        for (int64_t k = 0; k < n; k++)
            to[k] = ((const uint8_t *)from)[k];
    else
        for (int64_t k = 0; k < n; k++)
            to[k] = ((const uint16_t *)(const void *)from)[k];
}

/* Most places have no outlier, which vectorised loops find out. */
static int judge_strip(inspection *in, const block *b, int64_t first, int64_t n, fault *f)
{
    const int apart = pairing_of(in) == HISTO_PAIRS_APART ? 2 : 1;
    int32_t mean[STRIP] = {0}, lowest[STRIP], highest[STRIP], strange[STRIP] = {0};
    for (int i = 0; i < in->images; i++) {
        int32_t *levels = in->levels + (ptrdiff_t)i * STRIP;
        widen(in, (const char *)b->view.data + i * b->view.strides[0] + first * b->view.strides[1], n, levels);
        for (int64_t k = 0; k < n; k++)
            mean[k] += levels[k];
    }
    for (int64_t k = 0; k < n; k++) {
        mean[k] = (mean[k] + in->images / 2) / in->images;
        lowest[k] = in->lowest[row_of(in, mean[k])];
        highest[k] = in->highest[row_of(in, mean[k])];
    }
    for (int i = 0; i < in->images; i += apart) {
        const int32_t *one = in->levels + (ptrdiff_t)i * STRIP;
        const int32_t *other = in->levels + (ptrdiff_t)((i + 1) % in->images) * STRIP;
        for (int64_t k = 0; k < n; k++)
            strange[k] |= (one[k] - other[k] < lowest[k]) | (one[k] - other[k] > highest[k]);
    }
    for (int64_t k = 0; k < n; k++)
        if (strange[k] && !(b->gone && b->gone[first + k]) && judge_place(in, b, first, k, mean[k], f) != 0) return -1;
    return 0;
}

static int judge_block(inspection *in, const block *b, fault *f)
{
    for (int64_t first = 0; first < b->view.shape[1]; first += STRIP)
        if (judge_strip(in, b, first, at_most(STRIP, b->view.shape[1] - first), f) != 0) return -1;
    return 0;
}

/* ---- The picture ---- */

static image_page page_of(const inspection *in)
{
    return (image_page){.model = CHANNELS_GRAY,
                        .channels = 1,
                        .dtype = HISTO_U8,
                        .height = at_least(in->height, 1),
                        .width = at_least(in->width, 1)};
}

static int open_picture(inspection *in, fault *f)
{
    const settings *s = in->settings;
    if (rows_take(s)) return 0;
    const image_writer *writer = image_writer_find(s->output, NULL, f);
    const image_page page = page_of(in);
    if (!writer || outfile_spare_inputs(s, f) != 0) return -1;
    in->picture = image_create_file(s->output, writer, &page, 1, f);
    return in->picture ? 0 : -1;
}

static int make_flags(inspection *in, fault *f)
{
    const image_page page = page_of(in);
    const size_t bytes = (size_t)page.height * (size_t)page.width;
    if (!in->picture) return 0;
    if (fault_beyond_memory(f, (double)bytes, "the picture", "leave -o out") != 0) return -1;
    in->flags = calloc(bytes, 1);
    return in->flags ? 0 : fault_set(f, EXIT_DATA, "no memory for the picture: leave -o out");
}

static int write_picture(inspection *in, fault *f)
{
    const image_page page = page_of(in);
    image_file *picture = in->picture;
    if (!picture) return 0;
    if (image_begin(picture, &page, f) != 0 || image_rows(picture, in->flags, page.height, f) != 0) return -1;
    in->picture = NULL;
    return image_commit(picture, f);
}

/* The gray value of a level: from the 0.1st to the 99.9th percentile of means. */
static unsigned char gray_of(const inspection *in, int level)
{
    if (in->dtype == HISTO_U8) return (unsigned char)level;
    const double gray = 255 * (level - in->black) / (in->white - in->black);
    return gray < 0 ? 0 : gray > 255 ? 255 : (unsigned char)rint(gray);
}

static int show_block(inspection *in, const block *b, fault *f)
{
    (void)f;
    for (int i = 0; i < in->images; i++)
        for (int64_t k = 0; k < b->view.shape[1]; k++) {
            const char *at = (const char *)b->view.data + i * b->view.strides[0] + k * b->view.strides[1];
            const int level = (int)histo_sample_value(at, in->dtype);
            review_put(&in->review, i, b->x + k % b->cols, b->y + k / b->cols, gray_of(in, level));
        }
    return 0;
}

/* Find the levels of black and white in review images. */
static int find_gray(inspection *in, fault *f)
{
    static const double q[] = {0.001, 0.999};
    double ends[2];
    histo_hist *means = NULL;
    const int axis = 1;
    const bool found = histo_hist_project(in->hist, 1, &axis, &means) == HISTO_OK &&
                       histo_hist_quantiles(means, HISTO_QUANTILE_LINEAR, 2, q, ends) == HISTO_OK;
    histo_hist_destroy(means);
    if (!found) return fault_of_library(f, EXIT_DATA, "the means");
    in->black = ends[0];
    in->white = ends[1] > ends[0] ? ends[1] : ends[0] + 1;
    return 0;
}

static int write_review(inspection *in, fault *f)
{
    if (!in->review.path) return 0;
    if (in->review.count == 0) {
        if (!in->settings->quiet) note("no outlier is found, and no review image is written");
        return 0;
    }
    if (find_gray(in, f) != 0 || review_make(&in->review, in->images, in->height, in->width, f) != 0) return -1;
    return visit_all(in, "reviewing", show_block, f) == 0 ? review_write(&in->review, f) : -1;
}

/* Find the levels of images other than u8 and u16. */
static int survey_levels(inspection *in, fault *f)
{
    while (die_levels_next_pass(&in->levels_of))
        if (visit_all(in, "surveying", survey_block, f) != 0) return -1;
    return die_levels_find(&in->levels_of, f);
}

static int inspect(inspection *in, fault *f)
{
    static const char *const columns[] = {"die", "x", "y", "mean", "difference"};
    if (open_picture(in, f) != 0 || review_begin(&in->review, in->settings, f) != 0 || open_images(in, f) != 0 ||
        survey_levels(in, f) != 0 || make_hist(in, f) != 0)
        return -1;
    if (visit_all(in, "counting", count_block, f) != 0 || find_normal(in, f) != 0 || make_flags(in, f) != 0) return -1;
    lockstep_remark(&in->files);
    rows_begin(in->to, columns, 5);
    if (visit_all(in, "inspecting", judge_block, f) != 0 || write_picture(in, f) != 0) return -1;
    return write_review(in, f);
}

static int find_outliers(const settings *s, rows *to, fault *f)
{
    inspection in = {.settings = s, .to = to};
    if (!s->pairs && s->files_count != 2)
        return fault_set(f, EXIT_USAGE, "the pairs to compare are missing: add --pairs ring or --pairs apart");
    const int failed = inspect(&in, f);
    image_abandon(in.picture);
    histo_plan_destroy(in.plan);
    histo_hist_destroy(in.hist);
    lockstep_close(&in.files);
    image_stack_free(&in.stack);
    feed_close(&in.feed);
    free(in.pixels);
    free(in.lowest);
    free(in.highest);
    free(in.reach);
    free(in.levels);
    free(in.flags);
    free(in.made.data);
    free(in.gone.data);
    free(in.kept.data);
    die_levels_free(&in.levels_of);
    review_free(&in.review);
    return failed;
}

/* -o is the table or, with the suffix of an image, a picture; the table is then printed. */
int command_outliers(const settings *s)
{
    fault f = {0};
    rows to = {0};
    settings printed = *s;
    if (!rows_take(s)) printed.output = NULL;
    int failed = rows_open(&to, &printed, &f);
    if (!failed) failed = find_outliers(s, &to, &f);
    if (!failed) failed = rows_commit(&to, &f);
    rows_close(&to);
    return failed ? fault_report(&f) : EXIT_OK;
}
