#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/threads/pool.h"
#include "bench/peers/naive_loops.h"
#include "bench/peers/peer.h"

/* Each thread counts its range of samples into its own table; the first table is the result. */
typedef struct counting {
    naive_bins bins;
    const bench_task *task;
    int64_t n, entries; /* of a table */
    int ranges;
    uint64_t *tables; /* tables of all threads but the first */
    uint64_t *counts;
} counting;

static void take_range(void *context, int range)
{
    const counting *c = context;
    int64_t begin = c->n / c->ranges * range, end = range + 1 < c->ranges ? begin + c->n / c->ranges : c->n;
    const int64_t size = (int64_t)histo_dtype_size(c->task->input->dtype);
    naive_loops[c->task->input->dtype].count(&c->bins, (const char *)c->task->samples + begin * size, size, end - begin,
                                             range ? c->tables + (range - 1) * c->entries : c->counts);
}

static histo_status count_ranged(counting *c, int threads)
{
    enum { MAX_ENTRIES = 1 << 24 };
    c->ranges = c->entries <= MAX_ENTRIES ? threads : 1;
    size_t entries = (size_t)(c->ranges - 1) * (size_t)c->entries;
    c->tables = calloc(entries + 1, sizeof *c->tables);
    if (!c->tables) return histo_fail_memory(entries * sizeof *c->tables, "counts of each thread");
    histo_pool_run(c->ranges, take_range, c);
    for (size_t i = 0; i < entries; i++)
        c->counts[i % (size_t)c->entries] += c->tables[i];
    free(c->tables);
    return HISTO_OK;
}

typedef struct naive {
    counting counting;
    int threads;
    uint64_t counts[];
} naive;

static histo_status naive_begin(const bench_task *task, void **state)
{
    const histo_dtype dtype = task->input->dtype;
    if (task->input->axes || dtype == HISTO_F16 || dtype == HISTO_BF16)
        return histo_fail(HISTO_UNSUPPORTED, "there is no such loop");
    size_t bytes = sizeof(naive) + (size_t)task->axis->bins * sizeof(uint64_t);
    naive *loop = malloc(bytes);
    if (!loop) return histo_fail_memory(bytes, "counts");
    *loop = (naive){.threads = task->threads};
    loop->counting = (counting){.bins = naive_bins_of(task->axis, task->edges, dtype),
                                .n = task->count,
                                .entries = task->axis->bins,
                                .task = task,
                                .counts = loop->counts};
    *state = loop;
    return HISTO_OK;
}

static histo_status naive_run(void *state, void *stream)
{
    naive *loop = state;
    (void)stream;
    memset(loop->counts, 0, (size_t)loop->counting.entries * sizeof *loop->counts);
    return count_ranged(&loop->counting, loop->threads);
}

static histo_status naive_counts(void *state, uint64_t *counts)
{
    const naive *loop = state;
    memcpy(counts, loop->counts, (size_t)loop->counting.entries * sizeof *counts);
    return HISTO_OK;
}

const bench_peer bench_naive = {"naive loop", false, naive_begin, naive_run, naive_counts, free, false, false};
