/* The arguments of kernels: plain structs, filled on the host (launch/work_of_job.cu). */
#ifndef CUDA_DEVICE_WORK_H
#define CUDA_DEVICE_WORK_H

#include "axis/slot_of.h"
#include "sum/slices.h"
#include "view/pairs.h"
#include "view/strided_iter.h"

/* n / d for 32-bit n as a multiplication (Granlund and Montgomery 1994). */
typedef struct histo_divisor {
    uint32_t factor;
    uint8_t shift1, shift2;
} histo_divisor;

/* Integers of at most 16 bits on a regular axis. Samples are clamped to first … last. The slot is ((sample - first) *
 * factor + offset) >> shift. The host has checked this for every value of the dtype. */
typedef struct histo_fixed_point {
    int32_t first, last;
    uint32_t factor;
    uint32_t shift; /* 32 … 48 */
    uint64_t offset;
} histo_fixed_point;

HISTO_INLINE uint32_t histo_slot_by_fixed_point(const histo_fixed_point *f, int32_t x)
{
    const int32_t in = x < f->first ? f->first : x > f->last ? f->last : x;
    return (uint32_t)(((uint64_t)((uint32_t)in - (uint32_t)f->first) * f->factor + f->offset) >> f->shift);
}

/* The same on an axis whose last bin holds the integer at which it ends, too: it is the one after `last`. */
HISTO_INLINE uint32_t histo_slot_by_closed_point(const histo_fixed_point *f, int32_t x)
{
    return histo_slot_by_fixed_point(f, x) + (x > f->last + 1);
}

/* Reproducible sums on the device: planes of digits as in sum/exact.h, for all windows that weights of a dtype can
 * touch and two more for carries. So there is nothing to look for in the weights, and nothing to wait for. */
typedef struct histo_cuda_exact {
    int low, windows;
    long long *digits;     /* [windows][batch * counters] */
    unsigned int *special; /* [batch * counters] of HISTO_EXACT_… flags */
} histo_cuda_exact;

/* Everything a kernel needs to know of a job, passed to it by value. The samples are cut into tiles, each within one
 * batch entry; a block takes whole tiles. */
typedef struct histo_cuda_work {
    histo_strided_iter iter;
    histo_divisor divisors[HISTO_MAX_DIMS + 1]; /* of iter.shape, where that is < 2^31 */
    bool aligned;     /* every sample is at a multiple of its size, and as its dtype has it … */
    bool in_place;    /* … or perhaps swapped, bits or records */
    bool are_runs;    /* every operand is one run of samples, in its dtype's own bytes: see any_step.cuh */
    uint16_t swapped; /* a bit for each operand whose bytes are in the other order … */
    uint16_t records; /* … and for each that has records (histo_function), of which dtypes has the number's dtype */
    int naxes, weights, mask, where;
    histo_dtype dtypes[HISTO_MAX_OPERANDS];
    histo_lookup lookups[HISTO_MAX_AXES];
    histo_fixed_point fixed; /* of the only axis, for kernels that look samples up by it */
    uint32_t slot_strides[HISTO_MAX_AXES];
    uint32_t slots; /* the slot of samples that mask and filter leave out */
    double where_lo, where_hi;
    float where_lo_f32, where_hi_f32;   /* the least and the greatest float between them … */
    int32_t where_lo_i32, where_hi_i32; /* … and integer, for those of at most 16 bits */
    /* Batch entries that are counted together are one entry here, of all their counters: */
    int channels;              /* in each; 1: none */
    int64_t channel_stride;    /* bytes from a sample to that of the next channel */
    uint32_t channel_counters; /* of one channel */
    bool has_bits;             /* the mask is of bits: its base is 8 times an address, plus the number of a bit there */
    /* For specialised kernels (jit/specialised.cuh): */
    const char *ends[HISTO_MAX_OPERANDS]; /* where an operand's last sample ends */
    uint32_t row;                         /* the length of a run that is padded to what iter.shape says; else 0 */
    /* From a thread's samples to its next ones, in the dimensions of a batch entry. */
    uint32_t advance[HISTO_MAX_DIMS + 1];

    int64_t begin, end;         /* samples of the strided iterator */
    int64_t first_entry;        /* of the batch */
    int64_t tiles_per_entry;    /* tiles of a batch entry */
    int64_t tiles;              /* in all */
    int64_t samples_each;       /* of a tile, at most; fewer than 2^31 */
    int64_t counters;           /* slots + 1 */
    unsigned long long *counts; /* [batch * counters] */
    double *sum_w, *sum_w2;
    histo_cuda_exact exact[2];
} histo_cuda_work;

/* Readers have numbers: that of contiguous, aligned samples of one axis alone is their dtype, that of
 * everything else is this. */
enum { HISTO_READ_ANY = HISTO_DTYPE_COUNT };

#endif
