/* Joint histograms: of views of any types, and of tables in one buffer. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/strategies/rows.h"
#include "support/data.h"

/* Joint histograms of 2 to 4 axes of mixed types. */
void joint_histograms(void **state)
{
    (void)state;
    rng r = {.state = 99};
    for (int round = 0; round < 60; round++) {
        if (!is_chosen()) continue;
        int naxes = 2 + (int)rng_below(&r, 3);
        const int64_t n = 5000;
        histo_axis axes[4];
        histo_view views[4];
        double *edges[4];
        int64_t slots = 1;
        for (int a = 0; a < naxes; a++) {
            histo_dtype dtype = (histo_dtype)rng_below(&r, HISTO_DTYPE_COUNT);
            static const int small[] = {1, 2, 7, 11, 12, 6};
            test_axis(small[rng_below(&r, 6)], dtype, &axes[a]);
            views[a] = histo_view_1d(make_samples(&r, dtype, (distribution)rng_below(&r, DISTRIBUTIONS), &axes[a], n),
                                     dtype, n);
            edges[a] = malloc((size_t)(axes[a].bins + 1) * sizeof(double));
            OK(histo_axis_edges(&axes[a], edges[a]));
            slots *= axes[a].bins + 3;
        }
        uint64_t *expected = calloc((size_t)slots, sizeof *expected), *got = malloc((size_t)slots * sizeof *got);
        for (int64_t i = 0; i < n; i++) {
            int64_t slot = 0;
            for (int a = 0; a < naxes; a++)
                slot = slot * (axes[a].bins + 3) + reference_slot_by_edges(sample_at(&views[a], i), views[a].dtype,
                                                                           edges[a], axes[a].bins, axes[a].closed);
            expected[slot]++;
        }
        char name[64];
        for (int s = 0; s < histo_strategy_count(); s++) {
            if (!row_name(s, name)) continue;
            placed memory = {0};
            histo_view copies[4];
            for (int a = 0; a < naxes; a++)
                copies[a] = *place(&memory, &views[a], is_cuda(name) && round % 3, &copies[a]);
            histo_hist *h;
            OK(histo_hist_create(&h, naxes, axes, &(histo_hist_options){.storage = storage_for(name)}));
            histo_plan *plan = plan_for(name, h, copies, NULL, 2);
            if (plan) {
                OK(histo_plan_fill(plan, h, copies, NULL));
                OK(histo_hist_read_counts(h, HISTO_FLOW, got, slots, NULL));
                assert_memory_equal(got, expected, (size_t)slots * sizeof *got);
            }
            displace(&memory);
            histo_plan_destroy(plan);
            histo_hist_destroy(h);
        }
        for (int a = 0; a < naxes; a++) {
            free((void *)views[a].data);
            free(edges[a]);
        }
        free(expected);
        free(got);
    }
}

/* A joint histogram of samples in one buffer: columns one after the other, or interleaved samples. */
typedef struct table {
    int naxes, axis[4]; /* of joint_axis */
    histo_dtype dtype[4];
    int pitch;  /* bytes between an axis's samples; 0: columns; negative: columns with gaps between samples */
    int offset; /* bytes before the first sample */
    int64_t batch, n;
} table;

static histo_axis joint_axis(int i)
{
    static const double few[] = {-3.5, -1, 0, 0x1p-20, 0.1, 0.25, 3, 17.5, 100, 1e4};
    const histo_axis axes[] = {histo_axis_integer(0, 256),
                               histo_axis_regular(64, 0, 256),
                               histo_axis_closed(histo_axis_regular(32, 0, 256)),
                               histo_axis_regular(50, 0, 256),
                               histo_axis_regular(8, 64, 192),
                               histo_axis_regular(128, 0, 256),
                               histo_axis_regular(256, 0, 1),
                               histo_axis_closed(histo_axis_regular(300, -1, 1)),
                               histo_axis_integer(-20, 300),
                               histo_axis_log(40, 1e-3, 1e4),
                               histo_axis_variable(9, few),
                               histo_axis_integer(0, 4096),
                               histo_axis_regular(2, 0, 256)};
    return axes[i];
}

static void check_table(rng *r, const table *t, int round)
{
    enum { FEW = 50000 };
    histo_axis axes[4];
    double *edges[4];
    int64_t slots = 1, all = t->batch * t->n, at = t->offset, column[4], pitch[4];
    for (int a = 0; a < t->naxes; a++) {
        int64_t size = (int64_t)histo_dtype_size(t->dtype[a]);
        column[a] = at;
        pitch[a] = t->pitch ? abs(t->pitch) : size;
        at += t->pitch > 0 ? size : (all * pitch[a] + 15) / 16 * 16 + (round % 3 == 2 ? size : 0);
        axes[a] = joint_axis(t->axis[a]);
        edges[a] = malloc((size_t)(axes[a].bins + 1) * sizeof(double));
        OK(histo_axis_edges(&axes[a], edges[a]));
        slots *= axes[a].bins + 3;
    }
    int64_t bytes = t->pitch > 0 ? t->offset + all * t->pitch : at;
    char *buffer = calloc((size_t)bytes, 1);
    histo_view views[4];
    for (int a = 0; a < t->naxes; a++) {
        size_t size = histo_dtype_size(t->dtype[a]);
        char *samples = make_samples(r, t->dtype[a], (distribution)rng_below(r, DISTRIBUTIONS), &axes[a], all);
        for (int64_t i = 0; i < all; i++)
            memcpy(buffer + column[a] + i * pitch[a], samples + (size_t)i * size, size);
        free(samples);
        views[a] = (histo_view){.data = buffer + column[a],
                                .dtype = t->dtype[a],
                                .ndim = 2,
                                .batch_ndim = 1,
                                .shape = {t->batch, t->n},
                                .strides = {t->n * pitch[a], pitch[a]}};
    }
    size_t counters = (size_t)(t->batch * slots);
    uint64_t *expected = calloc(counters, sizeof *expected), *got = malloc(counters * sizeof *got);
    for (int64_t i = 0; i < all; i++) {
        int64_t slot = i / t->n;
        for (int a = 0; a < t->naxes; a++)
            slot = slot * (axes[a].bins + 3) + reference_slot_by_edges(buffer + column[a] + i * pitch[a], t->dtype[a],
                                                                       edges[a], axes[a].bins, axes[a].closed);
        expected[slot]++;
    }
    char name[64];
    for (int s = 0; s < histo_strategy_count(); s++) {
        if (!row_name(s, name)) continue;
        bool is_for_many = strstr(name, "partition") || strstr(name, "packed") || strstr(name, "global_atomic");
        bool on_device = is_cuda(name);
        if (slots > FEW && on_device && !is_for_many) continue;
        placed memory = {0};
        histo_view whole = histo_view_1d(buffer, HISTO_U8, bytes), copy, moved[4];
        const histo_view *placed_buffer = place(&memory, &whole, on_device, &copy);
        for (int a = 0; a < t->naxes; a++) {
            moved[a] = views[a];
            moved[a].data = (const char *)placed_buffer->data + column[a];
        }
        histo_hist *h;
        OK(histo_hist_create(&h, t->naxes, axes,
                             &(histo_hist_options){.batch = t->batch, .storage = storage_for(name)}));
        histo_plan *plan = plan_for(name, h, moved, NULL, 2);
        for (int pass = 0; plan && pass < 2; pass++)
            OK(histo_plan_fill(plan, h, moved, NULL));
        if (plan) OK(histo_hist_read_counts(h, HISTO_FLOW, got, (int64_t)counters, NULL));
        for (size_t i = 0; plan && i < counters; i++)
            if (got[i] != 2 * expected[i])
                fail_msg("%s, table %d: slot %zu has %llu, should have %llu", name, round, i,
                         (unsigned long long)got[i], 2 * (unsigned long long)expected[i]);
        displace(&memory);
        histo_plan_destroy(plan);
        histo_hist_destroy(h);
    }
    for (int a = 0; a < t->naxes; a++)
        free(edges[a]);
    free(buffer);
    free(expected);
    free(got);
}

/* Pixels, pairs and columns of any types: full steps and ragged ends, aligned and unaligned, batches, all counter
 * widths. */
void joint_tables(void **state)
{
    (void)state;
    static const table list[] = {
        {3, {1, 1, 1}, {HISTO_U8, HISTO_U8, HISTO_U8}, 3, 0, 1, 70001},  /* 64 x 64 x 64: counters of 6 bits */
        {3, {1, 1, 1}, {HISTO_U8, HISTO_U8, HISTO_U8}, 4, 0, 1, 70001},  /* three of four channels */
        {3, {1, 1, 1}, {HISTO_U8, HISTO_U8, HISTO_U8}, 0, 0, 1, 70001},  /* columns */
        {3, {1, 1, 1}, {HISTO_U8, HISTO_U8, HISTO_U8}, 3, 5, 1, 40001},  /* unaligned */
        {3, {1, 2, 1}, {HISTO_U8, HISTO_U8, HISTO_U8}, 3, 0, 3, 32768},  /* 8 bits, a batch */
        {3, {2, 2, 2}, {HISTO_U8, HISTO_U8, HISTO_U8}, 3, 16, 2, 33001}, /* 16 bits or 32 */
        {2, {0, 2}, {HISTO_U8, HISTO_U8}, 3, 0, 1, 50001},               /* two of three channels */
        {2, {0, 0}, {HISTO_U8, HISTO_U8}, 0, 0, 1, 70001},               /* two columns of bytes */
        {2, {0, 7}, {HISTO_U8, HISTO_U8}, 0, 5, 2, 33001},               /* the same with flow, aligned after some */
        {2, {8, 0}, {HISTO_U8, HISTO_U8}, 0, 0, 3, 20},                  /* fewer than a vector after the first */
        {3, {1, 1, 1}, {HISTO_U8, HISTO_U8, HISTO_U8}, -3, 0, 1, 50001}, /* one channel of each of three images */
        {3, {0, 12, 2}, {HISTO_U8, HISTO_U8, HISTO_U8}, 3, 0, 1, 70001}, /* the finest axis is the first, … */
        {3, {1, 1, 12}, {HISTO_U8, HISTO_U8, HISTO_U8}, 4, 4, 1, 50001}, /* … or one between others */
        {2, {2, 1}, {HISTO_U8, HISTO_U8}, 4, 2, 1, 50001},               /* never aligned */
        {2, {2, 1}, {HISTO_U8, HISTO_U8}, 0, 7, 1, 50001},               /* aligned after some samples, or never */
        {4, {2, 4, 12, 4}, {HISTO_U8, HISTO_U8, HISTO_U8, HISTO_U8}, 4, 0, 1, 70001}, /* by table: flow */
        {4, {12, 12, 12, 12}, {HISTO_U8, HISTO_U8, HISTO_U8, HISTO_U8}, 0, 0, 1, 70001},
        {3, {3, 3, 3}, {HISTO_U8, HISTO_U8, HISTO_U8}, 3, 0, 1, 70001}, /* by table, in a window */
        {3, {5, 5, 5}, {HISTO_U8, HISTO_U8, HISTO_U8}, 3, 0, 1, 70001}, /* too many for shared memory */
        {2, {6, 6}, {HISTO_F32, HISTO_F32}, 0, 0, 1, 70001},            /* pairs */
        {2, {6, 7}, {HISTO_F32, HISTO_F32}, 0, 4, 2, 33001},
        {2, {9, 10}, {HISTO_F32, HISTO_F32}, 0, 0, 1, 70001},
        {2, {11, 0}, {HISTO_U32, HISTO_U32}, 0, 0, 1, 70001},
        {2, {8, 8}, {HISTO_U16, HISTO_U16}, 0, 0, 1, 70001},
        {2, {8, 0}, {HISTO_U16, HISTO_U16}, 4, 0, 1, 50001},  /* an interleaved pair */
        {2, {4, 11}, {HISTO_U16, HISTO_U16}, 0, 0, 1, 70001}, /* bins with several values, many windows */
        {2, {12, 4}, {HISTO_U32, HISTO_U32}, 0, 4, 2, 33001},
        {2, {3, 11}, {HISTO_U16, HISTO_U16}, 0, 0, 1, 50001}, /* bins that are not powers of two */
        {2, {6, 0}, {HISTO_F32, HISTO_U8}, 0, 0, 1, 70001},   /* columns of any types */
        {3, {7, 8, 4}, {HISTO_F64, HISTO_I16, HISTO_U8}, 0, 0, 2, 33001},
        {3, {10, 10, 10}, {HISTO_F32, HISTO_F32, HISTO_F32}, 12, 0, 1, 50001}, /* interleaved */
        {4, {10, 4, 10, 12}, {HISTO_F16, HISTO_I64, HISTO_BF16, HISTO_U64}, 0, 0, 1, 50001},
        {2, {8, 10}, {HISTO_I32, HISTO_I8}, 0, 0, 1, 50001},
    };
    rng r = {.state = 6};
    for (int i = 0; i < (int)(sizeof list / sizeof list[0]); i++)
        for (int round = 0; round < 3; round++)
            if (is_chosen()) check_table(&r, &list[i], 3 * i + round);
}
