/* The naive peer: the loop that one would write without a library, by one thread or by several. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/threads/pool.h"
#include "bench/peers/naive_loops.h"
#include "bench/peers/peer.h"

/* Each thread counts its range of samples into its own table; the first table is the result. */
typedef struct naive {
    const bench_task *task;
    naive_bins bins;
    int ranges;
    uint64_t *tables; /* of all threads but the first */
    uint64_t counts[];
} naive;

static void take_range(void *context, int range)
{
    naive *loop = context;
    const bench_task *task = loop->task;
    const int64_t each = task->count / loop->ranges, begin = each * range, bins = task->axis->bins;
    const int64_t end = range + 1 < loop->ranges ? begin + each : task->count;
    const int64_t size = (int64_t)histo_dtype_size(task->input->dtype);
    naive_loops[task->input->dtype].count(&loop->bins, (const char *)task->samples + begin * size, size, end - begin,
                                          range ? loop->tables + (range - 1) * bins : loop->counts);
}

static histo_status naive_begin(const bench_task *task, void **state)
{
    const histo_dtype dtype = task->input->dtype;
    if (task->input->axes || dtype == HISTO_F16 || dtype == HISTO_BF16)
        return histo_fail(HISTO_UNSUPPORTED, "there is no such loop");
    size_t bytes = sizeof(naive) + (size_t)task->axis->bins * sizeof(uint64_t);
    naive *loop = malloc(bytes);
    if (!loop) return histo_fail_memory(bytes, "counts");
    *loop = (naive){.task = task, .bins = naive_bins_of(task->axis, task->edges, dtype)};
    *state = loop;
    return HISTO_OK;
}

static histo_status naive_run(void *state, void *stream)
{
    enum { MAX_BINS = 1 << 24 /* of tables that threads have of their own */ };
    naive *loop = state;
    const size_t bins = (size_t)loop->task->axis->bins;
    (void)stream;
    loop->ranges = bins <= MAX_BINS ? loop->task->threads : 1;
    const size_t entries = (size_t)(loop->ranges - 1) * bins;
    loop->tables = calloc(entries + 1, sizeof *loop->tables);
    if (!loop->tables) return histo_fail_memory(entries * sizeof *loop->tables, "counts of each thread");
    memset(loop->counts, 0, bins * sizeof *loop->counts);
    histo_pool_run(loop->ranges, take_range, loop);
    for (size_t i = 0; i < entries; i++)
        loop->counts[i % bins] += loop->tables[i];
    free(loop->tables);
    return HISTO_OK;
}

static histo_status naive_counts(void *state, uint64_t *counts)
{
    const naive *loop = state;
    memcpy(counts, loop->counts, (size_t)loop->task->axis->bins * sizeof *counts);
    return HISTO_OK;
}

const bench_peer bench_naive = {"naive loop", false, naive_begin, naive_run, naive_counts, free, false, false, true};
