#include "support/simulated_machine.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "plan/plan.h"
#include "support/check.h"

extern const histo_strategy histo_cpu_sequential;

simulated_machine world;

static void take(long us)
{
    if (us > 0) world.now_us += (double)us;
}

/* Replaces the library's clock: time advances when a test says so, and by 1 us at each reading. */
double histo_now_us(void)
{
    return world.now_us += 1;
}

/* The part of `us`, the time for all samples, that a job takes. */
static long part_of(const histo_job *job, long us)
{
    int64_t all = histo_strided_iter_samples(&job->iter);
    return all ? (long)((double)us * (double)(job->end - job->begin) / (double)all) : 0;
}

static const char *unsupported_reason(const histo_problem *problem)
{
    (void)problem;
    return NULL;
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)problem, (void)threads, (void)params;
    return 0;
}

#define STRATEGY(name)                                                                                                 \
    static double name##_cost(const histo_problem *problem, int threads)                                               \
    {                                                                                                                  \
        (void)threads;                                                                                                 \
        return world.name##_us * (double)problem->samples / N;                                                         \
    }                                                                                                                  \
    static histo_status name##_launch(const histo_job *job)                                                            \
    {                                                                                                                  \
        if (strcmp(#name, "gpu") != 0) world.threads = job->threads;                                                   \
        take(part_of(job, world.name##_takes_us));                                                                     \
        return world.counts ? histo_cpu_sequential.launch(job) : HISTO_OK;                                             \
    }                                                                                                                  \
    static const histo_strategy strategy_##name = {.unsupported_reason = unsupported_reason,                           \
                                                   .cost_us = name##_cost,                                             \
                                                   .workspace = workspace,                                             \
                                                   .launch = name##_launch};
STRATEGY(slow)
STRATEGY(fast)
STRATEGY(gpu)

/* Fast for clustered samples, as far as the problem describes them. */
static double dense_cost(const histo_problem *problem, int threads)
{
    (void)threads;
    return world.dense_us * (10 - 9 * histo_problem_fraction(problem, problem->slots / 10)) * (double)problem->samples /
           N;
}

static const histo_strategy strategy_dense = {
    .unsupported_reason = unsupported_reason, .cost_us = dense_cost, .workspace = workspace, .launch = gpu_launch};

static const char *unavailable(void)
{
    world.asked++;
    return world.missing;
}

static int one(int wanted)
{
    (void)wanted;
    return 1;
}

static int devices(void)
{
    return world.gpus;
}

static const char *device_name(histo_device device)
{
    (void)device;
    return "disguise";
}

static histo_device locate(const void *memory, bool *only)
{
    (void)memory;
    *only = world.on_gpu;
    return world.on_gpu ? HISTO_DEVICE_CUDA(0) : HISTO_DEVICE_CPU;
}

static bool capturing(void *stream)
{
    (void)stream;
    return world.capturing;
}

static histo_status run(const histo_strategy *strategy, histo_job *job)
{
    if (world.running != HISTO_OK) return histo_fail(world.running, "the GPU is on fire");
    if (!job->prepared) return histo_fail(HISTO_DEVICE, "the plan was not prepared");
    world.sent = job->end - job->begin;
    return strategy->launch(job);
}

/* GPUs take a part while they count another. The time of one device hides that of the others. */
static histo_status run_shared(const histo_strategy *strategy, histo_job *jobs, int n, histo_share *share)
{
    double free_at[GPUS] = {0}, done_at[GPUS] = {0}, next = 0, last = 0;
    const long takes_us = world.gpu_takes_us;
    histo_status status = world.running;
    if (status != HISTO_OK) return histo_fail(status, "the GPU is on fire");
    world.sent = 0;
    while (share->begin < share->end && status == HISTO_OK) {
        next = 1e300;
        for (int g = 0; g < n && share->begin < share->end && status == HISTO_OK; g++) {
            if (free_at[g] <= world.now_us) {
                jobs[g].begin = share->begin;
                jobs[g].end = histo_share_take(share, 1024, N / 64);
                world.sent += jobs[g].end - jobs[g].begin;
                free_at[g] = fmax(done_at[g], world.now_us); /* has finished what it had */
                done_at[g] = free_at[g] + (double)part_of(&jobs[g], takes_us);
                last = fmax(last, done_at[g]);
                world.gpu_takes_us = 0;
                status = strategy->launch(&jobs[g]);
                world.gpu_takes_us = takes_us;
            }
            if (free_at[g] < next) next = free_at[g];
        }
        if (share->begin == share->end || status != HISTO_OK) break;
        if (share->help)
            status = share->help(share);
        else if (next > world.now_us)
            world.now_us = next;
    }
    take((long)(last - world.now_us) + world.clash_us);
    return status;
}

static histo_status prepare(const histo_problem *problem, void **prepared)
{
    (void)problem;
    if (world.preparing != HISTO_OK) return histo_fail(world.preparing, "the GPU is full");
    world.prepared++;
    *prepared = &world;
    return HISTO_OK;
}

static void unprepare(void *prepared)
{
    assert_ptr_equal(prepared, &world);
    world.prepared--;
}

static bool awake(histo_device device)
{
    assert_in_range(device, HISTO_DEVICE_CUDA(0), HISTO_DEVICE_CUDA(world.gpus - 1));
    return world.awake;
}

static bool pinned(const void *memory)
{
    (void)memory;
    return world.pinned;
}

static histo_speed speed(histo_device device)
{
    (void)device;
    return (histo_speed){.memory = 4.814e6, .arithmetic = 132 * 1980.0}; /* the same as for the rates */
}

static histo_status probe(const histo_job *job, int n, uint32_t *slots)
{
    assert_ptr_equal(job->prepared, &world);
    world.probed++;
    for (int i = 0; i < n; i++)
        slots[i] = i < world.max_probes ? (uint32_t)(n - i) * world.step : HISTO_NO_SLOT;
    return world.probing;
}

const histo_backend histo_backend_cuda = {.name = "cuda",
                                          .unavailable = unavailable,
                                          .threads = one,
                                          .device_name = device_name,
                                          .run = run,
                                          .run_shared = run_shared,
                                          .capturing = capturing,
                                          .devices = devices,
                                          .locate = locate,
                                          .prepare = prepare,
                                          .unprepare = unprepare,
                                          .awake = awake,
                                          .pinned = pinned,
                                          .speed = speed,
                                          .probe = probe};

static const histo_row rows[] = {{&histo_backend_cpu, "slow", "", "", "", &strategy_slow},
                                 {&histo_backend_cpu, "fast", "", "", "", &strategy_fast},
                                 {&histo_backend_cuda, "gpu", "", "", "", &strategy_gpu},
                                 {&histo_backend_cuda, "dense", "", "", "", &strategy_dense}};
enum { ROWS = sizeof rows / sizeof rows[0] };

const histo_row *histo_row_at(int i)
{
    return i >= 0 && i < ROWS ? &rows[i] : NULL;
}

const histo_row *histo_row_find(const char *name, const histo_backend *preferred)
{
    (void)preferred;
    const char *slash = strchr(name, '/');
    for (int i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, slash ? slash + 1 : name) == 0) return &rows[i];
    return NULL;
}

histo_status histo_backend_load(const char *path)
{
    (void)path;
    return HISTO_OK;
}

const histo_backend *histo_backend_of(histo_device device)
{
    return device == HISTO_DEVICE_CPU ? &histo_backend_cpu : &histo_backend_cuda;
}

histo_device histo_device_of(const void *memory, bool *only)
{
    return locate(memory, only);
}

int histo_strategy_count(void)
{
    return ROWS;
}

histo_status histo_strategy_describe(int i, histo_strategy_info *info)
{
    (void)i, (void)info;
    return HISTO_INVALID;
}
