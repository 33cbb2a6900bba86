/* A cache of histograms, plans and maps for arrays on GPUs: making them takes longer than counting a million samples.
 * It is of the process, as the GPUs are. A call has what it uses for itself until it has enqueued all of its work; the
 * library orders the work of the next call, on whatever stream, behind that. */
#ifndef PYTHON_PLAN_CACHE_H
#define PYTHON_PLAN_CACHE_H

#include "functions/counting.h"

enum { CACHED_COUNTS = 2 };

/* What the cache keeps for a kind of call: a histogram and its plan for each count and, if the call makes one, a map.
 */
typedef struct cached_objects {
    histo_hist *hist[CACHED_COUNTS];
    histo_plan *plan[CACHED_COUNTS];
    histo_map *map;
} cached_objects;

typedef struct cache_request {
    int counts; /* at most CACHED_COUNTS */
    const count_request *count[CACHED_COUNTS];
    bool maps; /* a map with the axes and the batch of the first count */
    histo_within within;
} cache_request;

/* Make what the cache needs; -1 with an exception. */
int plan_cache_init(void);
/* Call work(objects, state) with objects for such a request; what they hold from calls before is undefined. If the
 * stream of the first count is being captured into a graph, whose launches will use them, they are those of a call
 * before that was not, or HISTO_UNSUPPORTED: they are then kept, for graphs alone. Without the GIL. */
histo_status plan_cache_use(const cache_request *request, histo_status (*work)(const cached_objects *, void *),
                            void *state);
/* The options of a fill that replaces what the histogram has. */
histo_fill_options plan_cache_fill_options(const count_request *c);
/* Count as counting_run, for samples in the memory of the GPU `home`. Without the GIL. */
histo_status plan_cache_count(const count_request *c, histo_dtype dtype, void *out, int64_t size);
/* Destroy all that no call is using. */
void plan_cache_clear(void);
/* Whether further plans have kernels compiled and wait for them; at first they do not. */
void plan_cache_compile(bool wanted);

#endif
