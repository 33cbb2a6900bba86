/* A kernel finds extremes; everything else is done by fills: a histogram of the samples' bits is a step of a radix
 * selection, and counting candidates is what fills do anyway. */
#include "survey/device.h"

#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "view/dtype.h"

/* Turn the source's range limits into a range filter on the samples themselves. */
static histo_status add_filter(const histo_source *source, histo_problem *problem, histo_job *job)
{
    const int last = problem->operands++;
    problem->where = last;
    problem->dtypes[last] = problem->dtypes[0];
    problem->stored[last] = problem->stored[0];
    job->iter.operands++;
    job->iter.base[last] = job->iter.base[0];
    memcpy(job->iter.strides[last], job->iter.strides[0], sizeof job->iter.strides[0]);
    job->where_lo = source->lo;
    job->where_hi = source->hi;
    return HISTO_OK;
}

static histo_status check_filters(const histo_source *source)
{
    if (!source->only_inside || source->where == HISTO_ABSENT) return HISTO_OK;
    return histo_fail(HISTO_UNSUPPORTED,
                      "samples in the memory of GPU %d are surveyed in a range of their own or with "
                      "a range filter, not both",
                      source->home - HISTO_DEVICE_CUDA(0));
}

histo_status histo_source_extremes(const histo_source *source, histo_found *extremes)
{
    histo_problem problem;
    histo_job job;
    histo_status status = check_filters(source);
    if (status != HISTO_OK) return status;
    memset(&problem, 0, sizeof problem);
    memset(&job, 0, sizeof job);
    memset(extremes, 0, (size_t)source->iter.batch * sizeof *extremes);
    problem.device = source->home;
    problem.operands = source->iter.operands;
    problem.mask = source->mask;
    problem.where = source->where;
    problem.weights = HISTO_ABSENT;
    memcpy(problem.dtypes, source->dtypes, sizeof source->dtypes);
    memcpy(problem.stored, source->stored, sizeof source->stored);
    job.problem = &problem;
    job.iter = source->iter;
    job.end = source->samples;
    job.where_lo = source->where_lo;
    job.where_hi = source->where_hi;
    if (source->mask != HISTO_ABSENT && source->stored[source->mask] == HISTO_BIT) job.bits = source->bits;
    job.stream = source->stream;
    if (source->only_inside) status = add_filter(source, &problem, &job);
    if (status != HISTO_OK || source->samples == 0) return status;
    return histo_backend_of(source->home)->extremes(&job, extremes);
}

/* ---- Keys ---- */

static histo_number number_of(histo_dtype dtype, uint64_t key)
{
    const int64_t ordered = (int64_t)(key ^ UINT64_C(1) << 63);
    const uint64_t bits = (uint64_t)(ordered ^ (ordered < 0 ? INT64_MAX : 0)); /* sign and magnitude */
    switch (dtype) {
    case HISTO_U8:
    case HISTO_U16:
    case HISTO_U32:
    case HISTO_U64:
        return (histo_number){.u64 = key};
    case HISTO_I8:
    case HISTO_I16:
    case HISTO_I32:
    case HISTO_I64:
        return (histo_number){.i64 = ordered};
    case HISTO_F64:
        return (histo_number){.f64 = histo_double_of(bits) + 0.0};
    default: {
        /* The magnitude of a shorter float is in the low bits; the bits above it are all signs. */
        const int sign = 8 * (int)histo_dtype_size(dtype) - 1;
        const uint64_t magnitude = bits & ((UINT64_C(1) << sign) - 1), its = magnitude | (bits >> 63) << sign;
        const uint32_t four = (uint32_t)its;
        const uint16_t two = (uint16_t)its;
        return (histo_number){.f64 = histo_sample_value(sign == 31 ? (const void *)&four : (const void *)&two, dtype) +
                                     0.0};
    }
    }
}

histo_extremes histo_extremes_found(const histo_found *by_key, histo_dtype dtype)
{
    histo_extremes e = {.samples = by_key->samples,
                        .nan = by_key->nan[0] + by_key->nan[1],
                        .below = by_key->infinite[0],
                        .above = by_key->infinite[1],
                        .masked = by_key->masked};
    if (e.samples == e.nan + e.below + e.above) return e;
    e.min = number_of(dtype, by_key->least);
    e.max = number_of(dtype, by_key->most);
    return e;
}

/* ---- Counts ---- */

static histo_dtype bits_of(histo_dtype dtype)
{
    const histo_dtype swapped = (histo_dtype)(dtype & HISTO_SWAPPED);
    switch (histo_dtype_size(dtype)) {
    case 1:
        return HISTO_U8;
    case 2:
        return (histo_dtype)(HISTO_U16 | swapped);
    case 4:
        return (histo_dtype)(HISTO_U32 | swapped);
    default:
        return (histo_dtype)(HISTO_U64 | swapped);
    }
}

histo_status histo_source_fill(const histo_source *source, const histo_axis *axis, bool as_bits, uint64_t *counts)
{
    histo_status status = check_filters(source);
    if (status != HISTO_OK) return status;
    histo_hist *hist;
    status = histo_hist_create(&hist, 1, axis, NULL);
    if (status != HISTO_OK) return status;
    histo_view samples = source->views[0];
    if (as_bits) samples.dtype = bits_of(samples.dtype);
    histo_fill_options fill = {.mask = source->mask == HISTO_ABSENT ? NULL : &source->views[source->mask],
                               .mask_offset = source->mask_offset,
                               .where = source->where == HISTO_ABSENT ? NULL : &source->views[source->where],
                               .where_lo = source->where_lo,
                               .where_hi = source->where_hi,
                               .stream = source->stream};
    if (source->only_inside) {
        fill.where = &source->views[0];
        fill.where_lo = source->lo;
        fill.where_hi = source->hi;
    }
    status = histo_hist_fill(hist, &samples, &fill);
    if (status == HISTO_OK) status = histo_hist_read_counts(hist, HISTO_FLOW, counts, axis->bins + 3, NULL);
    histo_hist_destroy(hist);
    return status;
}
