/* Selection of order statistics: exact quantiles of any number of samples in bounded memory, usually in one pass. */
#ifndef SURVEY_QUANTILES_SELECTION_H
#define SURVEY_QUANTILES_SELECTION_H

#include "cpu/kernels/brackets/brackets.h"
#include "cpu/samples/block.h"
#include "plan/strategy.h"
#include "survey/samples.h"
#include "survey/saved.h"

typedef struct histo_selection histo_selection;

/* Room for n quantiles, which are found together. in_parts: passes are merged with those of other selections. memory:
 * about how many bytes to use, at least 2 MiB; 0: as many as are useful, 40 MB. With less, more passes may be
 * needed. */
histo_status histo_selection_create(histo_selection **selection, histo_dtype dtype, int n, bool in_parts,
                                    size_t memory);
void histo_selection_destroy(histo_selection *selection);

/* Find the quantiles q[n], each 0 … 1, of the samples added from now on, ignoring NaN and, if `finite`, infinities. q
 * is copied. */
void histo_selection_start(histo_selection *selection, histo_quantile_rule rule, const double *q, bool finite);

/* Begin and end adding the samples of a source; several threads may do so at once. Returns whether several threads may
 * add the samples of this source. */
bool histo_selection_begin(histo_selection *selection, const histo_source *source);
void histo_selection_end(histo_selection *selection);

enum { HISTO_SELECTION_COLLECTED = 2 * HISTO_BLOCK };

/* The contribution of a single thread. */
typedef struct histo_selection_part {
    histo_selection *selection;
    uint64_t seen; /* samples */
    bool is_alone; /* no other thread adds */
    histo_bracketed bracketed;
    int collected_count;
    uint32_t *counts;  /* for values of at most 16 bits; NULL: the thread adds to the shared counts */
    int64_t uncounted; /* sum of `counts`, hence an upper bound of each */
    _Alignas(64) char collected[HISTO_SELECTION_COLLECTED * 8]; /* samples in brackets */
} histo_selection_part;

void histo_selection_part_start(histo_selection_part *part, histo_selection *selection, bool is_alone);
/* Add n aligned samples. */
void histo_selection_part_add(histo_selection_part *part, const void *block, int64_t n);
void histo_selection_part_end(histo_selection_part *part);

/* Add the samples of a source in a GPU's memory, given their extremes; replaces begin and parts. */
histo_status histo_selection_add_on_device(histo_selection *selection, const histo_source *source,
                                           const histo_found *extremes);

/* Call after each pass: true if the quantiles are known, false if the same samples must be added again. */
bool histo_selection_end_pass(histo_selection *selection);

/* Quantile i, once known; NaN if there were no samples. */
double histo_selection_value(const histo_selection *selection, int i);

/* Selections in parts proceed alike in every pass, so that their passes can be merged. These functions save what this
 * pass has added, forget it, and read what has been saved. */
void histo_selection_save(const histo_selection *selection, histo_bytes *out);
void histo_selection_forget(histo_selection *selection);
/* Without `add`, saved data are only checked. */
void histo_selection_merge(histo_selection *selection, histo_saved *from, bool add);

#endif
