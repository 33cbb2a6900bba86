/* Samples, masks, weights and results that end where memory ends, or begin where it begins: nothing reads or writes a
 * byte beside them, by any instruction set, strategy, dtype and layout, and neither with little stack nor among
 * signals. */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "support/check.h"
#include "support/data.h"

/* Memory of some bytes whose first or last one is beside a page that nobody may touch. */
typedef struct guarded {
    char *pages, *data;
    size_t size;
} guarded;

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static guarded guarded_make(size_t bytes, bool at_end)
{
    const size_t page = page_size(), inside = (bytes + page - 1) / page * page;
    guarded g = {.size = inside + 2 * page};
    g.pages = mmap(NULL, g.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.pages != MAP_FAILED);
    assert_int_equal(mprotect(g.pages, page, PROT_NONE), 0);
    assert_int_equal(mprotect(g.pages + page + inside, page, PROT_NONE), 0);
    g.data = at_end ? g.pages + page + inside - bytes : g.pages + page;
    return g;
}

static void guarded_free(guarded *g)
{
    munmap(g->pages, g->size);
}

static guarded guarded_copy(const void *from, size_t bytes, bool at_end)
{
    guarded g = guarded_make(bytes, at_end);
    memcpy(g.data, from, bytes);
    return g;
}

/* ---- Every call that reads samples ---- */

/* Few, around the widths of vectors and blocks, and enough for threads and plans. */
static const int64_t sizes[] = {1, 2, 7, 31, 63, 64, 65, 100, 255, 1000, 4097, 70001};
enum { SIZES = sizeof sizes / sizeof *sizes };

typedef struct inputs {
    guarded samples, mask, weights, bits;
    histo_view of_samples, of_mask, of_weights, of_bits;
} inputs;

static inputs inputs_make(rng *r, histo_dtype dtype, int64_t n, bool at_end)
{
    const histo_axis drawn = histo_axis_regular(20, -5, 100);
    const size_t bytes = histo_dtype_size(dtype) * (size_t)n, bytes_of_bits = (size_t)(n + 7) / 8;
    void *samples = make_samples(r, dtype, GAUSSIAN, &drawn, n), *mask = make_samples(r, HISTO_U8, UNIFORM, &drawn, n),
         *weights = make_samples(r, HISTO_F32, UNIFORM, &drawn, n);
    inputs in = {.samples = guarded_copy(samples, bytes, at_end),
                 .mask = guarded_copy(mask, (size_t)n, at_end),
                 .weights = guarded_copy(weights, 4 * (size_t)n, at_end),
                 .bits = guarded_copy(weights, bytes_of_bits, at_end)};
    in.of_samples = histo_view_1d(in.samples.data, dtype, n);
    in.of_mask = histo_view_1d(in.mask.data, HISTO_U8, n);
    in.of_weights = histo_view_1d(in.weights.data, HISTO_F32, n);
    in.of_bits = histo_view_1d(in.bits.data, HISTO_BIT, n);
    free(samples);
    free(mask);
    free(weights);
    return in;
}

static void inputs_free(inputs *in)
{
    guarded_free(&in->samples);
    guarded_free(&in->mask);
    guarded_free(&in->weights);
    guarded_free(&in->bits);
}

static void fill_by_all(const histo_axis *axis, const histo_view *view, const histo_fill_options *fill,
                        histo_weighting weighting)
{
    histo_strategy_info info;
    for (int s = 0; histo_strategy_describe(s, &info) == HISTO_OK; s++) {
        if (strcmp(info.backend, "cpu") != 0 || (weighting && info.storage == HISTO_SPARSE)) continue;
        char name[96];
        snprintf(name, sizeof name, "cpu/%s", info.name);
        histo_hist *h;
        histo_plan *plan;
        OK(histo_hist_create(&h, 1, axis, &(histo_hist_options){.weighting = weighting, .storage = info.storage}));
        const histo_plan_options wanted = {.strategy = name, .threads = view->shape[0] > 60000 ? 3 : 1};
        const histo_status status = histo_plan_create(&plan, h, view, fill, &wanted);
        if (status == HISTO_OK) OK(histo_plan_fill(plan, h, view, fill));
        if (status != HISTO_OK) assert_int_equal(status, HISTO_UNSUPPORTED);
        if (status == HISTO_OK) histo_plan_destroy(plan);
        histo_hist_destroy(h);
    }
}

static void survey_all(const histo_view *view, const histo_fill_options *filter)
{
    histo_stats stats = {0};
    histo_power_sums sums = {0};
    histo_extremes extremes;
    histo_quantiles *q;
    histo_axis axis;
    double median;
    OK(histo_stats_add(&stats, view, filter));
    OK(histo_power_sums_add(&sums, view, filter));
    OK(histo_find_extremes(view, filter, &extremes, 1));
    OK(histo_quantiles_create(&q, view->dtype, HISTO_QUANTILE_LINEAR, 1, (double[]){0.5}));
    while (quantiles_next_pass(q))
        OK(histo_quantiles_add(q, view, filter));
    OK(histo_quantiles_read(q, &median));
    histo_quantiles_destroy(q);
    for (int rule = HISTO_RULE_AUTO; rule <= HISTO_RULE_SQRT; rule++) {
        const histo_survey_options wanted = {.rule = (histo_rule)rule};
        const histo_status status = histo_axis_from_data(view, filter, &wanted, &axis);
        if (status != HISTO_OK) assert_int_equal(status, HISTO_INVALID); /* no sample, or a range too wide */
    }
}

/* Results of maps end where memory ends, too. */
static void map_all(const histo_axis *axis, const histo_view *view, bool at_end)
{
    const int64_t n = view->shape[0];
    for (int within = HISTO_MAP_STEP; within <= HISTO_MAP_LINEAR; within++)
        for (int to = 0; to < HISTO_DTYPE_COUNT; to++) {
            histo_map *map;
            guarded out = guarded_make(histo_dtype_size((histo_dtype)to) * (size_t)n, at_end);
            const histo_view results = histo_view_1d(out.data, (histo_dtype)to, n);
            OK(histo_map_create(&map, 1, axis, &(histo_map_options){.within = (histo_within)within}));
            OK(histo_map_apply(map, view, &results, NULL));
            histo_map_destroy(map);
            guarded_free(&out);
        }
}

static void test_ends_of_memory(void **state)
{
    (void)state;
    rng r = {.state = 61};
    double edges[12];
    for (int i = 0; i < 12; i++)
        edges[i] = i * i - 3;
    const histo_axis axes[] = {histo_axis_integer(-2, 9), histo_axis_regular(50, -4, 90), histo_axis_log(30, 0.5, 80),
                               histo_axis_variable(11, edges)};
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++)
        for (int s = 0; s < SIZES; s++)
            for (int at_end = 0; at_end < 2; at_end++) {
                inputs in = inputs_make(&r, (histo_dtype)dtype, sizes[s], at_end);
                const histo_axis *axis = &axes[(dtype + s) % 4];
                histo_view view = in.of_samples;
                for (int swapped = 0; swapped < 2; swapped++) {
                    view.dtype = (histo_dtype)(dtype | (swapped ? HISTO_SWAPPED : 0));
                    const histo_fill_options none = {0}, bytes = {.mask = &in.of_mask}, bits = {.mask = &in.of_bits},
                                             weighted = {.weights = &in.of_weights},
                                             where = {.where = &in.of_weights, .where_lo = 0, .where_hi = 20};
                    fill_by_all(axis, &view, &none, HISTO_UNWEIGHTED);
                    fill_by_all(axis, &view, &bytes, HISTO_UNWEIGHTED);
                    fill_by_all(axis, &view, &bits, HISTO_UNWEIGHTED);
                    fill_by_all(axis, &view, &where, HISTO_UNWEIGHTED);
                    fill_by_all(axis, &view, &weighted, HISTO_WEIGHT_FAST);
                    fill_by_all(axis, &view, &weighted, HISTO_WEIGHT_REPRODUCIBLE_SUM);
                    survey_all(&view, &none);
                    survey_all(&view, &bits);
                }
                if (sizes[s] < 5000) map_all(axis, &in.of_samples, at_end);
                uint64_t counts[50];
                OK(histo_count(1, axis, &in.of_samples, NULL, counts, axis->bins, NULL, NULL));
                inputs_free(&in);
            }
}

/* Channels of pixels and columns of rows: the last ones end where memory ends. */
static void test_interleaved(void **state)
{
    (void)state;
    rng r = {.state = 62};
    const histo_axis axis = histo_axis_integer(0, 256);
    const histo_axis several[4] = {axis, axis, axis, axis};
    for (int channels = 1; channels <= 4; channels++)
        for (int64_t n = 1; n < 3000; n = n * 3 + 1)
            for (int at_end = 0; at_end < 2; at_end++) {
                uint8_t *pixels = make_samples(&r, HISTO_U8, UNIFORM, &axis, n * channels);
                guarded g = guarded_copy(pixels, (size_t)(n * channels), at_end);
                histo_view views[4];
                histo_hist *h, *sparse;
                for (int c = 0; c < channels; c++) {
                    views[c] = histo_view_1d(g.data + c, HISTO_U8, n);
                    views[c].strides[0] = channels;
                }
                const histo_view batch = {g.data, HISTO_U8, 2, 1, {channels, n}, {1, channels}};
                OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.batch = channels}));
                OK(histo_hist_fill(h, &batch, NULL));
                histo_hist_destroy(h);
                OK(histo_hist_create(&sparse, channels, several, &(histo_hist_options){.storage = HISTO_SPARSE}));
                OK(histo_hist_fill(sparse, views, NULL));
                histo_hist_destroy(sparse);
                guarded_free(&g);
                free(pixels);
            }
}

/* Saved histograms that end where memory ends, whole and cut off. */
static void test_saved(void **state)
{
    (void)state;
    rng r = {.state = 63};
    const histo_axis axis = histo_axis_log(20, 1, 100);
    for (int format = HISTO_JSON; format <= HISTO_BINARY; format++) {
        histo_hist *h, *loaded;
        void *saved;
        size_t size;
        double *x = make_samples(&r, HISTO_F64, UNIFORM, &axis, 500);
        const histo_view view = histo_view_1d(x, HISTO_F64, 500);
        OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.weighting = HISTO_WEIGHT_REPRODUCIBLE}));
        OK(histo_hist_fill(h, &view, NULL));
        OK(histo_hist_save(h, (histo_format)format, NULL, &saved, &size));
        for (size_t cut = 1; cut <= size; cut += cut < size - 100 ? 37 : 1) {
            guarded g = guarded_copy(saved, cut, true);
            const histo_status status = histo_hist_load(g.data, cut, NULL, &loaded);
            if (cut == size) OK(status);
            histo_hist_destroy(loaded);
            guarded_free(&g);
        }
        histo_free(saved);
        histo_hist_destroy(h);
        free(x);
    }
}

/* ---- Little stack ---- */

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { STACK = 2 << 20 }; /* their frames are many times as large */
#else
enum { STACK = 256 << 10 };
#endif

static void *on_little_stack(void *context)
{
    rng r = {.state = 64};
    const histo_axis axis = histo_axis_regular(100, -5, 100), closed = histo_axis_closed(axis);
    inputs in = inputs_make(&r, HISTO_F32, 70001, true);
    static const uint16_t pixels[3][100][70] = {{{1}}};
    const histo_view stack = histo_view_nd(pixels, HISTO_U16, 3, (const int64_t[]){3, 100, 70});
    histo_hist *h;
    void *saved;
    size_t size;
    fill_by_all(&axis, &in.of_samples, NULL, HISTO_UNWEIGHTED);
    fill_by_all(&axis, &in.of_samples, &(histo_fill_options){.weights = &in.of_weights}, HISTO_WEIGHT_REPRODUCIBLE);
    survey_all(&in.of_samples, NULL);
    map_all(&axis, &in.of_samples, true);
    OK(histo_hist_create(&h, 1, &closed, NULL));
    OK(histo_hist_fill(h, &in.of_samples, NULL));
    for (int format = HISTO_JSON; format <= HISTO_BINARY; format++) {
        histo_hist *loaded;
        OK(histo_hist_save(h, (histo_format)format, NULL, &saved, &size));
        OK(histo_hist_load(saved, size, NULL, &loaded));
        histo_hist_destroy(loaded);
        histo_free(saved);
    }
    histo_hist_destroy(h);
    OK(histo_hist_create(&h, 2, (const histo_axis[]){axis, closed}, NULL));
    OK(histo_hist_fill_pairs(h, &stack, &(histo_pairs){.pairing = HISTO_PAIRS_RING}, NULL));
    histo_hist_destroy(h);
    inputs_free(&in);
    *(bool *)context = true;
    return NULL;
}

static void test_little_stack(void **state)
{
    (void)state;
    pthread_attr_t attributes;
    pthread_t thread;
    bool done = false;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, on_little_stack, &done), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    assert_true(done);
}

/* ---- Signals ---- */

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
    (void)number;
    signals++;
}

/* A timer interrupts fills and saves every 200 microseconds; nothing is lost or counted twice. */
static void test_signals(void **state)
{
    (void)state;
    enum { N = 2000000 };
    rng r = {.state = 65};
    const histo_axis axis = histo_axis_regular(1000, -5, 100);
    double *x = make_samples(&r, HISTO_F64, UNIFORM, &axis, N);
    const histo_view view = histo_view_1d(x, HISTO_F64, N);
    histo_hist *expected, *h;
    bool same;
    OK(histo_hist_create(&expected, 1, &axis, NULL));
    OK(histo_hist_fill(expected, &view, NULL));
    struct sigaction action = {.sa_handler = on_signal}, before;
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    signals = 0;
    for (int round = 0; round < 3 || signals < 20; round++) {
        OK(histo_hist_create(&h, 1, &axis, NULL));
        OK(histo_hist_fill(h, &view, &(histo_fill_options){.threads = 1 + round % 3}));
        OK(histo_hist_equal(h, expected, &same));
        assert_true(same);
        OK(histo_wisdom_save("signals-wisdom.txt"));
        histo_hist_destroy(h);
    }
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    unlink("signals-wisdom.txt");
    histo_hist_destroy(expected);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends_of_memory), cmocka_unit_test(test_interleaved), cmocka_unit_test(test_saved),
        cmocka_unit_test(test_little_stack),   cmocka_unit_test(test_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
