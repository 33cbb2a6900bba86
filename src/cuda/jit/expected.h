/* What plans expect of kernels: do compiled ones count problems of this kind? This process has learnt it from fills. */
#ifndef CUDA_JIT_EXPECTED_H
#define CUDA_JIT_EXPECTED_H

#include "plan/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum histo_expected {
    HISTO_EXPECTED_UNKNOWN,  /* no fill of this kind has told, or it is forgotten */
    HISTO_EXPECTED_COMPILED, /* one counted with a compiled kernel, so others are there or will be soon */
    HISTO_EXPECTED_LATER,    /* its kernel is neither built in nor in the cache; if fills go on, it is compiled */
    HISTO_EXPECTED_GENERAL,  /* its kernel could not be compiled or loaded */
} histo_expected;

/* A kind: types, lookups, layout and the order of magnitude of bins and samples. Any thread may call both. */
histo_expected histo_expected_of(const histo_problem *problem);
void histo_expected_note(const histo_problem *problem, histo_expected what);

#ifdef __cplusplus
}
#endif

#endif
