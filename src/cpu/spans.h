/* Spans: an axis of stored edges cut into so many pieces that few edges are in any. The span of a sample is arithmetic
 * that never falls as the sample rises, so that edges of lower spans are below it and those of higher spans above,
 * whatever the rounding; only the edges of its own span are compared with it. */
#ifndef CPU_SPANS_H
#define CPU_SPANS_H

#include "axis/axis.h"

typedef struct histo_spans {
    double lo, hi;        /* first and last edge */
    bool by_bits;         /* a span is a range of bit patterns of double, else a range of values, all equally wide */
    double per_span;      /* spans in a unit */
    uint64_t first_bits;  /* the pattern of lo */
    int shift;            /* a span is 2^shift patterns */
    int32_t most;         /* edges in a span */
    uint32_t nan;         /* slot of NaN */
    const int32_t *first; /* edges below each span: the slot of the span's smallest samples */
    /* The edges, the last as it is compared (histo_lookup.over), and `most` NaN, which no sample reaches. */
    const double *edges;
} histo_spans;

/* For a lookup by search, and about so many samples. */
histo_status histo_spans_make(histo_spans *spans, const histo_lookup *lookup, int64_t samples);
void histo_spans_free(histo_spans *spans);

#endif
