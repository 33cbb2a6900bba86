/* The distinct values of samples, as keys (quantiles/keys.h), with their counts; if there are more than fit, keys drawn
 * at random from all samples. */
#ifndef SURVEY_DISTINCT_H
#define SURVEY_DISTINCT_H

#include "survey/quantiles/keys.h"
#include "survey/samples.h"

enum {
    HISTO_MOST_DISTINCT = 1 << 20,
    HISTO_MOST_DRAWN_KEYS = 1 << 19,
};

/* Keys from the first to the last. */
typedef struct histo_key_span {
    uint64_t first, last;
} histo_key_span;

typedef struct histo_key_count {
    uint64_t key, count;
} histo_key_count;

typedef struct histo_distinct {
    histo_dtype dtype;
    const histo_key_span *spans; /* [spans_count] increasing: samples with other keys are ignored */
    int64_t spans_count;
    uint64_t samples, least, most; /* number of samples found, and their smallest and largest key */
    bool all;                      /* `values` is complete; otherwise keys were drawn */
    histo_key_count *values;       /* [count] increasing */
    int64_t count;
    uint64_t *keys; /* [keys_count] samples that are not among the values yet; or the drawn ones, sorted at the end */
    int64_t keys_count;
    uint64_t interval, skip, random; /* for drawing: samples per drawn key, samples until the next one; random
                                      * generator */
} histo_distinct;

/* All finite samples of a dtype. Zeros have the key of +0. */
histo_key_span histo_finite_keys(histo_dtype dtype);

/* Allocate room for the values. Free with histo_distinct_free, also after a failure. */
histo_status histo_distinct_make(histo_distinct *d, histo_dtype dtype);
void histo_distinct_free(histo_distinct *d);

/* Begin a pass over the samples in these spans, which are borrowed. */
void histo_distinct_start(histo_distinct *d, const histo_key_span *spans, int64_t spans_count);
/* Add samples in host memory. */
histo_status histo_distinct_add(histo_distinct *d, const histo_source *source);
/* End the pass. */
void histo_distinct_end(histo_distinct *d);

#endif
