/* Order across streams. */
#ifndef CUDA_MEMORY_STREAM_ORDER_H
#define CUDA_MEMORY_STREAM_ORDER_H

#include "cuda/host/check.h"

enum { HISTO_CUDA_MAX_BRANCHES = 8 };

/* The node of a graph that records the event, after the nodes of the last work captured on a stream. */
typedef struct histo_cuda_record {
    unsigned long long capture; /* 0: none */
    cudaStream_t stream;
    cudaGraphNode_t node, after[HISTO_CUDA_MAX_BRANCHES];
    size_t n;
} histo_cuda_record;

typedef struct histo_cuda_order {
    cudaEvent_t done;           /* after everything enqueued so far */
    unsigned long long last;    /* id of the stream that recorded it; 0: unknown */
    bool capturing, captured;   /* work is being captured into a graph; some has been */
    unsigned long long capture; /* the last one, in which this stream waited for the event; 0: none */
    cudaStream_t capture_stream;
    histo_cuda_record record; /* the node that records the event in the last capture */
} histo_cuda_order;

/* Whether the stream is being captured into a graph. */
bool histo_cuda_is_captured(cudaStream_t stream);
histo_status histo_cuda_order_make(histo_cuda_order *order);
/* alive: its context still exists. */
void histo_cuda_order_free(histo_cuda_order *order, bool alive);
/* Work enqueued on the stream between these two comes after all earlier work and before all later; capturing: it is
 * being captured. */
histo_status histo_cuda_order_begin(histo_cuda_order *order, cudaStream_t stream, bool capturing);
histo_status histo_cuda_order_end(histo_cuda_order *order, cudaStream_t stream);
/* The end also of work that has failed with `status` after some of it was enqueued; returns the first failure. */
histo_status histo_cuda_order_end_any(histo_cuda_order *order, cudaStream_t stream, histo_status status);
/* Wait for launched graphs, which may not have recorded the event yet. */
histo_status histo_cuda_order_wait(const histo_cuda_order *order);

/* See histo_sequence_begin. */
void histo_cuda_sequence_begin(void *stream);
histo_status histo_cuda_sequence_end(void);

#endif
