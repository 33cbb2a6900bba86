#include "cuda/builtin/problems.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "view/dtype.h"

enum { ALIGN = 256, MOST = 12, END = -1 };

/* ---- The list ---- */

/* Sets of dtypes, numbers of bins and options. 0 bins of integers: those of the whole range. */
#define SINGLE HISTO_F32
#define FLOATS HISTO_F32, HISTO_F64
#define PIXELS HISTO_U8, HISTO_U16, HISTO_F32
#define MAIN HISTO_U8, HISTO_U16, HISTO_F32, HISTO_F64
#define SAMPLES HISTO_U8, HISTO_U16, HISTO_I16, HISTO_I32, HISTO_F16, HISTO_BF16, HISTO_F32, HISTO_F64
#define JOINT HISTO_U16, HISTO_F16, HISTO_F32, HISTO_F64
#define BINS 10, 100, 256, 500, 1024, 2000
#define CUBES 16, 64
#define ALONE EVERYDAY_ALONE
#define MASK EVERYDAY_MASK
#define WHERE EVERYDAY_WHERE
#define WEIGHTS EVERYDAY_WEIGHTS_F32, EVERYDAY_WEIGHTS_F64, EVERYDAY_VARIANCE_F32, EVERYDAY_VARIANCE_F64

typedef struct row {
    everyday_layout layout;
    int n, first_dtype;
    int64_t first_bins;
    int dtypes[MOST], bins[MOST], with[MOST]; /* END after the last */
} row;

#define SET(...)                                                                                                       \
    {                                                                                                                  \
        __VA_ARGS__, END                                                                                               \
    }
#define PROBLEMS(layout, n, dtypes, bins, with) {EVERYDAY_##layout, n, END, 0, SET(dtypes), SET(bins), SET(with)},
#define LABELS(dtype, labels, dtypes, bins)                                                                            \
    {EVERYDAY_ARRAYS, 2, HISTO_##dtype, labels, SET(dtypes), SET(bins), SET(ALONE)},
static const row rows[] = {
#include "cuda/builtin/problems.def"
};

/* Numbers of samples for which plans choose other kernels. */
static const int64_t sizes[] = {1 << 16, 1 << 20, 6 << 20, 20 << 20};

enum { ROWS = sizeof rows / sizeof *rows, SIZES = sizeof sizes / sizeof *sizes };

static int length(const int *set)
{
    int n = 0;
    while (set[n] != END)
        n++;
    return n;
}

static int members_of(const row *r)
{
    return length(r->dtypes) * length(r->bins) * length(r->with) * SIZES;
}

int everyday_count(void)
{
    int n = 0;
    for (int r = 0; r < ROWS; r++)
        n += members_of(&rows[r]);
    return n;
}

everyday_problem everyday_at(int index)
{
    const row *r = rows;
    for (; index >= members_of(r); r++)
        index -= members_of(r);
    const int size = index % SIZES, with = index / SIZES % length(r->with), rest = index / SIZES / length(r->with);
    const histo_dtype dtype = (histo_dtype)r->dtypes[rest / length(r->bins)];
    const int64_t bins = r->bins[rest % length(r->bins)];
    const bool has_labels = r->first_dtype != END;
    return (everyday_problem){.layout = r->layout,
                              .n = r->n,
                              .with = (everyday_with)r->with[with],
                              .dtype = dtype,
                              .first_dtype = has_labels ? (histo_dtype)r->first_dtype : dtype,
                              .bins = bins,
                              .first_bins = has_labels ? r->first_bins : bins,
                              .samples = sizes[size]};
}

void everyday_name(const everyday_problem *p, char *name, size_t capacity)
{
    static const char *const layouts[] = {"channels", "column of", "region", "rows of", "array", "arrays", "table of"};
    static const char *const with[] = {
        "", ", mask", ", where", ", f32 weights", ", f64 weights", ", f32 variance", ", f64 variance"};
    snprintf(name, capacity, "%s %d of %s%s%s, %lld bins%s, %lld samples", layouts[p->layout], p->n,
             p->first_dtype != p->dtype ? histo_dtype_name(p->first_dtype) : "",
             p->first_dtype != p->dtype ? " x " : "", histo_dtype_name(p->dtype), (long long)p->bins, with[p->with],
             (long long)p->samples);
}

/* ---- Describing ---- */

/* Where the next operand lies. */
typedef struct place {
    const char *at;
    size_t used;
} place;

static const void *take(place *from, int64_t samples, histo_dtype dtype)
{
    const void *operand = from->at + from->used;
    from->used += ((size_t)samples * histo_dtype_size(dtype) + ALIGN - 1) / ALIGN * ALIGN;
    return operand;
}

/* Floats from 0 to 1. Integers of 8 and 16 bits: their whole range, in 256, 1024 or 4096 bins. Others from 0 to 1000,
 * in bins that are not a power of two. */
static histo_axis axis_of(histo_dtype dtype, int64_t bins)
{
    const int bits = 8 * (int)histo_dtype_size(dtype);
    if (!histo_dtype_is_integer(dtype)) return histo_axis_regular(bins, 0, 1);
    if (bits > 16) return histo_axis_regular(bins, 0, 1000);
    const double range = (double)(1 << bits), first = dtype == HISTO_I8 || dtype == HISTO_I16 ? -range / 2 : 0;
    const int64_t dividing = bits == 8 || bins < 256 ? 256 : bins < 1024 ? 1024 : 4096;
    return histo_axis_regular(dividing, first, first + range);
}

/* The view of a problem's samples, or of what goes with them, of which there is one for all channels. */
static histo_view view_of(const everyday_problem *p, histo_dtype dtype, bool is_sample, place *from)
{
    const int64_t size = (int64_t)histo_dtype_size(dtype), n = p->n;
    histo_view v;
    switch (p->layout) {
    case EVERYDAY_CHANNELS: {
        const int64_t pixels = p->samples / n;
        const void *data = take(from, is_sample ? pixels * n : pixels, dtype);
        v = histo_view_nd(data, dtype, 2, (int64_t[]){n, pixels});
        v.batch_ndim = 1;
        v.strides[0] = is_sample ? size : 0;
        v.strides[1] = is_sample ? n * size : size;
        return v;
    }
    case EVERYDAY_COLUMN:
        if (is_sample) {
            v = histo_view_1d(take(from, p->samples * n, dtype), dtype, p->samples);
            v.strides[0] = n * size;
            return v;
        }
        return histo_view_1d(take(from, p->samples, dtype), dtype, p->samples);
    case EVERYDAY_REGION: { /* half of the columns */
        const int64_t columns = p->samples < 1 << 18 ? 200 : p->samples < 1 << 22 ? 1000 : 4000;
        const int64_t lines = p->samples / columns;
        v = histo_view_nd(take(from, 2 * lines * columns, dtype), dtype, 2, (int64_t[]){lines, columns});
        v.strides[0] = 2 * columns * size;
        return v;
    }
    case EVERYDAY_ROWS:
        v = histo_view_nd(take(from, p->samples, dtype), dtype, 2, (int64_t[]){p->samples / n, n});
        v.batch_ndim = 1;
        return v;
    default:
        return histo_view_1d(take(from, p->samples, dtype), dtype, p->samples);
    }
}

static void describe_axes(const everyday_problem *p, everyday_fill *fill, place *from)
{
    const bool is_table = p->layout == EVERYDAY_TABLE;
    fill->naxes = p->layout == EVERYDAY_ARRAYS || is_table ? p->n : 1;
    const char *table = is_table ? take(from, p->samples * p->n, p->dtype) : NULL;
    for (int a = 0; a < fill->naxes; a++) {
        const histo_dtype dtype = a == 0 ? p->first_dtype : p->dtype;
        const int64_t size = (int64_t)histo_dtype_size(dtype);
        fill->axes[a] = axis_of(dtype, p->bins);
        if (dtype != p->dtype) fill->axes[a] = histo_axis_integer(0, p->first_bins);
        if (!is_table) {
            fill->views[a] = view_of(p, dtype, true, from);
            continue;
        }
        fill->views[a] = histo_view_1d(table + a * size, dtype, p->samples);
        fill->views[a].strides[0] = p->n * size;
    }
}

void everyday_describe(const everyday_problem *p, const void *memory, everyday_fill *fill)
{
    place from = {memory, 0};
    memset(fill, 0, sizeof *fill);
    describe_axes(p, fill, &from);
    fill->hist.batch = p->layout == EVERYDAY_CHANNELS ? p->n : p->layout == EVERYDAY_ROWS ? p->samples / p->n : 1;
    switch (p->with) {
    case EVERYDAY_ALONE:
        break;
    case EVERYDAY_MASK:
        fill->mask = view_of(p, HISTO_U8, false, &from);
        fill->fill.mask = &fill->mask;
        break;
    case EVERYDAY_WHERE:
        fill->where = view_of(p, p->dtype, false, &from);
        fill->fill.where = &fill->where;
        fill->fill.where_lo = 0.25;
        fill->fill.where_hi = histo_dtype_is_integer(p->dtype) ? 100 : 0.75;
        break;
    default: {
        const bool is_f32 = p->with == EVERYDAY_WEIGHTS_F32 || p->with == EVERYDAY_VARIANCE_F32;
        const bool has_variance = p->with == EVERYDAY_VARIANCE_F32 || p->with == EVERYDAY_VARIANCE_F64;
        fill->weights = view_of(p, is_f32 ? HISTO_F32 : HISTO_F64, false, &from);
        fill->fill.weights = &fill->weights;
        fill->hist.weighting = has_variance ? HISTO_WEIGHT_FAST : HISTO_WEIGHT_FAST_SUM;
    }
    }
    fill->bytes = from.used;
}
