#include "counts/count_arrays.h"

#include <string.h>

#include "axis/axis.h"
#include "axis/filter.h"
#include "base/checked.h"
#include "base/threads/threads.h"
#include "cpu/kernels/kernels.h"
#include "cpu/samples/block.h"
#include "plan/strategy.h"
#include "view/dtype.h"
#include "view/view.h"

enum {
    FEW = 1 << 14,         /* up to this many numbers are counted here, whatever the bins */
    BINS_A_SAMPLE = 4,     /* with this many bins per sample, more numbers are, too */
    MORE = 1 << 20,        /* but only up to this many, which one thread soon counts */
    MORE_ZEROED = 1 << 24, /* or this many, where a histogram would have to be cleared and copied in its place */
    SPREAD = 2,            /* with this many bins per sample, equal neighbours are rare */
    STEPS_MEASURED = 128,  /* up to this many comparisons with stored edges cost less than testing whether the edges are
                            * regular */
    STEPS_PREPARED = 512,  /* up to this many cost less than making spans of the edges */
    FLOATS_ON_STACK = 512, /* up to this many sums are kept as doubles on the stack before conversion to float */
};

typedef struct array_count {
    int naxes;
    int64_t n, size;
    const histo_view *views;
    const histo_view *weights;       /* may be NULL */
    histo_axis axes[HISTO_MAX_AXES]; /* their edges belong to the caller */
    histo_lookup lookups[HISTO_MAX_AXES];
    histo_spans spans[HISTO_MAX_AXES]; /* for axes marked in has_spans */
    bool has_spans[HISTO_MAX_AXES];
    histo_tally *tally; /* may be NULL */
    bool zeroed;        /* what is written to holds zeros */
} array_count;

/* Whether the samples are in C order without gaps, aligned, and in host memory. */
static bool is_array(const histo_view *view)
{
    if (!histo_dtype_is_plain(view->dtype) || view->ndim < 1 || view->ndim > HISTO_MAX_DIMS || view->batch_ndim != 0)
        return false;
    bool only;
    const int64_t size = (int64_t)histo_dtype_size(view->dtype);
    int64_t step = size;
    for (int d = view->ndim - 1; d >= 0; d--) {
        if (view->shape[d] < 1 || view->strides[d] != step || !histo_mul_i64(step, view->shape[d], &step)) return false;
    }
    return view->data && (uintptr_t)view->data % (uintptr_t)size == 0 &&
           histo_device_of(view->data, &only) == HISTO_DEVICE_CPU;
}

static bool same_shape(const histo_view *a, const histo_view *b)
{
    return a->ndim == b->ndim && memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0;
}

static bool has_arrays(const array_count *s)
{
    bool are = true;
    for (int a = 0; a < s->naxes && are; a++)
        are = is_array(&s->views[a]) && (a == 0 || same_shape(&s->views[a], &s->views[0]));
    return are && (!s->weights || (is_array(s->weights) && same_shape(s->weights, &s->views[0])));
}

static bool are_few(int64_t samples, int64_t operands, int64_t bins, bool zeroed)
{
    const int64_t more = zeroed ? MORE_ZEROED : MORE;
    return samples <= FEW / operands || (samples <= more && samples <= bins / BINS_A_SAMPLE);
}

/* Whether the bins of the axes multiply to `size`. */
static bool fits(int naxes, const histo_axis *axes, int64_t size)
{
    int64_t bins = 1;
    for (int a = 0; a < naxes; a++)
        if (axes[a].bins < 1 || !histo_mul_i64(bins, axes[a].bins, &bins) || bins > HISTO_MAX_BINS) return false;
    return bins == size;
}

static void discard(array_count *s)
{
    for (int a = 0; a < s->naxes; a++)
        if (s->has_spans[a]) histo_spans_free(&s->spans[a]);
}

/* Prepare the axes. After a failure, there is nothing to free. */
static bool borrow(array_count *s, const histo_axis *axes)
{
    for (int a = 0; a < s->naxes; a++) {
        double off = HISTO_FAR_OFF;
        int64_t steps = 0;
        for (int64_t bins = axes[a].bins; bins > 1; bins /= 2)
            steps += s->n;
        bool can = histo_axis_borrow(&axes[a], &s->axes[a], steps > STEPS_MEASURED ? &off : NULL);
        if (can) histo_lookup_start(&s->lookups[a], &s->axes[a], s->views[a].dtype);
        s->has_spans[a] = can && s->lookups[a].kind == HISTO_SEARCH && (off <= HISTO_NEAR || steps > STEPS_PREPARED);
        if (s->has_spans[a]) can = histo_spans_make(&s->spans[a], &s->lookups[a], off, s->n) == HISTO_OK;
        if (can) continue;
        s->naxes = a;
        discard(s);
        return false;
    }
    return true;
}

static void slots_on_axis(const array_count *s, int a, int64_t begin, int n, uint32_t *slots)
{
    const histo_view *view = &s->views[a];
    const histo_lookup *lookup = &s->lookups[a];
    const void *samples = (const char *)view->data + begin * (int64_t)histo_dtype_size(view->dtype);
    if (lookup->kind == HISTO_SEARCH && !s->has_spans[a])
        histo_lookup_slots(lookup, view->dtype, samples, n, 1, false, slots);
    else
        histo_cpu_kernels_usable()->slots(lookup, &s->spans[a], view->dtype, samples, n, 1, false, slots);
}

/* Tally the samples that are outside an axis. */
static void add_outside(const array_count *s, int a, const uint32_t *slots, int n, uint8_t *outside)
{
    const uint32_t bins = (uint32_t)s->axes[a].bins;
    uint64_t under = 0, over = 0, nan = 0;
    for (int i = 0; i < n; i++) {
        outside[i] |= (uint8_t)(slots[i] - 1 >= bins);
        under += slots[i] == 0;
        over += slots[i] == bins + 1;
        nan += slots[i] == bins + 2;
    }
    if (!s->tally) return;
    s->tally->under[a] += under;
    s->tally->over[a] += over;
    s->tally->nan[a] += nan;
}

/* Find the bins of n samples. Samples in no bin are dropped, along with their `weights`, if not NULL; returns the
 * number left. */
static int bins_of(const array_count *s, int64_t begin, int n, uint32_t *bins, double *weights)
{
    uint32_t slots[HISTO_BLOCK];
    uint8_t outside[HISTO_BLOCK];
    bool some = false;
    for (int a = 0; a < s->naxes; a++) {
        slots_on_axis(s, a, begin, n, slots);
        if (!histo_cpu_kernels_usable()->bins(slots, n, (uint32_t)s->axes[a].bins, a > 0, bins)) continue;
        if (!some) memset(outside, 0, (size_t)n);
        add_outside(s, a, slots, n, outside);
        some = true;
    }
    if (!some) return n;
    int inside = 0;
    for (int i = 0; i < n; i++) {
        bins[inside] = bins[i];
        if (weights) weights[inside] = weights[i];
        inside += !outside[i];
    }
    return inside;
}

static void weights_of(const histo_view *view, int64_t begin, int n, double *weights)
{
    const void *from = (const char *)view->data + begin * (int64_t)histo_dtype_size(view->dtype);
    if (view->dtype == HISTO_F64)
        memcpy(weights, from, (size_t)n * sizeof *weights);
    else if (view->dtype == HISTO_F32)
        histo_cpu_kernels_usable()->widen_floats(from, n, weights);
    else
        histo_widen(view->dtype, from, n, weights);
}

/* Count in `counts` or, if that is NULL, add 1 or the weight of each sample to `sums`. */
static void count(const array_count *s, uint64_t *counts, double *sums)
{
    uint32_t bins[HISTO_BLOCK];
    double weights[HISTO_BLOCK];
    uint64_t inside = 0;
    for (int64_t i = 0; i < s->n; i += HISTO_BLOCK) {
        const int n = s->n - i < HISTO_BLOCK ? (int)(s->n - i) : HISTO_BLOCK;
        if (s->weights) weights_of(s->weights, i, n, weights);
        const int some = bins_of(s, i, n, bins, s->weights ? weights : NULL);
        inside += (uint64_t)some;
        if (counts)
            histo_cpu_kernels_usable()->count_longs(counts, bins, some);
        else if (s->weights)
            for (int k = 0; k < some; k++)
                sums[bins[k]] += weights[k]; /* NOLINT(clang-analyzer-*): bins_of has set them */
        else
            for (int k = 0; k < some; k++)
                sums[bins[k]] += 1; /* NOLINT(clang-analyzer-*): as above */
    }
    if (!s->tally) return;
    s->tally->samples = (uint64_t)s->n;
    s->tally->bins = inside;
    s->tally->flow = (uint64_t)s->n - inside;
}

static void count_in_longs(const array_count *s, uint64_t *counts)
{
    if (!s->zeroed) memset(counts, 0, (size_t)s->size * sizeof *counts);
    count(s, counts, NULL);
}

static void count_in_doubles(const array_count *s, double *sums)
{
    if (!s->zeroed) memset(sums, 0, (size_t)s->size * sizeof *sums);
    count(s, NULL, sums);
}

/* Convert counts to doubles in place. They are below 2^52, so no 64-bit integer conversion is needed. */
static void widen_counts(void *counts, int64_t n)
{
    const uint64_t exponent = UINT64_C(0x433) << 52;
    char *at = counts;
    for (int64_t i = 0; i < n; i++, at += sizeof(double)) {
        uint64_t bits;
        double count;
        memcpy(&bits, at, sizeof bits);
        bits |= exponent;
        memcpy(&count, &bits, sizeof count);
        count -= 0x1p52;
        memcpy(at, &count, sizeof count);
    }
}

static void count_as_doubles(const array_count *s, double *counts)
{
    if (s->weights || s->n <= s->size / SPREAD) {
        count_in_doubles(s, counts);
        return;
    }
    count_in_longs(s, (uint64_t *)(void *)counts);
    widen_counts(counts, s->size);
}

static bool count_as_floats(const array_count *s, float *counts)
{
    double here[FLOATS_ON_STACK];
    if (s->size > FLOATS_ON_STACK) return false;
    count_as_doubles(s, here);
    for (int64_t i = 0; i < s->size; i++)
        counts[i] = (float)here[i];
    return true;
}

static bool write(const array_count *s, histo_dtype dtype, void *out)
{
    bool only;
    const size_t size = dtype == HISTO_F32 ? sizeof(float) : sizeof(double);
    if ((uintptr_t)out % size != 0 || histo_device_of(out, &only) != HISTO_DEVICE_CPU) return false;
    if (dtype == HISTO_F32) return count_as_floats(s, out);
    if (dtype == HISTO_U64 && !s->weights)
        count_in_longs(s, out);
    else if (dtype == HISTO_F64)
        count_as_doubles(s, out);
    else
        return false;
    return true;
}

static bool is_plain(const histo_fill_options *fill, const histo_count_options *options)
{
    const histo_weighting sums = options->weighting;
    const bool all = !fill || histo_fill_is_plain(fill);
    const bool fast = fill && fill->weights && (histo_is_fast(sums) || sums == HISTO_UNWEIGHTED);
    return all && (fast || sums == HISTO_UNWEIGHTED) && options->slots == HISTO_BINS && !options->plan;
}

bool histo_count_arrays(int naxes, const histo_axis *axes, const histo_view *views, const histo_fill_options *fill,
                        void *out, int64_t size, histo_tally *tally, const histo_count_options *options)
{
    if (!out || !axes || naxes < 1 || naxes > HISTO_MAX_AXES || !is_plain(fill, options)) return false;
    array_count s;
    s.naxes = naxes;
    s.size = size;
    s.views = views;
    s.weights = fill ? fill->weights : NULL;
    s.tally = tally;
    s.zeroed = options->zeroed && options->dtype != HISTO_F32; /* floats are counted as doubles elsewhere */
    if (!fits(naxes, axes, size) || !has_arrays(&s)) return false;
    s.n = histo_view_size(&views[0]);
    if (!are_few(s.n, naxes + (s.weights != NULL), size, s.zeroed) || !borrow(&s, axes)) return false;
    const histo_dtype dtype = options->dtype ? options->dtype : s.weights ? HISTO_F64 : HISTO_U64;
    if (tally) *tally = (histo_tally){0};
    const bool written = write(&s, dtype, out);
    discard(&s);
    return written;
}
