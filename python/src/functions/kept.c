#include "functions/kept.h"

#include <stdlib.h>
#include <string.h>

#include "samples/gpu.h"

enum { KEPT = 32, MOST_SLOTS = 1 << 20 };

/* What a plan is made for. */
typedef struct key {
    histo_device home;
    int naxes;
    histo_axis axes[HISTO_MAX_AXES]; /* their edges are at `edges`, one after the other */
    void *edges;
    size_t edges_bytes;
    histo_dtype dtypes[HISTO_MAX_AXES + 2]; /* of samples, weights and mask */
    bool weighted, masked;
    int64_t batch;
} key;

typedef struct kept {
    key key;
    histo_hist *hist; /* NULL: an empty place */
    histo_plan *plan;
    int64_t samples; /* that it was planned for */
    bool busy;
    bool captured; /* graphs count with it, perhaps long after */
    uint64_t used; /* when */
} kept;

/* Of the process, as the GPUs are. */
static kept table[KEPT];
static uint64_t now;
static atomic_int effort = HISTO_ESTIMATE;
static atomic_flag locked = ATOMIC_FLAG_INIT; /* for as long as searching takes */

static void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&locked, memory_order_acquire)) {
    }
}

static void unlock(void)
{
    atomic_flag_clear_explicit(&locked, memory_order_release);
}

/* ---- Keys ---- */

static const void *edges_of(const histo_axis *axis)
{
    if (axis->kind != HISTO_VARIABLE) return NULL;
    return axis->edges_i64   ? (const void *)axis->edges_i64
           : axis->edges_u64 ? (const void *)axis->edges_u64
                             : axis->edges;
}

static size_t edges_bytes(const histo_axis *axis)
{
    return edges_of(axis) ? ((size_t)axis->bins + 1) * sizeof(double) : 0;
}

/* Its edges are those of the axes. */
static key key_of(const counting *c)
{
    key k = {.home = c->home, .naxes = c->naxes, .weighted = c->weights, .masked = c->mask};
    for (int a = 0; a < c->naxes; a++) {
        k.axes[a] = c->axes[a];
        k.dtypes[a] = c->views[a].dtype;
        k.edges_bytes += edges_bytes(&c->axes[a]);
    }
    if (c->weights) k.dtypes[HISTO_MAX_AXES] = c->weights->dtype;
    if (c->mask) k.dtypes[HISTO_MAX_AXES + 1] = c->mask->dtype;
    k.batch = counting_batch(c);
    return k;
}

static bool same_axis(const histo_axis *a, const histo_axis *b, const void *edges_of_b)
{
    return a->kind == b->kind && a->closed == b->closed && a->bins == b->bins && !a->edges_i64 == !b->edges_i64 &&
           !a->edges_u64 == !b->edges_u64 && a->power == b->power &&
           (edges_of(a) ? memcmp(edges_of(a), edges_of_b, edges_bytes(a)) == 0 : a->lo == b->lo && a->hi == b->hi);
}

static bool same_key(const key *k, const key *of_kept)
{
    bool same = k->home == of_kept->home && k->naxes == of_kept->naxes && k->weighted == of_kept->weighted &&
                k->masked == of_kept->masked && k->batch == of_kept->batch && k->edges_bytes == of_kept->edges_bytes &&
                memcmp(k->dtypes, of_kept->dtypes, sizeof k->dtypes) == 0;
    const char *edges = of_kept->edges;
    for (int a = 0; same && a < k->naxes; a++) {
        same = same_axis(&k->axes[a], &of_kept->axes[a], edges);
        edges += edges_bytes(&k->axes[a]);
    }
    return same;
}

/* Whether a plan for so many samples is good for n. */
static bool serves(int64_t planned, int64_t n)
{
    enum { LESS = 16, MORE = 8 };
    return n / MORE <= planned && planned / LESS <= n;
}

/* ---- The table ---- */

static void clear(kept *k)
{
    histo_plan_destroy(k->plan);
    histo_hist_destroy(k->hist);
    free(k->key.edges);
    *k = (kept){0};
}

/* A place with an equal key, or else the one that has not been used for longest, whose content is moved to *old; NULL
 * if all are busy. The place is then busy. */
static kept *place_for(const key *wanted, int64_t n, kept *old)
{
    kept *oldest = NULL, *found = NULL;
    lock();
    for (int i = 0; i < KEPT && !found; i++) {
        kept *k = &table[i];
        if (k->busy) continue;
        if (k->hist && serves(k->samples, n) && same_key(wanted, &k->key)) found = k;
        if (!k->captured && (!oldest || k->used < oldest->used)) oldest = k;
    }
    *old = (kept){0};
    if (!found && oldest) {
        *old = *oldest;
        *oldest = (kept){0};
    }
    if (!found) found = oldest;
    if (found) found->busy = true;
    unlock();
    return found;
}

static void give_back(kept *k, bool works)
{
    kept broken = {0};
    lock();
    if (!works && !k->captured) {
        broken = *k;
        *k = (kept){0};
    }
    k->used = ++now;
    k->busy = false;
    unlock();
    clear(&broken);
}

void kept_forget(void)
{
    for (int i = 0; i < KEPT; i++) {
        kept old = {0};
        lock();
        if (!table[i].busy && !table[i].captured) {
            old = table[i];
            table[i] = (kept){0};
        }
        unlock();
        clear(&old);
    }
}

void kept_compile(bool wanted)
{
    effort = wanted ? HISTO_COMPILE : HISTO_ESTIMATE;
    kept_forget();
}

/* ---- Counting ---- */

static histo_status copy_edges(const counting *c, key *k)
{
    if (!k->edges_bytes) return HISTO_OK;
    char *at = k->edges = malloc(k->edges_bytes);
    if (!at) return HISTO_NO_MEMORY;
    for (int a = 0; a < c->naxes; a++) {
        const size_t bytes = edges_bytes(&c->axes[a]);
        if (bytes) memcpy(at, edges_of(&c->axes[a]), bytes);
        at += bytes;
    }
    return HISTO_OK;
}

static histo_status make(const counting *c, const key *wanted, const histo_fill_options *fill, kept *k)
{
    const histo_hist_options create = {.batch = wanted->batch,
                                       .weighting = c->weights ? HISTO_WEIGHT_FAST_SUM : HISTO_UNWEIGHTED};
    const histo_plan_options plan = {.effort = effort, .device = c->home, .threads = c->threads};
    k->key = *wanted;
    k->key.edges = NULL;
    k->samples = histo_view_size(&c->views[0]);
    histo_status status = copy_edges(c, &k->key);
    if (status == HISTO_OK) status = histo_hist_create(&k->hist, c->naxes, c->axes, &create);
    if (status == HISTO_OK) status = histo_plan_create(&k->plan, k->hist, c->views, fill, &plan);
    return status;
}

static histo_status fill_and_read(const counting *c, const kept *k, const histo_fill_options *fill, histo_dtype dtype,
                                  void *out, int64_t size)
{
    const histo_read_options read = {.dtype = dtype, .stream = c->stream};
    if (!c->weights) return histo_plan_fill_read(k->plan, k->hist, c->views, fill, c->slots, out, size, &read);
    const histo_status status = histo_plan_fill(k->plan, k->hist, c->views, fill);
    return status == HISTO_OK ? histo_hist_read_weights(k->hist, c->slots, out, NULL, size, &read) : status;
}

/* Whether the counters are so few that they may stay in the memory of the GPU. */
static bool is_small(const counting *c)
{
    int64_t slots = counting_batch(c);
    for (int a = 0; a < c->naxes && slots <= MOST_SLOTS; a++)
        slots *= c->axes[a].bins + 3;
    return slots <= MOST_SLOTS;
}

histo_status kept_count(const counting *c, histo_dtype dtype, void *out, int64_t size)
{
    const histo_fill_options fill = {
        .weights = c->weights, .mask = c->mask, .stream = c->stream, .replace = true, .threads = c->threads};
    const key wanted = key_of(c);
    kept old, once = {0}, *k = is_small(c) ? place_for(&wanted, histo_view_size(&c->views[0]), &old) : NULL;
    const bool keeps = k, captures = gpu_captures(c->stream);
    if (!k) k = &once;
    if (keeps) clear(&old);
    k->captured |= captures && keeps;
    histo_status status = k->hist ? HISTO_OK : make(c, &wanted, &fill, k);
    if (status == HISTO_OK) status = fill_and_read(c, k, &fill, dtype, out, size);
    if (keeps)
        give_back(k, status == HISTO_OK);
    else
        clear(&once);
    return status;
}
