/* Shared by tests of fills on a GPU: histograms of BINS bins from 0 to 1, samples for them, and fills by a given
 * strategy. */
#ifndef TESTS_GPU_FILLS_H
#define TESTS_GPU_FILLS_H

#include "support/device.h"

enum { BINS = 300, SLOTS = BINS + 3 };

histo_hist *make_unit_hist(int64_t batch, histo_weighting weighting);
float *make_unit_floats(uint64_t seed, int64_t n);

/* Samples from malloc, and the same in the memory of the GPU. */
typedef struct gpu_samples {
    void *data;
    histo_view host, device;
    void *memory; /* of the GPU's copy */
} gpu_samples;

/* data: n samples from malloc, which the result owns. */
gpu_samples make_gpu_samples(void *data, histo_dtype dtype, int64_t n);
void free_gpu_samples(const gpu_samples *s);

/* Fill with a given strategy ("cpu/sequential", "cuda/…"). */
void fill_by(histo_hist *h, const char *strategy, const histo_view *views, const histo_fill_options *options);

#endif
