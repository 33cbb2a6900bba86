/* A counting problem: everything about a fill but the addresses. And a job: a problem with addresses. */
#ifndef PLAN_PROBLEM_H
#define PLAN_PROBLEM_H

#include <histo/histo.h>

#include "axis/axis.h"
#include "plan/sparse.h"
#include "sum/exact.h"
#include "view/walk.h"

/* Accumulators on a device: one that a backend made, which knows the rest of it. */
typedef struct histo_device_accumulators {
    struct histo_device_accumulators *next;
    const struct histo_backend *backend;
    histo_device device;
} histo_device_accumulators;

/* The accumulators of a histogram in host memory. A slot of the whole histogram is
 *     batch entry * slots + sum over axes of (slot on the axis * slot_strides[axis]). */
typedef struct histo_accumulators {
    int64_t batch;
    int64_t slots;                   /* of one batch entry */
    uint64_t *counts;                /* [batch * slots]; NULL if they are sparse */
    histo_sparse *sparse;            /* the occupied ones of batch * slots slots; NULL if they are dense */
    uint64_t *masked;                /* [batch] */
    double *sum_w, *sum_w2;          /* fast weighting: [batch * slots]; else NULL */
    histo_exact *exact_w, *exact_w2; /* reproducible: of batch * slots; else NULL. Those of w^2 NULL if not wanted */
    histo_device_accumulators
        *on_devices; /* what fills on devices have counted and histo_accumulators_gather has not yet added */
} histo_accumulators;

static inline bool histo_is_fast(histo_weighting weighting)
{
    return weighting == HISTO_WEIGHT_FAST || weighting == HISTO_WEIGHT_FAST_SUM;
}

static inline bool histo_is_reproducible(histo_weighting weighting)
{
    return weighting == HISTO_WEIGHT_REPRODUCIBLE || weighting == HISTO_WEIGHT_REPRODUCIBLE_SUM;
}

/* Does it sum w^2, too? */
static inline bool histo_has_squares(histo_weighting weighting)
{
    return weighting == HISTO_WEIGHT_FAST || weighting == HISTO_WEIGHT_REPRODUCIBLE;
}

typedef struct histo_problem {
    int naxes;
    histo_axis axes[HISTO_MAX_AXES];       /* owned */
    histo_lookup lookups[HISTO_MAX_AXES];  /* of each axis for its dtype */
    uint32_t slot_strides[HISTO_MAX_AXES]; /* of counters; all 1 where slots are put together in 64 bits instead */
    int64_t batch;
    int64_t bins,
        slots; /* of one batch entry; slots <= HISTO_MAX_SLOTS, but batch * slots <= 2^63 - 1 of sparse ones */
    histo_weighting weighting;
    histo_storage storage;
    histo_pairs pairs;   /* samples are computed from pairs of images: they are two numbers, and operands are one */
    bool ragged;         /* the batch is segments of different lengths, and the fill has their offsets */
    int64_t samples;     /* about how many a fill brings, all batch entries together */
    uint32_t *probed;    /* the slots of some of the samples planned for, in order; NULL if nobody looked */
    int probes;          /* how many */
    bool dense;          /* to suppose, where nobody looked, that all samples lie close together */
    histo_device home;   /* where the operands are: a GPU if one of them is in its memory, else the CPU */
    bool bound;          /* no other device can reach all of them */
    histo_device device; /* where a plan counts; never HISTO_DEVICE_AUTO */

    /* The views of a fill, in the order a strided iterator has them: the samples of each axis, then those of these that
     * are given (else HISTO_ABSENT). */
    int operands;
    histo_dtype dtypes[HISTO_MAX_OPERANDS];
    histo_dtype sampled[HISTO_MAX_AXES]; /* what each axis gets: of operand a, or computed from pairs */
    int weights, mask, where;
} histo_problem;

/* Slots and bins of a histogram of these (owned) axes; HISTO_INVALID beyond the limits. Its kind: options with nothing
 * left to defaults. */
histo_status histo_slots_count(int naxes, const histo_axis *axes, const histo_hist_options *kind, int64_t *bins,
                               int64_t *slots);

/* Check the views and options against a histogram of this kind, and list the views as operands of `problem` (dtypes,
 * weights, mask, where, samples, home). Fills `views_out` with one pointer an operand. */
histo_status histo_problem_bind(histo_problem *problem, int naxes, const histo_hist_options *kind,
                                const histo_view *views, const histo_fill_options *options,
                                const histo_view **views_out);

/* HISTO_UNSUPPORTED if the samples would have to travel to the device and cannot. */
histo_status histo_problem_is_near(const histo_problem *problem, histo_device device);

/* Set the strides: those of counters, or 1. */
void histo_problem_stride(histo_problem *problem, bool counters);

/* Copy the (owned) axes and make their lookups. histo_problem_free undoes it. */
histo_status histo_problem_prepare(histo_problem *problem, const histo_axis *axes);
void histo_problem_free(histo_problem *problem);

/* The fraction of the samples that lie in the densest run of so many slots: of those probed; else all, where they are
 * supposed to be dense, or as many as if they were spread evenly. */
double histo_problem_fraction(const histo_problem *problem, int64_t length);

/* Samples that global atomics count, by what a probe found: the fraction outside the densest run of so many slots (all
 * of them, for 0), and the fraction in the commonest slot there. Without a probe they are thought to be spread. */
typedef struct histo_outside {
    double fraction, commonest;
} histo_outside;

histo_outside histo_problem_outside(const histo_problem *problem, int64_t length);

/* Can strategies count in counters for all slots? Of a dense histogram, and of a sparse one that has few enough: they
 * are much faster than pairs. What is occupied of them becomes pairs after a fill, or when the host asks a GPU. */
bool histo_problem_has_counters(const histo_problem *problem);

/* Make cells for axes with stored edges and samples enough to pay for them, where the problem is a GPU's: the CPU has
 * its own (cpu/spans.h). */
histo_status histo_problem_make_cells(histo_problem *problem);

enum { HISTO_MAX_PARAMS = 8 };

typedef struct histo_job {
    const histo_problem *problem;
    histo_strided_iter iter;
    int64_t begin, end; /* count these samples of the strided iterator: batch entries one after the other */
    double where_lo, where_hi;
    histo_accumulators *accumulators;
    const void *prepared; /* what the backend made for the plan */
    int threads;
    const int64_t *params; /* values, in the order of the strategy's list */
    void *workspace;       /* as many bytes as the strategy asked for, 64-byte aligned, not cleared */
    void *stream;
    /* What the calling thread does while samples are on their way to a device; NULL: it waits. Called once. */
    histo_status (*meanwhile)(void *context);
    void *meanwhile_of;
    histo_device_accumulators *device_accumulators; /* where a device counts; NULL on the CPU */
} histo_job;

#endif
