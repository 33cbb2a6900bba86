/* A counting problem: everything about a fill except addresses. And a job: a problem with addresses. */
#ifndef PLAN_PROBLEM_H
#define PLAN_PROBLEM_H

#include <histo/histo.h>

#include "axis/axis.h"
#include "plan/sparse.h"
#include "sum/exact.h"
#include "view/walk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Accumulators on a device; the backend that made them knows their full type. */
typedef struct histo_device_accumulators {
    struct histo_device_accumulators *next;
    const struct histo_backend *backend;
    histo_device device;
    bool copied;  /* when they were last gathered, host memory was a copy of these counts, and held nothing else */
    bool drained; /* some counts were moved to host memory and are counted there */
} histo_device_accumulators;

/* The accumulators of a histogram in host memory. A slot of the whole histogram is
 *     batch entry * slots + sum over axes of (slot on the axis * slot_strides[axis]). */
typedef struct histo_accumulators {
    int64_t batch;
    int64_t slots;                   /* of one batch entry */
    uint64_t *counts;                /* [batch * slots], followed by masked; NULL if sparse */
    histo_sparse *sparse;            /* the occupied slots out of batch * slots; NULL if dense */
    uint64_t *masked;                /* [batch] */
    uint64_t most;                   /* upper bound of the sum of all counts and masked samples: see plan/total.h */
    double *sum_w, *sum_w2;          /* fast weighting: [batch * slots]; else NULL */
    histo_exact *exact_w, *exact_w2; /* reproducible: [batch * slots], else NULL; that of w^2 is NULL if not wanted */
    bool incomplete;                 /* holds part of a fill that was cancelled or failed */
    bool on_host;                    /* host memory may hold counts that no device has, apart from those moved there */
    histo_device_accumulators *on_devices;
} histo_accumulators;

static inline bool histo_is_fast(histo_weighting weighting)
{
    return weighting == HISTO_WEIGHT_FAST || weighting == HISTO_WEIGHT_FAST_SUM;
}

static inline bool histo_is_reproducible(histo_weighting weighting)
{
    return weighting == HISTO_WEIGHT_REPRODUCIBLE || weighting == HISTO_WEIGHT_REPRODUCIBLE_SUM;
}

/* Whether it also sums w^2. */
static inline bool histo_has_squares(histo_weighting weighting)
{
    return weighting == HISTO_WEIGHT_FAST || weighting == HISTO_WEIGHT_REPRODUCIBLE;
}

enum { HISTO_FAR_APART = 65 };

typedef struct histo_problem {
    int naxes;
    histo_axis axes[HISTO_MAX_AXES];       /* owned */
    histo_lookup lookups[HISTO_MAX_AXES];  /* for each axis and its dtype */
    double off[HISTO_MAX_AXES];            /* histo_axis_off of each axis with stored edges */
    uint32_t slot_strides[HISTO_MAX_AXES]; /* strides of counters; all 1 if slots are composed in 64 bits instead */

    /* The following are set by histo_problem_bind. */
    int64_t batch;
    int64_t bins,
        slots; /* of one batch entry; slots <= HISTO_MAX_SLOTS, but batch * slots <= 2^63 - 1 for sparse histograms */
    histo_weighting weighting;
    histo_storage storage;
    histo_pairs pairs;   /* how samples are computed from images; pairing 0: samples are in memory */
    bool ragged;         /* batch entries are segments of different lengths, given by the fill's offsets */
    int apart;           /* bytes between neighbouring samples of a batch entry, if samples of other entries fill the
                          * gaps; HISTO_FAR_APART if more than a cache line; 0 if there are no such gaps */
    int64_t samples;     /* approximate number per fill, over all batch entries */
    uint32_t *probed;    /* the sorted slots of some of the planned samples; NULL if not probed */
    int probes;          /* number of probed slots */
    histo_effort effort; /* as planned */
    bool repeats;        /* all batch entries have the same samples, mask and where; only weights may differ */
    bool strided;        /* samples, mask, where or weights have gaps between neighbours */
    bool dense;          /* without a probe, assume that all samples are clustered */
    histo_device home;   /* where the operands are: a GPU if one of them is in its memory, else the CPU */
    bool bound;          /* no other device can read all operands */
    bool resident;       /* all operands are in that GPU's memory */
    histo_device device; /* where the plan counts; never HISTO_DEVICE_AUTO */

    /* The views of a fill in the order of strided iterators: the samples of each axis, then whichever of the following
     * are given (HISTO_ABSENT if not). */
    int operands;
    histo_dtype dtypes[HISTO_MAX_OPERANDS]; /* in this machine's byte order; HISTO_U8 for bits */
    histo_dtype stored[HISTO_MAX_OPERANDS]; /* dtypes of the views */
    bool plain;                             /* the two are equal for all operands */
    bool records;                           /* the samples of some axis are records (histo_function) … */
    bool sourced;                           /* … and the functions all have a source for GPUs */
    histo_dtype sampled[HISTO_MAX_AXES];    /* the dtype that each axis sees: that of operand a, or a computed one */
    int weights, mask, where;
} histo_problem;

/* Compute slots and bins of a histogram of these (owned) axes; HISTO_INVALID beyond the limits. Kind: options with all
 * defaults filled in. */
histo_status histo_slots_count(int naxes, const histo_axis *axes, const histo_hist_options *kind, int64_t *bins,
                               int64_t *slots);

/* Check the views and options against a histogram of this kind, and list the views as operands of `problem` (dtypes,
 * weights, mask, where, samples, home). `views_out` gets one pointer per operand. Leaves axes and lookups untouched:
 * clearing them would take longer than counting a few samples. pairs: how samples are computed from the images in
 * views[0], or NULL. */
histo_status histo_problem_bind(histo_problem *problem, int naxes, const histo_hist_options *kind,
                                const histo_view *views, const histo_pairs *pairs, const histo_fill_options *options,
                                const histo_view **views_out);

/* Check the offsets of a ragged batch of samples on device `home`; offsets in that GPU's memory are not read. */
histo_status histo_offsets_check(const int64_t *offsets, int64_t batch, const histo_view *samples, histo_device home);

/* Whether samples are computed from the operands as they are read: no view has them in memory, and one operand yields
 * those of all axes. */
static inline bool histo_is_computed(const histo_problem *problem)
{
    return problem->pairs.pairing != 0;
}

/* How many values of an operand belong to each sample. */
static inline int histo_values_per_sample(const histo_problem *problem)
{
    return histo_is_computed(problem) ? (int)problem->pairs.pairing : 1;
}

/* Whether its mask is HISTO_BIT. */
static inline bool histo_problem_has_bits(const histo_problem *problem)
{
    return problem->mask != HISTO_ABSENT && problem->stored[problem->mask] == HISTO_BIT;
}

/* Whether the edges of all axes are finite and increasing. */
bool histo_problem_is_ordinary(const histo_problem *problem);

/* Set slot_strides to those of counters, or to 1. */
void histo_problem_stride(histo_problem *problem, bool counters);

/* Share the (owned) axes and make their lookups; histo_problem_free frees them. */
histo_status histo_problem_prepare(histo_problem *problem, const histo_axis *axes);
void histo_problem_free(histo_problem *problem);

/* The fraction of the samples in the densest run of `length` slots: among the probed samples or, without a probe, 1 if
 * the problem is assumed dense, else that of evenly spread samples. */
double histo_problem_fraction(const histo_problem *problem, int64_t length);

/* How many groups of `group` neighbours in the densest run of `length` slots n samples touch, estimated from a probe.
 * Without one, the number for evenly spread samples, or none if the problem is assumed dense. */
double histo_problem_touched(const histo_problem *problem, int64_t length, int group, double n);

/* The samples that global atomics count, estimated from a probe: the fraction outside the densest run of `length` slots
 * (all samples if length is 0), and the fraction in the most common slot there. Without a probe, samples are assumed to
 * be evenly spread. */
typedef struct histo_outside {
    double fraction, commonest;
} histo_outside;

histo_outside histo_problem_outside(const histo_problem *problem, int64_t length);

/* Whether strategies can use dense counters: for dense histograms, and for sparse ones with few enough slots, because
 * counters are much faster than pairs. Nonzero counters become pairs after a fill, or when the host reads a GPU's
 * counts. */
bool histo_problem_has_counters(const histo_problem *problem);

/* Make cells for axes with stored edges, if there are enough samples to repay them and the device is a GPU: the CPU has
 * spans (cpu/samples/spans.h). */
histo_status histo_problem_make_cells(histo_problem *problem);

enum { HISTO_MAX_PARAMS = 15 };

typedef struct histo_job {
    const histo_problem *problem;
    histo_strided_iter iter;
    bool resident;      /* all operands are in the memory of problem->device, a GPU; false: unknown */
    bool replace;       /* on a device: first set the existing counts to zero */
    int64_t begin, end; /* the samples of the strided iterator to count, batch entries one after the other */
    double where_lo, where_hi;
    const char *bits;                /* data of the mask, if it is HISTO_BIT */
    const histo_function *functions; /* the fill's functions, for records */
    histo_accumulators *accumulators;
    const void *prepared; /* made by the backend for the plan */
    int threads;
    const int64_t *params; /* values in the order of the strategy's list */
    void *workspace;       /* as large as the strategy requested, 64-byte aligned, not cleared */
    void *stream;
    /* A (non-cumulative) read that the caller makes next, into memory of problem->device, whose accumulators hold
     * everything. A strategy that writes the result while it counts sets reading->done. NULL: there is none, or more
     * samples come first. */
    struct histo_reading *reading;
    histo_device_accumulators *device_accumulators; /* destination on a device; NULL on the CPU */
} histo_job;

/* Turn n records of an axis, `stride` bytes apart, into numbers. to: aligned. */
static inline void histo_job_make_numbers(const histo_job *job, int axis, char *to, const char *from, int64_t stride,
                                          int64_t n)
{
    job->functions[axis].numbers_of(job->functions[axis].context, from, stride, n, to);
}

/* The job of a fill of this problem, with neither accumulators nor a sample range, for no particular strategy, and for
 * one thread unless the fill asks for more. */
void histo_problem_job(const histo_problem *problem, const histo_view *const *operands, const histo_fill_options *fill,
                       histo_job *job);

#ifdef __cplusplus
}
#endif

#endif
