/* Maps applied to samples of any type, layout, mask and tiles, and the kernels that do it, against one loop over the
 * samples: equal to the bit. HISTO_CPU selects the instruction-set level of the maps; the kernels of all levels that
 * this CPU has are compared. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/kernels/kernels.h"
#include "support/check.h"
#include "support/data.h"

/* ---- The model ---- */

typedef struct model {
    histo_map *map;
    const histo_axis *axes;
    int naxes;
    bool linear;
    double *edges[2];
    const double *values; /* of all tables */
    int64_t length;
} model;

static int64_t slot_of(const model *m, int a, const histo_view *view, const char *at)
{
    return reference_slot_by_edges(at, view->dtype, m->edges[a], m->axes[a].bins, m->axes[a].closed);
}

static double value_of(const model *m, int64_t table, const histo_view *views, const char *const *at)
{
    const double *values = m->values + table * m->length;
    const int64_t slot = slot_of(m, 0, &views[0], at[0]), bins = m->axes[0].bins;
    if (!m->linear && m->naxes == 1) return values[slot];
    if (!m->linear) return values[slot * (m->axes[1].bins + 3) + slot_of(m, 1, &views[1], at[1])];
    if (slot == bins + 2) return NAN;
    if (slot == 0) return values[0] + (values[1] - values[0]) * 0; /* NaN beside an infinity */
    if (slot == bins + 1) return values[bins];
    const double low = m->edges[0][slot - 1], high = m->edges[0][slot];
    const double share = (histo_sample_value(at[0], views[0].dtype) - low) / (high - low);
    return share == 1 ? values[slot] : values[slot - 1] + (values[slot] - values[slot - 1]) * share;
}

static float blend(const model *m, const histo_tiles *tiles, int d, int64_t table, const int64_t *place,
                   const histo_view *views, const char *const *at)
{
    if (d == tiles->ndim || d == 3) return (float)value_of(m, table, views, at);
    const float x = (float)place[d] * (1.0F / (float)tiles->size[d]) - 0.5F, share = x - floorf(x);
    const int64_t first = (int64_t)floorf(x), last = tiles->count[d] - 1;
    const int64_t low = first < 0 ? 0 : first > last ? last : first, high = first + 1 > last ? last : first + 1;
    const float a = blend(m, tiles, d + 1, table * tiles->count[d] + low, place, views, at);
    const float b = blend(m, tiles, d + 1, table * tiles->count[d] + high, place, views, at);
    return a * (1 - share) + b * share;
}

/* A double as a sample of dtype. */
static void put(double value, histo_dtype dtype, void *to)
{
    const double limits[][2] = {[HISTO_U8] = {0, 255}, [HISTO_U16] = {0, 65535}, [HISTO_I16] = {-32768, 32767}};
    const float single = isnan(value) ? NAN : (float)value;
    const double whole = isnan(value)        ? 0
                         : dtype < HISTO_U32 ? rint(fmin(fmax(value, limits[dtype][0]), limits[dtype][1]))
                                             : 0;
    const uint16_t u16 = (uint16_t)(int32_t)whole; /* the bits of i16, too */
    const uint8_t u8 = (uint8_t)u16;
    if (dtype == HISTO_U8)
        memcpy(to, &u8, sizeof u8);
    else if (dtype == HISTO_F32)
        memcpy(to, &single, sizeof single);
    else if (dtype == HISTO_F64)
        memcpy(to, isnan(value) ? &(double){NAN} : &value, sizeof value);
    else
        memcpy(to, &u16, sizeof u16);
}

/* ---- Random maps ---- */

/* Memory for n samples in a layout: contiguous, interleaved, backwards, in rows with gaps, or unaligned. */
static histo_view lay_out(rng *r, histo_dtype dtype, const int64_t *shape, char **memory)
{
    const int64_t size = (int64_t)histo_dtype_size(dtype), kind = rng_below(r, 5);
    const int64_t step = kind == 1 ? size * (2 + rng_below(r, 3)) : size, gap = kind == 2 ? 5 * size : 0;
    histo_view view = {.dtype = dtype, .ndim = 3};
    for (int d = 2, outer = 1; d >= 0; d--, outer = 0) {
        view.shape[d] = shape[d];
        view.strides[d] = outer ? step : view.strides[d + 1] * shape[d + 1] + gap;
    }
    const size_t bytes = (size_t)(view.strides[0] * shape[0]) + 16;
    *memory = malloc(bytes);
    for (size_t i = 0; i < bytes; i++)
        (*memory)[i] = (char)rng_next(r);
    view.data = *memory + (kind == 3 ? 1 : 0);
    if (kind == 4 && shape[2] > 0) {
        view.data = (const char *)view.data + view.strides[2] * (shape[2] - 1);
        view.strides[2] = -view.strides[2];
    }
    return view;
}

static bool pixels_of(const histo_view *view)
{
    return histo_dtype_size(view->dtype) == 1 && view->strides[2] > 1;
}

static double random_value(rng *r, int kind)
{
    const double odd[] = {NAN, INFINITY, -INFINITY, -0.0, 1e30, -7, 0.5, 1.5, 254.5, 65535.5};
    return kind == 0   ? (double)rng_below(r, 256)
           : kind == 1 ? (double)rng_below(r, 65536)
           : kind == 2 ? rng_uniform(r) * 300 - 20
                       : odd[rng_below(r, sizeof odd / sizeof *odd)];
}

/* The samples, map and options of one problem; returns what is wrong with its results, or -1. */
static int64_t check_problem(rng *r, char *what, size_t size)
{
    static const histo_dtype ins[] = {HISTO_U8,   HISTO_U8,  HISTO_U16, HISTO_U16, HISTO_I8,  HISTO_I16, HISTO_F16,
                                      HISTO_BF16, HISTO_F32, HISTO_F64, HISTO_U32, HISTO_I64, HISTO_U64};
    static const histo_dtype outs[] = {HISTO_U8, HISTO_U16, HISTO_I16, HISTO_F32, HISTO_F64};
    histo_axis axes[2];
    histo_view views[2], out, mask;
    char *memory[5] = {NULL};
    const int naxes = rng_below(r, 3) ? 1 : 2, kind = (int)rng_below(r, 4);
    model m = {.axes = axes, .naxes = naxes, .linear = naxes == 1 && rng_below(r, 3) == 0};
    histo_apply_options o = {.threads = 1 + (int)rng_below(r, 3)};
    if (rng_below(r, 2)) o.tiles.ndim = 1 + (int)rng_below(r, 3);
    const bool large = rng_below(r, 4) == 0, masked = rng_below(r, 3) == 0;
    const int64_t shape[] = {1 + rng_below(r, 3), 1 + rng_below(r, large ? 150 : 20),
                             1 + rng_below(r, large ? 2500 : 90)};
    const int64_t n = shape[0] * shape[1] * shape[2];
    int64_t tables = 1, batch = 1;
    const int batch_ndim = o.tiles.ndim < 3 ? (int)rng_below(r, 2) : 0;
    for (int d = 0; d < o.tiles.ndim; d++) {
        const int64_t of = shape[3 - o.tiles.ndim + d];
        o.tiles.count[d] = 1 + rng_below(r, 4);
        o.tiles.size[d] = of / o.tiles.count[d] + 1;
        o.origin[d] = rng_below(r, 3) ? 0 : rng_below(r, of);
        tables *= o.tiles.count[d];
    }
    if (batch_ndim && rng_below(r, 2)) batch = shape[0];
    m.length = 1;
    for (int a = 0; a < naxes; a++) {
        const histo_dtype dtype = ins[rng_below(r, sizeof ins / sizeof *ins)];
        int axis = 0;
        for (axis = (int)rng_below(r, 12); !test_axis(axis, dtype, &axes[a]) || axes[a].bins > 300;)
            axis = axis > 0 ? axis - 1 : 11;
        if (rng_below(r, 3) == 0) axes[a] = histo_axis_integer(rng_below(r, 20), 1 + rng_below(r, 300));
        m.edges[a] = malloc((size_t)(axes[a].bins + 1) * sizeof(double));
        OK(histo_axis_edges(&axes[a], m.edges[a]));
        m.length *= axes[a].bins + (m.linear ? 1 : 3);
        views[a] = lay_out(r, dtype, shape, &memory[a]);
        if (a == 1 && pixels_of(&views[0]) && histo_dtype_size(dtype) == 1) { /* another channel of the same pixels */
            views[1] = views[0];
            views[1].dtype = dtype;
            views[1].data = (const char *)views[0].data + 1;
        }
        const distribution d = (distribution)rng_below(r, DISTRIBUTIONS);
        char *samples = make_samples(r, dtype, d, &axes[a], n);
        for (int64_t i = 0; i < n; i++)
            memcpy(sample_at(&views[a], i), samples + i * (int64_t)histo_dtype_size(dtype), histo_dtype_size(dtype));
        free(samples);
        views[a].batch_ndim = batch_ndim;
    }
    OK(histo_map_create(&m.map, naxes, axes, &(histo_map_options){.batch = tables * batch, .within = m.linear}));
    assert_int_equal(histo_map_size(m.map), m.length * tables * batch);
    double *values = malloc((size_t)histo_map_size(m.map) * sizeof *values);
    for (int64_t i = 0; i < histo_map_size(m.map); i++)
        values[i] = random_value(r, kind < 3 ? kind : (int)rng_below(r, 4));
    m.values = values;
    OK(histo_map_write(m.map, values, histo_map_size(m.map)));
    out = lay_out(r, outs[rng_below(r, 5)], shape, &memory[2]);
    if (rng_below(r, 4) == 0) { /* in place */
        const histo_dtype of_size[] = {
            [1] = HISTO_U8, [2] = rng_below(r, 2) ? HISTO_U16 : HISTO_I16, [4] = HISTO_F32, [8] = HISTO_F64};
        out = views[0];
        out.dtype = of_size[histo_dtype_size(out.dtype)];
    }
    out.batch_ndim = batch_ndim;
    const histo_dtype mask_types[] = {HISTO_U8, HISTO_F32, HISTO_I16};
    mask = lay_out(r, mask_types[rng_below(r, 3)], shape, &memory[3]);
    mask.batch_ndim = batch_ndim;
    for (int64_t i = 0; i < n; i++)
        if (rng_below(r, 2)) memset(sample_at(&mask, i), 0, histo_dtype_size(mask.dtype));
    if (masked) o.mask = &mask;
    /* What is wanted, before results overwrite samples. */
    const size_t each = histo_dtype_size(out.dtype);
    char *wanted = malloc((size_t)n * each);
    for (int64_t i = 0; i < n; i++) {
        const char *at[] = {sample_at(&views[0], i), naxes > 1 ? sample_at(&views[1], i) : NULL};
        const int64_t places[] = {i / (shape[1] * shape[2]), i / shape[2] % shape[1], i % shape[2]};
        const int64_t entry = batch > 1 ? places[0] : 0;
        int64_t place[3];
        for (int d = 0; d < o.tiles.ndim; d++)
            place[d] = places[3 - o.tiles.ndim + d] + o.origin[d];
        const double value =
            o.tiles.ndim ? (double)blend(&m, &o.tiles, 0, entry, place, views, at) : value_of(&m, entry, views, at);
        if (masked && histo_sample_value(sample_at(&mask, i), mask.dtype) == 0)
            memcpy(wanted + (size_t)i * each, sample_at(&out, i), each);
        else
            put(value, out.dtype, wanted + (size_t)i * each);
    }
    OK(histo_map_apply(m.map, views, &out, &o));
    int64_t wrong = -1;
    for (int64_t i = 0; i < n && wrong < 0; i++)
        if (memcmp(sample_at(&out, i), wanted + (size_t)i * each, each) != 0) wrong = i;
    if (wrong >= 0)
        snprintf(
            what, size,
            "%d axes, %s, dtype %d to %d, %lld x %lld x %lld, %d dimensions of tiles, %d threads: %.17g, not %.17g",
            naxes, m.linear ? "lines" : "steps", (int)views[0].dtype, (int)out.dtype, (long long)shape[0],
            (long long)shape[1], (long long)shape[2], o.tiles.ndim, o.threads,
            histo_sample_value(sample_at(&out, wrong), out.dtype),
            histo_sample_value(wanted + (size_t)wrong * each, out.dtype));
    histo_map_destroy(m.map);
    free(values);
    free(wanted);
    for (int a = 0; a < naxes; a++)
        free(m.edges[a]);
    for (int i = 0; i < 5; i++)
        free(memory[i]);
    return wrong;
}

static void random_maps(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        rng r = {.state = seed * 7919};
        char what[300];
        const int64_t wrong = check_problem(&r, what, sizeof what);
        if (wrong >= 0) fail_msg("seed %d, sample %lld: %s", (int)seed, (long long)wrong, what);
    }
}

/* ---- Kernels ---- */

enum { MOST = HISTO_BLOCK };

static float between(float low, float high, float share)
{
    return low * (1 - share) + high * share;
}

static void check_tables(const histo_map_kernels *k, rng *r, int n, int from)
{
    static uint8_t a[MOST + 64], b[MOST + 64], to[MOST + 64], results[128 * 512];
    uint8_t table[256];
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)rng_next(r);
    for (int i = 0; i < MOST + 64; i++) {
        a[i] = (uint8_t)rng_next(r);
        b[i] = (uint8_t)rng_next(r);
        to[i] = 77;
    }
    k->map_bytes(table, a + from, n, to + from);
    for (int i = 0; i < MOST + 64; i++)
        assert_int_equal(to[i], i >= from && i < from + n ? table[a[i]] : 77);
    histo_pair_table pairs = {.results = results};
    const int rows = 1 + (int)rng_below(r, 256), log2 = (int)rng_below(r, 9), pitch = 1 << log2;
    for (size_t i = 0; i < sizeof results; i++)
        results[i] = (uint8_t)rng_next(r);
    for (int i = 0; i < 256; i++) {
        const int row = (int)rng_below(r, rows);
        pairs.low[i] = (uint8_t)(row * pitch);
        pairs.high[i] = (uint8_t)(row * pitch >> 8);
        pairs.column[i] = (uint8_t)rng_below(r, pitch);
    }
    pairs.size = rows * pitch;
    k->map_pairs(&pairs, a + from, b + from, n, to + from);
    for (int i = 0; i < MOST + 64; i++) {
        const int at = pairs.high[a[i]] << 8 | pairs.low[a[i]] | pairs.column[b[i]];
        assert_int_equal(to[i], i >= from && i < from + n ? results[at] : 77);
    }
}

static void check_blends(const histo_map_kernels *k, rng *r, int n)
{
    enum { PATTERNS = 3000 };
    static uint8_t bytes[MOST], of_bytes[4][256], to_bytes[MOST];
    static uint16_t shorts[MOST], of_shorts[4][PATTERNS], to_shorts[MOST];
    static uint64_t joined[PATTERNS];
    static float share[MOST], values[MOST + 1];
    histo_joined_bytes joined_bytes;
    const float down = (float)rng_uniform(r);
    for (int i = 0; i < 4 * 256; i++)
        of_bytes[i / 256][i % 256] = (uint8_t)rng_next(r);
    for (int i = 0; i < 4 * PATTERNS; i++)
        of_shorts[i / PATTERNS][i % PATTERNS] = (uint16_t)rng_next(r);
    for (int i = 0; i < MOST; i++) {
        bytes[i] = (uint8_t)rng_next(r);
        shorts[i] = (uint16_t)rng_below(r, i % 7 ? PATTERNS : 65536);
        share[i] = (float)rng_uniform(r);
    }
    k->join_bytes((const uint8_t *const[]){of_bytes[0], of_bytes[1], of_bytes[2], of_bytes[3]}, &joined_bytes);
    k->join_shorts((const uint16_t *const[]){of_shorts[0], of_shorts[1], of_shorts[2], of_shorts[3]}, PATTERNS, joined);
    for (int wide = 0; wide <= 1; wide++) {
        values[n] = 7;
        if (wide)
            k->blend_shorts(joined, PATTERNS - 1, shorts, n, share, down, false, values);
        else
            k->blend_bytes(&joined_bytes, bytes, n, share, down, false, values);
        assert_true(values[n] == 7);
        for (int i = 0; i < n; i++) {
            float of[4];
            for (int t = 0; t < 4; t++)
                of[t] = wide ? (float)of_shorts[t][shorts[i] < PATTERNS ? shorts[i] : PATTERNS - 1]
                             : (float)of_bytes[t][bytes[i]];
            assert_true(values[i] == between(between(of[0], of[1], share[i]), between(of[2], of[3], share[i]), down));
        }
        memcpy(to_bytes, bytes, MOST); /* in place */
        memcpy(to_shorts, shorts, sizeof shorts);
        k->blend_shorts(joined, PATTERNS - 1, to_shorts, n, share, down, true, to_shorts);
        k->blend_bytes(&joined_bytes, to_bytes, n, share, down, true, to_bytes);
        for (int i = 0; i < MOST; i++)
            if (wide)
                assert_int_equal(to_shorts[i], i < n ? (int)rintf(values[i]) : shorts[i]);
            else
                assert_int_equal(to_bytes[i], i < n ? (int)rintf(values[i]) : bytes[i]);
    }
    const int32_t first = (int32_t)rng_below(r, 1 << 20) >> rng_below(r, 20);
    const float scale = 1 / (float)(1 + rng_below(r, 1000));
    k->find_shares(first, scale, n, values);
    for (int i = 0; i < n; i++) {
        const float at = (float)(first + i) * scale - 0.5F;
        assert_true(values[i] == at - floorf(at));
    }
    const float odd[] = {NAN, INFINITY, -INFINITY, -1, 0.5F, 1.5F, 254.5F, 255.5F, 65534.5F, 65535.5F, 1e30F, -0.0F};
    for (int i = 0; i < n; i++)
        values[i] = i % 3 ? (float)(rng_uniform(r) * 70000 - 1000) : odd[rng_below(r, sizeof odd / sizeof *odd)];
    k->round_bytes(values, n, to_bytes);
    k->round_shorts(values, n, to_shorts);
    for (int i = 0; i < n; i++) {
        const float value = isnan(values[i]) ? 0 : values[i];
        assert_int_equal(to_bytes[i], (int)rintf(fminf(fmaxf(value, 0), 255)));
        assert_int_equal(to_shorts[i], (int)rintf(fminf(fmaxf(value, 0), 65535)));
    }
    uint64_t sums[3], wanted[3] = {0};
    for (uint64_t i = 0; i < (uint64_t)n; i++)
        for (int p = 0; p < 3; p++)
            wanted[p] += (p > 0 ? i : 1) * (p > 1 ? i : 1) * bytes[i];
    k->sum_moments(bytes, n, sums);
    assert_memory_equal(sums, wanted, sizeof sums);
}

static void kernels_of_all_levels(void **state)
{
    (void)state;
    for (int level = 0; level <= (int)histo_isa_usable(); level++) {
        const histo_map_kernels *kernels = histo_cpu_kernels_of((histo_isa)level)->maps;
        rng r = {.state = 5};
        for (int round = 0; round < 300; round++) {
            const int n = round < 140 ? round : (int)rng_below(&r, MOST + 1);
            check_tables(kernels, &r, n, (int)rng_below(&r, 64));
            check_blends(kernels, &r, n < MOST ? n : MOST - 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_maps),
        cmocka_unit_test(kernels_of_all_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
