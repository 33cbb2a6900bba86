#include "bench/apps/apps_steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { TILES = 8 };

const int64_t apps_window[4] = {80, 60, 300, 200}; /* as in the words of rows */

size_t apps_bytes_of(const histo_view *view)
{
    return (size_t)histo_view_size(view) * histo_dtype_size(view->dtype);
}

/* ---- Engines ---- */

histo_status apps_make_engine(const apps_work *w, apps_engine *e)
{
    histo_status status = histo_map_create(&e->map, w->naxes, w->axes, &(histo_map_options){.batch = w->batch});
    for (int h = 0; h < w->hists && status == HISTO_OK; h++)
        status = histo_hist_create(&e->hist[h], w->naxes, w->axes, &(histo_hist_options){.batch = w->batch});
    return status;
}

void apps_end(apps_job *job)
{
    apps_work *w = job->state;
    for (int i = 0; w && i < w->engines; i++) {
        for (int h = 0; h < 2; h++) {
            histo_plan_destroy(w->engine[i].plan[h]);
            histo_hist_destroy(w->engine[i].hist[h]);
        }
        histo_map_destroy(w->engine[i].map);
    }
    free(w);
}

histo_status apps_begin(apps_job *job, int naxes, const histo_axis *axes)
{
    apps_work *w = job->state = calloc(1, sizeof *w);
    if (!w) return histo_fail_memory(sizeof *w, "an application");
    w->naxes = naxes;
    w->hists = 1;
    w->batch = 1;
    memcpy(w->axes, axes, (size_t)naxes * sizeof *axes);
    return HISTO_OK;
}

histo_status apps_place_and_ready(apps_job *job)
{
    histo_status status = job->table->place(job);
    return status == HISTO_OK ? job->table->ready(job) : status;
}

/* ---- Inputs ---- */

/* A third of what is divisible by it, such as 3840 x 2160, whose third has eight whole tiles, too. */
static int64_t side(const apps_job *job, int64_t n)
{
    return !job->quick ? n : n % 3 == 0 ? n / 3 : n / 4;
}

histo_status apps_add_input(apps_job *job, histo_dtype dtype, int ndim, const int64_t *shape, void **memory)
{
    histo_view *view = &job->inputs[job->input_count++];
    histo_status status = apps_image_allocate(dtype, ndim, shape, view);
    *memory = (void *)view->data;
    return status;
}

histo_status apps_add_numbers(apps_job *job)
{
    job->bytes = 0;
    for (int i = 0; i < job->input_count; i++)
        job->bytes += (int64_t)apps_bytes_of(&job->inputs[i]);
    return apps_image_allocate(job->row->counts ? HISTO_U64 : HISTO_F64, 1, &job->row->numbers, &job->result);
}

histo_status apps_add_images(apps_job *job)
{
    const apps_images *images = &job->row->images;
    const int64_t shape[3] = {images->count, side(job, images->height), side(job, images->width)};
    const int flat = images->count == 1;
    void *memory = NULL;
    histo_status status = apps_add_input(job, images->dtype, 3 - flat, shape + flat, &memory);
    if (status != HISTO_OK) return status;
    job->inputs[job->input_count - 1].batch_ndim = !flat;
    if (images->dtype == HISTO_U8)
        apps_image_gray(job->photo, shape[2], shape[1], memory);
    else
        apps_image_deep(job->photo, shape[2], shape[1], memory);
    const size_t bytes = (size_t)(shape[1] * shape[2]) * histo_dtype_size(images->dtype);
    for (int64_t i = 1; i < images->count; i++)
        memcpy((char *)memory + (size_t)i * bytes, memory, bytes);
    return HISTO_OK;
}

/* The result is an image, or as many numbers as the row says. */
static histo_status begin_images(apps_job *job, bool pair)
{
    const apps_images *images = &job->row->images;
    const histo_axis axis = histo_axis_integer(0, images->levels);
    histo_status status = apps_begin(job, 1, &axis);
    if (status != HISTO_OK) return status;
    apps_work *w = job->state;
    w->hists = pair ? 2 : 1;
    w->batch = images->count * (job->row->tiled ? (int64_t)TILES * TILES : 1);
    for (int i = 0; i < w->hists && status == HISTO_OK; i++)
        status = apps_add_images(job);
    const histo_view *in = &job->inputs[0];
    if (status == HISTO_OK && pair)
        apps_image_dark(job->photo, in->shape[1], in->shape[0], (uint8_t *)job->inputs[1].data);
    if (status == HISTO_OK && job->row->numbers) return apps_add_numbers(job);
    if (status == HISTO_OK) status = apps_image_allocate(images->dtype, in->ndim, in->shape, &job->result);
    job->result.batch_ndim = in->batch_ndim;
    job->bytes = 2 * (int64_t)apps_bytes_of(in);
    return status;
}

histo_status apps_begin_image(apps_job *job)
{
    histo_status status = begin_images(job, false);
    return status == HISTO_OK ? apps_place_and_ready(job) : status;
}

/* The second image is one of another histogram, which is counted once. */
histo_status apps_begin_pair(apps_job *job)
{
    histo_status status = begin_images(job, true);
    if (status == HISTO_OK) status = job->table->place(job);
    const apps_work *w = job->state;
    for (int i = 0; w && i < w->engines && status == HISTO_OK; i++)
        status = histo_hist_fill(w->engine[i].hist[1], &w->engine[i].frame.in[1], NULL);
    return status == HISTO_OK ? job->table->ready(job) : status;
}

histo_status apps_begin_colors(apps_job *job)
{
    const apps_images *images = &job->row->images;
    const int64_t shape[3] = {side(job, images->height), side(job, images->width), 3};
    const histo_axis axes[2] = {histo_axis_integer(0, 180), histo_axis_integer(0, 256)};
    const histo_make_options make = {.hi = 255};
    void *pixels = NULL;
    histo_status status = apps_begin(job, 2, axes);
    if (status == HISTO_OK) status = apps_add_input(job, HISTO_U8, 3, shape, &pixels);
    if (status != HISTO_OK) return status;
    apps_image_hsv(job->photo, shape[1], shape[0], pixels);
    status = job->row->numbers ? apps_add_numbers(job) : apps_image_allocate(HISTO_U8, 2, shape, &job->result);
    job->bytes = job->row->numbers ? 0 : 4 * shape[0] * shape[1];
    if (status == HISTO_OK) status = job->table->place(job);
    apps_work *w = job->state;
    histo_view model[2];
    apps_colors_of(&job->inputs[0], model);
    for (int a = 0; a < 2; a++) {
        model[a].data =
            (const char *)model[a].data + apps_window[1] * model[a].strides[0] + apps_window[0] * model[a].strides[1];
        model[a].shape[0] = apps_window[3];
        model[a].shape[1] = apps_window[2];
    }
    for (int i = 0; i < w->engines && status == HISTO_OK; i++) {
        const apps_engine *e = &w->engine[i];
        status = histo_hist_fill(e->hist[0], model, NULL);
        if (status == HISTO_OK) status = histo_map_project(e->map, e->hist[0], NULL, &make);
    }
    return status == HISTO_OK ? job->table->ready(job) : status;
}

histo_status apps_begin_volumes(apps_job *job)
{
    enum { BINS = 64 };
    const histo_dtype dtype = job->row->images.dtype;
    const int64_t n = side(job, job->row->images.width), shape[3] = {n, n, n}, samples = n * n * n;
    const histo_axis axes[2] = {histo_axis_regular(BINS, 0, 4096), histo_axis_regular(BINS, 0, 4096)};
    histo_status status = apps_begin(job, 2, axes);
    for (int i = 0; i < 2 && status == HISTO_OK; i++) {
        void *memory = NULL;
        status = apps_add_input(job, dtype, 3, shape, &memory);
        if (status != HISTO_OK) break;
        uint16_t *made = dtype == HISTO_U16 ? memory : malloc((size_t)samples * sizeof *made);
        if (!made) return histo_fail_memory((size_t)samples * sizeof *made, "a volume");
        apps_image_volume(job->photo, n, i, made);
        for (int64_t k = 0; k < samples && dtype != HISTO_U16; k++)
            ((float *)memory)[k] = made[k];
        if (made != memory) free(made);
    }
    if (status == HISTO_OK) status = apps_add_numbers(job);
    return status == HISTO_OK ? apps_place_and_ready(job) : status;
}

/* ---- Steps ---- */

histo_status apps_count(const apps_engine *e, int h, const histo_view *views, void *stream)
{
    const histo_fill_options fill = {.stream = stream, .threads = e->threads, .replace = true};
    return e->plan[h] ? histo_plan_fill(e->plan[h], e->hist[h], views, &fill)
                      : histo_hist_fill(e->hist[h], views, &fill);
}

histo_view apps_tiles_of(const histo_view *image)
{
    histo_view tiles = *image;
    const int row = image->ndim - 2;
    const int64_t shape[4] = {TILES, TILES, image->shape[row] / TILES, image->shape[row + 1] / TILES};
    const int64_t pitch = image->strides[row], size = image->strides[row + 1];
    const int64_t strides[4] = {shape[2] * pitch, shape[3] * size, pitch, size};
    memcpy(tiles.shape + row, shape, sizeof shape);
    memcpy(tiles.strides + row, strides, sizeof strides);
    tiles.ndim = row + 4;
    tiles.batch_ndim = row + 2;
    return tiles;
}

histo_status apps_apply(const apps_job *job, const apps_engine *e, const apps_frame *f, void *stream)
{
    histo_apply_options o = {.stream = stream, .threads = e->threads};
    const int64_t *shape = f->in[0].shape + f->in[0].ndim - 2;
    if (job->row->tiled) o.tiles = (histo_tiles){2, {TILES, TILES}, {shape[0] / TILES, shape[1] / TILES}};
    return histo_map_apply(e->map, f->in, &f->out, &o);
}

histo_status apps_equalize(const apps_job *job, const apps_engine *e, const apps_frame *f, void *stream)
{
    const bool tiled = job->row->tiled;
    const histo_view counted = tiled ? apps_tiles_of(&f->in[0]) : f->in[0];
    const histo_make_options make = {
        .hi = (double)(job->row->images.levels - 1), .clip = tiled ? 2 : 0, .stream = stream};
    histo_status status = apps_count(e, 0, &counted, stream);
    if (status == HISTO_OK) status = histo_map_equalize(e->map, e->hist[0], &make);
    return status == HISTO_OK ? apps_apply(job, e, f, stream) : status;
}

histo_status apps_match(const apps_job *job, const apps_engine *e, const apps_frame *f, void *stream)
{
    histo_status status = apps_count(e, 0, &f->in[0], stream);
    if (status == HISTO_OK) status = histo_map_match(e->map, e->hist[0], e->hist[1], stream);
    return status == HISTO_OK ? apps_apply(job, e, f, stream) : status;
}

histo_status apps_match_both(const apps_job *job, const apps_engine *e, const apps_frame *f, void *stream)
{
    histo_status status = apps_count(e, 1, &f->in[1], stream);
    return status == HISTO_OK ? apps_match(job, e, f, stream) : status;
}

histo_status apps_otsu(const apps_job *job, const apps_engine *e, const apps_frame *f, void *stream)
{
    const histo_make_options make = {.hi = 255, .stream = stream};
    histo_status status = apps_count(e, 0, &f->in[0], stream);
    if (status == HISTO_OK) status = histo_map_classes(e->map, e->hist[0], HISTO_SPLIT_OTSU, 2, &make);
    return status == HISTO_OK ? apps_apply(job, e, f, stream) : status;
}

void apps_colors_of(const histo_view *pixels, histo_view views[2])
{
    for (int a = 0; a < 2; a++) {
        views[a] = *pixels;
        views[a].data = (const char *)pixels->data + a;
        views[a].ndim = 2;
    }
}

histo_status apps_project(const apps_job *job, const apps_engine *e, const apps_frame *f, void *stream)
{
    (void)job;
    histo_view views[2];
    apps_colors_of(&f->in[0], views);
    return histo_map_apply(e->map, views, &f->out, &(histo_apply_options){.stream = stream, .threads = e->threads});
}
