/* The samples of a strided view as contiguous blocks, without those excluded by a mask, by a range filter on another
 * view, or by limits on the samples themselves. */
#ifndef SURVEY_SAMPLES_H
#define SURVEY_SAMPLES_H

#include <histo/histo.h>

#include "base/threads/pool.h"
#include "cpu/kernels/filters.h"
#include "view/walk.h"

/* The operands of a survey; shared by the threads that read them. */
typedef struct histo_source {
    histo_strided_iter iter;
    int64_t samples;     /* in all batch entries */
    int threads;         /* the number of threads worth starting */
    histo_device home;   /* the device whose memory they are in; for GPUs see device.h */
    histo_view views[3]; /* the operands */
    int64_t mask_offset;
    double where_lo, where_hi;
    void *stream;
    histo_dtype dtypes[3], stored[3]; /* dtypes in blocks, and in memory */
    const histo_function *functions;  /* the function of the samples, if they are records */
    const char *bits;                 /* data of the mask, if it is HISTO_BIT */
    int mask, where;                  /* operands, or HISTO_ABSENT */
    bool only_inside;
    double lo, hi; /* limits if only_inside */
    histo_bounds inside, where_inside;
    bool contiguous_aligned; /* every run of samples can be used in place */
} histo_source;

enum { HISTO_NO_BATCH = -1 };

/* Check and bind the views, which are borrowed. entries: the batch size that the views or options->offsets must have;
 * HISTO_NO_BATCH: batch dimensions are like any others, and offsets are ignored. Weights are ignored. */
histo_status histo_source_make(histo_source *source, const histo_view *samples, const histo_fill_options *options,
                               int64_t entries);
/* histo_source_make with HISTO_NO_BATCH, for samples that must be of this dtype. whose: for messages, such as "the
 * survey is". */
histo_status histo_source_make_typed(histo_source *source, const histo_view *samples, const histo_fill_options *options,
                                     histo_dtype dtype, const char *whose);

/* From now on, only take samples with lo <= x <= hi, hence no NaN. */
void histo_source_only_inside(histo_source *source, double lo, double hi);

static inline bool histo_source_is_filtered(const histo_source *source)
{
    return source->mask != HISTO_ABSENT || source->where != HISTO_ABSENT || source->only_inside;
}

enum {
    HISTO_SAMPLES_GATHERED = 2048, /* samples in a gathered block */
    HISTO_SAMPLES_IN_PLACE = 4096, /* and in an in-place one: few enough to stay in cache when a block is read twice */
};

/* A thread's iteration over samples. */
typedef struct histo_samples {
    const void *block; /* the current block: n aligned samples of dtypes[0], from one batch entry */
    int64_t n, batch;
    uint64_t masked; /* masked samples of this entry before the end of the block */

    bool stopped;       /* by the monitor: there are no more blocks */
    bool stoppable;     /* the monitor may be asked */
    int64_t first, all; /* for its progress: the first of these samples, and the total */
    int64_t at;         /* the next sample at the time it was last asked */
    int64_t end;        /* of the samples */

    const histo_source *source;
    histo_walk walk;
    histo_run run; /* the rest of the current run */
    _Alignas(64) char gathered[HISTO_SAMPLES_GATHERED * 8];
    _Alignas(64) char strided[HISTO_SAMPLES_GATHERED * 8];
    _Alignas(64) char operand[HISTO_SAMPLES_GATHERED * 8];
    _Alignas(64) uint8_t keep[HISTO_SAMPLES_GATHERED];
} histo_samples;

/* Iterate over samples [begin, end) of all. If threads take several such ranges, they are in this order: the first
 * thread's progress is reported as that of the call. */
void histo_samples_start(histo_samples *from, const histo_source *source, int64_t begin, int64_t end);

/* The next block, which is empty if all its samples are excluded; false at the end, or if stopped. */
bool histo_samples_next(histo_samples *from);

#endif
