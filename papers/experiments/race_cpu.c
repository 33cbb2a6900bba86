/* Source: Hardavellas, Histograms (Data Race). A load and a store that are atomic each, but not together, so that the
 * race is defined in C, too. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/threads/pool.h"
#include "papers/experiments/kernels.h"

enum { BINS = 256 };

typedef struct racing {
    const uint8_t *samples;
    int64_t n;
    int threads;
    _Atomic uint64_t counts[BINS];
} racing;

static histo_status begin(const bench_task *task, void **state)
{
    if (task->input->dtype != HISTO_U8 || task->axis->bins != BINS)
        return histo_fail(HISTO_UNSUPPORTED, "for samples of 8 bits and 256 bins");
    racing *r = calloc(1, sizeof *r);
    if (!r) return histo_fail_memory(sizeof *r, "counts");
    r->samples = task->samples;
    r->n = task->count;
    r->threads = task->threads;
    *state = r;
    return HISTO_OK;
}

static void count_share(void *context, int thread)
{
    racing *r = context;
    const int64_t end = r->n * (thread + 1) / r->threads;
    for (int64_t i = r->n * thread / r->threads; i < end; i++) {
        _Atomic uint64_t *counter = &r->counts[r->samples[i]];
        const uint64_t old = atomic_load_explicit(counter, memory_order_relaxed);
        atomic_store_explicit(counter, old + 1, memory_order_relaxed);
    }
}

static histo_status run(void *state, void *stream)
{
    racing *r = state;
    (void)stream;
    for (int b = 0; b < BINS; b++)
        atomic_store_explicit(&r->counts[b], 0, memory_order_relaxed);
    histo_pool_run(r->threads, count_share, r);
    return HISTO_OK;
}

static histo_status counts(void *state, uint64_t *to)
{
    racing *r = state;
    for (int b = 0; b < BINS; b++)
        to[b] = atomic_load_explicit(&r->counts[b], memory_order_relaxed);
    return HISTO_OK;
}

const bench_peer papers_race_cpu = {.name = "race", .begin = begin, .run = run, .counts = counts, .end = free};
