/* The applications on the CPU, as in a program that processes one image after another: histograms, plans and maps are
 * made once. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "bench/apps/apps.h"

enum { MAX_VALUES = 3 };

typedef struct work {
    int hists;
    histo_hist *hist[2];
    histo_plan *plan[2];
    histo_view fill[2][2]; /* what each counts */
    histo_map *map;
    histo_view from[2], to; /* what the map is applied to */
    histo_apply_options apply;
    histo_make_options make;
    double *values; /* of a result of numbers */
} work;

static void end(apps_job *job)
{
    work *w = job->state;
    for (int i = 0; w && i < w->hists; i++) {
        histo_plan_destroy(w->plan[i]);
        histo_hist_destroy(w->hist[i]);
    }
    if (w) histo_map_destroy(w->map);
    free(w);
}

static histo_status begin_work(apps_job *job, work **w)
{
    *w = job->state = calloc(1, sizeof **w);
    if (!*w) return histo_fail_memory(sizeof **w, "an application");
    (*w)->apply.threads = job->threads;
    return HISTO_OK;
}

/* A histogram, and a plan for counting these views. */
static histo_status add_hist(apps_job *job, int naxes, const histo_axis *axes, const histo_view *views, int64_t batch)
{
    work *w = job->state;
    const int i = w->hists++;
    memcpy(w->fill[i], views, (size_t)naxes * sizeof *views);
    histo_status status = histo_hist_create(&w->hist[i], naxes, axes, &(histo_hist_options){.batch = batch});
    if (status != HISTO_OK) return status;
    const histo_plan_options how = {.device = HISTO_DEVICE_CPU, .threads = job->threads};
    return histo_plan_create(&w->plan[i], w->hist[i], views, NULL, &how);
}

static histo_status count(work *w, int i)
{
    histo_status status = histo_hist_reset(w->hist[i], NULL);
    return status == HISTO_OK ? histo_plan_fill(w->plan[i], w->hist[i], w->fill[i], NULL) : status;
}

static histo_status add_map(work *w, int naxes, const histo_axis *axes, int64_t batch)
{
    return histo_map_create(&w->map, naxes, axes, &(histo_map_options){.batch = batch});
}

static histo_status apply(work *w)
{
    return histo_map_apply(w->map, w->from, &w->to, &w->apply);
}

/* Of 3840 x 2160 also a third has eight whole tiles. */
static int64_t side(const apps_job *job, int64_t n)
{
    return !job->quick ? n : n % 3 == 0 ? n / 3 : n / 4;
}

static histo_status add_input(apps_job *job, histo_dtype dtype, int ndim, const int64_t *shape, void **pixels)
{
    histo_view *view = &job->inputs[job->input_count++];
    histo_status status = apps_image_allocate(dtype, ndim, shape, view);
    *pixels = (void *)view->data;
    return status;
}

/* A result like the input, and what reads the one and writes the other. */
static histo_status add_result(apps_job *job, work *w, histo_dtype dtype)
{
    const histo_view *in = &job->inputs[0];
    histo_status status = apps_image_allocate(dtype, 2, in->shape, &job->result);
    w->from[0] = *in;
    w->to = job->result;
    job->bytes = histo_view_size(in) * (int64_t)histo_dtype_size(in->dtype) +
                 histo_view_size(&w->to) * (int64_t)histo_dtype_size(dtype);
    return status;
}

static histo_status add_numbers(apps_job *job, work *w, int64_t n)
{
    histo_status status = apps_image_allocate(HISTO_F64, 1, &n, &job->result);
    w->values = (double *)job->result.data;
    job->bytes = 0;
    for (int i = 0; i < job->input_count; i++)
        job->bytes += histo_view_size(&job->inputs[i]) * (int64_t)histo_dtype_size(job->inputs[i].dtype);
    return status;
}

/* An image of 3840 x 2160 bytes. */
static histo_status add_4k(apps_job *job)
{
    const int64_t shape[2] = {side(job, 2160), side(job, 3840)};
    void *pixels;
    histo_status status = add_input(job, HISTO_U8, 2, shape, &pixels);
    if (status == HISTO_OK) apps_image_gray(job->photo, shape[1], shape[0], pixels);
    return status;
}

/* An image of 4096 x 4096 samples of 12 bits. */
static histo_status add_deep(apps_job *job)
{
    const int64_t shape[2] = {side(job, 4096), side(job, 4096)};
    void *pixels;
    histo_status status = add_input(job, HISTO_U16, 2, shape, &pixels);
    if (status == HISTO_OK) apps_image_deep(job->photo, shape[1], shape[0], pixels);
    return status;
}

/* ---- A lookup table ---- */

static histo_status begin_lut(apps_job *job)
{
    enum { LEVELS = 256 };
    work *w;
    const int64_t levels = LEVELS;
    const histo_axis axis = histo_axis_integer(0, LEVELS);
    double values[LEVELS + 3] = {0};
    void *table = NULL;
    histo_status status = begin_work(job, &w);
    if (status == HISTO_OK) status = add_4k(job);
    if (status == HISTO_OK) status = add_input(job, HISTO_U8, 1, &levels, &table);
    for (int i = 0; i < LEVELS && status == HISTO_OK; i++)
        values[1 + i] = ((uint8_t *)table)[i] = (uint8_t)lrint(255 * sqrt(i / 255.0));
    if (status == HISTO_OK) status = add_result(job, w, HISTO_U8);
    if (status == HISTO_OK) status = add_map(w, 1, &axis, 1);
    return status == HISTO_OK ? histo_map_write(w->map, values, LEVELS + 3) : status;
}

static histo_status run_lut(void *job, void *stream)
{
    (void)stream;
    return apply(((apps_job *)job)->state);
}

/* ---- A copy, which bounds what reads and writes an image ---- */

static histo_status begin_copy(apps_job *job)
{
    work *w;
    histo_status status = begin_work(job, &w);
    if (status == HISTO_OK) status = add_4k(job);
    return status == HISTO_OK ? add_result(job, w, HISTO_U8) : status;
}

static histo_status run_copy(void *job, void *stream)
{
    (void)stream;
    const histo_view *in = ((apps_job *)job)->inputs;
    memcpy((void *)((apps_job *)job)->result.data, in->data, (size_t)histo_view_size(in));
    return HISTO_OK;
}

/* ---- Equalization ---- */

static histo_status begin_equalize(apps_job *job, histo_dtype dtype, int64_t levels)
{
    work *w;
    const histo_axis axis = histo_axis_integer(0, levels);
    histo_status status = begin_work(job, &w);
    if (status == HISTO_OK) status = dtype == HISTO_U8 ? add_4k(job) : add_deep(job);
    if (status == HISTO_OK) status = add_result(job, w, dtype);
    if (status == HISTO_OK) status = add_hist(job, 1, &axis, job->inputs, 1);
    w->make = (histo_make_options){.hi = (double)(levels - 1)};
    return status == HISTO_OK ? add_map(w, 1, &axis, 1) : status;
}

static histo_status begin_equalize_u8(apps_job *job)
{
    return begin_equalize(job, HISTO_U8, 256);
}

static histo_status begin_equalize_u16(apps_job *job)
{
    return begin_equalize(job, HISTO_U16, 65536);
}

static histo_status run_equalize(void *job, void *stream)
{
    (void)stream;
    work *w = ((apps_job *)job)->state;
    histo_status status = count(w, 0);
    if (status == HISTO_OK) status = histo_map_equalize(w->map, w->hist[0], &w->make);
    return status == HISTO_OK ? apply(w) : status;
}

/* ---- CLAHE: 8 x 8 tiles, clip 2 ---- */

static histo_status begin_clahe(apps_job *job, histo_dtype dtype, int64_t levels)
{
    enum { TILES = 8 };
    work *w;
    const histo_axis axis = histo_axis_integer(0, levels);
    histo_status status = begin_work(job, &w);
    if (status == HISTO_OK) status = dtype == HISTO_U8 ? add_4k(job) : add_deep(job);
    if (status == HISTO_OK) status = add_result(job, w, dtype);
    if (status != HISTO_OK) return status;
    const int64_t height = w->to.shape[0], width = w->to.shape[1], tall = height / TILES, wide = width / TILES;
    const int64_t pitch = w->from[0].strides[0], size = w->from[0].strides[1];
    const histo_view tiles = {
        w->from[0].data, dtype, 4, 2, {TILES, TILES, tall, wide}, {tall * pitch, wide * size, pitch, size}};
    w->make = (histo_make_options){.hi = (double)(levels - 1), .clip = 2};
    w->apply.tiles = (histo_tiles){2, {TILES, TILES}, {tall, wide}};
    status = add_hist(job, 1, &axis, &tiles, (int64_t)TILES * TILES);
    return status == HISTO_OK ? add_map(w, 1, &axis, (int64_t)TILES * TILES) : status;
}

static histo_status begin_clahe_u8(apps_job *job)
{
    return begin_clahe(job, HISTO_U8, 256);
}

static histo_status begin_clahe_u16(apps_job *job)
{
    return begin_clahe(job, HISTO_U16, 4096);
}

/* ---- Matching ---- */

static histo_status begin_match(apps_job *job)
{
    work *w;
    const histo_axis axis = histo_axis_integer(0, 256);
    const int64_t shape[2] = {side(job, 2160), side(job, 3840)};
    void *pixels;
    histo_status status = begin_work(job, &w);
    if (status == HISTO_OK) status = add_4k(job);
    if (status == HISTO_OK) status = add_input(job, HISTO_U8, 2, shape, &pixels);
    if (status == HISTO_OK) apps_image_dark(job->photo, shape[1], shape[0], pixels);
    if (status == HISTO_OK) status = add_result(job, w, HISTO_U8);
    for (int i = 0; i < 2 && status == HISTO_OK; i++)
        status = add_hist(job, 1, &axis, &job->inputs[i], 1);
    return status == HISTO_OK ? add_map(w, 1, &axis, 1) : status;
}

static histo_status run_match(void *job, void *stream)
{
    (void)stream;
    work *w = ((apps_job *)job)->state;
    histo_status status = count(w, 0);
    if (status == HISTO_OK) status = count(w, 1);
    if (status == HISTO_OK) status = histo_map_match(w->map, w->hist[0], w->hist[1], NULL);
    return status == HISTO_OK ? apply(w) : status;
}

/* ---- Thresholds ---- */

static histo_status run_otsu(void *job, void *stream)
{
    (void)stream;
    work *w = ((apps_job *)job)->state;
    histo_status status = count(w, 0);
    if (status == HISTO_OK) status = histo_map_classes(w->map, w->hist[0], HISTO_SPLIT_OTSU, 2, &w->make);
    return status == HISTO_OK ? apply(w) : status;
}

/* Numbers from the counts of an image of 12 bits. */
static histo_status begin_numbers(apps_job *job, int64_t levels, int64_t n)
{
    work *w;
    const histo_axis axis = histo_axis_integer(0, levels);
    histo_status status = begin_work(job, &w);
    if (status == HISTO_OK) status = add_deep(job);
    if (status == HISTO_OK) status = add_numbers(job, w, n);
    return status == HISTO_OK ? add_hist(job, 1, &axis, job->inputs, 1) : status;
}

static histo_status begin_multiotsu(apps_job *job)
{
    return begin_numbers(job, 4096, 2);
}

static histo_status run_multiotsu(void *job, void *stream)
{
    (void)stream;
    work *w = ((apps_job *)job)->state;
    int64_t last[2] = {0};
    histo_status status = count(w, 0);
    if (status == HISTO_OK) status = histo_hist_split(w->hist[0], HISTO_SPLIT_OTSU, 3, last);
    for (int i = 0; i < 2; i++)
        w->values[i] = (double)last[i];
    return status;
}

/* ---- Quantiles ---- */

static histo_status begin_percentiles(apps_job *job)
{
    return begin_numbers(job, 65536, 3);
}

static histo_status run_percentiles(void *job, void *stream)
{
    static const double q[] = {0.01, 0.5, 0.99};
    (void)stream;
    work *w = ((apps_job *)job)->state;
    histo_status status = count(w, 0);
    return status == HISTO_OK ? histo_hist_quantiles(w->hist[0], HISTO_QUANTILE_LINEAR, 3, q, w->values) : status;
}

/* ---- Ranges ---- */

/* Sums of three random numbers, nearly normal. */
static double normal_at(uint64_t i)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        i = (i ^ i >> 31) * UINT64_C(0x9e3779b97f4a7c15) + 1;
        sum += (double)(i >> 40) * 0x1p-24 - 0.5;
    }
    return sum;
}

/* An array larger than caches. */
static histo_status begin_floats(apps_job *job, histo_dtype dtype, int64_t n, int64_t numbers)
{
    work *w;
    void *samples;
    histo_status status = begin_work(job, &w);
    n = job->quick ? n / 16 : n;
    if (status == HISTO_OK) status = add_input(job, dtype, 1, &n, &samples);
    for (int64_t i = 0; i < n && status == HISTO_OK; i++)
        if (dtype == HISTO_F32)
            ((float *)samples)[i] = (float)normal_at((uint64_t)i);
        else
            ((double *)samples)[i] = normal_at((uint64_t)i);
    return status == HISTO_OK ? add_numbers(job, w, numbers) : status;
}

static histo_status begin_extremes(apps_job *job)
{
    return begin_floats(job, HISTO_F32, 1 << 25, 2);
}

static histo_status run_extremes(void *job, void *stream)
{
    (void)stream;
    work *w = ((apps_job *)job)->state;
    histo_extremes extremes;
    const histo_fill_options how = {.threads = w->apply.threads};
    histo_status status = histo_find_extremes(((apps_job *)job)->inputs, &how, &extremes, 1);
    w->values[0] = extremes.min.f64;
    w->values[1] = extremes.max.f64;
    return status;
}

static histo_status begin_rule(apps_job *job)
{
    return begin_floats(job, HISTO_F64, 1 << 24, 3);
}

static histo_status run_rule(void *job, void *stream)
{
    (void)stream;
    work *w = ((apps_job *)job)->state;
    histo_axis axis = {0};
    const histo_fill_options how = {.threads = w->apply.threads};
    const histo_survey_options wanted = {.rule = HISTO_RULE_AUTO};
    histo_status status = histo_axis_from_data(((apps_job *)job)->inputs, &how, &wanted, &axis);
    w->values[0] = axis.lo;
    w->values[1] = axis.hi;
    w->values[2] = (double)axis.bins;
    return status;
}

/* ---- Mutual information ---- */

static histo_status begin_information(apps_job *job)
{
    work *w;
    const int64_t n = side(job, 256), shape[3] = {n, n, n};
    const histo_axis axes[2] = {histo_axis_regular(64, 0, 4096), histo_axis_regular(64, 0, 4096)};
    void *samples;
    histo_status status = begin_work(job, &w);
    for (int i = 0; i < 2 && status == HISTO_OK; i++) {
        status = add_input(job, HISTO_U16, 3, shape, &samples);
        if (status == HISTO_OK) apps_image_volume(job->photo, n, i, samples);
    }
    if (status == HISTO_OK) status = add_numbers(job, w, 2);
    return status == HISTO_OK ? add_hist(job, 2, axes, job->inputs, 1) : status;
}

static histo_status run_information(void *job, void *stream)
{
    (void)stream;
    work *w = ((apps_job *)job)->state;
    histo_information information;
    histo_status status = count(w, 0);
    if (status == HISTO_OK) status = histo_hist_inform(w->hist[0], &information);
    if (status != HISTO_OK) return status;
    w->values[0] = information.mutual;
    w->values[1] = information.normalized;
    return HISTO_OK;
}

/* ---- Back projection of the hues and saturations of a region ---- */

enum { LEFT = 80, ABOVE = 60, WIDE = 300, TALL = 200 }; /* as in the rows' words */

/* An image of hue, saturation and value, and a map made of the region. */
static histo_status begin_colors(apps_job *job, int64_t height, int64_t width)
{
    work *w;
    const int64_t shape[3] = {height, width, 3};
    const histo_axis axes[2] = {histo_axis_integer(0, 180), histo_axis_integer(0, 256)};
    void *pixels;
    histo_status status = begin_work(job, &w);
    if (status == HISTO_OK) status = add_input(job, HISTO_U8, 3, shape, &pixels);
    if (status != HISTO_OK) return status;
    apps_image_hsv(job->photo, width, height, pixels);
    histo_view model[2];
    for (int a = 0; a < 2; a++) {
        w->from[a] = (histo_view){(uint8_t *)pixels + a, HISTO_U8, 2, 0, {height, width}, {3 * width, 3}};
        model[a] = w->from[a];
        model[a].data = (const char *)model[a].data + ABOVE * model[a].strides[0] + LEFT * model[a].strides[1];
        model[a].shape[0] = TALL;
        model[a].shape[1] = WIDE;
    }
    w->make = (histo_make_options){.hi = 255};
    status = add_hist(job, 2, axes, model, 1);
    if (status == HISTO_OK) status = count(w, 0);
    if (status == HISTO_OK) status = add_map(w, 2, axes, 1);
    return status == HISTO_OK ? histo_map_project(w->map, w->hist[0], NULL, &w->make) : status;
}

static histo_status begin_backproject(apps_job *job)
{
    histo_status status = begin_colors(job, side(job, 2160), side(job, 3840));
    if (status == HISTO_OK) status = apps_image_allocate(HISTO_U8, 2, job->inputs[0].shape, &job->result);
    if (status != HISTO_OK) return status;
    ((work *)job->state)->to = job->result;
    job->bytes = histo_view_size(&job->result) * 4;
    return HISTO_OK;
}

/* The same of the window's pixels alone, as mean shift needs it. */
static histo_status begin_camshift(apps_job *job)
{
    histo_status status = begin_colors(job, side(job, 1080), side(job, 1920));
    if (status == HISTO_OK) status = add_numbers(job, job->state, 4);
    job->bytes = 0;
    return status;
}

static int64_t within(double position, int64_t most)
{
    return position < 0 ? 0 : position > (double)most ? most : (int64_t)position;
}

/* CamShift: cv::meanShift of a window that is a bit off, and the moments of the larger window around it. What is left
 * is to fit an ellipse to them. */
static histo_status run_camshift(void *job, void *stream)
{
    enum { STEPS = 10, OFF_X = 30, OFF_Y = 20, TOLERANCE = 10 };
    (void)stream;
    work *w = ((apps_job *)job)->state;
    const int64_t height = w->from[0].shape[0], width = w->from[0].shape[1];
    int64_t at[4] = {LEFT + OFF_X, ABOVE + OFF_Y, WIDE, TALL};
    histo_moments m;
    for (int i = 0; i < STEPS; i++) {
        histo_status status = histo_map_moments(w->map, w->from, at, &w->apply, &m);
        if (status != HISTO_OK) return status;
        const int64_t x = within((double)at[0] + rint(m.m10 / m.m00 - WIDE * 0.5), width - WIDE);
        const int64_t y = within((double)at[1] + rint(m.m01 / m.m00 - TALL * 0.5), height - TALL);
        const bool stays = x == at[0] && y == at[1];
        at[0] = x;
        at[1] = y;
        if (stays) break;
    }
    for (int d = 0; d < 4; d++)
        w->values[d] = (double)at[d];
    const int64_t x = within((double)at[0] - TOLERANCE, width), y = within((double)at[1] - TOLERANCE, height);
    const int64_t larger[4] = {x, y, within(WIDE + 2 * TOLERANCE, width - x), within(TALL + 2 * TOLERANCE, height - y)};
    return histo_map_moments(w->map, w->from, larger, &w->apply, &m);
}

/* ---- The table ---- */

/* The time of the processor, which others on the machine disturb less, where there is one thread. */
static double now_us(const apps_job *job)
{
    struct timespec now;
    if (job->threads != 1) return histo_now_us();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static histo_status time_run(apps_job *job, double *us)
{
    const double begun = now_us(job);
    histo_status status = job->row->run(job, NULL);
    *us = now_us(job) - begun;
    return status;
}

static const apps_row rows[] = {
    {.name = "copy/u8/4k", .work = "copy", .reference = "NumPy", .begin = begin_copy, .run = run_copy, .end = end},
    {.name = "lut/u8/4k",
     .work = "lut",
     .words = "",
     .targets = {{.library = "OpenCV", .factor = 6}},
     .reference = "OpenCV",
     .begin = begin_lut,
     .run = run_lut,
     .end = end},
    {.name = "equalize/u8/4k",
     .work = "equalize",
     .words = "",
     .targets = {{.library = "OpenCV", .factor = 4}},
     .reference = "OpenCV",
     .begin = begin_equalize_u8,
     .run = run_equalize,
     .end = end},
    {.name = "equalize/u16/4096",
     .work = "equalize",
     .words = "",
     .targets = {{.library = "libvips", .factor = 3}},
     .reference = "NumPy",
     .begin = begin_equalize_u16,
     .run = run_equalize,
     .end = end},
    {.name = "clahe/u8/4k",
     .work = "clahe",
     .words = "8 8 2 8",
     .targets = {{.library = "OpenCV", .factor = 5}},
     .reference = "OpenCV",
     .begin = begin_clahe_u8,
     .run = run_equalize,
     .end = end},
    {.name = "clahe/u16/4096",
     .work = "clahe",
     .words = "8 8 2 12",
     .targets = {{.library = "OpenCV", .factor = 2.5}},
     .reference = "NumPy",
     .begin = begin_clahe_u16,
     .run = run_equalize,
     .end = end},
    {.name = "match/u8/4k",
     .work = "match",
     .words = "",
     .targets = {{.factor = 10}},
     .reference = "scikit-image",
     .begin = begin_match,
     .run = run_match,
     .end = end},
    {.name = "otsu/u8/4k",
     .work = "otsu",
     .words = "",
     .targets = {{.library = "OpenCV", .factor = 2.4}},
     .reference = "OpenCV",
     .begin = begin_equalize_u8,
     .run = run_otsu,
     .end = end},
    {.name = "multi-otsu-3/u16/4096",
     .work = "multiotsu",
     .words = "3",
     .targets = {{.library = "scikit-image", .factor = 30}},
     .reference = "NumPy",
     .begin = begin_multiotsu,
     .run = run_multiotsu,
     .end = end},
    {.name = "extremes/f32/2^25",
     .work = "extremes",
     .words = "",
     .targets = {{.library = "NumPy", .factor = 1.6}},
     .reference = "NumPy",
     .begin = begin_extremes,
     .run = run_extremes,
     .end = end},
    {.name = "bins-auto/f64/2^24",
     .work = "bins_auto",
     .words = "",
     .targets = {{.library = "NumPy", .factor = 10}},
     .reference = "NumPy",
     .begin = begin_rule,
     .run = run_rule,
     .end = end},
    {.name = "percentiles/u16/4096",
     .work = "percentiles",
     .words = "1 50 99",
     .targets = {{.library = "NumPy", .factor = 15}},
     .reference = "NumPy",
     .tolerance = 1e-11,
     .begin = begin_percentiles,
     .run = run_percentiles,
     .end = end},
    {.name = "information/u16/256^3",
     .work = "information",
     .words = "64 0 4096",
     .targets = {{.library = "OpenCV", .factor = 7}, {.library = "SimpleITK", .factor = 400}},
     .reference = "NumPy",
     .tolerance = 1e-12,
     .begin = begin_information,
     .run = run_information,
     .end = end},
    {.name = "backproject/hs/4k",
     .work = "backproject",
     .words = "60 80 200 300 180 256",
     .targets = {{.library = "OpenCV", .factor = 2}},
     .reference = "OpenCV",
     .begin = begin_backproject,
     .run = run_lut,
     .end = end},
    {.name = "camshift/hs/1080p",
     .work = "camshift",
     .words = "60 80 200 300 180 256",
     .targets = {{.library = "OpenCV", .factor = 10}},
     .reference = "OpenCV",
     .begin = begin_camshift,
     .run = run_camshift,
     .end = end},
};

const apps_table apps_cpu = {.rows = rows, .count = sizeof rows / sizeof *rows, .time = time_run};
