/* Iterates over several views of the same shape together, in runs along one dimension.
 *
 * histo_strided_iter_make drops and merges dimensions where all operands allow it, so that a contiguous image of any
 * rank is one long run. The order of samples within a batch entry is not preserved, since counting does not need it;
 * the operands stay aligned with each other. */
#ifndef VIEW_WALK_H
#define VIEW_WALK_H

#include <histo/histo.h>

#include "view/strided_iter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* views: checked, of equal shape. Bits have no addresses: a HISTO_BIT view is walked as if each bit were a byte, so
 * that strides in bits lead from one to the next (see histo_fetch_by), and the caller adds the offset of the first one
 * to its base. */
void histo_strided_iter_make(histo_strided_iter *iter, int operands, const histo_view *const *views);

/* Whether each operand except `but` is the same in all batch entries. */
bool histo_iter_repeats(const histo_strided_iter *iter, int but);

/* Iterate over ragged segments: one-dimensional views, whose order is kept. */
void histo_strided_iter_make_ragged(histo_strided_iter *iter, int operands, const histo_view *const *views,
                                    int64_t batch, const int64_t *offsets);

/* All samples as if they belonged to one batch entry, with the batch entry of each. in_memory_order: batch dimensions
 * whose samples are interleaved become inner ones; otherwise the order is kept. */
typedef struct histo_entries {
    int ndim;
    int64_t first, shape[HISTO_MAX_DIMS + 1], steps[HISTO_MAX_DIMS + 1];
    const int64_t *offsets; /* if ragged */
    int64_t batch;
} histo_entries;
void histo_strided_iter_span(const histo_strided_iter *iter, bool in_memory_order, histo_strided_iter *all,
                             histo_entries *entries);

/* out[i] = unit times the batch entry of sample begin + i of `all`, modulo 2^32. */
void histo_entries_of(const histo_entries *entries, int64_t begin, int n, uint32_t unit, uint32_t *out);

/* The batch entry of a sample of `all`; returns how many samples from it on follow each other in that entry. */
int64_t histo_entries_run(const histo_entries *entries, int64_t sample, int64_t *entry);

/* The number of samples in all batch entries. */
static inline int64_t histo_strided_iter_samples(const histo_strided_iter *iter)
{
    return iter->offsets ? iter->per_batch : iter->batch * iter->per_batch;
}

typedef struct histo_run {
    int64_t batch; /* the batch entry of these samples */
    int64_t n;
    const char *at[HISTO_MAX_OPERANDS]; /* address of the first sample; the next is at + iter->strides[o][ndim-1] */
} histo_run;

typedef struct histo_walk {
    const histo_strided_iter *iter;
    int64_t left;
    int64_t limit;
    int64_t entry; /* if ragged */
    int64_t index[HISTO_MAX_DIMS + 1];
} histo_walk;

/* Iterate over samples [begin, end) of all batch * per_batch, one batch entry after another, in runs of at most
 * limit. */
void histo_walk_start(histo_walk *walk, const histo_strided_iter *iter, int64_t begin, int64_t end, int64_t limit);

/* The next run, or false at the end. */
bool histo_walk_next(histo_walk *walk, histo_run *run);

/* Runs of whole rows that follow the last run in the same image, that is, along the dimension before the last: up to
 * `most`. Returns how many; run: the first, the others are iter->strides[o][ndim - 2] further on, each. */
int64_t histo_walk_rows(histo_walk *walk, int64_t most, histo_run *run);

#ifdef __cplusplus
}
#endif

#endif
