/* Spans: an axis with stored edges is divided into so many pieces that each holds only few edges. A sample's span is
 * computed by a non-decreasing function of the sample. So the edges in lower spans are below the sample and those in
 * higher spans above it, however the function rounds, and only the edges in its own span must be compared with it. */
#ifndef CPU_SPANS_H
#define CPU_SPANS_H

#include "axis/axis.h"

typedef struct histo_spans {
    /* The edges are nearly regular, so the guess of a regular axis is right up to one comparison with an edge, and
     * there are no spans. off: see histo_axis_off; if it is 0, `edges` is NULL, as the formula gives them. */
    bool near;
    double off;
    double lo, hi;        /* first and last finite edge: samples outside are in the first or last span */
    bool by_bits;         /* spans are equal ranges of bit patterns of doubles, not of values */
    double per_span;      /* spans per unit of value */
    uint64_t first_bits;  /* the pattern of lo */
    int shift;            /* a span has 2^shift patterns */
    int32_t most;         /* maximum number of edges in a span */
    uint32_t nan;         /* slot of NaN */
    const int32_t *first; /* number of edges below each span: the slot of its smallest samples */
    /* The lookup's edges if they are nearly regular; else a copy, whose last edge is the one compared with
     * (histo_lookup.over), followed by `most` NaNs, which no sample reaches. */
    const double *edges;
    /* HISTO_SEARCH_WHOLE: the thresholds, followed by `most` copies of the largest key. Spans are equal ranges of keys,
     * from first_bits to last_key, and `nan` is the number of thresholds. */
    const uint64_t *keys;
    uint64_t last_key;
    void *memory;
} histo_spans;

/* Make spans for a lookup by search, which must outlive them, of an axis with this histo_axis_off; fewer spans are made
 * for fewer samples. */
histo_status histo_spans_make(histo_spans *spans, const histo_lookup *lookup, double off, int64_t samples);
void histo_spans_free(histo_spans *spans);

#endif
