#include "bench/random/random_naive.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "view/dtype.h"

enum { BLOCK = 1024 };

struct problem_naive {
    const problem_data *data;
    problem_fill fill;
    int64_t bins; /* of a histogram */
    uint64_t *counts;
    double *sums, *squares; /* NULL without */
};

/* How a sample's bin is found. */
enum { BY_SUBTRACTING, BY_MULTIPLYING, BY_SEARCHING };
typedef struct binning {
    int how;
    int64_t bins;
    double lo, hi, scale;
    const double *edges;
} binning;

static binning binning_of(const problem_data *data, int a)
{
    const histo_axis *axis = &data->axes[a];
    binning b = {.how = BY_SEARCHING, .bins = axis->bins, .edges = data->edges[a]};
    b.lo = b.edges[0];
    b.hi = b.edges[b.bins];
    b.scale = (double)b.bins / (b.hi - b.lo);
    if (axis->kind == HISTO_REGULAR) b.how = BY_MULTIPLYING;
    if (axis->kind == HISTO_INTEGER)
        b.how = histo_dtype_is_integer(data->problem->axis[a].type) && fabs(b.lo) <= 0x1p53 ? BY_SUBTRACTING
                                                                                            : BY_MULTIPLYING;
    return b;
}

#define ALWAYS static inline __attribute__((always_inline))

/* -1 outside. */
#define LOOPS(constant, name, storage, compute, widen)                                                                 \
    ALWAYS int64_t bin_##name(const binning *b, storage stored, int how)                                               \
    {                                                                                                                  \
        if (how == BY_SUBTRACTING) {                                                                                   \
            uint64_t bin = (uint64_t)(int64_t)stored - (uint64_t)(int64_t)b->lo;                                       \
            return bin < (uint64_t)b->bins ? (int64_t)bin : -1;                                                        \
        }                                                                                                              \
        double x = (double)widen(stored);                                                                              \
        if (!(x >= b->lo && x < b->hi)) return -1;                                                                     \
        if (how == BY_MULTIPLYING) {                                                                                   \
            int64_t bin = (int64_t)((x - b->lo) * b->scale);                                                           \
            return bin < b->bins ? bin : b->bins - 1;                                                                  \
        }                                                                                                              \
        int64_t below = 0, above = b->bins;                                                                            \
        while (above - below > 1) {                                                                                    \
            int64_t middle = (below + above) / 2;                                                                      \
            if (x < b->edges[middle])                                                                                  \
                above = middle;                                                                                        \
            else                                                                                                       \
                below = middle;                                                                                        \
        }                                                                                                              \
        return below;                                                                                                  \
    }                                                                                                                  \
    ALWAYS void count_##name##_by(const binning *b, const char *at, int64_t stride, int64_t n, uint64_t *counts,       \
                                  int how)                                                                             \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            storage x;                                                                                                 \
            memcpy(&x, at + i * stride, sizeof x);                                                                     \
            int64_t bin = bin_##name(b, x, how);                                                                       \
            if (bin >= 0) counts[bin]++;                                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    static void count_##name(const binning *b, const char *at, int64_t stride, int64_t n, uint64_t *counts)            \
    {                                                                                                                  \
        const int64_t size = sizeof(storage);                                                                          \
        if (b->how == BY_SUBTRACTING && stride == size)                                                                \
            count_##name##_by(b, at, size, n, counts, BY_SUBTRACTING);                                                 \
        else if (b->how == BY_SUBTRACTING)                                                                             \
            count_##name##_by(b, at, stride, n, counts, BY_SUBTRACTING);                                               \
        else if (b->how == BY_MULTIPLYING)                                                                             \
            count_##name##_by(b, at, stride, n, counts, BY_MULTIPLYING);                                               \
        else                                                                                                           \
            count_##name##_by(b, at, stride, n, counts, BY_SEARCHING);                                                 \
    }                                                                                                                  \
    /* bins[i] = bins[i] * b->bins + the bin of sample i; negative outside. */                                         \
    static void index_##name(const binning *b, const char *at, int64_t stride, int64_t n, int64_t *bins)               \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            storage x;                                                                                                 \
            memcpy(&x, at + i * stride, sizeof x);                                                                     \
            int64_t bin = bin_##name(b, x, b->how);                                                                    \
            bins[i] = bin < 0 || bins[i] < 0 ? -1 : bins[i] * b->bins + bin;                                           \
        }                                                                                                              \
    }                                                                                                                  \
    static void widen_##name(const char *at, int64_t stride, int64_t n, double *widened)                               \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            storage x;                                                                                                 \
            memcpy(&x, at + i * stride, sizeof x);                                                                     \
            widened[i] = (double)widen(x);                                                                             \
        }                                                                                                              \
    }
HISTO_DTYPES(LOOPS)
#undef LOOPS

#define ENTRY(constant, name, storage, compute, widen) [constant] = {count_##name, index_##name, widen_##name},
static const struct {
    void (*count)(const binning *b, const char *at, int64_t stride, int64_t n, uint64_t *counts);
    void (*index)(const binning *b, const char *at, int64_t stride, int64_t n, int64_t *bins);
    void (*widen)(const char *at, int64_t stride, int64_t n, double *widened);
} loops[HISTO_DTYPE_COUNT] = {HISTO_DTYPES(ENTRY)};
#undef ENTRY

/* Samples [first, first + n) of one row, whose first sample has index `at` in the view. */
typedef struct stretch {
    const char *samples[HISTO_MAX_AXES], *weights, *mask, *where;
    int64_t n;
    uint64_t *counts;
    int64_t counter; /* of the first bin, among all */
} stretch;

static int64_t last_stride(const histo_view *view)
{
    return view->strides[view->ndim - 1];
}

static void count_block(const problem_naive *it, const binning *b, const stretch *s, int64_t first, int64_t n)
{
    const random_problem *p = it->data->problem;
    int64_t bins[BLOCK];
    double values[BLOCK];
    memset(bins, 0, (size_t)n * sizeof *bins);
    for (int a = 0; a < p->axes; a++) {
        const int64_t stride = last_stride(&it->fill.samples[a]);
        loops[p->axis[a].type].index(&b[a], s->samples[a] + first * stride, stride, n, bins);
    }
    if (s->mask) {
        const int64_t stride = last_stride(&it->fill.mask);
        loops[p->mask_type].widen(s->mask + first * stride, stride, n, values);
        for (int64_t i = 0; i < n; i++)
            if (values[i] == 0) bins[i] = -1;
    }
    if (s->where) {
        const int64_t stride = last_stride(&it->fill.where);
        loops[p->where_type].widen(s->where + first * stride, stride, n, values);
        for (int64_t i = 0; i < n; i++)
            if (!(values[i] >= it->data->where_lo && values[i] <= it->data->where_hi)) bins[i] = -1;
    }
    for (int64_t i = 0; i < n; i++)
        if (bins[i] >= 0) s->counts[bins[i]]++;
    if (!s->weights) return;
    const int64_t stride = last_stride(&it->fill.weights);
    loops[p->weights].widen(s->weights + first * stride, stride, n, values);
    for (int64_t i = 0; i < n; i++) {
        if (bins[i] < 0) continue;
        it->sums[s->counter + bins[i]] += values[i];
        if (it->squares) it->squares[s->counter + bins[i]] += values[i] * values[i];
    }
}

static void count_stretch(const problem_naive *it, const binning *b, const stretch *s)
{
    const random_problem *p = it->data->problem;
    if (p->axes == 1 && !s->weights && !s->mask && !s->where) {
        loops[p->axis[0].type].count(b, s->samples[0], last_stride(&it->fill.samples[0]), s->n, s->counts);
        return;
    }
    for (int64_t first = 0; first < s->n; first += BLOCK)
        count_block(it, b, s, first, s->n - first < BLOCK ? s->n - first : BLOCK);
}

/* Row `row` of a view. */
static const char *row_of(const histo_view *view, int64_t row)
{
    const char *at = view->data;
    for (int d = view->ndim - 2; d >= 0; d--) {
        at += row % view->shape[d] * view->strides[d];
        row /= view->shape[d];
    }
    return at;
}

static stretch stretch_at(const problem_naive *it, int64_t row, int64_t first, int64_t n, int64_t batch)
{
    const random_problem *p = it->data->problem;
    stretch s = {.n = n, .counter = batch * it->bins, .counts = it->counts + batch * it->bins};
    for (int a = 0; a < p->axes; a++)
        s.samples[a] = row_of(&it->fill.samples[a], row) + first * last_stride(&it->fill.samples[a]);
    if (it->fill.options.weights) s.weights = row_of(&it->fill.weights, row) + first * last_stride(&it->fill.weights);
    if (it->fill.options.mask) s.mask = row_of(&it->fill.mask, row) + first * last_stride(&it->fill.mask);
    if (it->fill.options.where) s.where = row_of(&it->fill.where, row) + first * last_stride(&it->fill.where);
    return s;
}

histo_status problem_naive_run(void *naive, void *stream)
{
    const problem_naive *it = naive;
    const random_problem *p = it->data->problem;
    const histo_view *view = &it->fill.samples[0];
    const int64_t *offsets = it->fill.options.offsets;
    const int64_t length = view->shape[view->ndim - 1], rows = p->samples / length;
    binning b[HISTO_MAX_AXES];
    (void)stream;
    for (int a = 0; a < p->axes; a++)
        b[a] = binning_of(it->data, a);
    for (int64_t batch = 0; offsets && batch < p->batch; batch++) {
        stretch s = stretch_at(it, 0, offsets[batch], offsets[batch + 1] - offsets[batch], batch);
        count_stretch(it, b, &s);
    }
    for (int64_t row = 0; row < rows && !offsets; row++) {
        stretch s = stretch_at(it, row, 0, length, view->batch_ndim ? row / (rows / p->batch) : 0);
        count_stretch(it, b, &s);
    }
    return HISTO_OK;
}

histo_status problem_naive_create(const problem_data *data, problem_naive **naive)
{
    const random_problem *p = data->problem;
    const bool squares = p->weighting == HISTO_WEIGHT_FAST || p->weighting == HISTO_WEIGHT_REPRODUCIBLE;
    *naive = NULL;
    if (p->storage == HISTO_SPARSE) return histo_fail(HISTO_UNSUPPORTED, "it needs memory for every slot");
    problem_naive *it = histo_calloc(1, sizeof *it);
    if (!it) return histo_fail_memory(sizeof *it, "a naive loop");
    *naive = it;
    it->data = data;
    problem_fill_make(data, true, &it->fill);
    it->bins = 1;
    for (int a = 0; a < p->axes; a++)
        it->bins *= p->axis[a].bins;
    const size_t all = (size_t)(it->bins * p->batch);
    it->counts = histo_calloc(all, sizeof *it->counts);
    if (p->weighting) it->sums = histo_calloc(all, sizeof *it->sums);
    if (squares) it->squares = histo_calloc(all, sizeof *it->squares);
    bool failed = !it->counts || (p->weighting && !it->sums) || (squares && !it->squares);
    return failed ? histo_fail_memory(all * sizeof *it->counts, "a naive loop") : HISTO_OK;
}

void problem_naive_destroy(problem_naive *naive)
{
    if (!naive) return;
    free(naive->counts);
    free(naive->sums);
    free(naive->squares);
    free(naive);
}
