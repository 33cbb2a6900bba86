/* The CUDA backend as a shared object of its own, which histo_backend_load loads: kernels are fifty times as large as
 * the rest of the library. The module holds src/cuda and no state of the rest: it calls the library that has loaded it
 * by a table of functions. Both must be built from the same headers. */
#ifndef CUDA_MODULE_MODULE_H
#define CUDA_MODULE_MODULE_H

#include "axis/axis.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/pool.h"
#include "cuda/jit/cache.h"
#include "plan/accumulators.h"
#include "plan/rates.h"
#include "plan/sparse.h"
#include "plan/strategy.h"
#include "sum/exact.h"
#include "view/dtype.h"
#include "view/gather.h"
#include "view/stack_iter.h"

/* What the backend calls of the library. */
typedef struct histo_core {
    const histo_backend *cpu;
    __typeof__(histo_accumulators_add) *accumulators_add;
    __typeof__(histo_accumulators_clear_others) *accumulators_clear_others;
    __typeof__(histo_accumulators_home) *accumulators_home;
    __typeof__(histo_axis_step) *axis_step;
    __typeof__(histo_cache_generation) *cache_generation;
    __typeof__(histo_cache_read) *cache_read;
    __typeof__(histo_cache_write) *cache_write;
    __typeof__(histo_cells_make) *cells_make;
    __typeof__(histo_checksum_add) *checksum_add;
    __typeof__(histo_dtype_size) *dtype_size;
    __typeof__(histo_exact_reserve) *exact_reserve;
    __typeof__(histo_fail) *fail;
    __typeof__(histo_fail_memory) *fail_memory;
    __typeof__(histo_gather_range) *gather_range;
    __typeof__(histo_list_free) *list_free;
    __typeof__(histo_lookup_free) *lookup_free;
    __typeof__(histo_lookup_make) *lookup_make;
    __typeof__(histo_now_us) *now_us;
    __typeof__(histo_pool_finish) *pool_finish;
    __typeof__(histo_pool_run) *pool_run;
    __typeof__(histo_pool_start) *pool_start;
    __typeof__(histo_problem_fraction) *problem_fraction;
    __typeof__(histo_problem_has_counters) *problem_has_counters;
    __typeof__(histo_problem_outside) *problem_outside;
    __typeof__(histo_sample_bytes) *sample_bytes;
    __typeof__(histo_strided_iter_make) *strided_iter_make;
    __typeof__(histo_pairs_iter_make) *pairs_iter_make;
    __typeof__(histo_pairs_iter_pixels) *pairs_iter_pixels;
    __typeof__(histo_view_nd) *view_nd;
} histo_core;

/* What a module exports, as histo_cuda_module. */
typedef struct histo_module {
    char build[64]; /* HISTO_BUILD of the module, before all that may change */
    const histo_backend *backend;
    const histo_strategy *const *strategies; /* see histo_cuda_strategies */
    void (*enter)(const histo_core *core);   /* before anything else is called; may be called again */
} histo_module;

#define HISTO_MODULE_SYMBOL "histo_cuda_module"
#define HISTO_MODULE_FILE "libhisto-cuda.so"

#endif
