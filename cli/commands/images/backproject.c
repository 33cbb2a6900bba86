/* histo backproject: show where the colours of a model are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply/pages.h"
#include "base/failure.h"
#include "base/progress.h"
#include "output/clip.h"
#include "output/images/images.h"
#include "video/model.h"

typedef struct backprojection {
    const settings *settings;
    pages *pages;
    space space;
    planes planes; /* of a band of rows */
    model model;
    unsigned char *rows; /* of the result */
    unsigned char *have; /* for each pixel of the band: 0 if a channel has no value */
    bool gaps;           /* some are 0 */
    image_file *image;   /* either … */
    outfile *video;      /* … or */
} backprojection;

static const char *name_of(const backprojection *b)
{
    return input_name(pages_reader(b->pages)->in);
}

/* Whether the output is the model itself. */
static bool saves_model(const settings *s)
{
    const char *dot = strrchr(s->output, '.');
    return dot && (strcmp(dot, ".json") == 0 || strcmp(dot, ".histo") == 0);
}

static int open_input(backprojection *b, fault *f)
{
    const settings *s = b->settings;
    if (s->files_count != 1 || !s->output)
        return fault_set(f, EXIT_USAGE, "name the image and the result, as in histo backproject in.png out.png");
    if (!s->model == !s->model_roi[2])
        return fault_set(f, EXIT_USAGE, "the colours come from --model-roi X,Y,W,H or from --model SAVED: give one");
    if (outfile_spare(s->output, s->model, "the model", f) != 0) return -1;
    if (s->model && saves_model(s))
        return fault_set(f, EXIT_USAGE,
                         "the model %s is saved already: give --model-roi X,Y,W,H to save another, or an "
                         "image as the result",
                         s->model);
    if (s->model && model_load(&b->model, s->model, f) != 0) return -1;
    b->pages = pages_open(s->files[0], &s->read, false, f);
    if (!b->pages || space_choose(&b->space, pages_reader(b->pages), s, b->model.hist, model_name(&b->model), f) != 0 ||
        model_check_space(&b->model, &b->space, s, f) != 0)
        return -1;
    if (s->model) return 0;
    const y4m *v = pages_video(b->pages);
    return model_check_window("model-roi", s->model_roi, v ? v->width : pages_width(b->pages),
                              v ? v->height : pages_height(b->pages), name_of(b), f);
}

/* ---- Rows ---- */

static int show(backprojection *b, const histo_view *channels, int64_t rows, int64_t cols, fault *f)
{
    if (rows > b->planes.height || cols != b->planes.width) {
        planes_free(&b->planes);
        if (planes_make(&b->planes, &b->space, pages_reader(b->pages), cols, rows, f) != 0) return -1;
        free(b->rows);
        free(b->have);
        b->rows = malloc((size_t)(rows * cols));
        b->have = malloc((size_t)(rows * cols));
        if (!b->rows || !b->have) return fault_set(f, EXIT_DATA, "no memory for the result of %s", name_of(b));
    }
    planes_show(&b->planes, channels);
    return 0;
}

/* Find which pixels of a band have values. */
static void find_gaps(backprojection *b, const band *rows)
{
    const int channels = pages_reader(b->pages)->channels;
    unsigned char *to = b->have;
    b->gaps = rows->valid != NULL;
    for (int64_t y = 0; b->gaps && y < rows->rows; y++)
        for (int64_t x = 0; x < rows->cols; x++, to++) {
            *to = 1;
            for (int c = 0; c < channels; c++) {
                const histo_view *v = &rows->valid[c];
                if (v->data) *to &= ((const unsigned char *)v->data)[y * v->strides[0] + x * v->strides[1]];
            }
        }
}

/* Count the part of the region within rows y … y + rows - 1. */
static int count_rows(backprojection *b, int64_t y, int64_t rows, fault *f)
{
    const int64_t *roi = b->settings->model_roi;
    const int64_t top = roi[1] > y ? roi[1] : y, end = roi[1] + roi[3];
    const int64_t bottom = end < y + rows ? end : y + rows;
    if (top >= bottom) return 0;
    const histo_view have = {.data = b->have + (top - y) * b->planes.width + roi[0],
                             .dtype = HISTO_U8,
                             .ndim = 2,
                             .shape = {bottom - top, roi[2]},
                             .strides = {b->planes.width, 1}};
    const histo_fill_options fill = {.mask = b->gaps ? &have : NULL};
    return model_count(&b->model.hist, &b->planes, (const int64_t[]){roi[0], top - y, roi[2], bottom - top}, &fill, f);
}

/* Look up the rows: b->rows. */
static int map_rows(backprojection *b, int64_t rows, fault *f)
{
    const histo_apply_options options = {.threads = b->settings->threads};
    const int64_t shape[] = {rows, b->planes.width};
    const histo_view out = histo_view_nd(b->rows, HISTO_U8, 2, shape);
    histo_view views[SPACE_CHANNELS];
    planes_window(&b->planes, (const int64_t[]){0, 0, b->planes.width, rows}, views);
    if (histo_map_apply(b->model.map, views, &out, &options) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, name_of(b));
    for (int64_t i = 0; b->gaps && i < rows * b->planes.width; i++)
        if (!b->have[i]) b->rows[i] = 0;
    return 0;
}

/* ---- Images ---- */

/* The region is on the first page. */
static int count_image(backprojection *b, fault *f)
{
    band rows;
    int more;
    while ((more = pages_next(b->pages, &rows, f)) > 0) {
        if (rows.page != 0 && b->model.hist) continue;
        if (show(b, rows.views, rows.rows, rows.cols, f) != 0) return -1;
        find_gaps(b, &rows);
        if (count_rows(b, rows.y, rows.rows, f) != 0) return -1;
    }
    return more < 0 ? -1 : pages_again(b->pages, f);
}

static image_page page_of(const backprojection *b)
{
    return (image_page){.model = CHANNELS_GRAY,
                        .channels = 1,
                        .dtype = HISTO_U8,
                        .height = pages_height(b->pages),
                        .width = pages_width(b->pages)};
}

static int run_image(backprojection *b, fault *f)
{
    const settings *s = b->settings;
    const reader *r = pages_reader(b->pages);
    const image_writer *writer = image_writer_find(s->output, r, f);
    const image_page like = page_of(b);
    band rows;
    int more;
    if (!writer || !(b->image = image_create_file(s->output, writer, &like, r->pages, f))) return -1;
    if (pages_unit(b->pages, f) < 0 || (!s->model && count_image(b, f) != 0)) return -1;
    if (model_project(&b->model, &b->space, f) != 0) return -1;
    while ((more = pages_next(b->pages, &rows, f)) > 0) {
        const image_page page = page_of(b);
        if (rows.y == 0 && image_begin(b->image, &page, f) != 0) return -1;
        if (show(b, rows.views, rows.rows, rows.cols, f) != 0) return -1;
        find_gaps(b, &rows);
        if (map_rows(b, rows.rows, f) != 0 || (b->gaps && image_leave_out(b->image, b->have, rows.rows, f) != 0) ||
            image_rows(b->image, b->rows, rows.rows, f) != 0)
            return -1;
        progress_update(input_position(r->in), input_size(r->in));
    }
    if (more < 0) return -1;
    image_file *image = b->image;
    b->image = NULL;
    return image_commit(image, f);
}

/* ---- Video ---- */

/* Write a frame; if it is the first and there is no model, count its region. */
static int show_frame(backprojection *b, const unsigned char *samples, fault *f)
{
    const y4m *v = pages_video(b->pages);
    histo_view views[Y4M_PLANES];
    for (int p = 0; p < v->planes; p++)
        views[p] = y4m_view(v, p, samples);
    if (show(b, views, v->height, v->width, f) != 0) return -1;
    return b->model.hist ? 0 : count_rows(b, 0, v->height, f);
}

static int map_frame(backprojection *b, const unsigned char *samples, fault *f)
{
    const y4m *v = pages_video(b->pages);
    if (show_frame(b, samples, f) != 0) return -1;
    if (!b->model.map && model_project(&b->model, &b->space, f) != 0) return -1;
    if (map_rows(b, v->height, f) != 0) return -1;
    return clip_frame(b->video, &v->frame_header, b->rows, (size_t)(v->height * v->width), f);
}

static int run_video(backprojection *b, fault *f)
{
    y4m *v = pages_video(b->pages);
    y4m_line header;
    unsigned char *samples = malloc(v->frame_bytes);
    int more = -1;
    y4m_gray_header(v, &header);
    if (!samples) return fault_set(f, EXIT_DATA, "no memory for a frame of %s", name_of(b));
    if ((b->video = clip_open(b->settings->output, name_of(b), f)) && clip_begin(b->video, &header, f) == 0) more = 1;
    while (more > 0 && (more = y4m_next(v, f)) > 0) {
        if (y4m_read(v, samples, f) != 0 || map_frame(b, samples, f) != 0) more = -1;
        progress_update(input_position(v->in), input_size(v->in));
    }
    free(samples);
    if (more < 0) return -1;
    outfile *video = b->video;
    b->video = NULL;
    return outfile_commit(video, f);
}

/* ---- The model alone ---- */

/* A video's model is that of the first frame. */
static int count_first_frame(backprojection *b, fault *f)
{
    y4m *v = pages_video(b->pages);
    unsigned char *samples = malloc(v->frame_bytes);
    if (!samples) return fault_set(f, EXIT_DATA, "no memory for a frame of %s", name_of(b));
    int more = y4m_next(v, f);
    if (more > 0 && (y4m_read(v, samples, f) != 0 || show_frame(b, samples, f) != 0)) more = -1;
    free(samples);
    if (more == 0) return fault_set(f, EXIT_DATA, "%s has no frames", name_of(b));
    return more < 0 ? -1 : 0;
}

static int save_model(backprojection *b, fault *f)
{
    if (outfile_check(b->settings->output, f) != 0) return -1;
    if (pages_video(b->pages) ? count_first_frame(b, f) != 0 : pages_unit(b->pages, f) < 0 || count_image(b, f) != 0)
        return -1;
    return model_save(&b->model, &b->space, pages_reader(b->pages), b->settings, f);
}

static int run(backprojection *b, fault *f)
{
    char label[256];
    if (open_input(b, f) != 0) return -1;
    snprintf(label, sizeof label, "projecting %.200s", name_of(b));
    progress_start(label, b->settings->quiet);
    if (saves_model(b->settings)) return save_model(b, f);
    return pages_video(b->pages) ? run_video(b, f) : run_image(b, f);
}

int command_backproject(const settings *s)
{
    fault f = {0};
    backprojection b = {.settings = s};
    int failed = run(&b, &f);
    progress_end();
    image_abandon(b.image);
    outfile_abandon(b.video);
    pages_close(b.pages);
    planes_free(&b.planes);
    model_free(&b.model);
    free(b.rows);
    free(b.have);
    return failed ? fault_report(&f) : EXIT_OK;
}
