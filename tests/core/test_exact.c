/* Exact sums against a plain big integer: 2432 bits in two's complement, to which one bit is added at a time.
 *
 * Linked with -Wl,--wrap=calloc, so that allocations can fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/threads/monitor.h"
#include "sum/exact.h"

/* ---- Allocations that fail on demand ---- */

static histo_status merge(histo_exact *to, const histo_exact *from)
{
    histo_pace pace = {.stage = "merging"};
    return histo_exact_merge(to, from, &pace);
}

static int allocations_left = -1; /* negative: no limit */

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
    if (allocations_left == 0) return NULL;
    if (allocations_left > 0) allocations_left--;
    return __real_calloc(n, size);
}

/* ---- The big integer ---- */

enum { LONG_LIMBS = 76, LONG_BITS = 32 * LONG_LIMBS, LONG_BASE = -1152 /* bit 0 has the value 2^-1152 */ };

typedef struct long_number {
    uint32_t limb[LONG_LIMBS];
} long_number;

/* Add or subtract 2^exponent. */
static void long_add_bit(long_number *sum, int exponent, bool negative)
{
    int bit = exponent - LONG_BASE;
    assert_in_range(bit, 0, LONG_BITS - 1);
    uint32_t change = UINT32_C(1) << (bit % 32);
    for (int i = bit / 32; i < LONG_LIMBS; i++) {
        uint32_t before = sum->limb[i];
        sum->limb[i] = negative ? before - change : before + change;
        bool carry = negative ? sum->limb[i] > before : sum->limb[i] < before;
        if (!carry) break;
        change = 1;
    }
}

static void long_add_bits(long_number *sum, uint64_t magnitude, int exponent, bool negative)
{
    for (int i = 0; i < 64; i++)
        if (magnitude >> i & 1) long_add_bit(sum, exponent + i, negative);
}

/* w * 2^scale */
static void long_add_scaled(long_number *sum, double w, int scale)
{
    int exponent;
    uint64_t significand = (uint64_t)ldexp(frexp(fabs(w), &exponent), 53);
    long_add_bits(sum, significand, exponent - 53 + scale, w < 0);
}

static void long_add(long_number *sum, double w)
{
    long_add_scaled(sum, w, 0);
}

static bool long_bit(const long_number *sum, int bit)
{
    return sum->limb[bit / 32] >> (bit % 32) & 1;
}

/* Round to nearest even, by definition. */
static double long_round(long_number sum)
{
    bool negative = long_bit(&sum, LONG_BITS - 1);
    if (negative) {
        for (int i = 0; i < LONG_LIMBS; i++)
            sum.limb[i] = ~sum.limb[i];
        long_add_bit(&sum, LONG_BASE, false);
    }
    int top = LONG_BITS - 1;
    while (top >= 0 && !long_bit(&sum, top))
        top--;
    if (top < 0) return 0;
    int last = top - 52 > -1074 - LONG_BASE ? top - 52 : -1074 - LONG_BASE;
    uint64_t significand = 0;
    for (int bit = top; bit >= last; bit--)
        significand = significand << 1 | long_bit(&sum, bit);
    bool more = false;
    for (int bit = last - 2; bit >= 0; bit--)
        more |= long_bit(&sum, bit);
    if (long_bit(&sum, last - 1) && (more || significand & 1)) significand++;
    double magnitude = ldexp((double)significand, last + LONG_BASE);
    return negative ? -magnitude : magnitude;
}

/* ---- Helpers ---- */

static uint64_t random_state = 1;

/* splitmix64 */
static uint64_t random_u64(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int random_below(int n)
{
    return (int)(random_u64() % (uint64_t)n);
}

/* A finite double of any sign with biased exponent first … first + count - 1, sometimes with few significand bits. */
static double random_double(int first, int count)
{
    uint64_t significand = random_u64() >> 12;
    if (random_below(3) == 0) significand &= ~UINT64_C(0) << random_below(53);
    uint64_t exponent = (uint64_t)(first + random_below(count));
    uint64_t bits = random_u64() >> 63 << 63 | exponent << 52 | (significand & ((UINT64_C(1) << 52) - 1));
    double w;
    memcpy(&w, &bits, sizeof w);
    return w;
}

static void shuffle(double *w, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = random_below(i + 1);
        double swapped = w[i];
        w[i] = w[j];
        w[j] = swapped;
    }
}

static void assert_same_bits(double got, double wanted)
{
    assert_int_equal(histo_exact_bits(got), histo_exact_bits(wanted));
}

static void assert_same_sums(const histo_exact *a, const histo_exact *b)
{
    assert_int_equal(a->slots, b->slots);
    for (int64_t slot = 0; slot < a->slots; slot++) {
        histo_exact_value x = histo_exact_get(a, slot), y = histo_exact_get(b, slot);
        assert_memory_equal(x.digit, y.digit, sizeof x.digit);
        assert_int_equal(x.special, y.special);
    }
}

static void reserve_for(histo_exact *e, const double *w, int n)
{
    histo_exact_windows windows = {0};
    for (int i = 0; i < n; i++)
        histo_exact_touch(&windows, w[i]);
    assert_int_equal(histo_exact_reserve(e, &windows, (uint64_t)n), HISTO_OK);
}

/* Add w[0 … n) to slots 0, 1, …, cyclically. */
static void add_all(histo_exact *e, const double *w, int n)
{
    reserve_for(e, w, n);
    for (int i = 0; i < n; i++)
        histo_exact_add(e, i % e->slots, w[i]);
}

static double sum_of(const double *w, int n)
{
    histo_exact e;
    histo_exact_init(&e, 1);
    add_all(&e, w, n);
    double sum = histo_exact_read(&e, 0);
    histo_exact_free(&e);
    return sum;
}

/* ---- Rounding ---- */

static void check_against_long_number(const double *w, int n)
{
    long_number sum = {{0}};
    for (int i = 0; i < n; i++)
        long_add(&sum, w[i]);
    assert_same_bits(sum_of(w, n), long_round(sum));
}

static void random_sums_round_once(void **state)
{
    (void)state;
    enum { N = 40 };
    double w[N];
    for (int trial = 0; trial < 6000; trial++) {
        int n = 1 + random_below(N);
        int count = trial % 3 == 0 ? 2047 : 1 + random_below(120);
        int first = random_below(2048 - count);
        if (trial % 7 == 0) first = 0;
        if (trial % 7 == 1) first = 2047 - count;
        for (int i = 0; i < n; i++)
            w[i] = random_double(first, count);
        check_against_long_number(w, n);
    }
}

static void cancellation_leaves_the_rest(void **state)
{
    (void)state;
    enum { N = 41 };
    double w[N];
    for (int trial = 0; trial < 2000; trial++) {
        for (int i = 0; i < N - 1; i += 2) {
            w[i] = random_double(0, 2047);
            w[i + 1] = -w[i];
        }
        double rest = w[N - 1] = random_double(0, 2047);
        shuffle(w, N);
        assert_same_bits(sum_of(w, N), rest == 0 ? 0.0 : rest);
    }
}

static void ties_go_to_even(void **state)
{
    (void)state;
    for (int trial = 0; trial < 3000; trial++) {
        double w = random_double(54, 2046 - 54);
        double half_ulp = ldexp(1, ilogb(w) - 53);
        double few[] = {w, random_below(2) ? half_ulp : -half_ulp, 0};
        check_against_long_number(few, 2);
        few[2] = random_below(2) ? 0x1p-1074 : half_ulp * ldexp(1, -random_below(100)) + 0x1p-1074;
        if (random_below(2)) few[2] = -few[2];
        check_against_long_number(few, 3);
    }
}

static void hard_cases_have_known_sums(void **state)
{
    (void)state;
    static const struct {
        double w[4], sum;
    } cases[] = {
        {{0.0}, 0.0},
        {{-0.0, -0.0, -0.0, -0.0}, 0.0},
        {{1, -1}, 0.0},
        {{0.1, 0.2}, 0.1 + 0.2},
        {{1, 0x1p-53}, 1},
        {{1, 0x1p-53, 0x1p-1074}, 0x1.0000000000001p0},
        {{0x1.0000000000001p0, 0x1p-53}, 0x1.0000000000002p0},
        {{0x1.0000000000001p0, 0x1p-53, -0x1p-1074}, 0x1.0000000000001p0},
        {{-1, -0x1p-53, -0x1p-1074}, -0x1.0000000000001p0},
        {{1e300, 1, -1e300}, 1},
        {{0x1p-1074, 0x1p-1074}, 0x1p-1073},
        {{DBL_MIN, -0x1p-1074}, 0x1.ffffffffffffep-1023},
        {{0x1.ffffffffffffep-1023, 0x1p-1074}, DBL_MIN},
        {{DBL_MAX, 0x1p969}, DBL_MAX},
        {{DBL_MAX, 0x1p970, -0x1p-1074}, DBL_MAX},
        {{DBL_MAX, 0x1p970}, INFINITY},
        {{-DBL_MAX, -0x1p970}, -INFINITY},
        {{DBL_MAX, DBL_MAX, -DBL_MAX}, DBL_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_same_bits(sum_of(cases[i].w, 4), cases[i].sum);
}

static void integers_are_exact(void **state)
{
    (void)state;
    histo_exact e;
    histo_exact_init(&e, 1);
    histo_exact_windows windows = {0};
    histo_exact_touch_i64(&windows, INT64_MIN);
    histo_exact_touch_u64(&windows, UINT64_MAX);
    histo_exact_touch(&windows, 0x1p63);
    assert_int_equal(histo_exact_reserve(&e, &windows, 5000), HISTO_OK);

    histo_exact_add_u64(&e, 0, UINT64_MAX);
    histo_exact_add_i64(&e, 0, INT64_MIN);
    histo_exact_add(&e, 0, -0x1p63);
    assert_same_bits(histo_exact_read(&e, 0), -1);
    histo_exact_add_i64(&e, 0, 1);

    long_number sum = {{0}};
    for (int i = 0; i < 1000; i++) {
        int64_t signed_one = (int64_t)random_u64();
        uint64_t unsigned_one = random_u64() >> random_below(64);
        histo_exact_add_i64(&e, 0, signed_one);
        histo_exact_add_u64(&e, 0, unsigned_one);
        long_add_bits(&sum, signed_one < 0 ? 0 - (uint64_t)signed_one : (uint64_t)signed_one, 0, signed_one < 0);
        long_add_bits(&sum, unsigned_one, 0, false);
        assert_same_bits(histo_exact_read(&e, 0), long_round(sum));
    }
    histo_exact_free(&e);
}

/* Make 2^30 additions at once, as a multiple of each digit. */
static void add_many(histo_exact *e, long_number *sum, double w)
{
    histo_exact_windows windows = {0};
    histo_exact_touch(&windows, w);
    assert_int_equal(histo_exact_reserve(e, &windows, HISTO_EXACT_MAX_ADDS), HISTO_OK);
    assert_int_equal(e->pending, HISTO_EXACT_MAX_ADDS);
    histo_exact_slices cut = histo_exact_cut_f64(histo_exact_bits(w));
    for (int i = 0; i < 3; i++) {
        int64_t slices = (int64_t)cut.slice[i] * (int64_t)HISTO_EXACT_MAX_ADDS;
        histo_exact_add_digit(e, 0, cut.window + i, cut.negative ? -slices : slices);
    }
    long_add_scaled(sum, w, 30);
}

static void digits_carry_before_they_overflow(void **state)
{
    (void)state;
    static const double largest[] = {DBL_MAX, 0x1.fffffffffffffp0, 0x1.fffffffffffffp11, 0x0.fffffffffffffp-1022};
    for (size_t i = 0; i < sizeof largest / sizeof largest[0]; i++) {
        histo_exact e;
        histo_exact_init(&e, 1);
        long_number sum = {{0}};
        double w = largest[i];
        for (int sign = 0; sign < 2; sign++, w = -w)
            for (int times = 0; times < 9 + 7 * sign; times++) {
                add_many(&e, &sum, w);
                assert_same_bits(histo_exact_read(&e, 0), long_round(sum));
            }
        for (int times = 0; times < 7; times++)
            add_many(&e, &sum, w);
        assert_same_bits(histo_exact_read(&e, 0), 0);
        histo_exact_value value = histo_exact_get(&e, 0);
        for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
            assert_int_equal(value.digit[k], 0);
        histo_exact_free(&e);
    }
}

static void any_digits_are_a_sum(void **state)
{
    (void)state;
    for (int trial = 0; trial < 2000; trial++) {
        histo_exact_value value = {.special = 0}, back;
        histo_exact_windows windows = {0};
        long_number sum = {{0}};
        int first = random_below(HISTO_EXACT_WINDOWS), count = 1 + random_below(8);
        for (int k = first; k < first + count && k < HISTO_EXACT_WINDOWS; k++) {
            static const int32_t extremes[] = {INT32_MIN, INT32_MAX, -1, 0, 1};
            int32_t digit = random_below(2) ? (int32_t)random_u64() : extremes[random_below(5)];
            if (k == 0) digit = digit / (1 << 14) * (1 << 14); /* sums of doubles are multiples of 2^-1074 */
            value.digit[k] = digit;
            windows.touched[k] = digit != 0;
            uint64_t magnitude = digit < 0 ? (uint64_t) - (int64_t)digit : (uint64_t)digit;
            long_add_bits(&sum, magnitude, 32 * (k - HISTO_EXACT_UNIT), digit < 0);
        }
        histo_exact e;
        histo_exact_init(&e, 3);
        assert_int_equal(histo_exact_reserve(&e, &windows, 1), HISTO_OK);
        for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
            histo_exact_add_digit(&e, 1, k, value.digit[k]);
        back = histo_exact_get(&e, 1);
        assert_memory_equal(back.digit, value.digit, sizeof value.digit);
        assert_same_bits(histo_exact_read(&e, 1), long_round(sum));
        assert_same_bits(histo_exact_read(&e, 0), 0);

        histo_exact_windows used = histo_exact_used(&e);
        assert_memory_equal(used.touched, windows.touched, sizeof used.touched);
        histo_exact_free(&e);
    }
}

static void infinities_and_nan_stay(void **state)
{
    (void)state;
    assert_same_bits(sum_of((double[]){INFINITY, -DBL_MAX, 1}, 3), INFINITY);
    assert_same_bits(sum_of((double[]){-INFINITY, DBL_MAX, -INFINITY}, 3), -INFINITY);
    assert_true(isnan(sum_of((double[]){INFINITY, 1, -INFINITY}, 3)));
    assert_true(isnan(sum_of((double[]){INFINITY, NAN}, 2)));
    assert_true(isnan(sum_of((double[]){1, -NAN}, 2)));

    histo_exact a, b;
    histo_exact_init(&a, 2);
    histo_exact_init(&b, 2);
    add_all(&a, (double[]){INFINITY, 1}, 2);
    add_all(&b, (double[]){-INFINITY, 2}, 2);
    assert_int_equal(merge(&a, &b), HISTO_OK);
    assert_true(isnan(histo_exact_read(&a, 0)));
    assert_same_bits(histo_exact_read(&a, 1), 3);
    assert_true(histo_exact_used(&a).special);
    histo_exact_reset(&a);
    assert_same_bits(histo_exact_read(&a, 0), 0);
    assert_false(histo_exact_used(&a).special);
    histo_exact_free(&a);
    histo_exact_free(&b);
}

/* ---- Windows ---- */

static int windows_touched(double w, int window)
{
    histo_exact_windows windows = {0};
    histo_exact_touch(&windows, w);
    int touched = 0;
    for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
        touched += windows.touched[k];
    assert_true(touched == 0 || windows.touched[window]);
    return touched;
}

static void only_windows_with_bits_are_touched(void **state)
{
    (void)state;
    assert_int_equal(windows_touched(0, 0), 0);
    assert_int_equal(windows_touched(-1, HISTO_EXACT_UNIT), 1);
    assert_int_equal(windows_touched(4294967295, HISTO_EXACT_UNIT), 1);
    assert_int_equal(windows_touched(4294967296, HISTO_EXACT_UNIT + 1), 1);
    assert_int_equal(windows_touched(4294967297, HISTO_EXACT_UNIT), 2);
    assert_int_equal(windows_touched(0.5, HISTO_EXACT_UNIT - 1), 1);
    assert_int_equal(windows_touched(0x1.fffffffffffffp0, HISTO_EXACT_UNIT - 2), 3);
    assert_int_equal(windows_touched(0x1p-1074, 0), 1);
    assert_int_equal(windows_touched(DBL_MAX, HISTO_EXACT_UNIT + 31), 2);
}

static void planes_are_made_only_for_windows_touched(void **state)
{
    (void)state;
    histo_exact e;
    histo_exact_init(&e, 4);
    add_all(&e, (double[]){1, 2, 1e300, 3}, 4);
    for (int k = 0; k < HISTO_EXACT_WINDOWS; k++) {
        histo_exact_windows windows = {0};
        histo_exact_touch(&windows, 1);
        histo_exact_touch(&windows, 1e300);
        assert_int_equal(e.plane[k] != NULL, windows.touched[k]);
    }
    assert_null(e.special);
    histo_exact_free(&e);
}

/* ---- Order ---- */

enum { SAMPLES = 20000, SLOTS = 7, THREADS = 4 };

/* Weights of all magnitudes, in memory that the next call overwrites; sample i is in slot i % SLOTS. */
static double *make_samples(void)
{
    static double w[SAMPLES];
    for (int i = 0; i < SAMPLES; i++)
        w[i] = i % 5000 == 17 ? INFINITY : random_double(i % 2 ? 1000 : 0, i % 2 ? 50 : 2047);
    return w;
}

static void chunks_and_merges_give_the_same_digits(void **state)
{
    (void)state;
    double *w = make_samples();
    histo_exact whole, merged, part;
    histo_exact_init(&whole, SLOTS);
    add_all(&whole, w, SAMPLES);
    histo_exact_init(&merged, SLOTS);
    for (int end = SAMPLES; end > 0;) {
        int begin = end > 100 * SLOTS ? end - SLOTS * random_below(100) - SLOTS : 0;
        begin -= begin % SLOTS;
        histo_exact_init(&part, SLOTS);
        for (int i = begin; i < end; i++) {
            reserve_for(&part, &w[i], 1);
            histo_exact_add(&part, i % SLOTS, w[i]);
        }
        if (random_below(4) == 0) part.pending = merged.pending = HISTO_EXACT_MAX_ADDS;
        assert_int_equal(merge(&merged, &part), HISTO_OK);
        histo_exact_free(&part);
        end = begin;
    }
    assert_same_sums(&merged, &whole);
    histo_exact_free(&merged);
    histo_exact_free(&whole);
}

static void permutations_give_the_same_digits(void **state)
{
    (void)state;
    double *w = make_samples();
    histo_exact first, again;
    histo_exact_init(&first, 1);
    histo_exact_init(&again, 1);
    add_all(&first, w, SAMPLES);
    for (int round = 0; round < 3; round++) {
        shuffle(w, SAMPLES);
        histo_exact_reset(&again);
        add_all(&again, w, SAMPLES);
        assert_same_sums(&first, &again);
    }
    histo_exact_free(&first);
    histo_exact_free(&again);
}

typedef struct thread_share {
    histo_exact *e;
    const double *w;
    int first;
    histo_exact_windows windows;
} thread_share;

static void *touch_share(void *argument)
{
    thread_share *share = argument;
    for (int i = share->first; i < SAMPLES; i += THREADS)
        histo_exact_touch(&share->windows, share->w[i]);
    return NULL;
}

static void *add_share(void *argument)
{
    thread_share *share = argument;
    for (int i = share->first; i < SAMPLES; i += THREADS)
        histo_exact_add(share->e, i % SLOTS, share->w[i]);
    return NULL;
}

static void run_threads(thread_share *shares, void *(*work)(void *))
{
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, work, &shares[t]), 0);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_join(threads[t], NULL), 0);
}

static void threads_give_the_same_digits(void **state)
{
    (void)state;
    double *w = make_samples();
    histo_exact alone, shared;
    histo_exact_init(&alone, SLOTS);
    histo_exact_init(&shared, SLOTS);
    add_all(&alone, w, SAMPLES);

    thread_share shares[THREADS] = {0};
    for (int t = 0; t < THREADS; t++)
        shares[t] = (thread_share){.e = &shared, .w = w, .first = t};
    run_threads(shares, touch_share);
    histo_exact_windows windows = {0};
    for (int t = 0; t < THREADS; t++)
        histo_exact_windows_merge(&windows, &shares[t].windows);
    assert_int_equal(histo_exact_reserve(&shared, &windows, SAMPLES), HISTO_OK);
    run_threads(shares, add_share);

    assert_same_sums(&alone, &shared);
    histo_exact_free(&alone);
    histo_exact_free(&shared);
}

/* ---- Complete accumulators ---- */

static void slots_join_as_if_added_there(void **state)
{
    (void)state;
    double *w = make_samples();
    histo_exact apart, joined, direct;
    histo_exact_init(&apart, SLOTS);
    histo_exact_init(&joined, 2);
    histo_exact_init(&direct, 2);
    add_all(&apart, w, SAMPLES);
    assert_int_equal(histo_exact_reserve_like(&joined, &apart, SLOTS), HISTO_OK);
    for (int slot = 0; slot < SLOTS; slot++)
        histo_exact_add_slot(&joined, slot / 4, &apart, slot);
    reserve_for(&direct, w, SAMPLES);
    for (int i = 0; i < SAMPLES; i++)
        histo_exact_add(&direct, i % SLOTS / 4, w[i]);
    assert_same_sums(&joined, &direct);
    histo_exact_free(&apart);
    histo_exact_free(&joined);
    histo_exact_free(&direct);
}

static void merging_with_itself_doubles(void **state)
{
    (void)state;
    histo_exact e;
    histo_exact_init(&e, 1);
    add_all(&e, (double[]){0.1}, 1);
    for (int times = 1; times <= 60; times++) {
        assert_int_equal(merge(&e, &e), HISTO_OK);
        assert_same_bits(histo_exact_read(&e, 0), ldexp(0.1, times));
    }
    assert_int_equal(e.pending, 61);
    histo_exact_free(&e);
}

static void a_failed_allocation_changes_no_sum(void **state)
{
    (void)state;
    double few[] = {0x1.fffffffffffffp0, -3, 1e300, -DBL_MAX};
    double more[] = {1e-200, 1e50, 1e100, NAN};
    histo_exact e, before, other;
    histo_exact_init(&e, 4);
    histo_exact_init(&other, 4);
    histo_exact_init(&before, 4);
    add_all(&e, few, 4);
    add_all(&before, few, 4);
    add_all(&other, more, 4);

    /* Enough additions for the digits to need a carry, and a plane for it. */
    for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
        for (int slot = 0; e.plane[k] && slot < 4; slot++)
            before.plane[k][slot] = e.plane[k][slot] *= INT64_C(1) << 30;
    e.pending = before.pending = HISTO_EXACT_MAX_ADDS;

    /* Planes that a failed call made are kept, so each round gets one allocation further. */
    int failures = 0;
    for (allocations_left = 0; merge(&e, &other) != HISTO_OK; allocations_left = 1) {
        assert_string_not_equal(histo_last_error(), "");
        assert_same_sums(&e, &before);
        failures++;
    }
    allocations_left = -1;
    assert_true(failures > 6);
    assert_int_equal(merge(&before, &other), HISTO_OK);
    assert_same_sums(&e, &before);

    histo_exact_free(&e);
    histo_exact_free(&before);
    histo_exact_free(&other);
}

/* A sum that changes sign, 2^30 additions at a time: once there is room for all carries, nothing can fail. */
static void room_for_all_carries(void **state)
{
    (void)state;
    static const double values[] = {DBL_MAX, 0x1.fffffffffffffp0, -0x1.fffffffffffffp11, 0x0.fffffffffffffp-1022};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        histo_exact e;
        histo_exact_init(&e, 1);
        long_number sum = {{0}};
        histo_exact_windows windows = {0};
        histo_exact_touch(&windows, values[i]);
        add_many(&e, &sum, values[i]);
        int before = e.high;
        assert_int_equal(histo_exact_provide_carries(&e, &windows), HISTO_OK);
        assert_true(e.high > before);
        allocations_left = 0;
        for (int times = 0; times < 16; times++)
            add_many(&e, &sum, values[i]);
        assert_same_bits(histo_exact_read(&e, 0), long_round(sum));
        /* The carries of 2^62 additions, all but the last 2^30 of which were carried before. */
        for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
            if (windows.touched[k] && k + 1 < HISTO_EXACT_WINDOWS) e.plane[k + 1][0] += INT64_C(1) << 61;
        e.pending = HISTO_EXACT_MAX_ADDS;
        assert_int_equal(histo_exact_reserve(&e, &windows, HISTO_EXACT_MAX_ADDS), HISTO_OK);
        allocations_left = -1;
        histo_exact_free(&e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_sums_round_once),
        cmocka_unit_test(cancellation_leaves_the_rest),
        cmocka_unit_test(ties_go_to_even),
        cmocka_unit_test(hard_cases_have_known_sums),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(digits_carry_before_they_overflow),
        cmocka_unit_test(room_for_all_carries),
        cmocka_unit_test(any_digits_are_a_sum),
        cmocka_unit_test(infinities_and_nan_stay),
        cmocka_unit_test(only_windows_with_bits_are_touched),
        cmocka_unit_test(planes_are_made_only_for_windows_touched),
        cmocka_unit_test(chunks_and_merges_give_the_same_digits),
        cmocka_unit_test(permutations_give_the_same_digits),
        cmocka_unit_test(threads_give_the_same_digits),
        cmocka_unit_test(slots_join_as_if_added_there),
        cmocka_unit_test(merging_with_itself_doubles),
        cmocka_unit_test(a_failed_allocation_changes_no_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
