#include "bench/peers/naive.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/pool.h"

/* Each thread counts its range of samples into its own table; the first table is the result. */
typedef struct counting counting;
typedef void count_range(const counting *c, int64_t begin, int64_t end, uint64_t *counts);

struct counting {
    count_range *count;
    const void *samples;
    const bench_task *task;
    int64_t n, entries; /* of a table */
    int ranges;
    uint64_t *tables; /* tables of all threads but the first */
    uint64_t *counts;
};

static void take_range(void *context, int range)
{
    const counting *c = context;
    int64_t begin = c->n / c->ranges * range, end = range + 1 < c->ranges ? begin + c->n / c->ranges : c->n;
    c->count(c, begin, end, range ? c->tables + (range - 1) * c->entries : c->counts);
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

/* Every value of a byte has a bin. */
static void count_bytes(const counting *c, int64_t begin, int64_t end, uint64_t *counts)
{
    const uint8_t *samples = c->samples;
    uint8_t lo = (uint8_t)c->task->axis->lo;
    for (int64_t i = begin; i < end; i++)
        counts[(uint8_t)(samples[i] - lo)]++;
}

#define INTEGER(type)                                                                                                  \
    static void count_integer_##type(const counting *c, int64_t begin, int64_t end, uint64_t *counts)                  \
    {                                                                                                                  \
        const type *samples = c->samples;                                                                              \
        type lo = (type)c->task->axis->lo;                                                                             \
        uint64_t bins = (uint64_t)c->task->axis->bins;                                                                 \
        for (int64_t i = begin; i < end; i++) {                                                                        \
            uint64_t bin = (uint64_t)samples[i] - (uint64_t)lo;                                                        \
            if (bin < bins) counts[bin]++;                                                                             \
        }                                                                                                              \
    }
INTEGER(uint8_t)
INTEGER(int8_t)
INTEGER(uint16_t)
INTEGER(int16_t)
INTEGER(uint32_t)
INTEGER(int32_t)
INTEGER(uint64_t)
INTEGER(int64_t)
#undef INTEGER

#define FLOATING(type)                                                                                                 \
    static void count_regular_##type(const counting *c, int64_t begin, int64_t end, uint64_t *counts)                  \
    {                                                                                                                  \
        const type *samples = c->samples;                                                                              \
        type lo = (type)c->task->axis->lo, hi = (type)c->task->axis->hi;                                               \
        int64_t bins = c->task->axis->bins;                                                                            \
        type scale = (type)bins / (hi - lo);                                                                           \
        for (int64_t i = begin; i < end; i++) {                                                                        \
            type x = samples[i];                                                                                       \
            if (!(x >= lo && x < hi)) continue;                                                                        \
            int64_t bin = (int64_t)((x - lo) * scale);                                                                 \
            counts[bin < bins ? bin : bins - 1]++;                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    static void count_search_##type(const counting *c, int64_t begin, int64_t end, uint64_t *counts)                   \
    {                                                                                                                  \
        const type *samples = c->samples;                                                                              \
        const double *edges = c->task->edges;                                                                          \
        int64_t bins = c->task->axis->bins;                                                                            \
        for (int64_t i = begin; i < end; i++) {                                                                        \
            type x = samples[i];                                                                                       \
            if (!(x >= edges[0] && x < edges[bins])) continue;                                                         \
            int64_t below = 0, above = bins;                                                                           \
            while (above - below > 1) {                                                                                \
                int64_t middle = (below + above) / 2;                                                                  \
                if (x < edges[middle])                                                                                 \
                    above = middle;                                                                                    \
                else                                                                                                   \
                    below = middle;                                                                                    \
            }                                                                                                          \
            counts[below]++;                                                                                           \
        }                                                                                                              \
    }
FLOATING(float)
FLOATING(double)
#undef FLOATING

typedef struct naive {
    counting counting;
    int threads;
    uint64_t counts[];
} naive;

static count_range *naive_loop(const bench_task *task)
{
    bool regular = task->axis->kind == HISTO_REGULAR;
    switch (task->input->dtype) {
    case HISTO_U8:
        return task->axis->bins == 256 ? count_bytes : count_integer_uint8_t;
    case HISTO_I8:
        return task->axis->bins == 256 ? count_bytes : count_integer_int8_t;
    case HISTO_U16:
        return count_integer_uint16_t;
    case HISTO_I16:
        return count_integer_int16_t;
    case HISTO_U32:
        return count_integer_uint32_t;
    case HISTO_I32:
        return count_integer_int32_t;
    case HISTO_U64:
        return count_integer_uint64_t;
    case HISTO_I64:
        return count_integer_int64_t;
    case HISTO_F32:
        return regular ? count_regular_float : count_search_float;
    case HISTO_F64:
        return regular ? count_regular_double : count_search_double;
    default:
        return NULL;
    }
}

static histo_status naive_begin(const bench_task *task, void **state)
{
    count_range *loop = task->input->axes ? NULL : naive_loop(task);
    if (!loop) return histo_fail(HISTO_UNSUPPORTED, "there is no such loop");
    size_t bytes = sizeof(naive) + (size_t)task->axis->bins * sizeof(uint64_t);
    naive *it = malloc(bytes);
    if (!it) return histo_fail_memory(bytes, "counts");
    *it = (naive){.threads = task->threads};
    it->counting = (counting){.count = loop,
                              .samples = task->samples,
                              .n = task->count,
                              .entries = task->axis->bins,
                              .task = task,
                              .counts = it->counts};
    *state = it;
    return HISTO_OK;
}

static histo_status naive_run(void *state, void *stream)
{
    naive *it = state;
    (void)stream;
    memset(it->counts, 0, (size_t)it->counting.entries * sizeof *it->counts);
    return count_ranged(&it->counting, it->threads);
}

static histo_status naive_counts(void *state, uint64_t *counts)
{
    const naive *it = state;
    memcpy(counts, it->counts, (size_t)it->counting.entries * sizeof *counts);
    return HISTO_OK;
}

const bench_peer bench_naive = {"naive loop", false, naive_begin, naive_run, naive_counts, free, false, false};
