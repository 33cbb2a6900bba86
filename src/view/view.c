#include "view/view.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/floats.h"
#include "view/dtype.h"
#include "view/gather.h"

static const struct {
    const char *name;
    size_t size;
} dtypes[HISTO_DTYPE_COUNT] = {
#define ROW(constant, name, storage, compute, widen) [constant] = {#name, sizeof(storage)},
    HISTO_DTYPES(ROW)
#undef ROW
};

/* Whether a dtype, in either byte order, has a name and a size. */
static bool dtype_known(histo_dtype dtype)
{
    return (unsigned)histo_dtype_plain(dtype) < HISTO_DTYPE_COUNT;
}

size_t histo_dtype_size(histo_dtype dtype)
{
    return dtype_known(dtype) ? dtypes[histo_dtype_plain(dtype)].size : 0;
}

const char *histo_dtype_name(histo_dtype dtype)
{
    if (dtype == HISTO_BIT) return "bit";
    return dtype_known(dtype) ? dtypes[histo_dtype_plain(dtype)].name : NULL;
}

histo_status histo_dtype_parse(const char *name, histo_dtype *dtype)
{
    if (dtype) *dtype = 0;
    if (!name || !dtype) return histo_fail(HISTO_INVALID, "dtype name or result is NULL");
    for (int i = 0; i < HISTO_DTYPE_COUNT; i++) {
        if (strcmp(name, dtypes[i].name) == 0) {
            *dtype = (histo_dtype)i;
            return HISTO_OK;
        }
    }
    return histo_fail(HISTO_INVALID, "no dtype is called '%s': use u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 or f64",
                      name);
}

void histo_dtype_limits(histo_dtype dtype, double *min, double *max_plus_one)
{
    double span = ldexp(1.0, 8 * (int)histo_dtype_size(dtype));
    bool is_signed = dtype == HISTO_I8 || dtype == HISTO_I16 || dtype == HISTO_I32 || dtype == HISTO_I64;
    *min = is_signed ? -span / 2 : 0;
    *max_plus_one = is_signed ? span / 2 : span;
}

static double value_of(const void *sample, histo_dtype dtype)
{
    uint64_t swapped;
    if (!histo_dtype_is_plain(dtype) && dtype_known(dtype)) {
        histo_fetch((char *)&swapped, sample, 0, dtype, NULL, 1);
        sample = &swapped;
    }
    switch (histo_dtype_plain(dtype)) {
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant: {                                                                                                   \
        storage x;                                                                                                     \
        memcpy(&x, sample, sizeof x);                                                                                  \
        return (double)widen(x);                                                                                       \
    }
        HISTO_DTYPES(CASE)
#undef CASE
    default:
        return NAN;
    }
}

double histo_sample_value(const void *sample, histo_dtype dtype)
{
    HISTO_STANDARD_FLOATS;
    if (!sample) return (double)NAN;
    return histo_float_result(value_of(sample, dtype));
}

histo_view histo_view_1d(const void *data, histo_dtype dtype, int64_t n)
{
    return histo_view_nd(data, dtype, 1, &n);
}

histo_view histo_view_nd(const void *data, histo_dtype dtype, int ndim, const int64_t *shape)
{
    histo_view view = {.data = data, .dtype = dtype, .ndim = shape || ndim == 0 ? ndim : -1};
    if (view.ndim < 0 || ndim > HISTO_MAX_DIMS) return view; /* invalid: reported when the view is used */
    uint64_t stride = (uint64_t)histo_dtype_step(dtype);
    for (int d = ndim - 1; d >= 0; d--) {
        view.shape[d] = shape[d];
        view.strides[d] = (int64_t)stride;
        stride *= (uint64_t)shape[d]; /* wraps only for shapes that fail the check */
    }
    return view;
}

int64_t histo_view_size(const histo_view *view)
{
    if (!view || view->ndim < 0 || view->ndim > HISTO_MAX_DIMS) return 0;
    int64_t n = 1;
    for (int d = 0; d < view->ndim; d++)
        n *= view->shape[d];
    return n;
}

int64_t histo_view_batch(const histo_view *view)
{
    int64_t n = 1;
    for (int d = 0; d < view->batch_ndim; d++)
        n *= view->shape[d];
    return n;
}

histo_status histo_view_check(const histo_view *view, const char *what)
{
    if (view && view->dtype == HISTO_BIT)
        return histo_fail(HISTO_INVALID, "%s: HISTO_BIT is a dtype of masks only", what);
    return histo_view_check_mask(view, what);
}

histo_status histo_view_check_mask(const histo_view *view, const char *what)
{
    if (!view) return histo_fail(HISTO_INVALID, "%s: the view is NULL", what);
    if (!dtype_known(view->dtype) && view->dtype != HISTO_BIT)
        return histo_fail(HISTO_INVALID, "%s: unknown dtype %d", what, (int)view->dtype);
    if (view->ndim < 0 || view->ndim > HISTO_MAX_DIMS)
        return histo_fail(HISTO_INVALID, "%s: %d dimensions, not 0 to %d", what, view->ndim, HISTO_MAX_DIMS);
    if (view->batch_ndim < 0 || view->batch_ndim > view->ndim)
        return histo_fail(HISTO_INVALID, "%s: %d batch dimensions of %d", what, view->batch_ndim, view->ndim);
    /* A zero dimension does not excuse the others: the product must not overflow in any order. */
    int64_t n = 1;
    bool empty = false;
    for (int d = 0; d < view->ndim; d++) {
        int64_t extent = view->shape[d];
        if (extent < 0)
            return histo_fail(HISTO_INVALID, "%s: dimension %d has negative extent %lld", what, d, (long long)extent);
        empty |= extent == 0;
        if (!histo_mul_i64(n, extent ? extent : 1, &n) || n > INT64_C(1) << 62)
            return histo_fail(HISTO_INVALID, "%s: the shape has more than 2^62 samples", what);
    }
    if (!view->data && !empty) return histo_fail(HISTO_INVALID, "%s: data is NULL", what);
    return HISTO_OK;
}

histo_status histo_view_check_records(const histo_view *view, const histo_function *function, const char *what)
{
    const histo_status status = histo_check_reserved(function->reserved, sizeof function->reserved, "histo_function");
    if (status != HISTO_OK) return status;
    if (!histo_dtype_is_plain(view->dtype))
        return histo_fail(HISTO_INVALID, "%s: functions of records give numbers in this machine's byte order", what);
    uint64_t bits = (uint64_t)(uintptr_t)view->data;
    for (int d = 0; d < view->ndim; d++)
        if (view->shape[d] > 1) bits |= (uint64_t)view->strides[d];
    if (function->alignment > 1 && bits % function->alignment && histo_view_size(view) > 0)
        return histo_fail(HISTO_INVALID, "%s: some records are not at multiples of %zu bytes, their alignment", what,
                          function->alignment);
    return HISTO_OK;
}

histo_status histo_view_same_shape(const histo_view *view, const histo_view *like, const char *what)
{
    bool same = view->ndim == like->ndim && view->batch_ndim == like->batch_ndim;
    for (int d = 0; same && d < view->ndim; d++)
        same = view->shape[d] == like->shape[d];
    if (same) return HISTO_OK;
    return histo_fail(HISTO_INVALID, "%s: its shape or batch dimensions are not those of the first samples", what);
}
