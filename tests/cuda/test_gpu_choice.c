/* What the cost model chooses on a GPU, on any machine: the CUDA runtime's questions about devices are answered by
 * fake_gpu.c. Nothing is counted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/jit/expected.h"
#include "papers/inputs/position.h"
#include "papers/strategies/packed_layout.h"
#include "plan/costs/rates.h"
#include "support/check.h"
#include "support/data.h"

/* ---- Problems ---- */

/* One axis, or the same axis for each of naxes columns, and n samples, those of a batch together, in the GPU's memory.
 * To be freed. */
static histo_problem batch_of(int64_t batch, int naxes, histo_dtype dtype, const histo_axis *axis, int64_t n)
{
    static const char nothing[16];
    histo_problem p = {0};
    histo_axis axes[HISTO_MAX_AXES];
    histo_view views[HISTO_MAX_AXES];
    const histo_view *operands[HISTO_MAX_OPERANDS];
    const histo_hist_options kind = {.batch = batch};
    const int64_t shape[] = {batch, n / batch};
    for (int a = 0; a < naxes; a++) {
        OK(histo_axis_own(axis, &axes[a]));
        views[a] = histo_view_1d(nothing, dtype, n);
        if (batch > 1) {
            views[a] = histo_view_nd(nothing, dtype, 2, shape);
            views[a].batch_ndim = 1;
        }
    }
    OK(histo_problem_bind(&p, naxes, &kind, views, NULL, NULL, operands));
    p.device = p.home = HISTO_DEVICE_CUDA(0);
    OK(histo_problem_prepare(&p, axes));
    for (int a = 0; a < naxes; a++)
        histo_axis_disown(&axes[a]);
    return p;
}

static histo_problem problem_of(int naxes, histo_dtype dtype, const histo_axis *axis, int64_t n)
{
    return batch_of(1, naxes, dtype, axis, n);
}

/* Of an H100 with 80 GB, as it describes itself. It has as many multiprocessors as an H200. */
static const histo_speed h100 = {3.352e6, 132 * 1980.0};
static const histo_speed *other_gpu; /* NULL: the H200 of fake_gpu.c */

static double cost_of(const histo_row *row, const histo_problem *p)
{
    const histo_speed speed = other_gpu ? *other_gpu : row->backend->speed(p->device);
    const histo_cost cost = histo_cost_of(row->strategy, p, 1, &speed);
    return histo_cost_us(&cost);
}

static bool is_candidate(const histo_row *row, const histo_problem *p)
{
    return row->backend == &histo_backend_cuda && !row->strategy->sparse && row->strategy->cost_us &&
           !row->strategy->unsupported_reason(p);
}

/* The strategy with the smallest estimate. */
static const histo_row *choose(const histo_problem *p)
{
    const histo_row *row, *best = NULL;
    for (int i = 0; (row = histo_row_at(i)); i++)
        if (is_candidate(row, p) && (!best || cost_of(row, p) < cost_of(best, p))) best = row;
    assert_non_null(best);
    return best;
}

/* A variable axis whose edges grow quadratically. */
static histo_axis quadratic(int64_t bins)
{
    static double edges[1 << 17];
    assert_true(bins < (int64_t)(sizeof edges / sizeof *edges));
    for (int64_t i = 0; i <= bins; i++)
        edges[i] = (double)i * (double)i;
    return histo_axis_variable(bins, edges);
}

static void assert_choice(const histo_problem *p, const char *expected)
{
    const char *chosen = choose(p)->name;
    if (strcmp(chosen, expected) != 0)
        fail_msg("%s, not %s, for %d axes of type %d, %lld bins, %lld samples", chosen, expected, p->naxes,
                 p->dtypes[0], (long long)p->bins, (long long)p->samples);
}

static void assert_chosen(int naxes, histo_dtype dtype, histo_axis axis, int64_t n, const char *expected)
{
    histo_problem p = problem_of(naxes, dtype, &axis, n);
    assert_choice(&p, expected);
    histo_problem_free(&p);
}

/* ---- Tests ---- */

/* Numbers of bins between those that were ever measured, where a strategy that one value brings to a halt was chosen.
 */
static void edges_between_measurements(void **state)
{
    (void)state;
    for (int64_t bins = 2; bins <= 16384; bins += 1 + bins / 7)
        for (int type = 0; type < 2; type++)
            assert_chosen(1, type ? HISTO_F64 : HISTO_F32, quadratic(bins), 1 << 28, "lane_private");
    assert_chosen(1, HISTO_F64, quadratic(777), 1 << 28, "lane_private");
    assert_chosen(1, HISTO_F64, quadratic(1000), 1 << 28, "lane_private");
}

/* What fits on chip is counted there; what does not, in a window if all slots fit one, else by partitioning. */
static void by_size(void **state)
{
    (void)state;
    const int64_t n = 1 << 29;
    assert_chosen(1, HISTO_U8, histo_axis_integer(0, 256), n, "lane_private");
    assert_chosen(1, HISTO_U16, histo_axis_integer(0, 65536), n, "packed_window");
    assert_chosen(1, HISTO_F16, histo_axis_regular(256, 0, 1), n, "lane_private");
    assert_chosen(1, HISTO_F16, histo_axis_regular(32768, 0, 1), n, "packed_window");
    assert_chosen(1, HISTO_U32, histo_axis_integer(0, 32768), n, "lane_private");
    assert_chosen(1, HISTO_U32, histo_axis_integer(0, 204800), n, "packed_window");
    assert_chosen(1, HISTO_F32, histo_axis_regular(100003, 0, 1), n, "packed_window");
    assert_chosen(1, HISTO_U32, histo_axis_integer(0, 1 << 20), n, "partition");
    assert_chosen(1, HISTO_U32, histo_axis_integer(0, 1 << 24), n, "partition");
    assert_chosen(2, HISTO_F32, histo_axis_regular(256, 0, 1), n, "packed_window");
    assert_chosen(3, HISTO_U8, histo_axis_integer(0, 256), n, "partition");
    assert_chosen(1, HISTO_U32, histo_axis_integer(0, 1 << 24), 1 << 10, "global_atomic");
}

/* Let a probe have found the slots that slot_of gives. */
static void probe(histo_problem *p, uint32_t (*slot_of)(int i, int n, int64_t slots))
{
    enum { N = 2048 };
    if (!p->probed) p->probed = malloc(N * sizeof *p->probed);
    assert_non_null(p->probed);
    p->probes = N;
    for (int i = 0; i < N; i++)
        p->probed[i] = slot_of(i, N, p->slots);
}

static uint32_t spread(int i, int n, int64_t slots)
{
    return (uint32_t)(i * slots / n);
}

static uint32_t clustered(int i, int n, int64_t slots)
{
    return (uint32_t)(slots / 2 + i * 50 - n);
}

static uint32_t two_far_apart(int i, int n, int64_t slots)
{
    return (uint32_t)(i < n / 2 ? 17 : slots - 17);
}

/* Do additions to one counter of the histogram in global memory wait for each other? */
static bool is_slowed_by_skew(const histo_row *row, const histo_problem *p)
{
    const bool fits = p->slots < 230000 || histo_dtype_size(p->dtypes[0]) <= 2; /* the window, or one of values */
    return strcmp(row->name, "global_atomic") == 0 || (strcmp(row->name, "packed_window") == 0 && !fits);
}

/* Nobody looked at the samples: then no strategy that skewed samples slow down is chosen while another is within three
 * times of what it takes for spread ones. */
static void safe_from_skew(void **state)
{
    (void)state;
    rng r = {20261122};
    int slowed = 0;
    for (int i = 0; i < 20000; i++) {
        const histo_dtype dtype = (histo_dtype)rng_below(&r, HISTO_DTYPE_COUNT);
        const int64_t bins = 1 + (int64_t)pow(2, 24 * rng_uniform(&r)), n = (int64_t)pow(2, 8 + 22 * rng_uniform(&r));
        const bool searched = bins < 1 << 16 && rng_below(&r, 4) == 0;
        histo_axis axis = searched ? quadratic(bins) : histo_axis_regular(bins, -3.25, 1e5 * (1 + rng_uniform(&r)));
        histo_problem p = problem_of(1, dtype, &axis, n);
        const histo_row *row, *chosen = choose(&p);
        if (is_slowed_by_skew(chosen, &p)) {
            slowed++;
            probe(&p, spread);
            const double spread_us = cost_of(chosen, &p);
            probe(&p, two_far_apart);
            const double skewed_us = cost_of(chosen, &p);
            for (int s = 0; (row = histo_row_at(s)); s++) {
                if (!is_candidate(row, &p) || is_slowed_by_skew(row, &p)) continue;
                if (cost_of(row, &p) < 2.99 * spread_us && skewed_us > 3 * cost_of(row, &p))
                    fail_msg("%s, not %s, for %lld bins, %lld samples", chosen->name, row->name, (long long)bins,
                             (long long)n);
            }
        }
        histo_problem_free(&p);
    }
    assert_in_range(slowed, 100, 12000); /* few samples, or many bins */
}

/* What a probe saw decides between a window and partitioning: a window is not chosen where samples meet outside it. */
static void by_probes(void **state)
{
    (void)state;
    static const struct {
        uint32_t (*slot_of)(int i, int n, int64_t slots);
        const char *expected;
    } cases[] = {{clustered, "packed_window"}, {two_far_apart, "partition"}, {spread, "partition"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        histo_axis axis = histo_axis_integer(0, 1 << 20);
        histo_problem p = problem_of(1, HISTO_U32, &axis, 1 << 29);
        probe(&p, cases[i].slot_of);
        assert_choice(&p, cases[i].expected);
        histo_problem_free(&p);
    }
}

#ifndef TEST_BACKEND /* whose inside cannot be seen */
/* What fills have found decides for further plans of their kind, and for these only. */
static void by_experience(void **state)
{
    (void)state;
    enum { FEW = 1 << 18, MANY = 1 << 26 };
    const histo_row *row = histo_row_find("lane_private", &histo_backend_cuda);
    const histo_axis axis = histo_axis_regular(100, 0, 1);
    for (int64_t n = FEW; n <= MANY; n += MANY - FEW) {
        histo_problem p = problem_of(1, HISTO_F32, &axis, n), other = problem_of(1, HISTO_F64, &axis, n),
                      like = problem_of(1, HISTO_F32, &axis, n + n / 8);
        p.strided = other.strided = like.strided = true;
        assert_int_equal(histo_expected_of(&p), HISTO_EXPECTED_UNKNOWN);
        histo_expected_note(&p, HISTO_EXPECTED_GENERAL);
        const double general_us = cost_of(row, &p);
        histo_expected_note(&p, HISTO_EXPECTED_COMPILED);
        const double compiled_us = cost_of(row, &p);
        if (compiled_us >= general_us) fail_msg("compiled %g us, general %g us", compiled_us, general_us);
        assert_int_equal(histo_expected_of(&like), HISTO_EXPECTED_COMPILED);
        assert_int_equal(histo_expected_of(&other), HISTO_EXPECTED_UNKNOWN);
        like.strided = false;
        assert_int_equal(histo_expected_of(&like), HISTO_EXPECTED_UNKNOWN);
        histo_problem_free(&p);
        histo_problem_free(&other);
        histo_problem_free(&like);
    }
}
#endif

/* ---- Inputs that were measured ---- */

static int by_slot(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Let a probe have found some of the samples of an input of the gallery, or as many of a second one elsewhere. */
static void probe_input(histo_problem *p, const bench_input *input, double second)
{
    enum { FAR = 4099 /* apart */ };
    probe(p, spread);
    for (int i = 0; i < p->probes; i++) {
        double x = bench_position(input, (int64_t)i * FAR, INT64_C(1) << 26);
        if (i < second * p->probes) x = fmod(x + 0.5, 1);
        p->probed[i] = 1 + (uint32_t)(x * (double)input->bins);
    }
    qsort(p->probed, (size_t)p->probes, sizeof *p->probed, by_slot);
}

enum { K = 1024, M = K * K };
static const bench_input a1 = {.kind = BENCH_WAFER_PAIRS, .shape = 0.125, .across = 0.8},
                         a2 = {.kind = BENCH_WAFER_PAIRS, .shape = 0.09, .across = 0.5},
                         a3 = {.kind = BENCH_WAFER_PAIRS, .shape = 0.125, .across = 0.5},
                         a4 = {.kind = BENCH_WAFER_PAIRS, .shape = 0.02, .across = 0.12},
                         a5 = {.kind = BENCH_WAFER_FLAT, .shape = 0.125, .across = 0.75},
                         a6 = {.kind = BENCH_WAFER_FLAT, .shape = 0.06, .across = 0.5},
                         clustered_8 = {.kind = BENCH_CLUSTERED, .shape = 0.125},
                         clustered_10 = {.kind = BENCH_CLUSTERED, .shape = 0.1},
                         normal = {.kind = BENCH_CLUSTERED, .shape = 0.322},
                         middle_2 = {.kind = BENCH_MIDDLE, .shape = 1.0 / 2},
                         middle_4 = {.kind = BENCH_MIDDLE, .shape = 1.0 / 4},
                         middle_8 = {.kind = BENCH_MIDDLE, .shape = 1.0 / 8},
                         middle_128 = {.kind = BENCH_MIDDLE, .shape = 1.0 / 128}, even = {.kind = BENCH_UNIFORM},
                         zipf = {.kind = BENCH_ZIPF};

/* Where packed_window or partition was measured to be the faster one by a twentieth or more: 2^26 and 2^29 samples on
 * an H200 (docs/log/results), 2^26 and 2^28 on an H100. */
static void as_measured(void **state)
{
    (void)state;
    enum { H200 = 1, H100 = 2, BOTH = H200 | H100 };
    static const struct {
        const bench_input *input;
        int64_t bins;
        int gpus, log2_samples;
        bool fits; /* the window is the faster one */
    } cases[] = {
        {&a1, M, BOTH, 26, true},
        {&a2, M, BOTH, 26, true},
        {&a3, M, BOTH, 26, true},
        {&a4, M, BOTH, 26, true},
        {&a5, M, BOTH, 26, true},
        {&a6, M, BOTH, 26, true},
        {&a1, 2 * M, BOTH, 26, false},
        {&a2, 2 * M, BOTH, 26, true},
        {&a3, 2 * M, H200, 26, false},
        {&a4, 2 * M, BOTH, 26, true},
        {&a5, 2 * M, BOTH, 26, false},
        {&a6, 2 * M, BOTH, 26, true},
        {&clustered_8, 256 * K, BOTH, 26, true},
        {&clustered_8, M, BOTH, 26, true},
        {&clustered_8, 2 * M, BOTH, 26, false},
        {&clustered_8, 4 * M, H100, 26, false},
        {&normal, 256 * K, H100, 26, true},
        {&normal, M, H100, 26, false},
        {&normal, 4 * M, H100, 26, false},
        {&middle_2, M, H200, 26, false},
        {&middle_4, M, H100, 26, false},
        {&middle_8, M, BOTH, 26, true},
        {&middle_128, M, BOTH, 26, true},
        {&even, 240000, H100, 26, false},
        {&even, 256 * K, BOTH, 26, false},
        {&even, M, BOTH, 26, false},
        {&even, 2 * M, BOTH, 26, false},
        {&zipf, M, BOTH, 26, false},
        {&a1, M, H100, 28, true},
        {&a1, 2 * M, H100, 28, true},
        {&a4, M, H100, 28, true},
        {&a5, 2 * M, H100, 28, false},
        {&clustered_8, M, H100, 28, true},
        {&clustered_8, 2 * M, H100, 28, true},
        {&clustered_8, 4 * M, H100, 28, false},
        {&normal, 4 * M, H100, 28, false},
        {&middle_4, M, H100, 28, false},
        {&even, 227000, H100, 28, true},
        {&even, 256 * K, H100, 28, false},
        {&even, M, H100, 28, false},
        {&a3, M, H200, 29, true},
        {&clustered_8, M, H200, 29, true},
        {&clustered_10, 2 * M, H200, 29, true},
        {&even, M, H200, 29, false},
        {&zipf, 4 * M, H200, 29, false},
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int gpu = H200; gpu <= H100; gpu++) {
            if (!(cases[i].gpus & gpu)) continue;
            const histo_axis axis = histo_axis_integer(0, cases[i].bins);
            bench_input input = *cases[i].input;
            input.bins = cases[i].bins;
            histo_problem p = problem_of(1, HISTO_U32, &axis, INT64_C(1) << cases[i].log2_samples);
            probe_input(&p, &input, 0);
            other_gpu = gpu == H100 ? &h100 : NULL;
            const char *expected = cases[i].fits ? "packed_window" : "partition", *chosen = choose(&p)->name;
            if (strcmp(chosen, expected) != 0) {
                print_error("case %zu, GPU %d: %s, not %s: %.0f and %.0f us\n", i, gpu, chosen, expected,
                            cost_of(choose(&p), &p), cost_of(histo_row_find(expected, &histo_backend_cuda), &p));
                wrong++;
            }
            histo_problem_free(&p);
        }
    other_gpu = NULL;
    assert_int_equal(wrong, 0);
}

/* A window has one region: a second one decides unless few samples are there. */
static void two_regions(void **state)
{
    (void)state;
    static const struct {
        double second;
        const char *expected;
    } cases[] = {{0.5, "partition"}, {0.1, "partition"}, {0.001, "packed_window"}};
    for (int log2_samples = 26; log2_samples <= 28; log2_samples++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const histo_axis axis = histo_axis_integer(0, M);
            bench_input input = a6;
            input.bins = M;
            histo_problem p = problem_of(1, HISTO_U32, &axis, INT64_C(1) << log2_samples);
            probe_input(&p, &input, cases[i].second);
            assert_choice(&p, cases[i].expected);
            histo_problem_free(&p);
        }
}

/* Types, and batches whose entries lie alike. */
static void dense_of_any_kind(void **state)
{
    (void)state;
    const histo_dtype dtypes[] = {HISTO_U32, HISTO_I32, HISTO_F32, HISTO_F64};
    for (size_t t = 0; t < sizeof dtypes / sizeof *dtypes; t++)
        for (int64_t batch = 1; batch <= 4; batch += 3) {
            const histo_axis axis = dtypes[t] < HISTO_F16 ? histo_axis_integer(0, M) : histo_axis_regular(M, 0, 1);
            bench_input inputs[] = {a3, even};
            for (int i = 0; i < 2; i++) {
                histo_problem p = batch_of(batch, 1, dtypes[t], &axis, INT64_C(1) << 26);
                inputs[i].bins = M;
                probe_input(&p, &inputs[i], 0);
                assert_choice(&p, i ? "partition" : "packed_window");
                histo_problem_free(&p);
            }
        }
}

/* The papers' strategies say how they lay a problem out. */
static void assert_explained(const char *strategy, int64_t bins, const int64_t *chosen, const char *expected)
{
    char said[1024] = "";
    int64_t params[HISTO_MAX_PARAMS] = {0};
    histo_text text = {.out = said, .capacity = sizeof said};
    const histo_row *row = histo_row_find(strategy, NULL);
    const histo_axis axis = histo_axis_integer(0, bins);
    histo_problem p = problem_of(1, HISTO_U32, &axis, 1 << 24);
    for (int i = 0; row->strategy->params[i].name; i++)
        params[i] = chosen ? chosen[i] : row->strategy->params[i].default_value;
    row->strategy->explain(&p, params, &text);
    if (!strstr(said, expected)) fail_msg("%s: '%s' has no '%s'", strategy, said, expected);
    histo_problem_free(&p);
}

static void explained_layouts(void **state)
{
    (void)state;
    const int64_t thesis[HISTO_MAX_PARAMS] = {[HISTO_PACKED_CONFIG] = HISTO_PACKED_THESIS};
    const int64_t dense[HISTO_MAX_PARAMS] = {
        [HISTO_PACKED_CONFIG] = HISTO_PACKED_THESIS, [HISTO_PACKED_BITS] = 4, [HISTO_PACKED_DENSE] = 8};
    assert_explained("cuda/packed_atomic", 256, thesis,
                     "1 vertical tile of 260 counters of 8 bits; 64 copies in 16640 bytes of shared memory; 264 blocks "
                     "of 1024 threads along the samples, on 1 stream; 1 sample a load");
    assert_explained(
        "cuda/packed_atomic", 1 << 20, dense,
        "2 vertical tiles of 65537 counters of 4 bits; 1 copy in 32772 bytes of shared memory; 132 blocks "
        "of 1024 threads along the samples, on 4 streams; 4 samples a load; 131073 of the 1048580 counters "
        "on chip");
    assert_explained("cuda/packed_atomic", 256, NULL, "of 16 bits; 64 copies in 33536 bytes of shared memory");
    const int64_t flushed[HISTO_MAX_PARAMS] = {[HISTO_PACKED_CONFIG] = HISTO_PACKED_THESIS, [HISTO_PACKED_FLUSH] = 1};
    assert_explained("cuda/packed_atomic", 24576, flushed, "blocks of 224 threads");
    assert_explained("cuda/packed_atomic", 24576, flushed,
                     "; blocks side by side; flushed every 1 samples of a thread");
    enum { CONFIG = 9 };
    const int64_t reference[HISTO_MAX_PARAMS] = {[CONFIG] = 1};
    assert_string_equal(histo_row_find("cuda/shared_atomic", NULL)->strategy->params[CONFIG].name, "config");
    assert_explained("cuda/shared_atomic", 98304, reference, "8 vertical tiles of 12289 counters of 32 bits; 1 copy");
    assert_explained("cuda/shared_atomic", 98304, reference, "132 blocks of 1024 threads along the samples");
    assert_explained("cuda/shared_atomic", 256, NULL, "1 vertical tile of 260 counters of 32 bits; 1 copy, 261 words");
    assert_explained("cuda/warp_tagged", 256, NULL, "; 8 copies of 32-bit counters, one for each warp");
    assert_explained("cuda/bank_owner", 256, NULL, "blocks of 256 threads");
    assert_explained("cuda/thread_bytes", 256, NULL, "; a byte of each of 260 slots for each thread");
    assert_explained("cuda/thread_counters", 256, NULL, "; 32 bits of each of 260 slots for each thread");
    const int64_t bytes[HISTO_MAX_PARAMS] = {0, 512, 8}, passes[HISTO_MAX_PARAMS] = {0, 256, 32, 50};
    assert_explained("cuda/thread_counters", 256, bytes, "512 threads");
    assert_explained("cuda/thread_counters", 256, bytes, "; 8 bits of each of 260 slots for each thread");
    assert_explained("cuda/thread_counters", 256, passes, "of 50 slots for each thread, in 6 passes over the samples");
    assert_explained("cuda/thread_counters", 4000, NULL, ", in 3 passes over the samples");
    assert_explained("cuda/shared_search", 256, NULL, "; the edges of 1 axis and one copy of 32-bit counters");
}

int main(void)
{
#ifdef TEST_BACKEND
    OK(histo_backend_load(TEST_BACKEND));
#endif
    if (histo_backend_cuda.unavailable()) fail_msg("%s", histo_backend_cuda.unavailable());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_between_measurements),
        cmocka_unit_test(by_size),
        cmocka_unit_test(safe_from_skew),
        cmocka_unit_test(by_probes),
#ifndef TEST_BACKEND
        cmocka_unit_test(by_experience),
#endif
        cmocka_unit_test(as_measured),
        cmocka_unit_test(two_regions),
        cmocka_unit_test(dense_of_any_kind),
        cmocka_unit_test(explained_layouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
