#include "functions/plan_cache.h"

#include <stdlib.h>
#include <string.h>

#include "samples/gpu.h"

enum {
    PLACES = 32,
    MAX_COUNTERS = 1 << 20,  /* of a call that counts */
    MAX_FOR_MAP = 1 << 24,   /* of a call that makes a map, with the values of that */
    MAX_IN_PLACES = 1 << 25, /* of all calls */
};

/* What a plan is made for, besides the axes, which its histogram has. */
typedef struct plan_key {
    histo_device home;
    int naxes;
    histo_dtype dtypes[HISTO_MAX_AXES + 2]; /* of samples, weights and mask */
    bool weighted, masked;
    int64_t batch;
} plan_key;

typedef struct place {
    int counts; /* 0: this place is empty */
    plan_key key[CACHED_COUNTS];
    int64_t samples[CACHED_COUNTS]; /* the number of samples that it was planned for */
    bool maps;
    histo_within within;
    cached_objects objects;
    int64_t slots;      /* counters and values of the map */
    bool busy;          /* a call uses it, or replaces it */
    uint64_t last_used; /* the value of `uses` then */
    struct place *next; /* of those that are captured */
} place;

static place table[PLACES];
static place *captured; /* CUDA graphs use them, perhaps long after: they are never destroyed, nor used by others */
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

/* Whether a plan that was made for `planned` samples is good for n: strategies differ little within these factors. */
static bool serves(int64_t planned, int64_t n)
{
    enum { MAX_SHRINK = 16, MAX_GROWTH = 8 };
    return n / MAX_GROWTH <= planned && planned / MAX_SHRINK <= n;
}

static bool counts_alike(const plan_key *k, const histo_hist *hist, int64_t planned, const count_request *c)
{
    const plan_key wanted = key_of(c);
    bool is = k->home == wanted.home && k->naxes == wanted.naxes && k->weighted == wanted.weighted &&
              k->masked == wanted.masked && k->batch == wanted.batch &&
              memcmp(k->dtypes, wanted.dtypes, sizeof k->dtypes) == 0 && serves(planned, histo_view_size(&c->views[0]));
    for (int a = 0; is && a < k->naxes; a++) {
        const histo_axis axis = histo_hist_axis(hist, a);
        is = histo_axis_equal(&axis, &c->axes[a]);
    }
    return is;
}

static bool is_for(const place *p, const cache_request *r)
{
    bool is = p->counts == r->counts && p->maps == r->maps && p->within == r->within;
    for (int i = 0; is && i < r->counts; i++)
        is = counts_alike(&p->key[i], p->objects.hist[i], p->samples[i], r->count[i]);
    return is;
}

/* The number of counters of a count; at least `most` if it is more. */
static int64_t counters_of(const count_request *c, int64_t most)
{
    int64_t slots = counting_batch(c);
    for (int a = 0; a < c->naxes && slots <= most; a++)
        slots *= c->axes[a].bins + 3;
    return slots;
}

/* The counters and values that a request needs; 0 if they are too many to stay in the memory of the GPU. */
static int64_t slots_of(const cache_request *r)
{
    const int64_t most = r->maps ? MAX_FOR_MAP : MAX_COUNTERS;
    int64_t slots = r->maps ? counters_of(r->count[0], most) : 0;
    for (int i = 0; i < r->counts && slots <= most; i++)
        slots += counters_of(r->count[i], most);
    return slots <= most ? slots : 0;
}

/* ---- The table ---- */

static void clear(place *p)
{
    histo_map_destroy(p->objects.map);
    for (int i = 0; i < CACHED_COUNTS; i++) {
        histo_plan_destroy(p->objects.plan[i]);
        histo_hist_destroy(p->objects.hist[i]);
    }
    *p = (place){0};
}

static place taken_out(place *p)
{
    const place old = *p;
    *p = (place){0};
    return old;
}

/* The place that no call uses, and none has used for longest: an empty one, if there is one. Locked. */
static place *oldest(bool filled)
{
    place *found = NULL;
    for (int i = 0; i < PLACES; i++) {
        place *p = &table[i];
        if (p->busy || (filled && !p->counts)) continue;
        if (!found || p->last_used < found->last_used) found = p;
    }
    return found;
}

/* A place with what the request needs; NULL if there is none. Locked. */
static place *find(const cache_request *r)
{
    for (int i = 0; i < PLACES; i++)
        if (!table[i].busy && table[i].counts && is_for(&table[i], r)) return &table[i];
    return NULL;
}

/* A place for the request, which is then busy, and empty if nothing is kept for it; NULL if all are in use. */
static place *place_for(const cache_request *r, place *old)
{
    *old = (place){0};
    lock();
    place *p = find(r);
    if (!p && (p = oldest(false))) *old = taken_out(p);
    if (p) p->busy = true;
    unlock();
    return p;
}

/* Likewise for a graph: one that no graph uses yet, if there is one, which it then keeps; NULL if there is none. */
static place *place_for_graph(const cache_request *r)
{
    place *own = malloc(sizeof *own), *p, *spare = own;
    if (!own) return NULL;
    lock();
    if ((p = find(r))) {
        *own = taken_out(p);
        own->next = captured;
        captured = p = own;
        spare = NULL;
    } else {
        for (p = captured; p && (p->busy || !is_for(p, r));)
            p = p->next;
    }
    if (p) p->busy = true;
    unlock();
    free(spare);
    return p;
}

/* Make room for so many slots, as far as other calls let it. */
static void make_room(int64_t slots)
{
    for (place *p = table; p;) {
        place old = {0};
        int64_t all = slots;
        lock();
        for (int i = 0; i < PLACES; i++)
            all += table[i].slots;
        p = all > MAX_IN_PLACES ? oldest(true) : NULL;
        if (p) old = taken_out(p);
        unlock();
        clear(&old);
    }
}

/* What failed is not kept, unless graphs use it. */
static void give_back(place *p, bool keeps)
{
    place broken = {0};
    lock();
    if (!keeps) broken = taken_out(p);
    p->last_used = ++uses;
    p->busy = false;
    unlock();
    clear(&broken);
}

void plan_cache_clear(void)
{
    for (int i = 0; i < PLACES; i++) {
        place old = {0};
        lock();
        if (!table[i].busy) old = taken_out(&table[i]);
        unlock();
        clear(&old);
    }
}

void plan_cache_compile(bool wanted)
{
    effort = wanted ? HISTO_COMPILE : HISTO_ESTIMATE;
    plan_cache_clear();
}

/* ---- Use ---- */

histo_fill_options plan_cache_fill_options(const count_request *c)
{
    return (histo_fill_options){
        .weights = c->weights, .mask = c->mask, .stream = c->stream, .replace = true, .threads = c->threads};
}

static histo_status make(const cache_request *r, int64_t slots, place *p)
{
    histo_status status = HISTO_OK;
    for (int i = 0; i < r->counts && status == HISTO_OK; i++) {
        const count_request *c = r->count[i];
        const histo_fill_options fill = plan_cache_fill_options(c);
        p->key[i] = key_of(c);
        p->samples[i] = histo_view_size(&c->views[0]);
        const histo_hist_options create = {.batch = p->key[i].batch,
                                           .weighting = c->weights ? HISTO_WEIGHT_FAST_SUM : HISTO_UNWEIGHTED};
        const histo_plan_options plan = {.effort = effort, .device = c->home, .threads = c->threads};
        status = histo_hist_create(&p->objects.hist[i], c->naxes, c->axes, &create);
        if (status == HISTO_OK)
            status = histo_plan_create(&p->objects.plan[i], p->objects.hist[i], c->views, &fill, &plan);
    }
    const histo_map_options map = {.batch = p->key[0].batch, .within = r->within};
    if (status == HISTO_OK && r->maps)
        status = histo_map_create(&p->objects.map, r->count[0]->naxes, r->count[0]->axes, &map);
    if (status != HISTO_OK) return status;
    p->counts = r->counts;
    p->maps = r->maps;
    p->within = r->within;
    p->slots = slots;
    return HISTO_OK;
}

static histo_status use_in_graph(const cache_request *r, histo_status (*work)(const cached_objects *, void *),
                                 void *state)
{
    place *p = place_for_graph(r);
    if (!p)
        return histo_set_error(HISTO_UNSUPPORTED, slots_of(r)
                                                      ? "make this call once before it is captured into a graph"
                                                      : "this call has too many bins to be captured into a graph");
    const histo_status status = work(&p->objects, state);
    give_back(p, true);
    return status;
}

/* Count, make a map and apply it: several uses of what the place has. */
static histo_status in_sequence(const cache_request *r, const place *p,
                                histo_status (*work)(const cached_objects *, void *), void *state)
{
    histo_sequence_begin(r->count[0]->stream);
    const histo_status status = work(&p->objects, state), ended = histo_sequence_end();
    return status == HISTO_OK ? ended : status;
}

histo_status plan_cache_use(const cache_request *r, histo_status (*work)(const cached_objects *, void *), void *state)
{
    if (gpu_captures(r->count[0]->stream)) return use_in_graph(r, work, state);
    const int64_t slots = slots_of(r);
    place old, temporary = {0}, *p = slots ? place_for(r, &old) : NULL;
    const bool caches = p;
    if (caches) clear(&old);
    if (caches && !p->counts) make_room(slots);
    if (!caches) p = &temporary;
    histo_status status = p->counts ? HISTO_OK : make(r, slots, p);
    if (status == HISTO_OK) status = r->maps ? in_sequence(r, p, work, state) : work(&p->objects, state);
    if (caches)
        give_back(p, status == HISTO_OK);
    else
        clear(&temporary);
    return status;
}

/* ---- Counting ---- */

typedef struct counting {
    const count_request *request;
    histo_dtype dtype;
    void *out;
    int64_t size;
} counting;

static histo_status fill_and_read(const cached_objects *objects, void *state)
{
    const counting *to = state;
    const count_request *c = to->request;
    const histo_fill_options fill = plan_cache_fill_options(c);
    const histo_read_options read = {.dtype = to->dtype, .stream = c->stream};
    histo_hist *hist = objects->hist[0];
    const histo_plan *plan = objects->plan[0];
    if (!c->weights) return histo_plan_fill_read(plan, hist, c->views, &fill, c->slots, to->out, to->size, &read);
    const histo_status status = histo_plan_fill(plan, hist, c->views, &fill);
    return status == HISTO_OK ? histo_hist_read_weights(hist, c->slots, to->out, NULL, to->size, &read) : status;
}

histo_status plan_cache_count(const count_request *c, histo_dtype dtype, void *out, int64_t size)
{
    const cache_request request = {.counts = 1, .count = {c}};
    counting to = {c, dtype, out, size};
    return plan_cache_use(&request, fill_and_read, &to);
}
