/* Counting into memory. */
#ifndef PYTHON_COUNTING_H
#define PYTHON_COUNTING_H

#include "state/state.h"

/* A count: what is filled, and how. */
typedef struct count_request {
    int naxes;
    const histo_axis *axes;
    const histo_view *views;
    const histo_view *weights, *mask; /* or NULL */
    histo_slots slots;
    int threads; /* default: those of the process */
    histo_device device;
    histo_tally *tally; /* what becomes of the samples; or NULL */
    bool zeroed;        /* what is written to holds zeros */
    histo_device home;  /* of samples in the memory of a GPU; else HISTO_DEVICE_AUTO */
    void *stream;       /* on which these are ready, and on which `out` is written if it is there, too */
} count_request;

/* The number of histograms that the batch dimensions of the samples make. */
static inline int64_t counting_batch(const count_request *c)
{
    int64_t batch = 1;
    for (int d = 0; d < c->views[0].batch_ndim; d++)
        batch *= c->views[0].shape[d];
    return batch;
}

/* Write the counts, or sums if there are weights, to out[size] in a dtype that histo_hist_read_counts knows. -1 with an
 * exception. */
int counting_run(const count_request *c, histo_dtype dtype, void *out, int64_t size);

#endif
