/* The histogram object. */
#ifndef COUNTS_HIST_H
#define COUNTS_HIST_H

#include "counts/few_samples.h"
#include "plan/accumulators.h"
#include "plan/plan.h"
#include "plan/reading.h"

struct histo_hist {
    int naxes;
    histo_axis axes[HISTO_MAX_AXES]; /* owned */
    histo_weighting weighting;
    int64_t bins; /* in one batch entry */
    histo_accumulators accumulators;
    histo_plan *plans;    /* made by histo_hist_fill: one for each device whose memory has held samples; most recently
                           * used first */
    uint64_t last_fitted; /* serial of a plan known to have these axes */
    histo_unplanned unplanned; /* fills without a plan */
    char *name, *metadata;     /* owned; NULL if there is none */
};

/* The options that a histogram was created with. */
static inline histo_hist_options histo_hist_kind(const histo_hist *hist)
{
    return (histo_hist_options){.batch = hist->accumulators.batch,
                                .weighting = hist->weighting,
                                .storage = hist->accumulators.sparse ? HISTO_SPARSE : HISTO_DENSE};
}

/* histo_hist_create for checked, owned axes, which it copies, and for callers that write counts into host memory.
 * `kind` has all defaults filled in. */
histo_status histo_hist_make(histo_hist **hist, int naxes, const histo_axis *axes, const histo_hist_options *kind);

/* The steps of creating and destroying a histogram, in order. Start: make a struct empty, without axes, weighting and
 * counters; not by clearing all of it, which would take as long as counting a few samples. */
void histo_hist_start(histo_hist *hist);
/* Check the number of axes and the kind, whose batch may be missing. */
histo_status histo_hist_check_kind(int naxes, const histo_axis *axes, const histo_hist_options *kind);
/* Check the axes except their edges, and compute bins and slots. */
histo_status histo_hist_check(int naxes, const histo_axis *axes, const histo_hist_options *kind, int64_t *bins,
                              int64_t *slots);
/* Copy the axes; naxes of `hist` is the number copied so far. */
histo_status histo_hist_own_axes(histo_hist *hist, int naxes, const histo_axis *axes);
/* Free everything but the struct. */
void histo_hist_clear(histo_hist *hist);

/* Destroy the histogram's plan for samples in a device's memory, if it has one. */
void histo_hist_forget_plan(histo_hist *hist, histo_device home);

/* HISTO_INVALID unless this is a valid name of a histogram. */
histo_status histo_check_name(const char *name);
/* Copy name and metadata from another histogram. */
histo_status histo_hist_copy_texts(histo_hist *to, const histo_hist *from);

/* Check a read, and describe it. */
histo_status histo_hist_reading(const histo_hist *hist, histo_slots slots, histo_quantity quantity, void *out,
                                int64_t size, const histo_read_options *options, histo_reading *reading);
histo_status histo_hist_read(const histo_hist *hist, const histo_reading *reading);
/* The GPU that holds everything and whose memory is the destination, if a fill there could perform the read; else
 * HISTO_DEVICE_CPU. */
histo_device histo_hist_reading_device(const histo_hist *hist, const histo_reading *reading);

/* Fail a captured call. what: "read" or "reset". */
histo_status histo_fail_captured(const char *what);

/* HISTO_INVALID unless both are non-NULL and agree in axes, batch, weighting and storage. */
histo_status histo_hist_alike(const histo_hist *a, const histo_hist *b);

#endif
