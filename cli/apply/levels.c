#include "apply/levels.h"

#include <math.h>

#include "base/failure.h"

enum {
    DEFAULT_BINS = 65536,      /* for floats and large integers */
    MOST_WHOLE_BINS = 1 << 22, /* a bin for each value of integers with more than 16 bits */
};

static bool is_integer(histo_dtype dtype)
{
    return dtype <= HISTO_I64;
}

static bool has_all_values(histo_dtype dtype)
{
    return dtype <= HISTO_I16;
}

static bool is_signed(histo_dtype dtype)
{
    return dtype == HISTO_I8 || dtype == HISTO_I16 || dtype == HISTO_I32 || dtype == HISTO_I64;
}

void levels_of_dtype(histo_dtype dtype, double *lo, double *hi)
{
    const int bits = 8 * (int)histo_dtype_size(dtype);
    *lo = is_signed(dtype) ? -ldexp(1, bits - 1) : 0;
    *hi = ldexp(1, bits - is_signed(dtype)) - 1;
}

static int64_t values_of(histo_dtype dtype)
{
    return dtype == HISTO_U8 || dtype == HISTO_I8 ? 256 : 65536;
}

int levels_begin(levels *l, histo_dtype dtype, int64_t largest, const settings *s, int64_t usual, fault *f)
{
    *l = (levels){.dtype = dtype, .lo = 0, .hi = 1, .within = HISTO_MAP_LINEAR};
    if (s->bits && (!is_integer(dtype) || is_signed(dtype)))
        return fault_set(f, EXIT_USAGE, "--bits is for unsigned integers, and these are %s samples: leave it out",
                         histo_dtype_name(dtype));
    if (s->log_bins && is_integer(dtype))
        return fault_set(f, EXIT_USAGE, "--log is for floats, and these are %s samples: leave it out",
                         histo_dtype_name(dtype));
    if (has_all_values(dtype)) {
        const int64_t values = values_of(dtype), lo = is_signed(dtype) ? -values / 2 : 0;
        const int64_t top = s->bits ? (INT64_C(1) << s->bits) : largest ? largest + 1 : values;
        l->within = HISTO_MAP_STEP;
        l->lo = (double)lo;
        l->hi = (double)(lo + top - 1);
        l->axis = histo_axis_integer(lo, values);
        if (s->bin_count && s->bin_count < values)
            l->axis = histo_axis_regular(s->bin_count, (double)lo, (double)(lo + values));
        return 0;
    }
    l->searched = true;
    const int64_t bins = s->bin_count ? s->bin_count : usual ? usual : DEFAULT_BINS;
    l->spec = (bins_spec){
        .kind = BINS_NUMBER, .number = bins, .fewer = !s->bin_count && !is_integer(dtype), .log = s->log_bins};
    return axis_search_begin(&l->search, &l->spec, dtype, true, 1, f);
}

void levels_free(levels *l)
{
    axis_search_free(&l->search);
}

bool levels_next_pass(levels *l)
{
    return l->searched && axis_search_next_pass(&l->search);
}

static bool is_single(const histo_stats *seen)
{
    return seen->samples == seen->nan + seen->infinite || seen->min == seen->max;
}

/* Look for two values that differ: in the first row, which nearly always has them, then everywhere. */
static histo_status look_closer(levels *l, const histo_view *samples, const histo_fill_options *fill)
{
    if (is_integer(l->dtype) || !is_single(&l->seen)) return HISTO_OK;
    histo_view row = *samples, mask, where;
    histo_fill_options of_row = *fill;
    row.shape[0] = 1;
    if (fill->mask) {
        mask = *fill->mask;
        mask.shape[0] = 1;
        of_row.mask = &mask;
    }
    if (fill->where) {
        where = *fill->where;
        where.shape[0] = 1;
        of_row.where = &where;
    }
    const histo_status status = samples->shape[0] > 0 ? histo_stats_add(&l->seen, &row, &of_row) : HISTO_OK;
    return status == HISTO_OK && is_single(&l->seen) ? histo_stats_add(&l->seen, samples, fill) : status;
}

int levels_survey(levels *l, const histo_view *samples, const histo_fill_options *fill, const char *name, fault *f)
{
    if (look_closer(l, samples, fill) != HISTO_OK) return fault_of_library(f, EXIT_DATA, name);
    return axis_search_add(&l->search, samples, fill, name, f);
}

static double next_value(double value, histo_dtype dtype)
{
    return dtype == HISTO_F64 ? nextafter(value, INFINITY) : (double)nextafterf((float)value, INFINITY);
}

/* A bin that begins at the only value, and one above it; or below it if there is no number above. */
static histo_axis axis_of_value(levels *l, double value)
{
    const double next = next_value(value, l->dtype), third = next_value(next, l->dtype);
    const bool top = isinf(third);
    l->edges[0] = top ? nextafter(nextafter(value, 0), 0) : value;
    l->edges[1] = top ? nextafter(value, 0) : next;
    l->edges[2] = top ? value : third;
    const histo_axis axis = histo_axis_variable(2, l->edges);
    return top ? histo_axis_closed(axis) : axis;
}

int levels_find(levels *l, const char *name, fault *f)
{
    if (!l->searched) return 0;
    if (l->seen.samples > l->seen.nan + l->seen.infinite && is_single(&l->seen) && !l->spec.log) {
        l->axis = axis_of_value(l, l->seen.min);
        return 0;
    }
    if (axis_search_end(&l->search, name, f) != 0) return -1;
    l->axis = l->search.axis;
    if (!is_integer(l->dtype)) return 0;
    l->lo = ceil(l->axis.lo); /* a single value is in the middle of its range */
    l->hi = floor(l->axis.hi);
    if (l->hi - l->lo >= MOST_WHOLE_BINS) return 0;
    l->axis = histo_axis_integer((int64_t)l->lo, (int64_t)(l->hi - l->lo) + 1);
    l->within = HISTO_MAP_STEP;
    return 0;
}

/* The fewest bits that hold a value. */
static int bits_for(int64_t value)
{
    int bits = 1;
    while (value >> bits)
        bits++;
    return bits;
}

int levels_trim(levels *l, histo_hist **hist, const settings *s, int64_t largest, fault *f)
{
    histo_summary summary;
    if (l->axis.kind != HISTO_INTEGER || l->searched || l->dtype == HISTO_U8) return 0;
    if (histo_hist_summarize(*hist, &summary) != HISTO_OK) return fault_of_library(f, EXIT_DATA, "the counts");
    if (summary.count == 0) return 0;
    int64_t begin = 0, end = l->axis.bins;
    if (is_signed(l->dtype)) {
        begin = summary.first;
        end = summary.last + 1;
        l->lo += (double)begin;
        l->hi = l->lo + (double)(end - begin - 1);
    } else {
        const int64_t values = s->bits   ? INT64_C(1) << s->bits
                               : largest ? largest + 1
                                         : INT64_C(1) << bits_for(summary.last);
        l->hi = (double)(values - 1);
        if (values > summary.last) end = values < end ? values : end;
    }
    if (l->hi <= l->lo) l->hi = l->lo + 1; /* a single value, which keeps its position */
    if (begin == 0 && end == l->axis.bins) return 0;
    histo_hist *part;
    if (histo_hist_slice(*hist, 0, begin, end, &part) != HISTO_OK) return fault_of_library(f, EXIT_DATA, "the counts");
    histo_hist_destroy(*hist);
    *hist = part;
    l->axis = histo_hist_axis(part, 0);
    return 0;
}
