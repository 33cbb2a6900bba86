/* A cache of histograms and plans for samples on GPUs: making them takes longer than counting a million samples. It is
 * of the process, as the GPUs are. */
#ifndef PYTHON_PLAN_CACHE_H
#define PYTHON_PLAN_CACHE_H

#include "functions/counting.h"

/* Make what the cache needs; -1 with an exception. */
int plan_cache_init(void);
/* Count as counting_run, for samples in the memory of the GPU `home`. Without the GIL. */
histo_status plan_cache_count(const count_request *c, histo_dtype dtype, void *out, int64_t size);
/* Destroy all that no call is using. */
void plan_cache_clear(void);
/* Whether further plans have kernels compiled and wait for them; at first they do not. */
void plan_cache_compile(bool wanted);

#endif
