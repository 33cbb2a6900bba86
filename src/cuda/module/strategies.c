/* The strategies of the CUDA backend. */
#include <stddef.h>

#include "plan/registry.h"

#define FROM_cpu(strategy) NULL
#define FROM_cuda(strategy) &strategy

#define STRATEGY(backend, name, summary, limits, source) extern const histo_strategy histo_##backend##_##name;
#include "plan/strategies.def"
#undef STRATEGY

const histo_strategy *const histo_cuda_rows[] = {
#define STRATEGY(backend, name, summary, limits, source) FROM_##backend(histo_##backend##_##name),
#include "plan/strategies.def"
#undef STRATEGY
};
