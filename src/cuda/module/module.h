/* The CUDA backend as a shared object of its own, which histo_backend_load loads: kernels are fifty times as large as
 * the rest of the library. The module holds src/cuda and no state of the rest: it calls the library that has loaded it
 * by a table of functions. Both must be built from the same headers. */
#ifndef CUDA_MODULE_MODULE_H
#define CUDA_MODULE_MODULE_H

#include "axis/axis.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "base/device_memory.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads/pool.h"
#include "cuda/jit/cache.h"
#include "plan/accumulators.h"
#include "plan/costs/rates.h"
#include "plan/sparse.h"
#include "plan/strategy.h"
#include "sum/exact.h"
#include "view/dtype.h"
#include "view/gather.h"
#include "view/stack_iter.h"

/* What the backend calls of the library. */
typedef struct histo_core {
    const histo_backend *cpu;
    __typeof__(histo_fail) *fail;
#define CORE(result, name, parameters, arguments) result(*name) parameters;
#include "cuda/module/core.def"
#undef CORE
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
