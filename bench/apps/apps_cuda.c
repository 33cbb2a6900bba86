/* The applications on images in a GPU's memory: a CUDA graph of several frames, which together exceed the L2 cache.
 * Times are those of one frame. The CPU must give the same results. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/apps/apps_steps.h"
#include "bench/core/cuda_check.h"

enum { WARMUPS = 2, MOST_FRAMES = 40 };

/* More than the L2 cache of any GPU holds. */
static const size_t cold_bytes = (size_t)256 << 20;

/* Frames, and the graph of their steps. */
typedef struct apps_graph {
    int frames;
    apps_frame frame[MOST_FRAMES];
    void *memory[APPS_MAX_INPUTS + 1];
    cudaGraph_t graph;
    cudaGraphExec_t launched;
} apps_graph;

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

static histo_status copy_or_read(void *context, void *stream)
{
    const rate *r = context;
    const bench_device *device = bench_device_find(HISTO_DEVICE_CUDA(0), BENCH_RESIDENT);
    if (!r->to) return device->read(r->from, r->bytes, 1, stream);
    return bench_cuda_check(cudaMemcpyAsync(r->to, r->from, r->bytes, cudaMemcpyDeviceToDevice, stream), "copying");
}

static histo_status measure_rate(rate *r, double *bytes_a_us)
{
    enum { TRIES = 5 };
    const bench_device *device = bench_device_find(HISTO_DEVICE_CUDA(0), BENCH_RESIDENT);
    histo_status status = HISTO_OK;
    for (int i = 0; i < TRIES && status == HISTO_OK; i++) {
        double us = 0;
        status = device->time(copy_or_read, r, &us);
        const double rate_now = us > 0 ? (double)r->bytes * (r->to ? 2 : 1) / us : 0;
        if (rate_now > *bytes_a_us) *bytes_a_us = rate_now;
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
    TRY(cudaStreamCreateWithFlags(&own.stream, cudaStreamNonBlocking), "creating a stream");
    TRY(cudaEventCreate(&own.begun), "creating an event");
    TRY(cudaEventCreate(&own.ended), "creating an event");
    histo_status status = HISTO_OK;
    for (int i = 0; i < 2 && status == HISTO_OK; i++) {
        status = bench_cuda_check(cudaMalloc(&memory[i], bytes), "memory to measure with");
        if (status == HISTO_OK) status = bench_cuda_check(cudaMemset(memory[i], 0, bytes), "memory to measure with");
    }
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

static histo_status place_operand(apps_graph *g, int operand, const histo_view *host)
{
    const size_t bytes = apps_bytes_of(host);
    TRY(cudaMalloc(&g->memory[operand], bytes * (size_t)g->frames), "memory for the frames");
    for (int f = 0; f < g->frames; f++)
        TRY(cudaMemcpy((char *)g->memory[operand] + (size_t)f * bytes, host->data, bytes, cudaMemcpyDefault),
            "copying a frame");
    return HISTO_OK;
}

/* Copies of the inputs, and room for the results, of enough frames. */
static histo_status place_frames(const apps_job *job, apps_graph *g)
{
    size_t bytes = apps_bytes_of(&job->result);
    for (int i = 0; i < job->input_count; i++)
        bytes += apps_bytes_of(&job->inputs[i]);
    g->frames = (int)(cold_bytes / bytes) + 1;
    if (g->frames > MOST_FRAMES) g->frames = MOST_FRAMES;
    histo_status status = HISTO_OK;
    for (int i = 0; i < job->input_count && status == HISTO_OK; i++)
        status = place_operand(g, i, &job->inputs[i]);
    if (status == HISTO_OK) status = place_operand(g, APPS_MAX_INPUTS, &job->result);
    for (int f = 0; f < g->frames; f++) {
        for (int i = 0; i < job->input_count; i++) {
            g->frame[f].in[i] = job->inputs[i];
            g->frame[f].in[i].data = (char *)g->memory[i] + (size_t)f * apps_bytes_of(&job->inputs[i]);
        }
        g->frame[f].out = job->result;
        g->frame[f].out.data = (char *)g->memory[APPS_MAX_INPUTS] + (size_t)f * apps_bytes_of(&job->result);
    }
    return status;
}

/* A graph of work on each frame. */
typedef histo_status work_on(const apps_job *job, const apps_frame *f);

static histo_status run_step(const apps_job *job, const apps_frame *f)
{
    return job->row->step(job, &((apps_work *)job->state)->engine[0], f, own.stream);
}

static histo_status capture(const apps_job *job, work_on *work, cudaGraph_t *graph, cudaGraphExec_t *launched)
{
    const apps_graph *g = ((apps_work *)job->state)->graph;
    TRY(cudaStreamBeginCapture(own.stream, cudaStreamCaptureModeGlobal), "capturing a graph");
    histo_status status = HISTO_OK;
    for (int f = 0; f < g->frames && status == HISTO_OK; f++)
        status = work(job, &g->frame[f]);
    const histo_status ended = bench_cuda_check(cudaStreamEndCapture(own.stream, graph), "capturing a graph");
    if (status == HISTO_OK) status = ended;
    return status == HISTO_OK ? bench_cuda_check(cudaGraphInstantiate(launched, *graph, 0), "making a graph") : status;
}

/* The time of a frame in a graph. */
static histo_status time_graph(cudaGraphExec_t launched, int frames, double *us)
{
    float ms = 0;
    TRY(cudaEventRecord(own.begun, own.stream), "recording an event");
    TRY(cudaGraphLaunch(launched, own.stream), "launching a graph");
    TRY(cudaEventRecord(own.ended, own.stream), "recording an event");
    TRY(cudaEventSynchronize(own.ended), "waiting for the GPU");
    TRY(cudaEventElapsedTime(&ms, own.begun, own.ended), "taking the time");
    *us = (double)ms * 1e3 / frames;
    return HISTO_OK;
}

static histo_status read_frame(const apps_job *job, const apps_frame *f)
{
    const bench_device *device = bench_device_find(HISTO_DEVICE_CUDA(0), BENCH_RESIDENT);
    return device->read(f->in[0].data, (size_t)job->bytes, 1, own.stream);
}

/* Reading frames and nothing else, in a graph like the others: the roof of what takes as long as its launches. */
static histo_status time_reading(const apps_job *job, double *us)
{
    enum { TRIES = 5 };
    cudaGraph_t graph = NULL;
    cudaGraphExec_t launched = NULL;
    histo_status status = capture(job, read_frame, &graph, &launched);
    *us = 0;
    for (int i = 0; i < TRIES && status == HISTO_OK; i++) {
        double again = 0;
        status = time_graph(launched, ((apps_work *)job->state)->graph->frames, &again);
        if (i == 0 || again < *us) *us = again;
    }
    if (launched) cudaGraphExecDestroy(launched);
    if (graph) cudaGraphDestroy(graph);
    return status;
}

/* ---- Engines ---- */

static histo_status place(apps_job *job)
{
    apps_work *w = job->state;
    apps_engine *gpu = &w->engine[0], *cpu = &w->engine[1];
    w->engines = 2;
    memcpy(cpu->frame.in, job->inputs, sizeof cpu->frame.in);
    w->graph = calloc(1, sizeof *w->graph);
    if (!w->graph) return histo_fail_memory(sizeof *w->graph, "an application");
    histo_status status = prepare();
    if (status == HISTO_OK) status = place_frames(job, w->graph);
    gpu->frame = w->graph->frame[0];
    if (status == HISTO_OK) status = apps_make_engine(w, gpu);
    return status == HISTO_OK ? apps_make_engine(w, cpu) : status;
}

/* The graph, after a few frames that are not in it. */
static histo_status ready(apps_job *job)
{
    const apps_row *row = job->row;
    apps_work *w = job->state;
    apps_engine *gpu = &w->engine[0];
    const histo_plan_options how = {.effort = HISTO_MEASURE, .device = HISTO_DEVICE_CUDA(0)};
    histo_status status = HISTO_OK;
    if (row->measured) status = histo_plan_create(&gpu->plan[0], gpu->hist[0], gpu->frame.in, NULL, &how);
    for (int i = 0; i < WARMUPS && status == HISTO_OK; i++)
        status = run_step(job, &gpu->frame);
    if (status == HISTO_OK) status = bench_cuda_check(cudaStreamSynchronize(own.stream), "waiting for the GPU");
    if (status == HISTO_OK) status = capture(job, run_step, &w->graph->graph, &w->graph->launched);
    job->roof_us = (double)job->bytes * (row->copying / own.copy + row->reading / own.read);
    return status == HISTO_OK && row->reads_frames ? time_reading(job, &job->roof_us) : status;
}

static histo_status time_step(apps_job *job, double *us)
{
    const apps_graph *g = ((apps_work *)job->state)->graph;
    return time_graph(g->launched, g->frames, us);
}

/* Compare the result of the last frame with the CPU's. */
static histo_status result(apps_job *job)
{
    const apps_work *w = job->state;
    const apps_engine *cpu = &w->engine[1];
    const size_t size = histo_dtype_size(job->result.dtype);
    apps_frame f = cpu->frame;
    histo_status status = apps_image_allocate(job->result.dtype, job->result.ndim, job->result.shape, &f.out);
    f.out.batch_ndim = job->result.batch_ndim;
    if (status == HISTO_OK)
        status = bench_cuda_check(cudaMemcpy((void *)job->result.data, w->graph->frame[w->graph->frames - 1].out.data,
                                             apps_bytes_of(&job->result), cudaMemcpyDeviceToHost),
                                  "copying the result");
    if (status == HISTO_OK) status = job->row->step(job, cpu, &f, NULL);
    const char *expected = f.out.data, *ours = job->result.data;
    for (int64_t i = 0; i < histo_view_size(&f.out) && status == HISTO_OK; i++)
        job->differences += memcmp(expected + (size_t)i * size, ours + (size_t)i * size, size) != 0;
    free((void *)expected);
    return status;
}

static void end(apps_job *job)
{
    apps_graph *g = job->state ? ((apps_work *)job->state)->graph : NULL;
    if (g && g->launched) cudaGraphExecDestroy(g->launched);
    if (g && g->graph) cudaGraphDestroy(g->graph);
    for (int i = 0; g && i <= APPS_MAX_INPUTS; i++)
        cudaFree(g->memory[i]);
    free(g);
    apps_end(job);
}

/* ---- Steps of GPUs alone ---- */

static histo_status stretch(const apps_job *job, const apps_engine *e, const apps_frame *f, void *stream)
{
    static const double q[] = {0.02, 0.98}, target[] = {0, 255};
    histo_status status = apps_count(e, 0, &f->in[0], stream);
    if (status == HISTO_OK) status = histo_map_landmarks(e->map, e->hist[0], 2, q, target, false, stream);
    return status == HISTO_OK ? apps_apply(job, e, f, stream) : status;
}

/* Counts of one image, or the joint histogram of two volumes, of which mutual information is told. */
static histo_status joint(const apps_job *job, const apps_engine *e, const apps_frame *f, void *stream)
{
    (void)job;
    const histo_read_options read = {.stream = stream};
    histo_status status = apps_count(e, 0, f->in, stream);
    if (status != HISTO_OK) return status;
    return histo_hist_read_counts(e->hist[0], HISTO_BINS, (void *)f->out.data, histo_view_size(&f->out), &read);
}

static histo_status fill_read(const apps_job *job, const apps_engine *e, const apps_frame *f, void *stream)
{
    const histo_fill_options fill = {.stream = stream, .replace = true};
    const histo_read_options read = {.stream = stream};
    if (!e->plan[0]) return joint(job, e, f, stream);
    return histo_plan_fill_read(e->plan[0], e->hist[0], f->in, &fill, HISTO_BINS, (void *)f->out.data,
                                histo_view_size(&f->out), &read);
}

static histo_status track(const apps_job *job, const apps_engine *e, const apps_frame *f, void *stream)
{
    (void)job;
    histo_view views[2];
    apps_colors_of(&f->in[0], views);
    return histo_map_moments(e->map, views, apps_window, &(histo_apply_options){.stream = stream},
                             (histo_moments *)(void *)f->out.data);
}

/* ---- Ellipses ---- */

/* What Birchfield's head tracker counts in a frame: the colours inside an ellipse at each of 17 x 17 places, in three
 * sizes. 256 colours are the bytes of the image. All places of a size are one fill: batch entries whose samples
 * overlap, with one mask. */
enum { ELLIPSE_PLACES = 17, ELLIPSE_SIZES = 3, ELLIPSE_COLORS = 256 };
#define ELLIPSE_COUNTS ((int64_t)ELLIPSE_PLACES * ELLIPSE_PLACES * ELLIPSE_COLORS)

static void draw_ellipse(uint8_t *mask, int64_t rows, int64_t cols, int64_t inset)
{
    const int64_t a = cols / 2 - inset, b = rows / 2 - inset;
    for (int64_t y = 0; y < rows; y++)
        for (int64_t x = 0; x < cols; x++) {
            const int64_t dx = x - cols / 2, dy = y - rows / 2;
            mask[y * cols + x] = dx * dx * b * b + dy * dy * a * a <= a * a * b * b;
        }
}

/* Begin the search for a head, of 401 x 481 pixels in a 4K image. */
static histo_status begin_ellipses(apps_job *job)
{
    const histo_axis axis = histo_axis_integer(0, ELLIPSE_COLORS);
    const int64_t part = job->quick ? 3 : 1;
    const int64_t image[] = {job->row->images.height / part, job->row->images.width / part};
    const int64_t masks[] = {ELLIPSE_SIZES, image[1] / 16 * 2 + 1, image[1] / 96 * 10 + 1};
    void *memory = NULL;
    histo_status status = apps_begin(job, 1, &axis);
    if (status != HISTO_OK) return status;
    ((apps_work *)job->state)->batch = ELLIPSE_PLACES * ELLIPSE_PLACES;
    status = apps_add_input(job, HISTO_U8, 2, image, &memory);
    if (status != HISTO_OK) return status;
    apps_image_gray(job->photo, image[1], image[0], memory);
    status = apps_add_input(job, HISTO_U8, 3, masks, &memory);
    for (int64_t k = 0; k < ELLIPSE_SIZES && status == HISTO_OK; k++)
        draw_ellipse((uint8_t *)memory + k * masks[1] * masks[2], masks[1], masks[2], k);
    if (status == HISTO_OK) status = apps_add_numbers(job);
    return status == HISTO_OK ? apps_place_and_ready(job) : status;
}

static histo_status count_ellipses(const apps_job *job, const apps_engine *e, const apps_frame *f, void *stream)
{
    (void)job;
    const histo_view *image = &f->in[0], *masks = &f->in[1];
    const int64_t rows = masks->shape[1], cols = masks->shape[2], pitch = image->strides[0];
    const int64_t shape[] = {ELLIPSE_PLACES, ELLIPSE_PLACES, rows, cols};
    histo_view samples = histo_view_nd(image->data, HISTO_U8, 4, shape), mask = samples;
    samples.data = (const char *)image->data + (image->shape[0] - rows) / 2 * pitch + (image->shape[1] - cols) / 2;
    samples.batch_ndim = mask.batch_ndim = 2;
    memcpy(samples.strides, (const int64_t[]){pitch, 1, pitch, 1}, 4 * sizeof *shape);
    memcpy(mask.strides, (const int64_t[]){0, 0, cols, 1}, 4 * sizeof *shape);
    const histo_fill_options fill = {.mask = &mask, .stream = stream, .replace = true};
    histo_status status = HISTO_OK;
    for (int64_t k = 0; k < ELLIPSE_SIZES && status == HISTO_OK; k++) {
        mask.data = (const char *)masks->data + k * rows * cols;
        status = histo_hist_fill(e->hist[0], &samples, &fill);
        if (status == HISTO_OK)
            status = histo_hist_read_counts(e->hist[0], HISTO_BINS, (uint64_t *)f->out.data + k * ELLIPSE_COUNTS,
                                            ELLIPSE_COUNTS, &(histo_read_options){.stream = stream});
    }
    return status;
}

/* ---- The table ---- */

/* How they are made, what is timed, its images, and the target. */
#define ROW(its_name, its_begin, its_step, its_images, its_target, ...)                                                \
    {                                                                                                                  \
        .name = its_name, .begin = its_begin, .step = its_step, .images = {its_images}, .targets = {{its_target}},     \
        __VA_ARGS__                                                                                                    \
    }
#define AT_MOST(its_us) .us = its_us
#define OF_ROOF(its_share) .share = its_share

#define HD HISTO_U8, 1, 1080, 1920, 256
#define BYTES(n) HISTO_U8, n, 2160, 3840, 256
#define DEEP HISTO_U16, 1, 2160, 3840, 4096
#define CUBE(dtype, n) dtype, 1, 1, n, 0
#define MAPPED .copying = 1.5 /* an image is read twice and written once */
#define JOINT .numbers = 64 * 64, .counts = true, .measured = true, .reading = 1
#define MOMENTS (sizeof(histo_moments) / sizeof(double))

static const apps_row rows[] = {
    ROW("equalize/u8/1080p", apps_begin_image, apps_equalize, HD, AT_MOST(10), MAPPED),
    ROW("equalize/u8/4k", apps_begin_image, apps_equalize, BYTES(1), AT_MOST(13), MAPPED),
    ROW("equalize/u8/64x4k", apps_begin_image, apps_equalize, BYTES(64), OF_ROOF(0.85), MAPPED),
    ROW("clahe/u8/1080p", apps_begin_image, apps_equalize, HD, AT_MOST(12), MAPPED, .tiled = true),
    ROW("clahe/u8/4k", apps_begin_image, apps_equalize, BYTES(1), AT_MOST(18), MAPPED, .tiled = true),
    ROW("clahe/u8/64x4k", apps_begin_image, apps_equalize, BYTES(64), AT_MOST(550), MAPPED, .tiled = true),
    ROW("clahe/u16/4k", apps_begin_image, apps_equalize, DEEP, AT_MOST(35), MAPPED, .tiled = true),
    ROW("match/u8/4k", apps_begin_pair, apps_match, BYTES(1), AT_MOST(20), MAPPED),
    ROW("otsu/u8/4k", apps_begin_image, apps_otsu, BYTES(1), AT_MOST(20), MAPPED),
    ROW("stretch/u8/4k", apps_begin_image, stretch, BYTES(1), AT_MOST(20), MAPPED),
    ROW("fill-read/u8/1080p", apps_begin_image, fill_read, HD, OF_ROOF(1 / 1.5), .numbers = 256, .counts = true,
        .measured = true, .reads_frames = true),
    ROW("joint-64x64/f32/256^3", apps_begin_volumes, joint, CUBE(HISTO_F32, 256), OF_ROOF(0.8), JOINT),
    ROW("joint-64x64/u16/512^3", apps_begin_volumes, joint, CUBE(HISTO_U16, 512), OF_ROOF(0.8), JOINT),
    ROW("moments/hs/300x200", apps_begin_colors, track, HD, AT_MOST(12), .numbers = MOMENTS),
    ROW("backproject/hs/1080p", apps_begin_colors, apps_project, HD, AT_MOST(0), .copying = 1),
    ROW("ellipses-867/u8/4k", begin_ellipses, count_ellipses, BYTES(1), AT_MOST(1e6 / 120),
        .numbers = ELLIPSE_SIZES * ELLIPSE_COUNTS, .counts = true), /* at 120 Hz */
};

const apps_table apps_cuda = {.rows = rows,
                              .count = sizeof rows / sizeof *rows,
                              .place = place,
                              .ready = ready,
                              .time = time_step,
                              .result = result,
                              .end = end,
                              .describe = describe};
