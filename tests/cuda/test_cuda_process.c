/* What a process does around its fills on a GPU: it forks, resets the device, exits in the middle of a compilation,
 * runs out of the GPU's memory or gives it itself, and counts on many streams, in many processes, from every kind of
 * memory. Each test is a process of its own, since most leave CUDA unusable; this one never uses it. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "support/check.h"
#include "support/data.h"

enum { BINS = 100, SECONDS = 300 /* then a process that hangs is killed */, NO_GPU = 77 };

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s is false; the last error: '%s'\n", __FILE__, __LINE__, #condition,              \
                    histo_last_error());                                                                               \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)
#define DONE(call) CHECK((call) == HISTO_OK)
#define CUDA_DONE(call) CHECK((call) == cudaSuccess)
#define FAILED(wanted, words, call) CHECK((call) == (wanted) && strstr(histo_last_error(), words))

/* ---- What all of them count ---- */

/* Floats, and the same in the memory of the GPU. */
typedef struct samples {
    float *here, *there;
    histo_view host, device;
} samples;

static int make(samples *s, uint64_t seed, int64_t n)
{
    rng r = {seed};
    s->here = malloc((size_t)n * sizeof *s->here);
    CHECK(s->here);
    for (int64_t i = 0; i < n; i++)
        s->here[i] = (float)(rng_uniform(&r) * 1.1 - 0.05);
    CUDA_DONE(cudaMalloc((void **)&s->there, (size_t)n * sizeof *s->there));
    CUDA_DONE(cudaMemcpy(s->there, s->here, (size_t)n * sizeof *s->there, cudaMemcpyHostToDevice));
    CUDA_DONE(cudaDeviceSynchronize());
    s->host = histo_view_1d(s->here, HISTO_F32, n);
    s->device = histo_view_1d(s->there, HISTO_F32, n);
    return 0;
}

static void release(const samples *s)
{
    cudaFree(s->there);
    free(s->here);
}

static const double *edges(void)
{
    static double of[BINS + 1];
    for (int i = 0; i <= BINS; i++)
        of[i] = i == 1 ? 0.0101 : i / (double)BINS;
    return of;
}

/* Of edges that a plan keeps in the GPU's memory. */
static histo_hist *empty(void)
{
    histo_hist *h;
    const histo_axis axis = histo_axis_variable(BINS, edges());
    return histo_hist_create(&h, 1, &axis, NULL) == HISTO_OK ? h : NULL;
}

/* Does it hold `times` times these floats? */
static bool has_counted(const histo_hist *h, const histo_view *host, uint64_t times)
{
    const double *const edge = edges();
    const char *const x = host->data;
    uint64_t counts[BINS], expected[BINS] = {0};
    for (int64_t i = 0; i < host->shape[0]; i++) {
        const float value = *(const float *)(x + i * host->strides[0]);
        for (int b = 0; b < BINS; b++)
            expected[b] += edge[b] <= value && value < edge[b + 1];
    }
    bool same = histo_hist_read_counts(h, HISTO_BINS, counts, BINS, NULL) == HISTO_OK;
    for (int b = 0; b < BINS && same; b++)
        same = counts[b] == expected[b] * times;
    return same;
}

static bool counts_again(const samples *s)
{
    histo_hist *h = empty();
    const bool same = h && histo_hist_fill(h, &s->device, NULL) == HISTO_OK && has_counted(h, &s->host, 1);
    histo_hist_destroy(h);
    return same;
}

/* ---- Processes ---- */

static int run_child(int (*test)(void *), void *context)
{
    fflush(NULL);
    const pid_t pid = fork();
    if (pid < 0) return -1;
    if (pid == 0) {
        alarm(SECONDS);
        _exit(test(context));
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
}

static int look_for_gpu(void *unused)
{
    (void)unused;
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess && count ? 0 : NO_GPU;
}

static void process(void **state)
{
    int (*const test)(void *) = (int (*)(void *)) * state;
    if (run_child(look_for_gpu, NULL)) {
        print_message("SKIPPED: there is no GPU\n");
        skip();
    }
    const int status = run_child(test, NULL);
    if (status) fail_msg("the process ended with status %#x", (unsigned)status);
}

/* ---- Forking ---- */

typedef struct inherited {
    samples of_parent;
    histo_hist *filled;
    histo_map *map;
    float *managed, *locked, *out;
} inherited;

static int after_fork(void *context)
{
    enum { N = 1000 };
    static const char why[] = "forked from one that had used it";
    inherited *in = context;
    const histo_view *device = &in->of_parent.device;
    uint64_t counts[BINS];
    float x[N];
    memcpy(x, in->of_parent.here, sizeof x);
    const histo_view here = histo_view_1d(x, HISTO_F32, N), out = histo_view_1d(in->out, HISTO_F32, device->shape[0]);
    histo_hist *h = empty();
    DONE(histo_hist_fill(h, &here, NULL));
    CHECK(has_counted(h, &here, 1));
    CHECK(histo_memory_device(in->of_parent.there) == HISTO_DEVICE_CUDA(0));
    CHECK(histo_memory_device(in->of_parent.here) == HISTO_DEVICE_CPU);
    FAILED(HISTO_UNSUPPORTED, why, histo_hist_fill(h, device, NULL));
    CHECK(has_counted(h, &here, 1));
    histo_extremes extremes;
    CHECK(histo_find_extremes(device, NULL, &extremes, 1) != HISTO_OK && strstr(histo_last_error(), why));
    CHECK(histo_map_apply(in->map, device, &out, NULL) != HISTO_OK && strstr(histo_last_error(), why));
    FAILED(HISTO_DEVICE, why, histo_hist_read_counts(in->filled, HISTO_BINS, counts, BINS, NULL));
    FAILED(HISTO_DEVICE, why, histo_hist_merge(h, in->filled));
    /* Memory that the child may or may not have: counted, or refused. */
    float *const shared[] = {in->managed, in->locked};
    for (int i = 0; i < 2; i++) {
        const histo_view view = histo_view_1d(shared[i], HISTO_F32, N);
        CHECK(histo_hist_reset(h, NULL) == HISTO_OK);
        if (histo_hist_fill(h, &view, NULL) == HISTO_OK)
            CHECK(has_counted(h, &here, 1));
        else
            CHECK(strstr(histo_last_error(), why));
    }
    DONE(histo_hist_reset(in->filled, NULL));
    DONE(histo_hist_fill(in->filled, &here, NULL));
    CHECK(has_counted(in->filled, &here, 1));
    histo_hist_destroy(in->filled);
    histo_hist_destroy(h);
    histo_map_destroy(in->map);
    return 0;
}

static int fork_after_use(void *unused)
{
    enum { N = 100003 };
    (void)unused;
    inherited in = {.filled = empty()};
    if (make(&in.of_parent, 1, N)) return 1;
    DONE(histo_hist_fill(in.filled, &in.of_parent.device, NULL));
    const histo_axis axis = histo_axis_regular(BINS, 0, 1);
    DONE(histo_map_create(&in.map, 1, &axis, NULL));
    CUDA_DONE(cudaMallocManaged((void **)&in.managed, N * sizeof(float), cudaMemAttachGlobal));
    CUDA_DONE(cudaMallocHost((void **)&in.locked, N * sizeof(float)));
    CUDA_DONE(cudaMalloc((void **)&in.out, N * sizeof(float)));
    memcpy(in.managed, in.of_parent.here, N * sizeof(float));
    memcpy(in.locked, in.of_parent.here, N * sizeof(float));
    const histo_view out = histo_view_1d(in.out, HISTO_F32, N);
    DONE(histo_map_apply(in.map, &in.of_parent.device, &out, NULL));
    CUDA_DONE(cudaDeviceSynchronize());
    for (int times = 0; times < 3; times++)
        CHECK(run_child(after_fork, &in) == 0);
    CHECK(has_counted(in.filled, &in.of_parent.host, 1)); /* the children have changed nothing */
    CHECK(counts_again(&in.of_parent));
    return 0;
}

static int count_once(void *unused)
{
    samples s;
    (void)unused;
    if (make(&s, 2, 1000003)) return 1;
    CHECK(counts_again(&s));
    return 0;
}

/* The parent has counted, but not on a GPU. */
static int fork_before_use(void *unused)
{
    float x[] = {0.1f, 0.5f};
    const histo_view view = histo_view_1d(x, HISTO_F32, 2);
    histo_hist *h = empty();
    DONE(histo_hist_fill(h, &view, NULL));
    CHECK(run_child(count_once, unused) == 0);
    return 0;
}

/* ---- Resetting the device ---- */

/* By a GPU, through staging memory. */
static int count_host_samples(const samples *s)
{
    histo_hist *h = empty();
    histo_plan *plan;
    DONE(histo_plan_create(&plan, h, &s->host, NULL, &(histo_plan_options){.strategy = "cuda/shared_atomic"}));
    DONE(histo_plan_fill(plan, h, &s->host, NULL));
    CHECK(has_counted(h, &s->host, 1));
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
    return 0;
}

static int reset_device(void *unused)
{
    enum { N = 100003 };
    static const char why[] = "went with its CUDA context";
    (void)unused;
    samples s;
    histo_hist *filled = empty(), *unfilled = empty();
    histo_plan *plan;
    histo_map *map;
    uint64_t counts[BINS];
    const histo_axis axis = histo_axis_regular(BINS, 0, 1);
    if (make(&s, 3, N)) return 1;
    DONE(histo_plan_create(&plan, filled, &s.device, NULL, NULL));
    DONE(histo_hist_fill(filled, &s.device, NULL));
    DONE(histo_hist_fill(unfilled, &s.device, NULL));
    DONE(histo_hist_fill(unfilled, &s.host, NULL));
    DONE(histo_hist_reset(unfilled, NULL));
    DONE(histo_map_create(&map, 1, &axis, NULL));
    DONE(histo_map_apply(map, &s.device, &s.device, NULL));
    CHECK(count_host_samples(&s) == 0);
    free(s.here);
    for (int times = 0; times < 2; times++) {
        CUDA_DONE(cudaDeviceReset());
        if (make(&s, 4, N)) return 1;
        CHECK(count_host_samples(&s) == 0);
        FAILED(HISTO_DEVICE, why, histo_hist_read_counts(filled, HISTO_BINS, counts, BINS, NULL));
        FAILED(HISTO_DEVICE, why, histo_hist_fill(filled, &s.device, NULL));
        FAILED(HISTO_DEVICE, why, histo_plan_fill(plan, filled, &s.device, NULL));
        FAILED(HISTO_DEVICE, why, histo_hist_merge(unfilled, filled));
        FAILED(HISTO_DEVICE, why, histo_map_apply(map, &s.device, &s.device, NULL));
        DONE(histo_hist_reset(filled, NULL));
        DONE(histo_hist_fill(filled, &s.device, NULL));
        CHECK(has_counted(filled, &s.host, 1));
        /* Its plan has gone, too, and it holds nothing. */
        if (histo_hist_fill(unfilled, &s.device, NULL) != HISTO_OK) {
            CHECK(strstr(histo_last_error(), why));
            DONE(histo_hist_fill(unfilled, &s.device, NULL));
        }
        CHECK(has_counted(unfilled, &s.host, 1));
        DONE(histo_hist_fill(filled, &s.host, &(histo_fill_options){.threads = 1}));
        CHECK(has_counted(filled, &s.host, 2));
        DONE(histo_hist_fill(filled, &s.device, NULL)); /* what is not read is lost */
        DONE(histo_hist_reset(unfilled, NULL));
        histo_map_destroy(map);
        DONE(histo_map_create(&map, 1, &axis, NULL));
        DONE(histo_map_apply(map, &s.device, &s.device, NULL));
    }
    CUDA_DONE(cudaDeviceReset());
    histo_map_destroy(map);
    histo_plan_destroy(plan);
    histo_hist_destroy(filled);
    histo_hist_destroy(unfilled);
    return 0;
}

/* ---- Exiting ---- */

static int kernels; /* compiled */

/* Whose kernels are needed. */
typedef struct layouts {
    samples of;
    histo_effort effort;
} layouts;

/* Fills of each dtype and distance, of which each needs a kernel. Whatever CUDA refuses in the end, nothing crashes or
 * hangs. */
static void *compile_kernels(void *context)
{
    enum { MOST = 1000000 };
    const layouts *they = context;
    const samples *s = &they->of;
    const histo_dtype dtypes[] = {HISTO_U8, HISTO_I8, HISTO_U16, HISTO_I16, HISTO_F16, HISTO_U32, HISTO_I32, HISTO_F32};
    const histo_axis axis = histo_axis_regular(BINS, 0, 1);
    for (int i = 0; i < MOST; i++) {
        histo_view view = s->device;
        histo_hist *h = NULL;
        histo_plan *plan = NULL;
        view.dtype = dtypes[i % 8];
        view.strides[0] = 8 * (1 + i / 8 % 10);
        view.shape[0] = 1000;
        if (histo_hist_create(&h, 1, &axis, NULL) == HISTO_OK &&
            histo_plan_create(&plan, h, &view, NULL, &(histo_plan_options){.effort = they->effort}) == HISTO_OK)
            histo_plan_fill(plan, h, &view, NULL);
        histo_plan_destroy(plan);
        histo_hist_destroy(h);
        __atomic_store_n(&kernels, i + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* How a process ends, and when. */
typedef struct ending {
    useconds_t after_us;
    histo_effort effort;
    int signal;    /* 0: by exit() */
    double *begun; /* shared: when exit() was called, in seconds */
} ending;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int end_while_compiling(void *context)
{
    static layouts they;
    const ending *how = context;
    pthread_t thread;
    they.effort = how->effort;
    if (make(&they.of, 5, 1 << 20)) return 1;
    CHECK(pthread_create(&thread, NULL, compile_kernels, &they) == 0);
    while (__atomic_load_n(&kernels, __ATOMIC_ACQUIRE) == 0)
        usleep(1000);
    usleep(how->after_us);
    if (how->signal == SIGABRT) abort();
    if (how->signal) kill(getpid(), how->signal);
    *how->begun = now();
    exit(0);
}

/* By all ways, at so many moments; says how long exit() took. */
static int end_often(histo_effort effort, useconds_t step_us)
{
    double *begun = mmap(NULL, sizeof *begun, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), longest = 0;
    CHECK(begun != MAP_FAILED);
    for (useconds_t us = 0; us < 2000000; us += step_us) {
        CHECK(run_child(end_while_compiling, &(ending){us, effort, 0, begun}) == 0);
        if (now() - *begun > longest) longest = now() - *begun;
    }
    print_message("exit() took up to %.0f ms\n", 1e3 * longest);
    const int signals[] = {SIGABRT, SIGKILL};
    for (int s = 0; s < 2; s++) {
        const int status = run_child(end_while_compiling, &(ending){500000, effort, signals[s], begun});
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signals[s]);
    }
    return 0;
}

static int exits(void *unused)
{
    (void)unused;
    return end_often(HISTO_COMPILE, 170000);
}

/* With default options a thread compiles. */
static int exits_beside(void *unused)
{
    (void)unused;
    return end_often(HISTO_ESTIMATE, 400000);
}

static int count_here(void *context)
{
    const samples *s = context;
    histo_hist *h = empty();
    DONE(histo_hist_fill(h, &s->host, NULL));
    CHECK(has_counted(h, &s->host, 1));
    return 0;
}

static int fork_while_compiling(void *unused)
{
    static layouts they = {.effort = HISTO_ESTIMATE};
    pthread_t thread;
    (void)unused;
    if (make(&they.of, 5, 1 << 20)) return 1;
    samples few = they.of;
    few.host.shape[0] = 1000;
    CHECK(pthread_create(&thread, NULL, compile_kernels, &they) == 0);
    for (int times = 0; times < 10; times++) {
        usleep(100000);
        CHECK(run_child(count_here, &few) == 0);
    }
    exit(0);
}

/* ---- The GPU's memory ---- */

/* Take all of it, in ever smaller blocks. */
static int take_all(void **blocks, int most)
{
    int n = 0;
    for (size_t bytes = (size_t)1 << 36; bytes >= 1 << 20 && n < most; bytes /= 2)
        while (n < most && cudaMalloc(&blocks[n], bytes) == cudaSuccess)
            n++;
    cudaGetLastError();
    return n;
}

static int no_memory_left(void *unused)
{
    enum { MOST = 300, LARGE = 1 << 24 };
    (void)unused;
    samples s;
    void *blocks[MOST];
    histo_hist *filled = empty(), *large;
    const histo_axis axis = histo_axis_regular(LARGE, 0, 1);
    if (make(&s, 6, 1000003)) return 1;
    DONE(histo_hist_fill(filled, &s.device, NULL));
    DONE(histo_hist_create(&large, 1, &axis, NULL));
    const int n = take_all(blocks, MOST);
    CHECK(n > 0 && n < MOST);
    for (int times = 0; times < 3; times++)
        FAILED(HISTO_NO_MEMORY, "out of memory", histo_hist_fill(large, &s.device, NULL));
    DONE(histo_hist_fill(filled, &s.device, NULL)); /* it has all that it needs */
    CHECK(has_counted(filled, &s.host, 2));
    for (int i = 0; i < n; i++)
        CUDA_DONE(cudaFree(blocks[i]));
    DONE(histo_hist_fill(large, &s.device, NULL));
    histo_hist_destroy(large);
    CHECK(counts_again(&s));
    histo_hist_destroy(filled);
    release(&s);
    return 0;
}

/* An allocator that counts what it has given, and gives nothing from call `until` on. */
typedef struct giver {
    int64_t blocks, bytes, calls, until;
    int wrong; /* calls with the wrong device, size or memory */
} giver;

static void *give(void *context, histo_device device, size_t bytes)
{
    giver *g = context;
    void *memory = NULL;
    int ordinal = -1;
    cudaGetDevice(&ordinal);
    if (device != HISTO_DEVICE_CUDA(ordinal) || bytes == 0) __atomic_fetch_add(&g->wrong, 1, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&g->calls, 1, __ATOMIC_RELAXED) >= g->until) return NULL;
    if (cudaMalloc(&memory, bytes) != cudaSuccess) return NULL;
    __atomic_fetch_add(&g->blocks, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&g->bytes, (int64_t)bytes, __ATOMIC_RELAXED);
    return memory;
}

static void take_back(void *context, histo_device device, void *memory, size_t bytes)
{
    giver *g = context;
    int ordinal = -1;
    cudaGetDevice(&ordinal);
    if (device != HISTO_DEVICE_CUDA(ordinal) || cudaFree(memory) != cudaSuccess)
        __atomic_fetch_add(&g->wrong, 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&g->blocks, 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&g->bytes, (int64_t)bytes, __ATOMIC_RELAXED);
}

/* Fills of device and host memory, weighted, sparse and with a workspace; maps; extremes. */
static histo_status use_memory(const samples *s)
{
    enum { MANY = 1 << 20 };
    static uint64_t counts[MANY];
    histo_hist *h = NULL;
    histo_map *map = NULL;
    const histo_axis axes[] = {histo_axis_regular(BINS, 0, 1), histo_axis_regular(MANY, 0, 1)};
    histo_status status = HISTO_OK;
    for (int kind = 0; kind < 4 && status == HISTO_OK; kind++) {
        const histo_hist_options options = {.weighting = kind == 1 ? HISTO_WEIGHT_REPRODUCIBLE : HISTO_UNWEIGHTED,
                                            .storage = kind == 2 ? HISTO_SPARSE : HISTO_DENSE};
        const histo_view *views[] = {&s->device, &s->host};
        for (int from = 0; from < 2 && status == HISTO_OK; from++) {
            const histo_fill_options fill = {.weights = kind == 1 ? views[from] : NULL};
            histo_plan *plan = NULL;
            status = histo_hist_create(&h, 1, &axes[kind / 2], &options);
            if (status == HISTO_OK)
                status = histo_plan_create(&plan, h, views[from], &fill,
                                           &(histo_plan_options){.device = HISTO_DEVICE_CUDA(0)});
            if (status == HISTO_OK) status = histo_plan_fill(plan, h, views[from], &fill);
            if (status == HISTO_OK) status = histo_hist_read_counts(h, HISTO_BINS, counts, axes[kind / 2].bins, NULL);
            histo_plan_destroy(plan);
            histo_hist_destroy(h);
        }
    }
    if (status == HISTO_OK) status = histo_map_create(&map, 1, axes, NULL);
    if (status == HISTO_OK) status = histo_map_apply(map, &s->device, &s->device, NULL);
    histo_map_destroy(map);
    histo_extremes extremes;
    return status == HISTO_OK ? histo_find_extremes(&s->device, NULL, &extremes, 1) : status;
}

static int own_allocator(void *unused)
{
    (void)unused;
    samples s;
    giver g = {.until = INT64_MAX};
    const histo_device_allocator allocator = {give, take_back, &g, {0}};
    if (make(&s, 7, 300007)) return 1;
    FAILED(HISTO_INVALID, "needs both", histo_set_device_allocator(&(histo_device_allocator){.allocate = give}));
    DONE(histo_set_device_allocator(&allocator));
    /* Each allocation fails once, until none is left to fail. */
    int failures = 0;
    for (histo_status status = HISTO_NO_MEMORY; status != HISTO_OK; failures++) {
        g.calls = 0;
        g.until = failures + 1;
        status = use_memory(&s);
        CHECK(status == HISTO_OK || status == HISTO_NO_MEMORY);
        CHECK(failures < 1000);
    }
    CHECK(failures > 10);
    g.until = INT64_MAX;
    DONE(use_memory(&s));
    CHECK((size_t)g.bytes == histo_device_memory_used(HISTO_DEVICE_CUDA(0)) && g.blocks > 0); /* what is kept */
    FAILED(HISTO_INVALID, "set it before all else", histo_set_device_allocator(NULL));
    DONE(histo_set_device_allocator(&allocator));
    histo_hist *h = empty();
    const size_t before = histo_device_memory_used(HISTO_DEVICE_CUDA(0));
    CUDA_DONE(cudaMemcpy(s.there, s.here, 300007 * sizeof *s.there, cudaMemcpyHostToDevice));
    DONE(histo_hist_fill(h, &s.device, NULL));
    CHECK(has_counted(h, &s.host, 1) && histo_device_memory_used(HISTO_DEVICE_CUDA(0)) > before);
    histo_hist_destroy(h);
    CHECK(histo_device_memory_used(HISTO_DEVICE_CUDA(0)) == before && g.wrong == 0);
    CHECK(histo_device_memory_used(HISTO_DEVICE_CPU) == 0);
    return 0;
}

/* Whatever CUDA gives. */
static int kinds_of_memory(void *unused)
{
    enum { N = 100003, WIDTH = 1001, HEIGHT = 99 };
    (void)unused;
    samples s;
    float *managed, *locked, *registered, *pitched, *of_pool;
    size_t pitch;
    const size_t bytes = N * sizeof(float);
    if (make(&s, 8, N)) return 1;
    CUDA_DONE(cudaMallocManaged((void **)&managed, bytes, cudaMemAttachGlobal));
    CUDA_DONE(cudaMallocHost((void **)&locked, bytes));
    registered = malloc(bytes);
    CUDA_DONE(cudaHostRegister(registered, bytes, cudaHostRegisterDefault));
    CUDA_DONE(cudaMallocAsync((void **)&of_pool, bytes, 0));
    CUDA_DONE(cudaMemcpy(of_pool, s.here, bytes, cudaMemcpyHostToDevice));
    float *const all[] = {managed, locked, registered, of_pool};
    memcpy(managed, s.here, bytes);
    memcpy(locked, s.here, bytes);
    memcpy(registered, s.here, bytes);
    CUDA_DONE(cudaDeviceSynchronize());
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (histo_device device = HISTO_DEVICE_AUTO; device <= HISTO_DEVICE_CUDA(0); device++) {
            if (all[i] == of_pool && device == HISTO_DEVICE_CPU) continue;
            const histo_view view = histo_view_1d(all[i], HISTO_F32, N);
            histo_hist *h = empty();
            histo_plan *plan;
            DONE(histo_plan_create(&plan, h, &view, NULL, &(histo_plan_options){.device = device}));
            DONE(histo_plan_fill(plan, h, &view, NULL));
            CHECK(has_counted(h, &s.host, 1));
            histo_plan_destroy(plan);
            histo_hist_destroy(h);
        }
    CUDA_DONE(cudaMallocPitch((void **)&pitched, &pitch, WIDTH * sizeof(float), HEIGHT));
    CUDA_DONE(cudaMemcpy2D(pitched, pitch, s.here, WIDTH * sizeof(float), WIDTH * sizeof(float), HEIGHT,
                           cudaMemcpyHostToDevice));
    const histo_view image = {pitched, HISTO_F32, 2, 0, {HEIGHT, WIDTH}, {(int64_t)pitch, sizeof(float)}},
                     host = histo_view_1d(s.here, HISTO_F32, WIDTH * HEIGHT);
    histo_hist *h = empty();
    DONE(histo_hist_fill(h, &image, NULL));
    CHECK(has_counted(h, &host, 1));
    histo_hist_destroy(h);
    return 0;
}

/* ---- Many at once ---- */

static void *fill_often(void *context)
{
    enum { FILLS = 200 };
    const samples *s = context;
    cudaStream_t stream;
    histo_hist *h = empty();
    bool right = h && cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess;
    for (int i = 0; i < FILLS && right; i++)
        right = histo_hist_fill(h, &s->device, &(histo_fill_options){.stream = stream}) == HISTO_OK;
    right = right && has_counted(h, &s->host, FILLS);
    if (right) cudaStreamDestroy(stream);
    histo_hist_destroy(h);
    return right ? context : NULL;
}

static int many_streams(void *unused)
{
    enum { THREADS = 8 };
    (void)unused;
    samples s[THREADS];
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++)
        if (make(&s[t], 10 + (uint64_t)t, 100003 + 4001 * t)) return 1;
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, fill_often, &s[t]) == 0);
    bool right = true;
    for (int t = 0; t < THREADS; t++) {
        void *result;
        pthread_join(threads[t], &result);
        right &= result != NULL;
    }
    CHECK(right);
    return 0;
}

static int count_in_turn(void *context)
{
    samples s;
    const uint64_t seed = *(const uint64_t *)context;
    for (uint64_t i = 0; i < 5; i++) {
        if (make(&s, seed + i, 1000003)) return 1;
        CHECK(counts_again(&s));
        release(&s);
    }
    return 0;
}

enum { MOST_PROCESSES = 1000 };

/* How many start at once: each takes half a GiB of the GPU's memory. */
static int processes(void)
{
    const char *text = getenv("HISTO_TEST_PROCESSES");
    const int number = text ? atoi(text) : 12;
    return number < MOST_PROCESSES ? number : MOST_PROCESSES;
}

static int many_processes(void *unused)
{
    const int number = processes();
    (void)unused;
    pid_t pids[MOST_PROCESSES];
    fflush(NULL);
    for (int i = 0; i < number; i++) {
        uint64_t seed = 100 * (uint64_t)(i + 1);
        pids[i] = fork();
        CHECK(pids[i] >= 0);
        if (pids[i] == 0) _exit(count_in_turn(&seed));
    }
    int failed = 0;
    for (int i = 0; i < number; i++) {
        int status;
        waitpid(pids[i], &status, 0);
        failed += status != 0;
    }
    CHECK(failed == 0);
    return 0;
}

/* ---- Kernels compiled beside the fills ---- */

static char directory[] = "/tmp/histo-process-XXXXXX";

static int make_directory(void)
{
    strcpy(directory + sizeof directory - 7, "XXXXXX");
    CHECK(mkdtemp(directory));
    CHECK(setenv("HISTO_KERNEL_CACHE", directory, 1) == 0);
    return 0;
}

static int remove_directory(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    CHECK(system(command) == 0);
    return 0;
}

/* One of thirteen samples: the library has no kernel for these alone. */
static void take_some(samples *s)
{
    enum { APART = 13 };
    histo_view *const views[] = {&s->host, &s->device};
    for (int v = 0; v < 2; v++) {
        views[v]->shape[0] /= APART;
        views[v]->strides[0] *= APART;
    }
}

/* What counts the fills of a plan. */
typedef enum counted_by { GENERAL, COMPILED, CACHED, WRONG } counted_by;

static counted_by kernel_of(const histo_plan *plan)
{
    char text[16384] = "";
    if (plan) histo_plan_explain(plan, text, sizeof text);
    if (strstr(text, "none can be compiled") || !strstr(text, "kernel: ")) {
        fprintf(stderr, "no kernel can be compiled, or none is needed:\n%s", text);
        return WRONG;
    }
    if (!strstr(text, "kernel: compiled")) return GENERAL;
    return strstr(text, "read from the kernel cache") ? CACHED : COMPILED;
}

/* A frame, which has a histogram and a plan of its own. */
static counted_by count_frame(const samples *s)
{
    histo_hist *h = empty();
    const bool right = h && histo_hist_fill(h, &s->device, NULL) == HISTO_OK && has_counted(h, &s->host, 1);
    const counted_by kernel = right ? kernel_of(histo_hist_last_plan(h)) : WRONG;
    histo_hist_destroy(h);
    return kernel;
}

static int frames_until_compiled(void *unused)
{
    (void)unused;
    samples s;
    if (make(&s, 12, 1300039)) return 1;
    take_some(&s);
    histo_hist *h = empty();
    histo_plan *plan;
    DONE(histo_plan_create(&plan, h, &s.device, NULL, NULL));
    DONE(histo_plan_fill(plan, h, &s.device, NULL));
    CHECK(kernel_of(plan) == GENERAL);
    counted_by kernel = GENERAL;
    int frames = 0;
    for (; kernel == GENERAL; frames++)
        kernel = count_frame(&s);
    CHECK(kernel != WRONG && frames >= 3);           /* with the fill before, four without a kernel */
    DONE(histo_plan_fill(plan, h, &s.device, NULL)); /* a plan that was made before uses it, too */
    CHECK(kernel_of(plan) == COMPILED && has_counted(h, &s.host, 2));
    for (int frame = 0; frame < 20; frame++)
        CHECK(counts_again(&s)); /* perhaps by another strategy, since plans know now what kernels do */
    exit(0);                     /* waits until the files are written */
}

static int compiled_at_once(void *unused)
{
    (void)unused;
    samples s;
    if (make(&s, 13, 1300039)) return 1;
    take_some(&s);
    CHECK(count_frame(&s) == CACHED);
    return 0;
}

static int compiled_beside(void *unused)
{
    if (make_directory()) return 1;
    CHECK(run_child(frames_until_compiled, unused) == 0);
    CHECK(run_child(compiled_at_once, unused) == 0);
    return remove_directory();
}

/* Another process may write the kernel before one needs to compile it. */
static int frames_with_cache(void *unused)
{
    (void)unused;
    samples s;
    if (make(&s, 14, 1300039)) return 1;
    take_some(&s);
    counted_by kernel = GENERAL;
    while (kernel == GENERAL)
        kernel = count_frame(&s);
    CHECK(kernel != WRONG);
    exit(0);
}

static int beside_many_processes(void *unused)
{
    const int number = processes();
    pid_t pids[MOST_PROCESSES];
    if (make_directory()) return 1;
    fflush(NULL);
    for (int i = 0; i < number; i++) {
        pids[i] = fork();
        CHECK(pids[i] >= 0);
        if (pids[i]) continue;
        alarm(SECONDS);
        _exit(frames_with_cache(unused));
    }
    int failed = 0;
    for (int i = 0; i < number; i++) {
        int status = -1;
        waitpid(pids[i], &status, 0);
        failed += status != 0;
    }
    CHECK(failed == 0);
    CHECK(run_child(compiled_at_once, unused) == 0);
    return remove_directory();
}

/* ---- Damaged kernel caches ---- */

static int count_with_cache(void *unused)
{
    (void)unused;
    samples s;
    histo_plan *plan;
    histo_hist *h = empty();
    if (make(&s, 9, 1000003)) return 1;
    take_some(&s);
    DONE(histo_plan_create(&plan, h, &s.device, NULL, &(histo_plan_options){.effort = HISTO_COMPILE}));
    DONE(histo_plan_fill(plan, h, &s.device, NULL));
    CHECK(has_counted(h, &s.host, 1));
    return 0;
}

/* Damage every file: cut it, change a byte at each of some places, or replace it by an empty one. */
static int damage_all(int how)
{
    DIR *files = opendir(directory);
    int damaged = 0;
    CHECK(files);
    for (struct dirent *entry; (entry = readdir(files));) {
        char path[512];
        struct stat is;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (stat(path, &is) != 0 || !S_ISREG(is.st_mode)) continue;
        FILE *file = fopen(path, "r+");
        CHECK(file);
        if (how == 0) {
            CHECK(ftruncate(fileno(file), is.st_size / 2) == 0);
        } else if (how == 1) {
            CHECK(ftruncate(fileno(file), 0) == 0);
        } else {
            const long at = (long)is.st_size * (how - 2) / 8;
            CHECK(fseek(file, at, SEEK_SET) == 0);
            const int byte = fgetc(file);
            CHECK(fseek(file, at, SEEK_SET) == 0 && fputc(byte ^ 0x55, file) != EOF);
        }
        CHECK(fclose(file) == 0);
        damaged++;
    }
    closedir(files);
    CHECK(damaged > 0);
    return 0;
}

static int damaged_cache(void *unused)
{
    if (make_directory()) return 1;
    for (int how = 0; how < 10; how++) {
        CHECK(run_child(count_with_cache, unused) == 0); /* which makes the files anew */
        if (damage_all(how)) return 1;
        CHECK(run_child(count_with_cache, unused) == 0);
    }
    return remove_directory();
}

/* ---- Denormals ---- */

/* Bins among denormals, and samples that are: no kernel may take them for zero. */
static int denormals(void *unused)
{
    enum { N = 100003, CELLS = 64 };
    (void)unused;
    float *x = malloc(N * sizeof *x), *there;
    rng r = {11};
    for (int i = 0; i < N; i++)
        x[i] = (float)((rng_uniform(&r) * 2 - 1) * 1.2e-38);
    CUDA_DONE(cudaMalloc((void **)&there, N * sizeof *x));
    CUDA_DONE(cudaMemcpy(there, x, N * sizeof *x, cudaMemcpyHostToDevice));
    CUDA_DONE(cudaDeviceSynchronize());
    const histo_view host = histo_view_1d(x, HISTO_F32, N), device = histo_view_1d(there, HISTO_F32, N);
    double edges[CELLS + 1];
    for (int i = 0; i <= CELLS; i++)
        edges[i] = (i - CELLS / 2 + (i % 2 ? 0.1 : 0)) * 3e-40;
    const histo_axis axes[] = {histo_axis_regular(CELLS, -1e-38, 1e-38), histo_axis_variable(CELLS, edges)};
    int counted = 0;
    for (int i = 0; i < histo_strategy_count(); i++) {
        histo_strategy_info info;
        DONE(histo_strategy_describe(i, &info));
        if (strcmp(info.backend, "cuda") != 0) continue;
        char name[64];
        snprintf(name, sizeof name, "cuda/%s", info.name);
        for (int a = 0; a < 2; a++)
            for (int weighted = 0; weighted < (info.storage == HISTO_SPARSE ? 1 : 2); weighted++) {
                const histo_hist_options options = {
                    .weighting = weighted ? HISTO_WEIGHT_REPRODUCIBLE : HISTO_UNWEIGHTED, .storage = info.storage};
                const histo_fill_options fill = {.weights = weighted ? &device : NULL},
                                         here = {.weights = weighted ? &host : NULL};
                histo_hist *h, *e;
                histo_plan *plan;
                DONE(histo_hist_create(&h, 1, &axes[a], &options));
                DONE(histo_hist_create(&e, 1, &axes[a], &options));
                DONE(histo_hist_fill(e, &host, &here));
                const histo_status status = histo_plan_create(
                    &plan, h, &device, &fill, &(histo_plan_options){.strategy = name, .effort = HISTO_COMPILE});
                if (status == HISTO_OK) {
                    bool equal = false;
                    DONE(histo_plan_fill(plan, h, &device, &fill));
                    DONE(histo_hist_equal(h, e, &equal));
                    if (!equal) fprintf(stderr, "%s counts denormals wrongly on axis %d\n", name, a);
                    CHECK(equal);
                    histo_plan_destroy(plan);
                    counted++;
                }
                histo_hist_destroy(h);
                histo_hist_destroy(e);
            }
    }
    CHECK(counted > 20);
    return 0;
}

/* The tests whose names match a pattern, if one is given. */
int main(int argc, char **argv)
{
#define PROCESS(test)                                                                                                  \
    {                                                                                                                  \
#test, process, NULL, NULL, (void *)test                                                                       \
    }
    const struct CMUnitTest tests[] = {
        PROCESS(fork_after_use),
        PROCESS(fork_before_use),
        PROCESS(reset_device),
        PROCESS(exits),
        PROCESS(exits_beside),
        PROCESS(fork_while_compiling),
        PROCESS(no_memory_left),
        PROCESS(own_allocator),
        PROCESS(kinds_of_memory),
        PROCESS(many_streams),
        PROCESS(many_processes),
        PROCESS(compiled_beside),
        PROCESS(beside_many_processes),
        PROCESS(damaged_cache),
        PROCESS(denormals),
    };
    setenv("HISTO_KERNEL_CACHE", "", 1); /* the user's is none of this */
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
