/* The applications on images in a GPU's memory: a CUDA graph of several frames, which together exceed the L2 cache.
 * Times are those of one frame. The CPU must give the same results. */
#include <stdlib.h>
#include <string.h>

#include "bench/apps/apps.h"
#include "bench/core/cuda_check.h"

enum { WARMUPS = 2, TILES = 8, MOST_FRAMES = 40 };

/* Beyond the L2 cache of any GPU. */
static const size_t cold_bytes = (size_t)256 << 20;

/* What is made once, on either device. */
typedef struct engine {
    histo_device device;
    histo_hist *hist[2];
    histo_plan *plan; /* of the first; NULL: that of histo_hist_fill */
    histo_map *map;
} engine;

typedef struct frame {
    histo_view in[2], out;
} frame;

/* Enqueue one frame, or do it. */
typedef histo_status step_of(const apps_job *job, const engine *e, const frame *f, void *stream);

typedef struct work {
    step_of *step;
    int naxes;
    histo_axis axes[2];
    bool tiled, measured; /* measured: counted by a plan that has timed the strategies */
    engine gpu, cpu;
    int frames;
    frame frame[MOST_FRAMES];
    void *memory[APPS_MAX_INPUTS + 1];
    cudaGraph_t graph;
    cudaGraphExec_t launched;
    int64_t window[4];
} work;

/* ---- Roofs ---- */

static struct {
    double read, copy; /* bytes a microsecond; copying reads and writes as many */
    cudaStream_t stream;
    cudaEvent_t begun, ended;
} own;

typedef struct rate {
    const void *from;
    void *to; /* NULL: read */
    size_t bytes;
} rate;

static histo_status enqueue_rate(const rate *r)
{
    if (r->to)
        return bench_cuda_check(cudaMemcpyAsync(r->to, r->from, r->bytes, cudaMemcpyDeviceToDevice, own.stream),
                                "copying");
    const bench_device *device = bench_device_find(HISTO_DEVICE_CUDA(0), BENCH_RESIDENT);
    return device->read(r->from, r->bytes, 1, own.stream);
}

static histo_status time_events(double *us)
{
    float ms = 0;
    histo_status status = bench_cuda_check(cudaEventRecord(own.ended, own.stream), "recording an event");
    if (status == HISTO_OK) status = bench_cuda_check(cudaEventSynchronize(own.ended), "waiting for the GPU");
    if (status == HISTO_OK)
        status = bench_cuda_check(cudaEventElapsedTime(&ms, own.begun, own.ended), "taking the time");
    *us = (double)ms * 1e3;
    return status;
}

static histo_status measure_rate(const rate *r, double *bytes_a_us)
{
    enum { TRIES = 5 };
    histo_status status = HISTO_OK;
    *bytes_a_us = 0;
    for (int i = 0; i < TRIES && status == HISTO_OK; i++) {
        double us = 0;
        status = bench_cuda_check(cudaEventRecord(own.begun, own.stream), "recording an event");
        if (status == HISTO_OK) status = enqueue_rate(r);
        if (status == HISTO_OK) status = time_events(&us);
        const double its = us > 0 ? (double)r->bytes * (r->to ? 2 : 1) / us : 0;
        if (its > *bytes_a_us) *bytes_a_us = its;
    }
    return status;
}

/* Streams, events and roofs, once. */
static histo_status prepare(void)
{
    static const size_t bytes = (size_t)1 << 30;
    rate r = {.bytes = bytes};
    void *memory[2] = {NULL, NULL};
    if (own.copy > 0) return HISTO_OK;
    histo_status status =
        bench_cuda_check(cudaStreamCreateWithFlags(&own.stream, cudaStreamNonBlocking), "creating a stream");
    if (status == HISTO_OK) status = bench_cuda_check(cudaEventCreate(&own.begun), "creating an event");
    if (status == HISTO_OK) status = bench_cuda_check(cudaEventCreate(&own.ended), "creating an event");
    for (int i = 0; i < 2 && status == HISTO_OK; i++)
        status = bench_cuda_check(cudaMalloc(&memory[i], bytes), "memory to measure with");
    for (int i = 0; i < 2 && status == HISTO_OK; i++)
        status = bench_cuda_check(cudaMemset(memory[i], 0, bytes), "memory to measure with");
    const bench_device *device = bench_device_find(HISTO_DEVICE_CUDA(0), BENCH_RESIDENT);
    double us;
    if (status == HISTO_OK) status = device->time(device->launch, NULL, &us); /* makes what reading needs */
    r.from = memory[0];
    if (status == HISTO_OK) status = measure_rate(&r, &own.read);
    r.to = memory[1];
    if (status == HISTO_OK) status = measure_rate(&r, &own.copy);
    for (int i = 0; i < 2; i++)
        cudaFree(memory[i]);
    return status;
}

static histo_status describe(FILE *to)
{
    histo_status status = prepare();
    if (status != HISTO_OK) return status;
    fprintf(
        to,
        "one frame of several in a CUDA graph, in more memory than the L2 cache holds; reading %.0f GB/s, reading and "
        "writing %.0f GB/s;\nroof: how long both take for the bytes that the application must read and write\n",
        own.read * 1e-3, own.copy * 1e-3);
    return HISTO_OK;
}

/* ---- Frames ---- */

static int64_t side(const apps_job *job, int64_t n)
{
    return job->quick ? n / 4 / TILES * TILES : n;
}

static size_t bytes_of(const histo_view *view)
{
    return (size_t)histo_view_size(view) * histo_dtype_size(view->dtype);
}

static histo_status begin_work(apps_job *job, step_of *step, int naxes, const histo_axis *axes, work **w)
{
    *w = job->state = calloc(1, sizeof **w);
    if (!*w) return histo_fail_memory(sizeof **w, "an application");
    (*w)->step = step;
    (*w)->naxes = naxes;
    memcpy((*w)->axes, axes, (size_t)naxes * sizeof *axes);
    (*w)->gpu.device = HISTO_DEVICE_CUDA(0);
    (*w)->cpu.device = HISTO_DEVICE_CPU;
    return HISTO_OK;
}

static histo_status add_input(apps_job *job, histo_dtype dtype, int ndim, const int64_t *shape, void **pixels)
{
    histo_view *view = &job->inputs[job->input_count++];
    histo_status status = apps_image_allocate(dtype, ndim, shape, view);
    *pixels = (void *)view->data;
    return status;
}

static histo_status place(work *w, int operand, const histo_view *host)
{
    const size_t bytes = bytes_of(host);
    histo_status status =
        bench_cuda_check(cudaMalloc(&w->memory[operand], bytes * (size_t)w->frames), "memory for the frames");
    for (int f = 0; f < w->frames && status == HISTO_OK; f++)
        status = bench_cuda_check(
            cudaMemcpy((char *)w->memory[operand] + (size_t)f * bytes, host->data, bytes, cudaMemcpyDefault),
            "copying a frame");
    return status;
}

/* Copies of the inputs, and room for the results, of enough frames. */
static histo_status place_frames(apps_job *job, work *w)
{
    size_t bytes = bytes_of(&job->result);
    for (int i = 0; i < job->input_count; i++)
        bytes += bytes_of(&job->inputs[i]);
    w->frames = (int)(cold_bytes / bytes) + 1;
    if (w->frames > MOST_FRAMES) w->frames = MOST_FRAMES;
    histo_status status = HISTO_OK;
    for (int i = 0; i < job->input_count && status == HISTO_OK; i++)
        status = place(w, i, &job->inputs[i]);
    if (status == HISTO_OK) status = place(w, APPS_MAX_INPUTS, &job->result);
    for (int f = 0; f < w->frames; f++) {
        for (int i = 0; i < job->input_count; i++) {
            w->frame[f].in[i] = job->inputs[i];
            w->frame[f].in[i].data = (char *)w->memory[i] + (size_t)f * bytes_of(&job->inputs[i]);
        }
        w->frame[f].out = job->result;
        w->frame[f].out.data = (char *)w->memory[APPS_MAX_INPUTS] + (size_t)f * bytes_of(&job->result);
    }
    return status;
}

static frame host_frame(const apps_job *job, const histo_view *out)
{
    frame f = {.out = *out};
    memcpy(f.in, job->inputs, sizeof f.in);
    return f;
}

static histo_status make_engine(const work *w, engine *e, int hists, int64_t batch)
{
    histo_status status = histo_map_create(&e->map, w->naxes, w->axes, &(histo_map_options){.batch = batch});
    for (int h = 0; h < hists && status == HISTO_OK; h++)
        status = histo_hist_create(&e->hist[h], w->naxes, w->axes, &(histo_hist_options){.batch = batch});
    return status;
}

/* The graph, after a few frames that are not in it. */
static histo_status capture(apps_job *job, work *w)
{
    histo_status status = HISTO_OK;
    for (int i = 0; i < WARMUPS && status == HISTO_OK; i++)
        status = w->step(job, &w->gpu, &w->frame[0], own.stream);
    if (status == HISTO_OK) status = bench_cuda_check(cudaStreamSynchronize(own.stream), "waiting for the GPU");
    if (status != HISTO_OK) return status;
    status = bench_cuda_check(cudaStreamBeginCapture(own.stream, cudaStreamCaptureModeGlobal), "capturing a graph");
    if (status != HISTO_OK) return status;
    for (int f = 0; f < w->frames && status == HISTO_OK; f++)
        status = w->step(job, &w->gpu, &w->frame[f], own.stream);
    const histo_status ended = bench_cuda_check(cudaStreamEndCapture(own.stream, &w->graph), "capturing a graph");
    if (status == HISTO_OK) status = ended;
    return status == HISTO_OK ? bench_cuda_check(cudaGraphInstantiate(&w->launched, w->graph, 0), "making a graph")
                              : status;
}

/* From the inputs, the result and the step to a graph. The second image, if there is one, is counted once. */
static histo_status ready(apps_job *job, work *w, int hists, int64_t batch)
{
    histo_status status = prepare();
    if (status == HISTO_OK) status = place_frames(job, w);
    if (status == HISTO_OK) status = make_engine(w, &w->gpu, hists, batch);
    if (status == HISTO_OK) status = make_engine(w, &w->cpu, hists, batch);
    if (status == HISTO_OK && hists > 1) status = histo_hist_fill(w->gpu.hist[1], &w->frame[0].in[1], NULL);
    if (status == HISTO_OK && hists > 1) status = histo_hist_fill(w->cpu.hist[1], &job->inputs[1], NULL);
    if (status == HISTO_OK && w->measured) {
        const histo_plan_options how = {.effort = HISTO_MEASURE, .device = w->gpu.device};
        status = histo_plan_create(&w->gpu.plan, w->gpu.hist[0], w->frame[0].in, NULL, &how);
    }
    return status == HISTO_OK ? capture(job, w) : status;
}

static histo_status run(void *context, void *stream)
{
    const work *w = ((apps_job *)context)->state;
    return bench_cuda_check(cudaGraphLaunch(w->launched, stream), "launching a graph");
}

static histo_status time_run(apps_job *job, double *us)
{
    const work *w = job->state;
    histo_status status = bench_cuda_check(cudaEventRecord(own.begun, own.stream), "recording an event");
    if (status == HISTO_OK) status = run(job, own.stream);
    if (status == HISTO_OK) status = time_events(us);
    *us /= w->frames;
    return status;
}

/* Compare the result of the last frame with the CPU's. */
static histo_status result(apps_job *job)
{
    const work *w = job->state;
    const size_t size = histo_dtype_size(job->result.dtype);
    histo_view expected;
    histo_status status = apps_image_allocate(job->result.dtype, job->result.ndim, job->result.shape, &expected);
    expected.batch_ndim = job->result.batch_ndim;
    const frame f = host_frame(job, &expected);
    if (status == HISTO_OK)
        status = bench_cuda_check(cudaMemcpy((void *)job->result.data, w->frame[w->frames - 1].out.data,
                                             bytes_of(&job->result), cudaMemcpyDeviceToHost),
                                  "copying the result");
    if (status == HISTO_OK) status = w->step(job, &w->cpu, &f, NULL);
    const char *theirs = expected.data, *ours = job->result.data;
    for (int64_t i = 0; i < histo_view_size(&expected) && status == HISTO_OK; i++)
        job->differences += memcmp(theirs + (size_t)i * size, ours + (size_t)i * size, size) != 0;
    free((void *)expected.data);
    return status;
}

static void end_engine(engine *e)
{
    histo_plan_destroy(e->plan);
    for (int h = 0; h < 2; h++)
        histo_hist_destroy(e->hist[h]);
    histo_map_destroy(e->map);
}

static void end(apps_job *job)
{
    work *w = job->state;
    if (!w) return;
    if (w->launched) cudaGraphExecDestroy(w->launched);
    if (w->graph) cudaGraphDestroy(w->graph);
    end_engine(&w->gpu);
    end_engine(&w->cpu);
    for (int i = 0; i <= APPS_MAX_INPUTS; i++)
        cudaFree(w->memory[i]);
    free(w);
}

/* ---- Steps ---- */

static histo_status count(const engine *e, int h, const histo_view *views, void *stream)
{
    const histo_fill_options fill = {.stream = stream, .replace = true};
    return e->plan ? histo_plan_fill(e->plan, e->hist[h], views, &fill) : histo_hist_fill(e->hist[h], views, &fill);
}

/* The tiles of images as batch entries. */
static histo_view tiles_of(const histo_view *image)
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

static histo_status apply(const apps_job *job, const engine *e, const frame *f, void *stream)
{
    const work *w = job->state;
    histo_apply_options o = {.stream = stream};
    const int row = f->in[0].ndim - 2;
    if (w->tiled)
        o.tiles = (histo_tiles){2, {TILES, TILES}, {f->in[0].shape[row] / TILES, f->in[0].shape[row + 1] / TILES}};
    return histo_map_apply(e->map, f->in, &f->out, &o);
}

static histo_status equalize(const apps_job *job, const engine *e, const frame *f, void *stream)
{
    const work *w = job->state;
    const histo_view tiles = w->tiled ? tiles_of(&f->in[0]) : f->in[0];
    const histo_make_options make = {.hi = (double)(w->axes[0].bins - 1), .clip = w->tiled ? 2 : 0, .stream = stream};
    histo_status status = count(e, 0, &tiles, stream);
    if (status == HISTO_OK) status = histo_map_equalize(e->map, e->hist[0], &make);
    return status == HISTO_OK ? apply(job, e, f, stream) : status;
}

static histo_status match(const apps_job *job, const engine *e, const frame *f, void *stream)
{
    histo_status status = count(e, 0, &f->in[0], stream);
    if (status == HISTO_OK) status = histo_map_match(e->map, e->hist[0], e->hist[1], stream);
    return status == HISTO_OK ? apply(job, e, f, stream) : status;
}

static histo_status otsu(const apps_job *job, const engine *e, const frame *f, void *stream)
{
    const histo_make_options make = {.hi = 255, .stream = stream};
    histo_status status = count(e, 0, &f->in[0], stream);
    if (status == HISTO_OK) status = histo_map_classes(e->map, e->hist[0], HISTO_SPLIT_OTSU, 2, &make);
    return status == HISTO_OK ? apply(job, e, f, stream) : status;
}

static histo_status stretch(const apps_job *job, const engine *e, const frame *f, void *stream)
{
    static const double q[] = {0.02, 0.98}, target[] = {0, 255};
    histo_status status = count(e, 0, &f->in[0], stream);
    if (status == HISTO_OK) status = histo_map_landmarks(e->map, e->hist[0], 2, q, target, false, stream);
    return status == HISTO_OK ? apply(job, e, f, stream) : status;
}

static histo_status joint(const apps_job *job, const engine *e, const frame *f, void *stream)
{
    (void)job;
    histo_status status = count(e, 0, f->in, stream);
    const histo_read_options read = {.stream = stream};
    return status == HISTO_OK
               ? histo_hist_read_counts(e->hist[0], HISTO_BINS, (void *)f->out.data, histo_view_size(&f->out), &read)
               : status;
}

static histo_status fill_read(const apps_job *job, const engine *e, const frame *f, void *stream)
{
    (void)job;
    const histo_fill_options fill = {.stream = stream, .replace = true};
    const histo_read_options read = {.stream = stream};
    if (!e->plan) return joint(job, e, f, stream);
    return histo_plan_fill_read(e->plan, e->hist[0], f->in, &fill, HISTO_BINS, (void *)f->out.data,
                                histo_view_size(&f->out), &read);
}

/* Hue and saturation of interleaved pixels. */
static void colors_of(const histo_view *pixels, histo_view *views)
{
    for (int a = 0; a < 2; a++) {
        views[a] = *pixels;
        views[a].data = (const char *)pixels->data + a;
        views[a].ndim = 2;
    }
}

static histo_status track(const apps_job *job, const engine *e, const frame *f, void *stream)
{
    const work *w = job->state;
    histo_view views[2];
    colors_of(&f->in[0], views);
    return histo_map_moments(e->map, views, w->window, &(histo_apply_options){.stream = stream},
                             (histo_moments *)(void *)f->out.data);
}

static histo_status project(const apps_job *job, const engine *e, const frame *f, void *stream)
{
    (void)job;
    histo_view views[2];
    colors_of(&f->in[0], views);
    return histo_map_apply(e->map, views, &f->out, &(histo_apply_options){.stream = stream});
}

/* ---- Inputs ---- */

/* Images of u8, or of 12 bits in u16, from the photograph; copies of one if there are several. */
static histo_status add_images(apps_job *job, histo_dtype dtype, int64_t images, int64_t height, int64_t width)
{
    const int64_t shape[3] = {images, side(job, height), side(job, width)}, pixels = shape[1] * shape[2];
    char *memory = NULL;
    histo_status status = add_input(job, dtype, images > 1 ? 3 : 2, images > 1 ? shape : shape + 1, (void **)&memory);
    if (status != HISTO_OK) return status;
    job->inputs[job->input_count - 1].batch_ndim = images > 1;
    if (dtype == HISTO_U8)
        apps_image_gray(job->photo, shape[2], shape[1], (uint8_t *)memory);
    else
        apps_image_deep(job->photo, shape[2], shape[1], (uint16_t *)(void *)memory);
    const size_t bytes = (size_t)pixels * histo_dtype_size(dtype);
    for (int64_t i = 1; i < images; i++)
        memcpy(memory + (size_t)i * bytes, memory, bytes);
    return HISTO_OK;
}

/* An application that counts images, maps the first, and has a second one of another histogram if `reads` is 2. */
static histo_status begin_images(apps_job *job, step_of *step, histo_dtype dtype, int64_t images, int64_t height,
                                 int64_t width, bool tiled, int reads)
{
    const histo_axis axis = histo_axis_integer(0, dtype == HISTO_U8 ? 256 : 4096);
    work *w;
    histo_status status = begin_work(job, step, 1, &axis, &w);
    if (status != HISTO_OK) return status;
    w->tiled = tiled;
    for (int i = 0; i < reads && status == HISTO_OK; i++)
        status = add_images(job, dtype, images, height, width);
    const histo_view *in = &job->inputs[0];
    if (status == HISTO_OK && reads > 1)
        apps_image_dark(job->photo, in->shape[1], in->shape[0], (uint8_t *)job->inputs[1].data);
    if (status == HISTO_OK) status = apps_image_allocate(dtype, in->ndim, in->shape, &job->result);
    if (status != HISTO_OK) return status;
    job->result.batch_ndim = in->batch_ndim;
    const double bytes = (double)bytes_of(in);
    status = ready(job, w, reads, images * (tiled ? (int64_t)TILES * TILES : 1));
    job->bytes = 2 * (int64_t)bytes;
    job->roof_us = bytes * 3 / own.copy;
    return status;
}

static histo_status begin_equalize_1080p(apps_job *job)
{
    return begin_images(job, equalize, HISTO_U8, 1, 1080, 1920, false, 1);
}

static histo_status begin_equalize_4k(apps_job *job)
{
    return begin_images(job, equalize, HISTO_U8, 1, 2160, 3840, false, 1);
}

static histo_status begin_equalize_64(apps_job *job)
{
    return begin_images(job, equalize, HISTO_U8, 64, 2160, 3840, false, 1);
}

static histo_status begin_clahe_1080p(apps_job *job)
{
    return begin_images(job, equalize, HISTO_U8, 1, 1080, 1920, true, 1);
}

static histo_status begin_clahe_4k(apps_job *job)
{
    return begin_images(job, equalize, HISTO_U8, 1, 2160, 3840, true, 1);
}

static histo_status begin_clahe_64(apps_job *job)
{
    return begin_images(job, equalize, HISTO_U8, 64, 2160, 3840, true, 1);
}

static histo_status begin_clahe_deep(apps_job *job)
{
    return begin_images(job, equalize, HISTO_U16, 1, 2160, 3840, true, 1);
}

static histo_status begin_match(apps_job *job)
{
    return begin_images(job, match, HISTO_U8, 1, 2160, 3840, false, 2);
}

static histo_status begin_otsu(apps_job *job)
{
    return begin_images(job, otsu, HISTO_U8, 1, 2160, 3840, false, 1);
}

static histo_status begin_stretch(apps_job *job)
{
    return begin_images(job, stretch, HISTO_U8, 1, 2160, 3840, false, 1);
}

/* Reading a frame and nothing else, in a graph like the others: the roof of what takes as long as its launches. */
static histo_status time_reading(const work *w, size_t bytes, double *us)
{
    enum { TRIES = 5 };
    const bench_device *device = bench_device_find(HISTO_DEVICE_CUDA(0), BENCH_RESIDENT);
    cudaGraph_t graph = NULL;
    cudaGraphExec_t launched = NULL;
    histo_status status =
        bench_cuda_check(cudaStreamBeginCapture(own.stream, cudaStreamCaptureModeGlobal), "capturing a graph");
    if (status != HISTO_OK) return status;
    for (int f = 0; f < w->frames && status == HISTO_OK; f++)
        status = device->read(w->frame[f].in[0].data, bytes, 1, own.stream);
    const histo_status ended = bench_cuda_check(cudaStreamEndCapture(own.stream, &graph), "capturing a graph");
    if (status == HISTO_OK) status = ended;
    if (status == HISTO_OK) status = bench_cuda_check(cudaGraphInstantiate(&launched, graph, 0), "making a graph");
    *us = 0;
    for (int i = 0; i < TRIES && status == HISTO_OK; i++) {
        double its = 0;
        status = bench_cuda_check(cudaEventRecord(own.begun, own.stream), "recording an event");
        if (status == HISTO_OK) status = bench_cuda_check(cudaGraphLaunch(launched, own.stream), "launching a graph");
        if (status == HISTO_OK) status = time_events(&its);
        if (i == 0 || its < *us) *us = its;
    }
    *us /= w->frames;
    if (launched) cudaGraphExecDestroy(launched);
    if (graph) cudaGraphDestroy(graph);
    return status;
}

/* The histogram of an image in device memory. */
static histo_status begin_fill_read(apps_job *job)
{
    enum { LEVELS = 256 };
    const histo_axis axis = histo_axis_integer(0, LEVELS);
    const int64_t levels = LEVELS;
    work *w;
    histo_status status = begin_work(job, fill_read, 1, &axis, &w);
    if (status == HISTO_OK) status = add_images(job, HISTO_U8, 1, 1080, 1920);
    if (status == HISTO_OK) status = apps_image_allocate(HISTO_U64, 1, &levels, &job->result);
    if (status != HISTO_OK) return status;
    w->measured = true;
    status = ready(job, w, 1, 1);
    job->bytes = (int64_t)bytes_of(&job->inputs[0]);
    return status == HISTO_OK ? time_reading(w, (size_t)job->bytes, &job->roof_us) : status;
}

/* The joint histogram of two volumes, of which mutual information is told. */
static histo_status begin_joint(apps_job *job, histo_dtype dtype, int64_t n)
{
    enum { BINS = 64 };
    const histo_axis axes[2] = {histo_axis_regular(BINS, 0, 4096), histo_axis_regular(BINS, 0, 4096)};
    const int64_t length = side(job, n), shape[3] = {length, length, length}, samples = length * length * length;
    work *w;
    histo_status status = begin_work(job, joint, 2, axes, &w);
    for (int i = 0; i < 2 && status == HISTO_OK; i++) {
        void *memory = NULL;
        status = add_input(job, dtype, 3, shape, &memory);
        if (status != HISTO_OK) break;
        uint16_t *made = dtype == HISTO_U16 ? memory : malloc((size_t)samples * sizeof *made);
        if (!made) return histo_fail_memory((size_t)samples * sizeof *made, "a volume");
        apps_image_volume(job->photo, length, i, made);
        for (int64_t k = 0; k < samples && dtype != HISTO_U16; k++)
            ((float *)memory)[k] = made[k];
        if (made != memory) free(made);
    }
    if (status == HISTO_OK) status = apps_image_allocate(HISTO_U64, 2, (int64_t[]){BINS, BINS}, &job->result);
    if (status == HISTO_OK) w->measured = true;
    if (status == HISTO_OK) status = ready(job, w, 1, 1);
    job->bytes = 2 * samples * (int64_t)histo_dtype_size(dtype);
    job->roof_us = (double)job->bytes / own.read;
    return status;
}

static histo_status begin_joint_f32(apps_job *job)
{
    return begin_joint(job, HISTO_F32, 256);
}

static histo_status begin_joint_u16(apps_job *job)
{
    return begin_joint(job, HISTO_U16, 512);
}

/* An image of hue, saturation and value, and a map made of a region on both devices. */
static histo_status begin_colors(apps_job *job, step_of *step, histo_dtype dtype, int ndim, const int64_t *shape)
{
    const int64_t height = side(job, 1080), width = side(job, 1920);
    const histo_axis axes[2] = {histo_axis_integer(0, 180), histo_axis_integer(0, 256)};
    const int64_t pixels[3] = {height, width, 3}, window[4] = {width / 8, height / 8, side(job, 300), side(job, 200)};
    void *memory;
    work *w;
    histo_status status = begin_work(job, step, 2, axes, &w);
    if (status == HISTO_OK) status = add_input(job, HISTO_U8, 3, pixels, &memory);
    if (status != HISTO_OK) return status;
    memcpy(w->window, window, sizeof window);
    apps_image_hsv(job->photo, width, height, memory);
    status = apps_image_allocate(dtype, ndim, ndim == 2 ? pixels : shape, &job->result);
    if (status == HISTO_OK) status = prepare();
    if (status == HISTO_OK) status = place_frames(job, w);
    histo_view model[2];
    colors_of(&job->inputs[0], model);
    for (int a = 0; a < 2; a++) {
        model[a].data = (const char *)model[a].data + window[1] * model[a].strides[0] + window[0] * model[a].strides[1];
        model[a].shape[0] = window[3];
        model[a].shape[1] = window[2];
    }
    engine *const engines[2] = {&w->gpu, &w->cpu};
    for (int i = 0; i < 2 && status == HISTO_OK; i++) {
        status = make_engine(w, engines[i], 1, 1);
        if (status == HISTO_OK) status = histo_hist_fill(engines[i]->hist[0], model, NULL);
        if (status == HISTO_OK)
            status = histo_map_project(engines[i]->map, engines[i]->hist[0], NULL, &(histo_make_options){.hi = 255});
    }
    return status == HISTO_OK ? capture(job, w) : status;
}

static histo_status begin_track(apps_job *job)
{
    const int64_t moments = sizeof(histo_moments) / sizeof(double);
    return begin_colors(job, track, HISTO_F64, 1, &moments);
}

static histo_status begin_project(apps_job *job)
{
    histo_status status = begin_colors(job, project, HISTO_U8, 2, NULL);
    job->bytes = histo_view_size(&job->result) * 4;
    job->roof_us = (double)job->bytes / own.copy;
    return status;
}

/* ---- The table ---- */

#define ROW(its_name, its_begin, ...)                                                                                  \
    {                                                                                                                  \
        .name = its_name, .targets = {__VA_ARGS__}, .begin = its_begin, .run = run, .result = result, .end = end       \
    }

static const apps_row rows[] = {
    ROW("equalize/u8/1080p", begin_equalize_1080p, {.us = 10}),
    ROW("equalize/u8/4k", begin_equalize_4k, {.us = 13}),
    ROW("equalize/u8/64x4k", begin_equalize_64, {.share = 0.85}),
    ROW("clahe/u8/1080p", begin_clahe_1080p, {.us = 12}),
    ROW("clahe/u8/4k", begin_clahe_4k, {.us = 18}),
    ROW("clahe/u8/64x4k", begin_clahe_64, {.us = 550}),
    ROW("clahe/u16/4k", begin_clahe_deep, {.us = 35}),
    ROW("match/u8/4k", begin_match, {.us = 20}),
    ROW("otsu/u8/4k", begin_otsu, {.us = 20}),
    ROW("stretch/u8/4k", begin_stretch, {.us = 20}),
    ROW("fill-read/u8/1080p", begin_fill_read, {.share = 1 / 1.5}),
    ROW("joint-64x64/f32/256^3", begin_joint_f32, {.share = 0.8}),
    ROW("joint-64x64/u16/512^3", begin_joint_u16, {.share = 0.8}),
    ROW("moments/hs/300x200", begin_track, {.us = 12}),
    ROW("backproject/hs/1080p", begin_project),
};

const apps_table apps_cuda = {
    .rows = rows, .count = sizeof rows / sizeof *rows, .time = time_run, .describe = describe};
