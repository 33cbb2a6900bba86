/* The reference's rule in a GPU's memory. */
#ifndef BENCH_REFERENCE_CUDA_H
#define BENCH_REFERENCE_CUDA_H

#include "bench/core/cuda.h"

extern "C" {
#include "bench/reference/reference.h"
}

/* The rule with its tables in device memory. */
typedef struct reference_placed {
    reference_rule rule;
    void *tables[2 * HISTO_MAX_AXES];
} reference_placed;

/* Release it also after a failure. */
histo_status reference_place(const reference_rule *rule, reference_placed *placed);
void reference_release(reference_placed *placed);

/* As reference_device. */
histo_status reference_count_cuda(const reference_rule *rule, reference_counts *counts);

#endif
