#include "functions/plan_cache.h"

#include <string.h>

#include "samples/gpu.h"

enum { PLANS = 32, MAX_SLOTS = 1 << 20 };

/* What a plan is made for, besides the axes, which its histogram has. */
typedef struct plan_key {
    histo_device home;
    int naxes;
    histo_dtype dtypes[HISTO_MAX_AXES + 2]; /* of samples, weights and mask */
    bool weighted, masked;
    int64_t batch;
} plan_key;

typedef struct cached_plan {
    plan_key key;
    histo_hist *hist; /* NULL: this place is empty */
    histo_plan *plan;
    int64_t samples;    /* the number of samples that it was planned for */
    bool busy;          /* a call counts with it, or replaces it */
    bool captured;      /* CUDA graphs count with it, perhaps long after: it must not be destroyed */
    uint64_t last_used; /* the value of `uses` then */
} cached_plan;

static cached_plan table[PLANS];
static uint64_t uses;
static _Atomic(PyThread_type_lock) table_lock; /* held while the table is searched, without the GIL */
static _Atomic histo_effort effort = HISTO_ESTIMATE;

int plan_cache_init(void)
{
    if (table_lock) return 0;
    PyThread_type_lock made = PyThread_allocate_lock(), none = NULL;
    if (!made) return PyErr_NoMemory(), -1;
    /* Interpreters with GILs of their own may import the module at the same time. */
    if (!atomic_compare_exchange_strong(&table_lock, &none, made)) PyThread_free_lock(made);
    return 0;
}

static void lock(void)
{
    PyThread_acquire_lock(table_lock, WAIT_LOCK);
}

static void unlock(void)
{
    PyThread_release_lock(table_lock);
}

/* ---- Keys ---- */

static plan_key key_of(const count_request *c)
{
    plan_key k = {.home = c->home, .naxes = c->naxes, .weighted = c->weights, .masked = c->mask};
    for (int a = 0; a < c->naxes; a++)
        k.dtypes[a] = c->views[a].dtype;
    if (c->weights) k.dtypes[HISTO_MAX_AXES] = c->weights->dtype;
    if (c->mask) k.dtypes[HISTO_MAX_AXES + 1] = c->mask->dtype;
    k.batch = counting_batch(c);
    return k;
}

static bool is_for(const cached_plan *cached, const count_request *c, const plan_key *wanted)
{
    const plan_key *k = &cached->key;
    bool is = k->home == wanted->home && k->naxes == wanted->naxes && k->weighted == wanted->weighted &&
              k->masked == wanted->masked && k->batch == wanted->batch &&
              memcmp(k->dtypes, wanted->dtypes, sizeof k->dtypes) == 0;
    for (int a = 0; is && a < k->naxes; a++) {
        const histo_axis axis = histo_hist_axis(cached->hist, a);
        is = histo_axis_equal(&axis, &c->axes[a]);
    }
    return is;
}

/* Whether a plan that was made for `planned` samples is good for n: strategies differ little within these factors. */
static bool serves(int64_t planned, int64_t n)
{
    enum { MAX_SHRINK = 16, MAX_GROWTH = 8 };
    return n / MAX_GROWTH <= planned && planned / MAX_SHRINK <= n;
}

/* ---- The table ---- */

static void clear(cached_plan *k)
{
    histo_plan_destroy(k->plan);
    histo_hist_destroy(k->hist);
    *k = (cached_plan){0};
}

/* A place with an equal key, or else the one that has not been used for longest, whose content is moved to *old; NULL
 * if all are busy. The place is then busy. */
static cached_plan *place_for(const count_request *c, const plan_key *wanted, cached_plan *old)
{
    const int64_t n = histo_view_size(&c->views[0]);
    cached_plan *oldest = NULL, *place = NULL;
    lock();
    for (int i = 0; i < PLANS && !place; i++) {
        cached_plan *k = &table[i];
        if (k->busy) continue;
        if (k->hist && serves(k->samples, n) && is_for(k, c, wanted)) place = k;
        if (!k->captured && (!oldest || k->last_used < oldest->last_used)) oldest = k;
    }
    *old = (cached_plan){0};
    if (!place && oldest) {
        *old = *oldest;
        *oldest = (cached_plan){0};
    }
    if (!place) place = oldest;
    if (place) place->busy = true;
    unlock();
    return place;
}

static void give_back(cached_plan *k, bool works)
{
    cached_plan broken = {0};
    lock();
    if (!works && !k->captured) {
        broken = *k;
        *k = (cached_plan){0};
    }
    k->last_used = ++uses;
    k->busy = false;
    unlock();
    clear(&broken);
}

void plan_cache_clear(void)
{
    for (int i = 0; i < PLANS; i++) {
        cached_plan old = {0};
        lock();
        if (!table[i].busy && !table[i].captured) {
            old = table[i];
            table[i] = (cached_plan){0};
        }
        unlock();
        clear(&old);
    }
}

void plan_cache_compile(bool wanted)
{
    effort = wanted ? HISTO_COMPILE : HISTO_ESTIMATE;
    plan_cache_clear();
}

/* ---- Counting ---- */

static histo_status make(const count_request *c, const plan_key *wanted, const histo_fill_options *fill, cached_plan *k)
{
    const histo_hist_options create = {.batch = wanted->batch,
                                       .weighting = c->weights ? HISTO_WEIGHT_FAST_SUM : HISTO_UNWEIGHTED};
    const histo_plan_options plan = {.effort = effort, .device = c->home, .threads = c->threads};
    k->key = *wanted;
    k->samples = histo_view_size(&c->views[0]);
    histo_status status = histo_hist_create(&k->hist, c->naxes, c->axes, &create);
    if (status == HISTO_OK) status = histo_plan_create(&k->plan, k->hist, c->views, fill, &plan);
    return status;
}

static histo_status fill_and_read(const count_request *c, const cached_plan *k, const histo_fill_options *fill,
                                  histo_dtype dtype, void *out, int64_t size)
{
    const histo_read_options read = {.dtype = dtype, .stream = c->stream};
    if (!c->weights) return histo_plan_fill_read(k->plan, k->hist, c->views, fill, c->slots, out, size, &read);
    const histo_status status = histo_plan_fill(k->plan, k->hist, c->views, fill);
    return status == HISTO_OK ? histo_hist_read_weights(k->hist, c->slots, out, NULL, size, &read) : status;
}

/* Whether the counters are so few that they may stay in the memory of the GPU. */
static bool is_small(const count_request *c)
{
    int64_t slots = counting_batch(c);
    for (int a = 0; a < c->naxes && slots <= MAX_SLOTS; a++)
        slots *= c->axes[a].bins + 3;
    return slots <= MAX_SLOTS;
}

histo_status plan_cache_count(const count_request *c, histo_dtype dtype, void *out, int64_t size)
{
    const histo_fill_options fill = {
        .weights = c->weights, .mask = c->mask, .stream = c->stream, .replace = true, .threads = c->threads};
    const plan_key wanted = key_of(c);
    cached_plan old, temporary = {0}, *k = is_small(c) ? place_for(c, &wanted, &old) : NULL;
    const bool caches = k, captures = gpu_captures(c->stream);
    if (!k) k = &temporary;
    if (caches) clear(&old);
    k->captured |= captures && caches;
    histo_status status = k->hist ? HISTO_OK : make(c, &wanted, &fill, k);
    if (status == HISTO_OK) status = fill_and_read(c, k, &fill, dtype, out, size);
    if (caches)
        give_back(k, status == HISTO_OK);
    else
        clear(&temporary);
    return status;
}
