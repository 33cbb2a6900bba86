/* Spans: an axis with stored edges is cut into so many pieces that each holds only few edges. A sample's span is
 * computed by a function that never decreases as the sample increases. So the edges in lower spans are below the sample
 * and those in higher spans above it, however the function rounds, and only the edges in its own span must be compared
 * with it. */
#ifndef CPU_SPANS_H
#define CPU_SPANS_H

#include "axis/axis.h"

typedef struct histo_spans {
    /* The edges are nearly regular, so the guess of a regular axis is right but for one comparison with an edge: there
     * are no spans. off: see histo_axis_off; if it is 0, `edges` is NULL, as the formula gives them. */
    bool near;
    double off;
    double lo, hi;        /* first and last finite edge: what is outside is in the first or the last span */
    bool by_bits;         /* spans are equal ranges of bit patterns of double, else of values */
    double per_span;      /* spans per unit of value */
    uint64_t first_bits;  /* the pattern of lo */
    int shift;            /* a span is 2^shift patterns */
    int32_t most;         /* edges in a span, at most */
    uint32_t nan;         /* slot of NaN */
    const int32_t *first; /* number of edges below each span: the slot of its smallest samples */
    /* The lookup's if they are nearly regular; else a copy, the last one as it is compared (histo_lookup.over),
     * followed by `most` NaN, which no sample reaches. */
    const double *edges;
    /* HISTO_SEARCH_WHOLE: the thresholds, followed by `most` times the largest key. Spans are equal ranges of keys,
     * from first_bits to last_key, and `nan` is the number of thresholds. */
    const uint64_t *keys;
    uint64_t last_key;
    void *memory;
} histo_spans;

/* For a lookup by search, which must outlive the spans, of an axis with this histo_axis_off; fewer spans are made for
 * fewer samples. */
histo_status histo_spans_make(histo_spans *spans, const histo_lookup *lookup, double off, int64_t samples);
void histo_spans_free(histo_spans *spans);

#endif
