/* Exact quantiles of any number of samples in bounded memory, mostly by one pass. */
#ifndef SURVEY_ORDER_H
#define SURVEY_ORDER_H

#include "cpu/cpu.h"
#include "cpu/kernels/brackets.h"
#include "plan/strategy.h"
#include "survey/samples.h"
#include "survey/saved.h"

typedef struct histo_order histo_order;

/* Room for n quantiles, which are found together. in_parts: passes are merged with those of others. memory: about how
 * many bytes to use, at least 2 MiB; 0: as many as are useful, 20 MB. With less, more passes may be needed. */
histo_status histo_order_create(histo_order **order, histo_dtype dtype, int n, bool in_parts, size_t memory);
void histo_order_destroy(histo_order *order);

/* Find the quantiles q[n], each 0 … 1, of the samples added from now on, except NaN and, if `finite`, infinities. q is
 * copied. */
void histo_order_start(histo_order *order, histo_quantile_rule rule, const double *q, bool finite);

/* Begin to add the samples of a source. */
void histo_order_begin(histo_order *order, const histo_source *source);

/* May several threads add them? */
bool histo_order_is_shared(const histo_order *order);

enum { HISTO_ORDER_COLLECTED = 2 * HISTO_BLOCK };

/* What one thread adds. */
typedef struct histo_order_part {
    histo_order *order;
    histo_bracketed found;
    uint64_t all;      /* samples */
    bool alone;        /* there is no other thread */
    uint32_t *counts;  /* of values of at most 16 bits; NULL: those of all threads are used */
    int64_t uncounted; /* their sum */
    int kept;
    _Alignas(64) char collected[HISTO_ORDER_COLLECTED * 8];
} histo_order_part;

void histo_order_part_start(histo_order_part *part, histo_order *order, bool alone);
/* n aligned samples */
void histo_order_part_add(histo_order_part *part, const void *block, int64_t n);
void histo_order_part_end(histo_order_part *part);

/* Add the samples of a source in a GPU's memory, of which `found` are the extremes: in place of begin and parts. */
histo_status histo_order_count(histo_order *order, const histo_source *source, const histo_found *found);

/* Call after each pass: true if the quantiles are known, false if the same samples must be added again. */
bool histo_order_end_pass(histo_order *order);

/* For orders in parts, which do the same in every pass. Save what this pass has added, … */
void histo_order_save(const histo_order *order, histo_bytes *out);
/* … forget it, … */
void histo_order_forget(histo_order *order);
/* … and check what has been saved or, if `add`, add it. */
void histo_order_merge(histo_order *order, histo_saved *from, bool add);

/* Quantile i, once known; NaN if there were no samples. */
double histo_order_value(const histo_order *order, int i);

#endif
