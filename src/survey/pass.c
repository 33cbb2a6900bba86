/* Threads take chunks of the samples. Moments, whose rounding depends on the order of additions, are computed for each
 * chunk and then merged in order. */
#include "survey/pass.h"

#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads/pool.h"
#include "plan/total.h"
#include "survey/device.h"
#include "survey/extremes.h"
#include "survey/stats.h"
#include "survey/sums.h"

enum { CHUNK = 1 << 16, MOST_CHUNKS = 512 };

typedef struct pass {
    const histo_source *source;
    const histo_facts *facts;
    int threads;
    int64_t next, end; /* chunks */
    pthread_mutex_t lock;
    histo_extremes extremes;
    uint64_t seen;
    histo_power_sums sums;
    int64_t first;                  /* the chunk that stats[0] belongs to */
    histo_stats stats[MOST_CHUNKS]; /* of each chunk */
} pass;

static void add_block(pass *p, const histo_samples *from, histo_selection_part *part, histo_extremes *extremes,
                      histo_power_sums *sums, histo_stats *stats)
{
    const histo_dtype dtype = p->source->dtypes[0];
    if (p->facts->sums) {
        histo_power_sums_add_block(sums, dtype, from->block, from->n, extremes);
        sums->masked += from->masked;
        extremes->masked += from->masked;
    } else if (p->facts->extremes) {
        histo_extremes_add(extremes, from);
    }
    if (p->facts->selection) histo_selection_part_add(part, from->block, from->n);
    if (!stats) return;
    histo_stats_add_block(stats, dtype, from->block, from->n);
    stats->masked += from->masked;
}

static void take_chunks(void *context, int index)
{
    pass *p = context;
    histo_extremes extremes = {0};
    histo_selection_part part;
    histo_samples from;
    histo_power_sums sums = {0};
    uint64_t seen = 0;
    (void)index;
    if (p->facts->selection) histo_selection_part_start(&part, p->facts->selection, p->threads == 1);
    histo_pool_work *const work = histo_pool_stoppable();
    for (int64_t c;
         (c = __atomic_fetch_add(&p->next, 1, __ATOMIC_RELAXED)) < p->end && !histo_pool_stops(work, 0, 0, 0);) {
        const int64_t begin = c * CHUNK, left = p->source->samples - begin;
        histo_samples_start(&from, p->source, begin, begin + (left < CHUNK ? left : CHUNK));
        while (histo_samples_next(&from)) {
            add_block(p, &from, &part, &extremes, &sums, p->facts->stats ? &p->stats[c - p->first] : NULL);
            seen += (uint64_t)from.n;
        }
    }
    if (p->facts->selection) histo_selection_part_end(&part);
    pthread_mutex_lock(&p->lock);
    histo_extremes_merge(&p->extremes, &extremes, p->source->dtypes[0]);
    histo_power_sums_join(&p->sums, &sums);
    p->seen += seen;
    pthread_mutex_unlock(&p->lock);
}

static histo_status run_on_cpu(pass *p)
{
    const histo_source *source = p->source;
    const histo_facts *facts = p->facts;
    histo_status status = HISTO_OK;
    const bool is_shared = !facts->selection || histo_selection_begin(facts->selection, source);
    p->threads = is_shared ? source->threads : 1;
    const int64_t chunks = (source->samples + CHUNK - 1) / CHUNK, most = facts->stats ? MOST_CHUNKS : chunks;
    const histo_stats before = facts->stats ? *facts->stats : (histo_stats){0};
    for (p->first = 0; p->first < chunks && status == HISTO_OK; p->first = p->end) {
        p->next = p->first;
        p->end = chunks - p->first < most ? chunks : p->first + most;
        if (facts->stats) memset(p->stats, 0, (size_t)(p->end - p->first) * sizeof *p->stats);
        status = histo_pool_run_long("surveying", p->threads, take_chunks, p);
        for (int64_t c = 0; c < p->end - p->first && facts->stats; c++)
            histo_stats_join(facts->stats, &p->stats[c]);
    }
    if (facts->selection) histo_selection_end(facts->selection);
    if (status != HISTO_OK && facts->stats) *facts->stats = before;
    return status;
}

/* Run a pass over samples in a GPU's memory. */
static histo_status run_on_device(const histo_source *source, const histo_facts *facts, uint64_t *seen)
{
    histo_found by_key;
    if (facts->stats || facts->sums)
        return histo_fail(HISTO_UNSUPPORTED, "moments are those of samples in host memory: copy them from GPU %d",
                          source->home - HISTO_DEVICE_CUDA(0));
    histo_status status = histo_source_extremes(source, &by_key);
    if (status == HISTO_OK && facts->selection)
        status = histo_selection_add_on_device(facts->selection, source, &by_key);
    if (status != HISTO_OK) return status;
    const histo_extremes extremes = histo_extremes_found(&by_key, source->dtypes[0]);
    if (facts->extremes) histo_extremes_merge(facts->extremes, &extremes, source->dtypes[0]);
    *seen += by_key.samples;
    return HISTO_OK;
}

/* HISTO_INVALID unless this many samples can be added. */
static histo_status admit(const histo_facts *facts, uint64_t seen, uint64_t samples)
{
    const uint64_t so_far[][2] = {{seen, 0},
                                  {facts->stats ? facts->stats->samples : 0, facts->stats ? facts->stats->masked : 0},
                                  {facts->sums ? facts->sums->samples : 0, facts->sums ? facts->sums->masked : 0}};
    bool fits = true;
    for (int i = 0; i < 3; i++) {
        uint64_t total = samples;
        fits = fits && histo_total_add(&total, so_far[i], 2);
    }
    return fits ? HISTO_OK : histo_fail_total();
}

histo_status histo_pass_run(const histo_source *source, const histo_facts *facts, uint64_t *seen)
{
    const uint64_t seen_before = __atomic_load_n(seen, __ATOMIC_RELAXED);
    histo_status status = admit(facts, seen_before, (uint64_t)source->samples);
    if (status != HISTO_OK) return status;
    if (source->home != HISTO_DEVICE_CPU) return run_on_device(source, facts, seen);
    pass *p = histo_malloc(sizeof *p); /* too large for the stack */
    if (!p) return histo_fail_memory(sizeof *p, "surveying samples");
    p->source = source;
    p->facts = facts;
    p->seen = 0;
    p->extremes = (histo_extremes){0};
    p->sums = (histo_power_sums){0};
    pthread_mutex_init(&p->lock, NULL);
    status = run_on_cpu(p);
    pthread_mutex_destroy(&p->lock);
    if (status == HISTO_OK && facts->extremes) histo_extremes_merge(facts->extremes, &p->extremes, source->dtypes[0]);
    if (status == HISTO_OK && facts->sums) histo_power_sums_join(facts->sums, &p->sums);
    if (status == HISTO_OK) __atomic_fetch_add(seen, p->seen, __ATOMIC_RELAXED);
    histo_free(p);
    return status;
}

histo_status histo_pass_over(const histo_view *samples, const histo_fill_options *options, const histo_facts *facts)
{
    histo_source source;
    uint64_t seen = 0;
    const histo_status status = histo_source_make(&source, samples, options, HISTO_NO_BATCH);
    return status == HISTO_OK ? histo_pass_run(&source, facts, &seen) : status;
}
