/* The applications on the CPU, as in a program that processes one image after another: histograms, plans and maps are
 * made once. */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "bench/apps/apps_steps.h"
#include "bench/core/random_numbers.h"

/* ---- The engine ---- */

static histo_status place(apps_job *job)
{
    apps_work *w = job->state;
    apps_engine *e = &w->engine[0];
    *e = (apps_engine){.threads = job->threads};
    memcpy(e->frame.in, job->inputs, sizeof e->frame.in);
    e->frame.out = job->result;
    w->engines = 1;
    return apps_make_engine(w, e);
}

/* Plans for what is counted each time: not for the region of an image, from which a map is made once. */
static histo_status ready(apps_job *job)
{
    apps_work *w = job->state;
    apps_engine *e = &w->engine[0];
    const histo_plan_options how = {.device = HISTO_DEVICE_CPU, .threads = job->threads};
    histo_status status = HISTO_OK;
    for (int h = 0; h < w->hists && w->naxes <= job->input_count && status == HISTO_OK; h++) {
        const histo_view tiles = apps_tiles_of(&e->frame.in[h]);
        status = histo_plan_create(&e->plan[h], e->hist[h], job->row->tiled ? &tiles : &e->frame.in[h], NULL, &how);
    }
    return status;
}

/* The time of the processor, which others on the machine disturb less, where there is one thread. */
static double now_us(const apps_job *job)
{
    return job->threads == 1 ? bench_processor_us() : histo_now_us();
}

static histo_status time_step(apps_job *job, double *us)
{
    const apps_work *w = job->state;
    const double begun = now_us(job);
    histo_status status = job->row->step(job, &w->engine[0], &w->engine[0].frame, NULL);
    *us = now_us(job) - begun;
    return status;
}

static double *numbers_of(const apps_frame *f)
{
    return (double *)f->out.data;
}

/* ---- A lookup table; a copy, which bounds what reads and writes an image ---- */

static histo_status begin_lut(apps_job *job)
{
    enum { LEVELS = 256 };
    const int64_t levels = LEVELS;
    double values[LEVELS + 3] = {0};
    void *table;
    histo_status status = apps_begin_image(job);
    if (status == HISTO_OK) status = apps_add_input(job, HISTO_U8, 1, &levels, &table);
    if (status != HISTO_OK) return status;
    for (int i = 0; i < LEVELS; i++)
        values[1 + i] = ((uint8_t *)table)[i] = (uint8_t)lrint(255 * sqrt(i / 255.0));
    return histo_map_write(((apps_work *)job->state)->engine[0].map, values, LEVELS + 3);
}

static histo_status copy(const apps_job *job, const apps_engine *e, const apps_frame *f, void *stream)
{
    (void)job, (void)e, (void)stream;
    memcpy((void *)f->out.data, f->in[0].data, (size_t)histo_view_size(&f->in[0]));
    return HISTO_OK;
}

/* ---- Numbers from counts ---- */

static histo_status multiotsu(const apps_job *job, const apps_engine *e, const apps_frame *f, void *stream)
{
    (void)job;
    int64_t last[2] = {0};
    histo_status status = apps_count(e, 0, f->in, stream);
    if (status == HISTO_OK) status = histo_hist_split(e->hist[0], HISTO_SPLIT_OTSU, 3, last);
    for (int i = 0; i < 2; i++)
        numbers_of(f)[i] = (double)last[i];
    return status;
}

static histo_status percentiles(const apps_job *job, const apps_engine *e, const apps_frame *f, void *stream)
{
    static const double q[] = {0.01, 0.5, 0.99};
    (void)job;
    histo_status status = apps_count(e, 0, f->in, stream);
    if (status != HISTO_OK) return status;
    return histo_hist_quantiles(e->hist[0], HISTO_QUANTILE_LINEAR, 3, q, numbers_of(f));
}

static histo_status information(const apps_job *job, const apps_engine *e, const apps_frame *f, void *stream)
{
    (void)job;
    histo_information info;
    histo_status status = apps_count(e, 0, f->in, stream);
    if (status == HISTO_OK) status = histo_hist_inform(e->hist[0], &info);
    if (status != HISTO_OK) return status;
    numbers_of(f)[0] = info.mutual;
    numbers_of(f)[1] = info.normalized;
    return HISTO_OK;
}

/* ---- Ranges ---- */

/* The sum of three uniform numbers, nearly normal. */
static double normal_at(int64_t i)
{
    return random_uniform(1, 3 * i) + random_uniform(1, 3 * i + 1) + random_uniform(1, 3 * i + 2) - 1.5;
}

/* An array larger than caches. */
static histo_status begin_floats(apps_job *job)
{
    const histo_axis none = histo_axis_integer(0, 1);
    const histo_dtype dtype = job->row->images.dtype;
    const int64_t n = job->row->images.width / (job->quick ? 16 : 1);
    void *samples;
    histo_status status = apps_begin(job, 1, &none);
    if (status == HISTO_OK) status = apps_add_input(job, dtype, 1, &n, &samples);
    for (int64_t i = 0; i < n && status == HISTO_OK; i++)
        if (dtype == HISTO_F32)
            ((float *)samples)[i] = (float)normal_at(i);
        else
            ((double *)samples)[i] = normal_at(i);
    if (status == HISTO_OK) status = apps_add_numbers(job);
    return status == HISTO_OK ? place(job) : status;
}

static histo_status extremes(const apps_job *job, const apps_engine *e, const apps_frame *f, void *stream)
{
    (void)job, (void)stream;
    histo_extremes range;
    const histo_fill_options how = {.threads = e->threads};
    histo_status status = histo_find_extremes(f->in, &how, &range, 1);
    numbers_of(f)[0] = range.min.f64;
    numbers_of(f)[1] = range.max.f64;
    return status;
}

static histo_status rule(const apps_job *job, const apps_engine *e, const apps_frame *f, void *stream)
{
    (void)job, (void)stream;
    histo_axis axis = {0};
    const histo_fill_options how = {.threads = e->threads};
    const histo_survey_options wanted = {.rule = HISTO_RULE_AUTO};
    histo_status status = histo_axis_from_data(f->in, &how, &wanted, &axis);
    numbers_of(f)[0] = axis.lo;
    numbers_of(f)[1] = axis.hi;
    numbers_of(f)[2] = (double)axis.bins;
    return status;
}

/* ---- CamShift ---- */

static int64_t within(double position, int64_t end)
{
    return position < 0 ? 0 : position > (double)end ? end : (int64_t)position;
}

/* cv::meanShift of a window that is a bit off, and the moments of the larger window around it. What is left is to fit
 * an ellipse to them. */
static histo_status camshift(const apps_job *job, const apps_engine *e, const apps_frame *f, void *stream)
{
    enum { STEPS = 10, OFF_X = 30, OFF_Y = 20, TOLERANCE = 10 };
    (void)job, (void)stream;
    const histo_apply_options how = {.threads = e->threads};
    const int64_t wide = apps_window[2], tall = apps_window[3];
    int64_t at[4] = {apps_window[0] + OFF_X, apps_window[1] + OFF_Y, wide, tall};
    histo_view views[2];
    histo_moments m;
    apps_colors_of(&f->in[0], views);
    const int64_t height = views[0].shape[0], width = views[0].shape[1];
    for (int i = 0; i < STEPS; i++) {
        histo_status status = histo_map_moments(e->map, views, at, &how, &m);
        if (status != HISTO_OK) return status;
        const int64_t x = within((double)at[0] + rint(m.m10 / m.m00 - (double)wide * 0.5), width - wide);
        const int64_t y = within((double)at[1] + rint(m.m01 / m.m00 - (double)tall * 0.5), height - tall);
        const bool stays = x == at[0] && y == at[1];
        at[0] = x;
        at[1] = y;
        if (stays) break;
    }
    for (int d = 0; d < 4; d++)
        numbers_of(f)[d] = (double)at[d];
    const int64_t x = within((double)at[0] - TOLERANCE, width), y = within((double)at[1] - TOLERANCE, height);
    const int64_t larger[4] = {x, y, within((double)wide + 2 * TOLERANCE, width - x),
                               within((double)tall + 2 * TOLERANCE, height - y)};
    return histo_map_moments(e->map, views, larger, &how, &m);
}

/* ---- The table ---- */

/* How they are made, what is timed and its images; what peers do, with which words; the peer whose result is the same,
 * and the targets. */
#define ROW(its_name, its_begin, its_step, its_images, its_work, its_words, its_reference, ...)                        \
    {                                                                                                                  \
        .name = its_name, .begin = its_begin, .step = its_step, .images = {its_images}, .work = its_work,              \
        .words = its_words, .reference = its_reference, __VA_ARGS__                                                    \
    }
#define TARGET(its_library, its_factor) .targets = {{.library = its_library, .factor = its_factor}}

/* Images of 3840 x 2160 bytes, or of 4096 x 4096 samples of 12 bits with so many bins. */
#define BYTES HISTO_U8, 1, 2160, 3840, 256
#define DEEP(levels) HISTO_U16, 1, 4096, 4096, levels
#define WIDE(dtype, n) dtype, 1, 1, n, 0
#define HD HISTO_U8, 1, 1080, 1920, 256
#define REGION "60 80 200 300 180 256"

static const apps_row rows[] = {
    ROW("copy/u8/4k", apps_begin_image, copy, BYTES, "copy", NULL, "NumPy", .numbers = 0),
    ROW("lut/u8/4k", begin_lut, apps_apply, BYTES, "lut", "", "OpenCV", TARGET("OpenCV", 6)),
    ROW("equalize/u8/4k", apps_begin_image, apps_equalize, BYTES, "equalize", "", "OpenCV", TARGET("OpenCV", 4)),
    ROW("equalize/u16/4096", apps_begin_image, apps_equalize, DEEP(65536), "equalize", "", "NumPy",
        TARGET("libvips", 3)),
    ROW("clahe/u8/4k", apps_begin_image, apps_equalize, BYTES, "clahe", "8 8 2 8", "OpenCV", TARGET("OpenCV", 5),
        .tiled = true),
    ROW("clahe/u16/4096", apps_begin_image, apps_equalize, DEEP(4096), "clahe", "8 8 2 12", "NumPy",
        TARGET("OpenCV", 2.5), .tiled = true),
    ROW("match/u8/4k", apps_begin_pair, apps_match_both, BYTES, "match", "", "scikit-image", TARGET(NULL, 10)),
    ROW("otsu/u8/4k", apps_begin_image, apps_otsu, BYTES, "otsu", "", "OpenCV", TARGET("OpenCV", 2.4)),
    ROW("multi-otsu-3/u16/4096", apps_begin_image, multiotsu, DEEP(4096), "multiotsu", "3", "NumPy",
        TARGET("scikit-image", 30), .numbers = 2),
    ROW("extremes/f32/2^25", begin_floats, extremes, WIDE(HISTO_F32, 1 << 25), "extremes", "", "NumPy",
        TARGET("NumPy", 1.6), .numbers = 2),
    ROW("bins-auto/f64/2^24", begin_floats, rule, WIDE(HISTO_F64, 1 << 24), "bins_auto", "", "NumPy",
        TARGET("NumPy", 10), .numbers = 3),
    ROW("percentiles/u16/4096", apps_begin_image, percentiles, DEEP(65536), "percentiles", "1 50 99", "NumPy",
        TARGET("NumPy", 15), .numbers = 3, .tolerance = 1e-11),
    ROW("information/u16/256^3", apps_begin_volumes, information, WIDE(HISTO_U16, 256), "information", "64 0 4096",
        "NumPy", .targets = {{.library = "OpenCV", .factor = 7}, {.library = "SimpleITK", .factor = 400}}, .numbers = 2,
        .tolerance = 1e-12),
    ROW("backproject/hs/4k", apps_begin_colors, apps_project, BYTES, "backproject", REGION, "OpenCV",
        TARGET("OpenCV", 2)),
    ROW("camshift/hs/1080p", apps_begin_colors, camshift, HD, "camshift", REGION, "OpenCV", TARGET("OpenCV", 10),
        .numbers = 4),
};

const apps_table apps_cpu = {.rows = rows,
                             .count = sizeof rows / sizeof *rows,
                             .place = place,
                             .ready = ready,
                             .time = time_step,
                             .end = apps_end};
