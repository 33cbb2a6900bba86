#include "support/node_problems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

typedef enum layout { BY_ROWS, BY_COLUMNS, SPREAD, LAYOUTS } layout;

/* ---- Random problems ---- */

static int32_t random_bins(rng *r, bool wide)
{
    switch (rng_below(r, 4)) {
    case 0:
        return 1 + (int32_t)rng_below(r, 3);
    case 1:
        return 12;
    case 2:
        return wide ? 1 + (int32_t)rng_below(r, 3000) : 256;
    default:
        return 1 + (int32_t)rng_below(r, wide ? 1024 : 256);
    }
}

static void make_table(rng *r, node_problem *p, bool wide, layout l)
{
    const int64_t size = wide ? 2 : 1, gap = l == SPREAD ? 3 : 0;
    const int64_t row_stride = l == BY_COLUMNS ? size : (p->features + gap) * size * (l == SPREAD ? 2 : 1);
    const int64_t column_stride = l == BY_COLUMNS ? p->rows * size : size * (l == SPREAD ? 2 : 1);
    const int skew = (int)rng_below(r, 3);
    char *data = p->owned[0] = malloc((size_t)((p->rows + 1) * (p->features + 4) * 2 * size) + 1);
    char *base = data + rng_below(r, 2); /* at odd addresses, too */
    for (int f = 0; f < p->features; f++)
        p->bins[f] = random_bins(r, wide);
    for (int64_t row = 0; row < p->rows; row++)
        for (int f = 0; f < p->features; f++) {
            const uint16_t bin = skew == 2 && rng_below(r, 10) ? 0 : (uint16_t)rng_below(r, p->bins[f]);
            char *at = base + row * row_stride + f * column_stride;
            if (wide)
                memcpy(at, &bin, sizeof bin);
            else
                *at = (char)bin;
        }
    p->table = (histo_view){.data = base,
                            .dtype = wide ? HISTO_U16 : HISTO_U8,
                            .ndim = 2,
                            .shape = {p->rows, p->features},
                            .strides = {row_stride, column_stride}};
}

static void make_values(rng *r, node_problem *p)
{
    static const histo_dtype dtypes[] = {HISTO_F32, HISTO_F64, HISTO_I8, HISTO_U8, HISTO_I16, HISTO_U16, HISTO_I32};
    for (int w = 0; w < p->weights; w++) {
        const histo_dtype dtype = dtypes[rng_below(r, 7)];
        const int64_t size = (int64_t)histo_dtype_size(dtype), stride = size * (1 + rng_below(r, 2));
        const double scale = ldexp(1, (int)rng_below(r, 200) - 100);
        char *data = p->owned[1 + w] = malloc((size_t)(p->rows * stride) + 1);
        for (int64_t i = 0; i < p->rows; i++) {
            const double value = (rng_uniform(r) - 0.4) * scale;
            const float narrow = (float)value;
            const uint64_t bits = rng_next(r);
            const void *from = dtype == HISTO_F32   ? (const void *)&narrow
                               : dtype == HISTO_F64 ? (const void *)&value
                                                    : &bits;
            memcpy(data + i * stride, from, (size_t)size);
        }
        p->values[w] = histo_view_1d(data, dtype, p->rows);
        p->values[w].strides[0] = stride;
    }
}

static void make_list(rng *r, node_problem *p)
{
    static const histo_dtype dtypes[] = {HISTO_U32, HISTO_I32, HISTO_I64};
    const histo_dtype dtype = dtypes[rng_below(r, 3)];
    const int64_t size = (int64_t)histo_dtype_size(dtype), stride = size * (1 + rng_below(r, 2));
    const bool rising = rng_below(r, 2);
    char *data = p->owned[1 + HISTO_MAX_GRADIENTS] = malloc((size_t)(p->listed * stride) + 1);
    for (int64_t i = 0; i < p->listed; i++) {
        const int64_t row = rising ? i * p->rows / p->listed : rng_below(r, p->rows);
        memcpy(data + i * stride, &row, (size_t)size);
    }
    p->list = histo_view_1d(data, dtype, p->listed);
    p->list.strides[0] = stride;
}

void node_problem_make(rng *r, node_problem *p, int64_t rows)
{
    *p = (node_problem){.rows = rows, .features = 1 + (int)rng_below(r, 11), .nodes = 1 + rng_below(r, 5)};
    if (rng_below(r, 8) == 0) p->features = 1 + (int)rng_below(r, MOST_FEATURES);
    p->weights = 1 + (int)rng_below(r, rng_below(r, 3) ? 2 : HISTO_MAX_GRADIENTS);
    p->listed = rows ? rng_below(r, 2 * rows) : 0;
    make_table(r, p, rng_below(r, 2), (layout)rng_below(r, LAYOUTS));
    make_values(r, p);
    make_list(r, p);
    for (int f = 0; f < p->features; f++)
        if (rng_below(r, 3) == 0) p->selected[p->selected_count++] = f;
    if (rng_below(r, 2)) p->selected_count = 0;
}

void node_problem_free(node_problem *p)
{
    for (size_t i = 0; i < sizeof p->owned / sizeof *p->owned; i++)
        free(p->owned[i]);
    free(p->offsets);
}

void node_problem_offsets(rng *r, node_problem *p, int64_t rows)
{
    free(p->offsets);
    p->offsets = malloc((size_t)(p->nodes + 1) * sizeof *p->offsets);
    p->offsets[0] = 0;
    for (int64_t s = 1; s <= p->nodes; s++)
        p->offsets[s] = s == p->nodes ? rows : p->offsets[s - 1] + rng_below(r, (rows - p->offsets[s - 1]) + 1);
}

/* ---- The oracle ---- */

static int64_t integer_at(const node_problem *p, const histo_gradients *g, int w, int64_t row)
{
    const double value = (double)sample_value(sample_at(&p->values[w], row), p->values[w].dtype);
    return llrint(value / histo_gradients_unit(g, w));
}

static int bin_at(const node_problem *p, int64_t row, int f)
{
    const int64_t at = row * p->features + f;
    return (int)sample_value(sample_at(&p->table, at), p->table.dtype);
}

int64_t *node_problem_sums(const node_problem *p, const histo_gradients *g, bool listed, int64_t total)
{
    const int64_t per_bin = 1 + p->weights;
    int64_t *sums = calloc((size_t)(p->nodes * total * per_bin) + 1, sizeof *sums);
    for (int64_t s = 0; s < p->nodes; s++)
        for (int64_t i = p->offsets[s]; i < p->offsets[s + 1]; i++) {
            const int64_t row = listed ? (int64_t)sample_value(sample_at(&p->list, i), p->list.dtype) : i;
            int64_t start = 0;
            for (int f = 0; f < p->features; start += p->bins[f++]) {
                int64_t *at = sums + ((s * total) + start + bin_at(p, row, f)) * per_bin;
                at[0]++;
                for (int w = 0; w < p->weights; w++)
                    at[1 + w] += integer_at(p, g, w, row);
            }
        }
    return sums;
}

/* ---- Places for sums ---- */

void node_place_make(rng *r, const node_problem *p, int64_t total, bool structs, node_place *at)
{
    static const histo_dtype count_dtypes[] = {HISTO_U8, HISTO_U32, HISTO_U64, HISTO_F64};
    *at = (node_place){0};
    at->to.sum_dtype = (histo_dtype[]){HISTO_U8, HISTO_F64, HISTO_I64}[rng_below(r, 3)];
    at->to.count_dtype = count_dtypes[rng_below(r, 4)];
    const int64_t bin = structs ? 8 * (p->weights + 1) + 1 : 8;
    at->bytes = (size_t)(bin * total * p->nodes * (structs ? 1 : p->weights + 1) + 1);
    at->memory = malloc(at->bytes);
    memset(at->memory, NODE_MARK, at->bytes);
    for (int w = 0; w < p->weights; w++)
        at->to.sums[w] = at->memory + (structs ? 8 * w : 8 * total * p->nodes * w);
    at->to.counts = at->memory + (structs ? 8 * p->weights : 8 * total * p->nodes * p->weights);
    if (!structs) return;
    at->to.bin_stride = bin;
    at->to.node_stride = bin * total;
    at->first = malloc((size_t)p->features * sizeof *at->first);
    int64_t position = 0;
    for (int f = p->features - 1; f >= 0; f--) {
        at->first[f] = position;
        position += p->bins[f];
    }
    at->to.first = at->first;
}

void node_place_free(node_place *at)
{
    free(at->first);
    free(at->memory);
}

/* What was written of plane 0, the counts, or 1 + w. */
static const char *written(const node_place *at, int64_t total, int64_t node, int64_t position, int plane,
                           histo_dtype *dtype)
{
    *dtype = plane ? at->to.sum_dtype : at->to.count_dtype;
    if (*dtype == HISTO_U8) *dtype = plane ? HISTO_F64 : HISTO_U32;
    const int64_t bin = at->to.bin_stride ? at->to.bin_stride : (int64_t)histo_dtype_size(*dtype);
    const int64_t node_stride = at->to.node_stride ? at->to.node_stride : bin * total;
    return (const char *)(plane ? at->to.sums[plane - 1] : at->to.counts) + node * node_stride + position * bin;
}

static bool is_selected(const node_problem *p, int f)
{
    bool found = p->selected_count == 0;
    for (int i = 0; i < p->selected_count; i++)
        found = found || p->selected[i] == f;
    return found;
}

static void check_bin(const node_problem *p, const histo_gradients *g, const node_place *at, int64_t total, int64_t s,
                      int f, int64_t position, const int64_t *expected)
{
    for (int plane = 0; plane <= p->weights; plane++) {
        histo_dtype dtype;
        const char *found = written(at, total, s, position, plane, &dtype);
        const long double unit = plane && dtype == HISTO_F64 ? histo_gradients_unit(g, plane - 1) : 1;
        if (!is_selected(p, f)) {
            assert_int_equal(*found, NODE_MARK);
            continue;
        }
        const long double sum = sample_value(found, dtype);
        if (sum != (long double)expected[plane] * unit)
            fail_msg("node %lld, feature %d, plane %d: %Lg instead of %lld units", (long long)s, f, plane, sum / unit,
                     (long long)expected[plane]);
    }
}

void node_place_check(const node_problem *p, const histo_gradients *g, const node_place *at, int64_t total,
                      const int64_t *expected)
{
    for (int64_t s = 0; s < p->nodes; s++) {
        int64_t start = 0;
        for (int f = 0; f < p->features; start += p->bins[f++])
            for (int b = 0; b < p->bins[f]; b++)
                check_bin(p, g, at, total, s, f, (at->first ? at->first[f] : start) + b,
                          expected + (s * total + start + b) * (1 + p->weights));
    }
}
