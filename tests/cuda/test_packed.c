/* The arithmetic of packed counters: the corrections due after each overflow, and exact counts for any interleaving of
 * threads. On a GPU also the strategies that use it, with combined parameters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "papers/strategies/packed_counters.h"
#include "plan/strategy.h"
#include "support/check.h"
#include "support/data.h"
#include "support/device.h"
#include "support/gpu_fills.h"

static const int widths[] = {4, 8, 16};

/* Check every counter's due against the definition. */
static void check_dues(const histo_packing *p, uint32_t old, uint32_t shift)
{
    int32_t whole = (int32_t)p->full + 1;
    bool carry = histo_packed_value(p, old, shift) == p->full;
    assert_int_equal(histo_packed_overflows(p, old, shift), carry);
    for (uint32_t other = 0; other < 32; other += p->bits) {
        int32_t due = histo_packed_due(p, old, shift, other);
        if (other < shift || !carry) {
            assert_int_equal(due, 0);
        } else if (other == shift) {
            assert_int_equal(due, whole);
        } else {
            carry = histo_packed_value(p, old, other) == p->full;
            assert_int_equal(due, carry ? whole - 1 : -1);
        }
    }
}

/* Words of counters that are empty, nearly full, full, or between. */
static void due_after_each_overflow(void **state)
{
    (void)state;
    for (int w = 0; w < 3; w++) {
        histo_packing p = histo_packing_of(widths[w]);
        const uint32_t values[] = {0, p.full / 2, p.full - 1, p.full};
        for (uint32_t pattern = 0; pattern >> (64 / p.bits) == 0; pattern++) {
            uint32_t old = 0;
            for (uint32_t c = 0; c < 32 / p.bits; c++)
                old |= values[pattern >> 2 * c & 3] << c * p.bits;
            for (uint32_t shift = 0; shift < 32; shift += p.bits)
                check_dues(&p, old, shift);
        }
    }
}

static void examples_of_the_source(void **state)
{
    (void)state;
    histo_packing p = histo_packing_of(8);
    const int32_t simple[] = {0x100, -1, 0, 0}, cascade[] = {0x100, 0xff, -1, 0};
    for (uint32_t c = 0; c < 4; c++) {
        assert_int_equal(histo_packed_due(&p, 0x000000ff, 0, 8 * c), simple[c]);  /* figure 5.2 */
        assert_int_equal(histo_packed_due(&p, 0x0001ffff, 0, 8 * c), cascade[c]); /* figure 5.3 */
    }
    assert_int_equal(histo_packed_due(&p, 0xff000000, 24, 24), 0x100); /* the carry is lost */
}

static void places_in_words(void **state)
{
    (void)state;
    for (int w = 0; w < 3; w++) {
        histo_packing p = histo_packing_of(widths[w]);
        for (uint32_t at = 0; at < 100; at++) {
            assert_int_equal(histo_packed_word(&p, at), at / (32 / p.bits));
            assert_int_equal(histo_packed_shift(&p, at), at % (32 / p.bits) * p.bits);
        }
    }
}

/* ---- Threads ---- */

enum { MAX_COUNTERS = 16, MAX_THREADS = 24 };

/* A thread of a block: it adds to a word, then adds the corrections to the histogram one by one. */
typedef struct thread {
    int samples_left;
    uint32_t at[4]; /* its next samples in reverse order; used if given */
    bool correcting;
    uint32_t old, shift, other, counter;
} thread;

typedef struct block {
    histo_packing packing;
    uint32_t counters; /* the last word may have unused counters */
    uint32_t words[MAX_COUNTERS];
    uint64_t histogram[MAX_COUNTERS], samples[MAX_COUNTERS];
    int threads;
    thread thread[MAX_THREADS];
} block;

static bool is_done(const thread *t)
{
    return !t->correcting && t->samples_left == 0;
}

static void add_sample(block *b, thread *t, uint32_t at)
{
    uint32_t *word = &b->words[histo_packed_word(&b->packing, at)];
    t->shift = t->other = histo_packed_shift(&b->packing, at);
    t->counter = at;
    t->old = *word;
    *word += UINT32_C(1) << t->shift;
    t->correcting = histo_packed_overflows(&b->packing, t->old, t->shift);
    t->samples_left--;
    b->samples[at]++;
}

static void correct(block *b, thread *t)
{
    int32_t due = histo_packed_due(&b->packing, t->old, t->shift, t->other);
    b->histogram[t->counter++] += (uint64_t)(int64_t)due;
    t->other += b->packing.bits;
    t->correcting =
        t->other < 32 && t->counter < b->counters && histo_packed_due(&b->packing, t->old, t->shift, t->other) != 0;
}

/* The merge: a counter's value plus its corrections equals the number of its samples. */
static void assert_exact(const block *b)
{
    for (uint32_t at = 0; at < b->counters; at++) {
        uint32_t word = b->words[histo_packed_word(&b->packing, at)];
        uint64_t count = b->histogram[at] + histo_packed_value(&b->packing, word, histo_packed_shift(&b->packing, at));
        if (count != b->samples[at])
            fail_msg("%u bits: counter %u of %u has %lld, should have %llu", b->packing.bits, at, b->counters,
                     (long long)count, (unsigned long long)b->samples[at]);
    }
}

/* A false count fills a neighbour, whose next sample then overflows before the first correction arrives. */
static void overflow_by_a_false_count(void **state)
{
    (void)state;
    block b = {.packing = histo_packing_of(8), .counters = 4, .threads = 2, .words = {0x00fffeff}};
    b.samples[0] = b.samples[2] = 0xff;
    b.samples[1] = 0xfe;
    thread *first = &b.thread[0], *second = &b.thread[1];
    add_sample(&b, first, 0);
    assert_int_equal(b.words[0], 0x00ffff00);
    add_sample(&b, second, 1);
    assert_int_equal(b.words[0], 0x01000000);
    while (second->correcting)
        correct(&b, second);
    while (first->correcting)
        correct(&b, first);
    assert_exact(&b);
}

/* Every order of the threads' steps. */
static uint64_t in_every_order(const block *b)
{
    uint64_t orders = 0;
    for (int i = 0; i < b->threads; i++) {
        if (is_done(&b->thread[i])) continue;
        block next = *b;
        thread *t = &next.thread[i];
        if (t->correcting)
            correct(&next, t);
        else
            add_sample(&next, t, t->at[t->samples_left - 1]);
        orders += in_every_order(&next);
    }
    if (orders) return orders;
    assert_exact(b);
    return 1;
}

/* Start from words whose counters are all full or one below: two threads, the first with two samples, in all counters.
 */
static void all_interleavings(void **state)
{
    (void)state;
    for (int w = 1; w < 3; w++) {
        uint64_t orders = 0;
        uint32_t n = 32 / (uint32_t)widths[w], starts = UINT32_C(1) << n;
        for (uint32_t choice = 0; choice < starts * n * n * n; choice++) {
            block b = {.packing = histo_packing_of(widths[w]), .counters = n, .threads = 2};
            uint32_t rest = choice / starts;
            for (uint32_t c = 0; c < n; c++) {
                b.samples[c] = b.packing.full - (choice >> c & 1);
                b.words[0] |= (uint32_t)b.samples[c] << c * b.packing.bits;
            }
            b.thread[0] = (thread){.samples_left = 2, .at = {rest % n, rest / n % n}};
            b.thread[1] = (thread){.samples_left = 1, .at = {rest / n / n}};
            orders += in_every_order(&b);
        }
        assert_true(orders > 4 * starts * n * n * n);
    }
}

/* Many threads and samples in a few counters, steps in random order; tiles that end within a word. */
static void random_interleavings(void **state)
{
    (void)state;
    rng r = {.state = 2014};
    for (int round = 0; round < 1500; round++) {
        block b = {.packing = histo_packing_of(widths[round % 3])};
        b.counters = 1 + (uint32_t)rng_below(&r, MAX_COUNTERS);
        b.threads = 1 + (int)rng_below(&r, MAX_THREADS);
        int64_t spread = 1 + rng_below(&r, b.counters), running = b.threads;
        int each = b.packing.bits == 16 ? 200000 / b.threads : 100;
        if (b.packing.bits == 16 && round % 60 != 2) continue; /* these need many samples to overflow */
        for (int i = 0; i < b.threads; i++)
            b.thread[i].samples_left = each;
        while (running) {
            thread *t = &b.thread[rng_below(&r, b.threads)];
            if (is_done(t)) continue;
            if (t->correcting)
                correct(&b, t);
            else
                add_sample(&b, t, (uint32_t)(rng_below(&r, spread) * rng_below(&r, 2)));
            running -= is_done(t);
        }
        assert_exact(&b);
    }
}

/* ---- Strategies ---- */

/* A strategy's fill with these views equals the oracle's. */
static void check_effort(const histo_axis *axis, const histo_view *views, const histo_view *expected_views,
                         const char *strategy, const char *params, histo_effort effort)
{
    const histo_plan_options as = {.strategy = strategy, .params = params, .effort = effort};
    histo_hist_options options = {.batch = views->batch_ndim ? views->shape[0] : 1};
    histo_hist *h, *e;
    histo_plan *plan, *expected;
    OK(histo_hist_create(&h, 1, axis, &options));
    OK(histo_hist_create(&e, 1, axis, &options));
    OK(histo_plan_create(&plan, h, views, NULL, &as));
    OK(histo_plan_create(&expected, e, expected_views, NULL, &(histo_plan_options){.strategy = "cpu/sequential"}));
    for (int fill = 0; fill < 2; fill++) {
        OK(histo_plan_fill(plan, h, views, NULL));
        OK(histo_plan_fill(expected, e, expected_views, NULL));
    }
    int64_t n = histo_hist_size(h, HISTO_FLOW);
    uint64_t *got = malloc((size_t)n * sizeof *got), *wanted = malloc((size_t)n * sizeof *wanted);
    OK(histo_hist_read_counts(h, HISTO_FLOW, got, n, NULL));
    OK(histo_hist_read_counts(e, HISTO_FLOW, wanted, n, NULL));
    for (int64_t i = 0; i < n; i++)
        if (got[i] != wanted[i])
            fail_msg("%s with %s, %s, %lld bins: slot %lld has %lld, should have %lld", strategy, params,
                     histo_dtype_name(views->dtype), (long long)axis->bins, (long long)i, (long long)got[i],
                     (long long)wanted[i]);
    free(got);
    free(wanted);
    histo_plan_destroy(plan);
    histo_plan_destroy(expected);
    histo_hist_destroy(h);
    histo_hist_destroy(e);
}

static void check_fill(const histo_axis *axis, const histo_view *views, const histo_view *expected_views,
                       const char *strategy, const char *params)
{
    check_effort(axis, views, expected_views, strategy, params, HISTO_ESTIMATE);
}

#define ANY_OF(...) any_of(r, (const int[]){__VA_ARGS__}, (int)(sizeof(const int[]){__VA_ARGS__} / sizeof(int)))

static int any_of(rng *r, const int *values, int n)
{
    return values[rng_below(r, n)];
}

static const char *any_params(rng *r, int64_t bins, char params[256])
{
    if (rng_below(r, 2)) {
        snprintf(params, 256, "first=%d,length=%d,bits=%d,blocks=%d,threads=%d", ANY_OF(-1, -1, -1, 0, 3, 50, 1 << 30),
                 ANY_OF(0, 1, 5, 31, 64, 100, 1000), ANY_OF(0, 8, 16), ANY_OF(0, 1, 2, 7),
                 ANY_OF(1, 32, 33, 100, 512, 1024));
        return "cuda/packed_window";
    }
    snprintf(params, 256,
             "config=%s,bits=%d,coarsening=%d,copies=%d,preprocess=%d,blocks=%d,tile=%d,streams=%d,threads=%d,"
             "merge=%d,dense=%d,tally=%d,scan=%s,divide=%d,flush=%d",
             ANY_OF(0, 1) ? "thesis" : "usual", ANY_OF(0, 4, 4, 8, 16), ANY_OF(0, 1, 2, 3, 4),
             ANY_OF(0, 1, 2, 3, 7, 32, 64), ANY_OF(0, 0, 1), ANY_OF(0, 1, 2, 7, 30),
             bins < 3000 ? ANY_OF(0, 1000, 100, 37, 8) : ANY_OF(0, 3001), ANY_OF(0, 1, 2, 3, 8),
             ANY_OF(0, 32, 33, 100, 512, 1024), ANY_OF(0, 0, 1), ANY_OF(0, 0, 2, 8, 1000), ANY_OF(0, 0, 1),
             ANY_OF(0, 1) ? "shares" : "strided", ANY_OF(0, 0, 1), ANY_OF(0, 0, 0, 1));
    return "cuda/packed_atomic";
}

static void all_parameters_together(void **state)
{
    (void)state;
    NEEDS_GPU();
    rng generator = {.state = 58}, *r = &generator;
    const int rounds = getenv("HISTO_TEST_EVERY") ? 25 : 400;
    for (int round = 0; round < rounds; round++) {
        histo_dtype dtype = (histo_dtype)rng_below(r, HISTO_DTYPE_COUNT);
        histo_axis axis = histo_axis_integer(0, 100000);
        if (round % 8) test_axis((int)rng_below(r, 13), dtype, &axis);
        int64_t shape[2] = {1 + rng_below(r, 4), 1 + rng_below(r, ANY_OF(10, 3000, 60000))};
        int64_t n = shape[0] * shape[1], before = rng_below(r, 20);
        char *data = make_samples(r, dtype, (distribution)rng_below(r, DISTRIBUTIONS), &axis, before + n), params[256];
        histo_view view = histo_view_nd(data + (size_t)before * histo_dtype_size(dtype), dtype, 2, shape), device;
        view.batch_ndim = (int)rng_below(r, 2);
        void *memory = device_copy(&view, &device);
        const char *strategy = any_params(r, axis.bins, params);
        check_fill(&axis, rng_below(r, 4) ? &device : &view, &view, strategy, params);
        device_free(memory);
        free(data);
    }
}

/* One block, one copy, and samples in few bins, so that counters of each width overflow many times, also into
 * neighbours. */
static void counters_that_wrap(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { IN_TURN = 7 }; /* slots that neighbouring samples never share */
    const int64_t n = getenv("HISTO_TEST_EVERY") ? 140009 : 600011;
    histo_axis axis = histo_axis_integer(0, 256);
    uint8_t *data = malloc((size_t)n);
    rng r = {.state = 53};
    for (int values = 1; values <= IN_TURN; values++) {
        for (int64_t i = 0; i < n; i++)
            data[i] = (uint8_t)(values < IN_TURN ? 252 + 4 / values * rng_below(&r, values) : 249 + i % IN_TURN);
        histo_view view = histo_view_1d(data, HISTO_U8, n), device;
        void *memory = device_copy(&view, &device);
        for (int w = 0; w < 3; w++) {
            char params[64];
            snprintf(params, sizeof params, "bits=%d,blocks=1,copies=1", widths[w]);
            check_fill(&axis, &device, &view, "cuda/packed_atomic", params);
            snprintf(params, sizeof params, "bits=%d,blocks=2,copies=%d,flush=1", widths[w], 1 + 3 * w);
            check_fill(&axis, &device, &view, "cuda/packed_atomic", params);
            snprintf(params, sizeof params, "bits=%d,blocks=1,first=250,length=4", widths[w]);
            check_fill(&axis, &device, &view, "cuda/packed_window", params);
            snprintf(params, sizeof params, "bits=%d,blocks=1", widths[w]);
            check_fill(&axis, &device, &view, "cuda/packed_window", params);
        }
        device_free(memory);
    }
    free(data);
}

/* The last word of a window may begin with any counter, so one behind the window can be carried into and have one of
 * the window above it. */
static void last_counter_that_wraps(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { IN_TURN = 7, APART = 30 }; /* neighbouring samples never share a slot */
    const int64_t n = (1 << 20) + 3;  /* the last counter carries more than 256 times */
    histo_axis axis = histo_axis_integer(0, 1000);
    uint32_t *data = malloc((size_t)n * sizeof *data);
    for (int length = 260; length < 960; length += 29) {
        for (int64_t i = 0; i < n; i++)
            data[i] = (uint32_t)(length - 2 - i % IN_TURN * APART); /* value v is in slot v + 1 */
        histo_view view = histo_view_1d(data, HISTO_U32, n), device;
        void *memory = device_copy(&view, &device);
        char params[64];
        snprintf(params, sizeof params, "bits=8,blocks=1,first=0,length=%d", length);
        check_fill(&axis, &device, &view, "cuda/packed_window", params);
        device_free(memory);
    }
    free(data);
}

/* Integers below 1000 that are skewed in one of several ways, and a few that are outside. */
static int64_t skewed_value(rng *r, int kind, int64_t i, int64_t n)
{
    enum { VALUES = 1000, OUTSIDE = 5000 };
    switch (kind) {
    case 0: /* sorted */
        return i * (VALUES + 20) / n;
    case 1: /* runs of about 40 */
        return i / 40 * 389 % VALUES;
    case 2: /* five values, far apart */
        return rng_below(r, 5) * 190;
    case 3: /* one of them more often than all others, and all values */
        return rng_below(r, 3) ? 123 * (rng_below(r, 4) == 0) : rng_below(r, VALUES);
    case 4: /* mostly outside */
        return rng_below(r, 16) ? OUTSIDE : rng_below(r, VALUES);
    default: /* outside, in runs */
        return i / 700 % 3 ? rng_below(r, 30) : OUTSIDE;
    }
}

/* Frequent counters, runs and flow are counted on chip, whatever the window and the layout. */
static void skewed_samples(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { KINDS = 6 };
    static const struct {
        const char *strategy, *params;
    } fills[] = {
        {"cuda/packed_window", ""},
        {"cuda/packed_window", "bits=8,blocks=3"},
        {"cuda/packed_window", "bits=8,first=1,length=150,blocks=2"},
        {"cuda/packed_window", "bits=16,first=400,length=77"},
        {"cuda/packed_window", "first=-1,length=300"},
        {"cuda/global_atomic", "blocks=40"},
        {"cuda/global_atomic", "blocks=3,threads=100"},
        {"cuda/partition", ""},
    };
    const histo_dtype dtypes[] = {HISTO_U8, HISTO_U16, HISTO_I32, HISTO_I64, HISTO_F32, HISTO_F64};
    const bool few = getenv("HISTO_TEST_EVERY"); /* sanitizers are slow */
    const int64_t n = few ? 20011 : 300023;
    rng r = {.state = 73};
    for (int d = 0; d < (int)(sizeof dtypes / sizeof dtypes[0]); d += few ? 2 : 1)
        for (int kind = 0; kind < KINDS; kind++) {
            histo_axis axis = histo_axis_integer(0, dtypes[d] == HISTO_U8 ? 200 : 1000);
            const size_t size = histo_dtype_size(dtypes[d]);
            char *data = malloc((size_t)n * size);
            for (int64_t i = 0; i < n; i++) {
                const int64_t value = skewed_value(&r, kind, i, n);
                const uint8_t u8 = (uint8_t)(value < 256 ? value : 255);
                const uint16_t u16 = (uint16_t)value;
                const int32_t i32 = (int32_t)value;
                const float f32 = value < 5000 ? (float)value : (float)NAN;
                const double f64 = (double)f32;
                const void *from[] = {&u8, &u16, &i32, &value, &f32, &f64};
                memcpy(data + (size_t)i * size, from[d], size);
            }
            histo_view view = histo_view_1d(data, dtypes[d], n), device;
            void *memory = device_copy(&view, &device);
            for (int layout = 0; layout < 2; layout++) {
                const bool is_compiled = layout && (dtypes[d] == HISTO_U16 || dtypes[d] == HISTO_F32);
                if (layout) { /* backwards, every third */
                    const ptrdiff_t last = (ptrdiff_t)((size_t)(n - 1) * size);
                    view.data = data + last;
                    device.data = (const char *)device.data + last;
                    view.shape[0] = device.shape[0] = n / 3;
                    view.strides[0] = device.strides[0] = -3 * (int64_t)size;
                }
                for (int f = 0; f < (int)(sizeof fills / sizeof fills[0]); f++)
                    check_effort(&axis, &device, &view, fills[f].strategy, fills[f].params,
                                 is_compiled ? HISTO_COMPILE : HISTO_ESTIMATE);
            }
            device_free(memory);
            free(data);
        }
}

/* All samples in one counter of one word: each 2^bits-th of them overflows, and each 2^bits-th carry wraps. */
static void overflows_are_tallied(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = 200000;
    const histo_strategy *strategy = histo_row_find("cuda/packed_atomic", NULL)->strategy;
    histo_axis axis = histo_axis_integer(0, 256);
    const gpu_samples s = make_gpu_samples(calloc((size_t)n, 1), HISTO_U8, n); /* slot 1 */
    for (int w = 0; w < 3; w++) {
        char params[64], expected[128], told[128] = "";
        histo_text text = {.out = told, .capacity = sizeof told};
        unsigned long long fills = 2, overflows = 0, wrapped = 0;
        for (int64_t at = 1, carries = n >> widths[w]; at < 32 / widths[w]; at++, carries >>= widths[w])
            *(at == 1 ? &overflows : &wrapped) += fills * (unsigned long long)carries;
        snprintf(params, sizeof params, "tally=1,bits=%d,blocks=1,copies=1", widths[w]);
        strategy->tell(&text);
        text.length = 0;
        check_fill(&axis, &s.device, &s.host, "cuda/packed_atomic", params);
        strategy->tell(&text);
        snprintf(expected, sizeof expected, "%llu overflows, %.4g %% of the samples; %llu neighbours wrapped",
                 overflows, 100 * (double)overflows / (double)(fills * (unsigned long long)n), wrapped);
        if (strncmp(told, expected, strlen(expected)) != 0) fail_msg("'%s', not '%s'", told, expected);
    }
    free_gpu_samples(&s);
}

/* Chapter 6's configuration at each of its sizes, and its extensions, which depend on it. */
static void configurations_of_the_thesis(void **state)
{
    (void)state;
    NEEDS_GPU();
    static const char *const all[] = {"",
                                      "bits=4",
                                      "preprocess=1",
                                      "merge=1",
                                      "dense=8",
                                      "bits=4,dense=8",
                                      "dense=8,preprocess=1",
                                      "dense=8,merge=1",
                                      "streams=4,merge=1,preprocess=1",
                                      "scan=shares",
                                      "scan=shares,merge=1,preprocess=1",
                                      "divide=1",
                                      "divide=1,dense=8",
                                      "flush=1",
                                      "flush=1,merge=1,dense=8"};
    const bool few = getenv("HISTO_TEST_EVERY"); /* sanitizers are slow */
    const int64_t n = few ? 20011 : 300007;
    const int64_t bins[] = {10, 384, 385, 1536, 24576, 24577, 49152, 49153, 98304, 1 << 20};
    rng r = {.state = 6};
    for (int b = few ? 2 : 0; b < 10; b += few ? 3 : 1) {
        histo_axis axis = histo_axis_integer(0, bins[b]);
        const gpu_samples s =
            make_gpu_samples(make_samples(&r, HISTO_U32, b % 2 ? GAUSSIAN : UNIFORM, &axis, n), HISTO_U32, n);
        for (size_t e = 0; e < sizeof all / sizeof *all; e++) {
            char params[64];
            snprintf(params, sizeof params, "config=thesis%s%s", *all[e] ? "," : "", all[e]);
            check_fill(&axis, &s.device, &s.host, "cuda/packed_atomic", params);
        }
        free_gpu_samples(&s);
    }
}

/* Many 16-bit samples are counted by value, whether there are fewer or more values than bins. */
static void counted_by_value(void **state)
{
    (void)state;
    NEEDS_GPU();
    rng r = {.state = 16};
    const int64_t n = (1 << 20) + 5;
    const int distributions = getenv("HISTO_TEST_EVERY") ? 1 : DISTRIBUTIONS;
    const histo_dtype dtypes[] = {HISTO_U16, HISTO_F16, HISTO_I16, HISTO_BF16};
    for (int d = 0; d < (getenv("HISTO_TEST_EVERY") ? 2 : 4); d++)
        for (int kind = 0; kind < 3; kind++) {
            histo_axis axis = kind == 0   ? histo_axis_regular(300, -1, 1)
                              : kind == 1 ? histo_axis_integer(-200, 65536)
                                          : histo_axis_regular(300000, -2000, 2000);
            for (int k = 0; k < distributions; k++) {
                const gpu_samples s =
                    make_gpu_samples(make_samples(&r, dtypes[d], (distribution)k, &axis, n), dtypes[d], n);
                check_fill(&axis, &s.device, &s.host, "cuda/packed_window", "");
                free_gpu_samples(&s);
            }
        }
}

/* Floats on bins of width 2^k are looked up by one rounding, inside windows and outside: also on edges, around zero,
 * and at the ends of the axis. */
static void floats_by_one_rounding(void **state)
{
    (void)state;
    NEEDS_GPU();
    rng r = {.state = 24};
    const int64_t n = 50021;
    const histo_axis axes[] = {histo_axis_regular(65536, 0, 1), histo_axis_closed(histo_axis_regular(4096, -1, 1)),
                               histo_axis_regular(48, 8, 20), histo_axis_regular(7, -0x1p-80, 6 * 0x1p-80),
                               histo_axis_regular(100, 0x1p21, 0x1p21 + 50)};
    for (int a = 0; a < (int)(sizeof axes / sizeof axes[0]); a++)
        for (int k = 0; k < DISTRIBUTIONS; k += getenv("HISTO_TEST_EVERY") ? 3 : 1) {
            const gpu_samples s =
                make_gpu_samples(make_samples(&r, HISTO_F32, (distribution)k, &axes[a], n), HISTO_F32, n);
            check_fill(&axes[a], &s.device, &s.host, "cuda/packed_window", "");
            check_fill(&axes[a], &s.device, &s.host, "cuda/packed_window", "bits=16,first=2,length=5");
            free_gpu_samples(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(due_after_each_overflow), cmocka_unit_test(examples_of_the_source),
        cmocka_unit_test(places_in_words),         cmocka_unit_test(overflow_by_a_false_count),
        cmocka_unit_test(all_interleavings),       cmocka_unit_test(random_interleavings),
        cmocka_unit_test(all_parameters_together), cmocka_unit_test(counters_that_wrap),
        cmocka_unit_test(last_counter_that_wraps), cmocka_unit_test(counted_by_value),
        cmocka_unit_test(floats_by_one_rounding),  cmocka_unit_test(skewed_samples),
        cmocka_unit_test(overflows_are_tallied),   cmocka_unit_test(configurations_of_the_thesis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
