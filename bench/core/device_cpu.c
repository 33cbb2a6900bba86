/* Measuring on the CPU. The read roof is a vectorized sum over all bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/threads/pool.h"
#include "bench/core/device.h"
#include "bench/peers/peer.h"
#include "cpu/backend/features.h"
#include "plan/strategy.h"

static histo_status allocate(size_t bytes, void **memory)
{
    enum { PAGE = 4096 };
    *memory = aligned_alloc(PAGE, bytes + PAGE - bytes % PAGE);
    return *memory ? HISTO_OK : histo_fail_memory(bytes, "samples: ask for fewer");
}

static histo_status make(const bench_input *input, const histo_axis *axis, int64_t n, void *memory)
{
    bench_input_make(input, axis, n, memory);
    return HISTO_OK;
}

static void release(const void *memory)
{
    free((void *)memory);
}

static histo_status copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return HISTO_OK;
}

typedef uint64_t lanes __attribute__((vector_size(32), aligned(1), may_alias));

/* Instrumenting these reads would dominate the tests' time and find nothing. */
#define UNWATCHED __attribute__((no_sanitize("address", "thread")))

UNWATCHED static inline __attribute__((always_inline)) uint64_t sum_lanes(const char *at, size_t bytes)
{
    enum { STEP = 4 };
    lanes sums[STEP] = {{0}};
    const lanes *next = (const lanes *)at, *end = next + bytes / sizeof(lanes) / STEP * STEP;
    for (; next < end; next += STEP)
        for (int i = 0; i < STEP; i++)
            sums[i] += next[i];
    lanes sum = sums[0] + sums[1] + sums[2] + sums[3];
    return sum[0] + sum[1] + sum[2] + sum[3];
}

UNWATCHED static uint64_t sum_baseline(const char *at, size_t bytes)
{
    return sum_lanes(at, bytes);
}

#if defined(__x86_64__)
UNWATCHED __attribute__((target("avx2"))) static uint64_t sum_avx2(const char *at, size_t bytes)
{
    return sum_lanes(at, bytes);
}
#else
#define sum_avx2 sum_baseline
#endif

typedef struct reading {
    const char *samples;
    size_t bytes;
    int threads;
    uint64_t sum; /* never read; keeps the compiler from dropping the loop */
} reading;

static void read_range(void *context, int index)
{
    enum { LINE = 64 };
    reading *r = context;
    size_t each = (r->bytes / (size_t)r->threads + LINE - 1) / LINE * LINE, begin = each * (size_t)index;
    if (begin >= r->bytes) return;
    size_t bytes = r->bytes - begin < each ? r->bytes - begin : each;
    bool wide = histo_isa_usable() >= HISTO_ISA_AVX2;
    uint64_t sum = wide ? sum_avx2(r->samples + begin, bytes) : sum_baseline(r->samples + begin, bytes);
    __atomic_fetch_add(&r->sum, sum, __ATOMIC_RELAXED);
}

static histo_status read_all(const void *placed, size_t bytes, int threads, void *stream)
{
    (void)stream;
    reading r = {placed, bytes, threads, 0};
    histo_pool_run(threads, read_range, &r);
    return HISTO_OK;
}

/* Evict the samples from all caches by reading other memory. */
static histo_status empty_caches(void)
{
    enum { MIN = 32 << 20, MAX = 512 << 20 };
    static char *else_where;
    static size_t bytes;
    if (!else_where) {
        long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
        bytes = cache < MIN ? MIN : cache > MAX ? MAX : (size_t)cache;
        else_where = calloc(bytes, 1);
        if (!else_where) return histo_fail_memory(bytes, "emptying the caches");
        for (size_t i = 0; i < bytes; i += 4096)
            else_where[i] = 1; /* give each page memory of its own */
    }
    return read_all(else_where, bytes, histo_backend_cpu.threads(0), NULL);
}

static histo_status time_work(bench_work *work, void *context, double *us)
{
    histo_status status = empty_caches();
    double start = histo_now_us();
    if (status == HISTO_OK) status = work(context, NULL);
    *us = histo_now_us() - start;
    return status;
}

static histo_status launch(void *context, void *stream)
{
    (void)context;
    (void)stream;
    return HISTO_OK;
}

static const bench_peer *const peers[] = {
    &bench_naive,        &bench_numpy, &bench_boost_histogram, &bench_fast_histogram, &bench_opencv,
    &bench_numpy_unique, NULL};

const bench_device bench_device_cpu = {
    .backend = "cpu",
    .device = HISTO_DEVICE_CPU,
    .default_bytes = 64 << 20,
    .quick_bytes = 2 << 20,
    .default_budget_us = 1e6,
    .allocate = allocate,
    .release = release,
    .make = make,
    .copy = copy,
    .peers = peers,
    .time = time_work,
    .launch = launch,
    .read = read_all,
};
