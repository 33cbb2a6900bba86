/* Runs that are contiguous, aligned and pass all filters are used in place; others are gathered. */
#include "axis/samples.h"

#include <string.h>

#include "axis/filter.h"
#include "view/dtype.h"
#include "view/view.h"

/* Append the samples of a run to `out`. Each is stored; one that is not kept is overwritten by the next. keep NULL:
 * keep all. */
#define DEFINE_GATHER(bits)                                                                                            \
    static int64_t gather_##bits(const char *at, int64_t stride, int64_t n, const uint8_t *keep, char *out)            \
    {                                                                                                                  \
        int64_t kept = 0;                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            memcpy(out + kept * (bits / 8), at + i * stride, bits / 8);                                                \
            kept += keep ? keep[i] : 1;                                                                                \
        }                                                                                                              \
        return kept;                                                                                                   \
    }
DEFINE_GATHER(8)
DEFINE_GATHER(16)
DEFINE_GATHER(32)
DEFINE_GATHER(64)

static int64_t gather(size_t size, const char *at, int64_t stride, int64_t n, const uint8_t *keep, char *out)
{
    if (!keep && stride == (int64_t)size) {
        memcpy(out, at, (size_t)n * size);
        return n;
    }
    switch (size) {
    case 1:
        return gather_8(at, stride, n, keep, out);
    case 2:
        return gather_16(at, stride, n, keep, out);
    case 4:
        return gather_32(at, stride, n, keep, out);
    default:
        return gather_64(at, stride, n, keep, out);
    }
}

/* Can every run be used in place? */
static bool is_contiguous_aligned(const histo_strided_iter *iter, size_t size)
{
    bool aligned = (uintptr_t)iter->base[0] % size == 0;
    for (int d = 0; d < iter->ndim; d++)
        aligned = aligned && iter->strides[0][d] % (int64_t)size == 0;
    return aligned && iter->strides[0][iter->ndim - 1] == (int64_t)size;
}

histo_status histo_samples_start(histo_samples *from, const histo_view *samples, const histo_fill_options *options)
{
    const histo_fill_options none = {0};
    if (!options) options = &none;
    const char *const names[] = {"samples", "mask", "where"};
    const histo_view *const views[] = {samples, options->mask, options->where};
    histo_view flat[3]; /* the views, without batch dimensions, so that all dimensions can merge */
    const histo_view *operands[3];
    int count = 0;
    for (int v = 0; v < 3; v++) {
        if (v > 0 && !views[v]) continue;
        histo_status status = histo_view_check(views[v], names[v]);
        if (status != HISTO_OK) return status;
        flat[count] = *views[v];
        flat[count].batch_ndim = 0;
        operands[count] = &flat[count];
        status = histo_view_same_shape(operands[count], operands[0], names[v]);
        if (status != HISTO_OK) return status;
        count++;
    }
    histo_status status = histo_filter_check(options);
    if (status != HISTO_OK) return status;
    from->masked = 0;
    from->dtype = samples->dtype;
    from->mask = options->mask;
    from->where = options->where;
    from->where_lo = options->where_lo;
    from->where_hi = options->where_hi;
    from->only_inside = false;
    histo_strided_iter_make(&from->iter, count, operands);
    from->is_contiguous_aligned = is_contiguous_aligned(&from->iter, histo_dtype_size(from->dtype));
    histo_walk_start(&from->walk, &from->iter, 0, from->iter.batch * from->iter.per_batch, 0);
    return HISTO_OK;
}

void histo_samples_only_inside(histo_samples *from, double lo, double hi)
{
    from->only_inside = true;
    from->lo = lo;
    from->hi = hi;
}

static int64_t kept_of(const uint8_t *keep, int64_t n)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        kept += keep[i];
    return kept;
}

/* Mark the samples of a run that pass all filters; return their number. */
static int64_t filter(histo_samples *from, const histo_run *run)
{
    int last = from->iter.ndim - 1, operand = 1;
    memset(from->keep, 1, (size_t)run->n);
    int64_t kept = run->n;
    if (from->mask) {
        histo_keep_nonzero(from->mask->dtype, run->at[operand], from->iter.strides[operand][last], run->n, from->keep);
        operand++;
    }
    if (from->where)
        histo_keep_inside(from->where->dtype, run->at[operand], from->iter.strides[operand][last], run->n,
                          from->where_lo, from->where_hi, from->keep);
    if (from->mask || from->where) {
        kept = kept_of(from->keep, run->n);
        from->masked += (uint64_t)(run->n - kept);
    }
    if (from->only_inside) {
        histo_keep_inside(from->dtype, run->at[0], from->iter.strides[0][last], run->n, from->lo, from->hi, from->keep);
        kept = kept_of(from->keep, run->n);
    }
    return kept;
}

bool histo_samples_next(histo_samples *from)
{
    size_t size = histo_dtype_size(from->dtype);
    int64_t stride = from->iter.strides[0][from->iter.ndim - 1];
    bool filtered = from->mask || from->where || from->only_inside;
    int64_t n = 0;
    while (n < HISTO_SAMPLES_GATHERED) {
        histo_run run;
        bool in_place = n == 0 && from->is_contiguous_aligned;
        from->walk.limit = in_place && !filtered ? HISTO_SAMPLES_IN_PLACE : HISTO_SAMPLES_GATHERED - n;
        if (!histo_walk_next(&from->walk, &run)) break;
        int64_t kept = filtered ? filter(from, &run) : run.n;
        if (in_place && kept == run.n && run.n >= HISTO_SAMPLES_GATHERED / 2) {
            from->block = run.at[0];
            from->n = run.n;
            return true;
        }
        n += gather(size, run.at[0], stride, run.n, kept == run.n ? NULL : from->keep,
                    from->gathered + (size_t)n * size);
    }
    from->block = from->gathered;
    from->n = n;
    return n > 0;
}
