/* Kernels of this CPU's level beside plain loops, sample by sample and bit by bit. HISTO_CPU selects the level. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axis/axis.h"
#include "cpu/kernels/kernels.h"
#include "cpu/samples/bounds.h"
#include "cpu/samples/runs.h"
#include "sum/exact.h"
#include "support/check.h"
#include "support/data.h"
#include "view/dtype.h"

/* ---- Bytes ---- */

/* Count n bytes in pieces of at most `piece` and compare. Twice with the same state, which must reset itself. */
static void check_bytes(const histo_byte_counting *counting, const uint8_t *bytes, size_t n, size_t piece)
{
    uint64_t expected[256] = {0};
    for (size_t i = 0; i < n; i++)
        expected[bytes[i]]++;
    void *state = aligned_alloc(64, counting->state_bytes);
    counting->start(state);
    for (int round = 0; round < 2; round++) {
        uint64_t counts[256] = {0};
        for (size_t i = 0; i < n; i += piece)
            counting->add(state, bytes + i, n - i < piece ? n - i : piece);
        counting->finish(state, counts);
        assert_memory_equal(counts, expected, sizeof counts);
    }
    free(state);
}

static void bytes_by(const histo_byte_counting *counting)
{
    enum { MAX = 700000 };
    rng r = {.state = 3};
    uint8_t *bytes = malloc(MAX + 1) /* starting at 1: unaligned */;
    for (int kind = 0; kind < 8; kind++) {
        for (int i = 0; i <= MAX; i++) {
            uint64_t x = rng_next(&r) >> 40;
            switch (kind) {
            case 0: /* all values */
                bytes[i] = (uint8_t)x;
                break;
            case 1: /* one value */
                bytes[i] = 200;
                break;
            case 2: /* two alternating values, more than counters of a few bits can hold, without runs */
                bytes[i] = i % 2 ? 63 : 64;
                break;
            case 3: /* two in the same group of 64 */
                bytes[i] = i % 2 ? 254 : 255;
                break;
            case 4: /* nearly all equal */
                bytes[i] = x % 1000 ? 128 : (uint8_t)x;
                break;
            case 5: /* runs of 256 and more */
                bytes[i] = (uint8_t)(i / 300);
                break;
            case 6: /* ramps */
                bytes[i] = (uint8_t)i;
                break;
            default: /* in one group of 64 */
                bytes[i] = (uint8_t)(64 + x % 64);
                break;
            }
        }
        check_bytes(counting, bytes, MAX, MAX);
        check_bytes(counting, bytes + 1, MAX - 3, 100003);
        check_bytes(counting, bytes, 70000, 1 + (size_t)rng_below(&r, 700));
        for (int round = 0; round < 40; round++)
            check_bytes(counting, bytes + rng_below(&r, 1000), (size_t)rng_below(&r, 1200), 512);
        check_bytes(counting, bytes, 0, 1);
    }
    free(bytes);
}

static void bytes_by_scalar_code(void **state)
{
    (void)state;
    bytes_by(&histo_byte_counting_scalar);
}

static void bytes_by_the_best_way(void **state)
{
    (void)state;
    bytes_by(histo_cpu_kernels_usable()->byte_counting);
}

/* 16-bit integers of 2^shift to a byte, one in `rare` of them not first … first + width. */
static void check_shorts(rng *r, uint16_t first, int shift, int values, int64_t rare)
{
    enum { MAX = 30000 };
    const histo_byte_counting *counting = histo_cpu_kernels_usable()->byte_counting;
    const histo_shorts as = {.first = first, .width = (uint16_t)((values << shift) - 1), .shift = shift};
    uint16_t *shorts = malloc(MAX * sizeof *shorts);
    for (int i = 0; i < MAX; i++) {
        const bool beyond = rng_below(r, rare) == 0 && as.width < UINT16_MAX;
        shorts[i] = (uint16_t)(first + (beyond ? as.width + 1 : rng_below(r, as.width + 1)));
    }
    void *state = aligned_alloc(64, counting->state_bytes);
    uint64_t counts[256] = {0}, expected[256] = {0};
    counting->start(state);
    for (size_t i = 0, n; i < MAX; i += n) {
        uint8_t odd[3] = {0, (uint8_t)(values - 1), 0};
        counting->add(state, odd,
                      sizeof odd); /* other bytes in between, so that blocks do not fill its buffers evenly */
        for (size_t k = 0; k < sizeof odd; k++)
            expected[odd[k]]++;
        n = counting->add_shorts(state, shorts + i, i + 5000 < MAX ? 5000 : MAX - i, &as);
        for (size_t k = i; k < i + n; k++) {
            assert_true((uint16_t)(shorts[k] - first) <= as.width);
            expected[(uint16_t)(shorts[k] - first) >> shift]++;
        }
        n += n == 0;
    }
    counting->finish(state, counts);
    assert_memory_equal(counts, expected, sizeof counts);
    free(state);
    free(shorts);
}

static void shorts_as_bytes(void **state)
{
    (void)state;
    rng r = {.state = 11};
    if (!histo_cpu_kernels_usable()->byte_counting->add_shorts) skip(); /* of one kind of CPU only */
    const int values[] = {1, 2, 64, 100, 128, 129, 200, 256};
    for (int v = 0; v < 8; v++)
        for (int shift = 0; shift <= 8; shift += 4)
            for (int64_t rare = 1000; rare <= 100000; rare *= 100)
                check_shorts(&r, (uint16_t)rng_next(&r), shift, values[v], rare);
}

/* ---- Tables of counters of one byte ---- */

static void carry_to(const void *to, size_t index)
{
    ((uint64_t *)to)[index] += HISTO_CARRY;
}

/* Value i of several kinds; groups of 64 samples with one, few or many values alternate. */
static uint16_t repeated_value(rng *r, int kind, int i)
{
    switch (kind == 7 ? i / 64 * 5 % 7 : kind) {
    case 0: /* arbitrary */
        return (uint16_t)rng_below(r, 65536);
    case 1: /* one */
        return 777;
    case 2: /* two */
        return (uint16_t)(rng_below(r, 2) * 32768);
    case 3: /* in one set of the L1 cache */
        return (uint16_t)(rng_below(r, 16) * 4096);
    case 4: /* three, with others now and then */
        return (uint16_t)(rng_below(r, 8) ? rng_below(r, 3) : rng_below(r, 65536));
    case 5: /* short runs */
        return (uint16_t)(i / 5 * 7);
    default: /* alternating with others */
        return (uint16_t)(i % 2 ? rng_below(r, 65536) : 5);
    }
}

static void repeated_values(void **state)
{
    (void)state;
    enum { VALUES = 1 << 16, MAX = 60000 };
    rng r = {.state = 29};
    uint16_t *values = malloc(MAX * sizeof *values);
    uint32_t *slots = malloc(MAX * sizeof *slots), *words = malloc(VALUES * sizeof *words);
    uint32_t *wide = malloc(VALUES * sizeof *wide);
    uint8_t *by_value = malloc(VALUES), *by_slot = malloc(VALUES);
    uint64_t *expected = malloc(VALUES * sizeof *expected), *more = malloc(2 * VALUES * sizeof *more);
    for (int kind = 0; kind < 16; kind++)
        for (int n = MAX; n > 0; n = n / 3 - 1) {
            const bool spread = kind >= 8;
            const histo_value_counters bytes = spread ? HISTO_IN_SPREAD_BYTES : HISTO_IN_BYTES;
            memset(by_value, 0, VALUES);
            memset(by_slot, 0, VALUES);
            memset(expected, 0, VALUES * sizeof *expected);
            memset(more, 0, 2 * VALUES * sizeof *more);
            for (int i = 0; i < n; i++)
                expected[slots[i] = values[i] = repeated_value(&r, kind % 8, i)]++;
            histo_cpu_kernels_usable()->count_values(by_value, values, n, bytes, carry_to, more);
            memset(wide, 0, VALUES * sizeof *wide);
            histo_cpu_kernels_usable()->count_values(wide, values, n, HISTO_IN_WORDS, NULL, NULL);
            assert_false(histo_cpu_kernels_usable()->count_slots(by_slot, slots, n, carry_to, more + VALUES, NULL));
            memset(words, 0, VALUES * sizeof *words);
            assert_false(histo_cpu_kernels_usable()->count_words(words, slots, n, NULL, NULL, NULL));
            for (int v = 0; v < VALUES; v++) {
                assert_int_equal(more[v] + by_value[spread ? histo_spread_place((uint16_t)v) : v], expected[v]);
                assert_int_equal(more[VALUES + v] + by_slot[v], expected[v]);
                assert_int_equal(words[v], expected[v]);
                assert_int_equal(wide[v], expected[v]);
            }
        }
    free(values);
    free(slots);
    free(words);
    free(wide);
    free(by_value);
    free(by_slot);
    free(expected);
    free(more);
}

/* ---- Slots ---- */

enum { LONGEST = HISTO_BLOCK };

static const int lengths[] = {1, 2, 3, 7, 63, 64, 65, 130, 511, HISTO_PIECE, HISTO_PIECE + 1, LONGEST};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* An axis prepared for samples of a dtype as plans and small fills do. */
typedef struct prepared {
    histo_axis axis;
    histo_lookup lookup;
    histo_spans spans;
} prepared;

static void prepare(prepared *p, const histo_axis *axis, histo_dtype dtype, bool many)
{
    *p = (prepared){0};
    OK(histo_axis_own(axis, &p->axis));
    OK(histo_lookup_make(&p->lookup, &p->axis, dtype, many));
    if (p->lookup.kind != HISTO_UNIFORM && !p->lookup.table)
        OK(histo_spans_make(&p->spans, &p->lookup, histo_axis_off(&p->axis), many ? 1 << 20 : LONGEST));
}

static void discard(prepared *p)
{
    histo_spans_free(&p->spans);
    histo_lookup_free(&p->lookup);
    histo_axis_disown(&p->axis);
}

static void check_slots(const prepared *p, histo_dtype dtype, const char *samples)
{
    const histo_cpu_kernels *kernels = histo_cpu_kernels_usable();
    uint32_t expected[LONGEST], slots[LONGEST + 1];
    for (int k = 0; k < LENGTHS; k++) {
        const int n = lengths[k];
        for (int way = 0; way < 3; way++) { /* alone, with a stride, added to those of another axis */
            const uint32_t stride = way ? 7 : 1;
            for (int i = 0; i < n; i++)
                expected[i] = slots[i] = (uint32_t)(3 * i);
            slots[n] = 12345;
            histo_lookup_slots(&p->lookup, dtype, samples, n, stride, way == 2, expected);
            kernels->slots(&p->lookup, &p->spans, dtype, samples, n, stride, way == 2, slots);
            assert_memory_equal(slots, expected, (size_t)n * sizeof *slots);
            assert_int_equal(slots[n], 12345);
        }
    }
}

/* In any order, which does not matter to those who count them. */
static void check_codes(const prepared *p, histo_dtype dtype, const char *samples)
{
    const uint32_t bins = (uint32_t)p->lookup.bins;
    if (bins > 256) return;
    for (int k = 0; k < LENGTHS && lengths[k] <= HISTO_PIECE; k++) {
        const int n = lengths[k];
        uint32_t slots[HISTO_PIECE];
        uint8_t codes[HISTO_PIECE];
        uint64_t flow[3] = {0}, expected[3] = {0};
        int64_t more[256] = {0};
        histo_lookup_slots(&p->lookup, dtype, samples, n, 1, false, slots);
        histo_cpu_kernels_usable()->codes(&p->lookup, &p->spans, dtype, samples, n, codes, flow);
        for (int i = 0; i < n; i++) {
            expected[0] += slots[i] == 0;
            expected[1] += slots[i] == bins + 1;
            expected[2] += slots[i] == bins + 2;
            more[(uint8_t)(slots[i] - 1)]++;
            more[codes[i]]--;
        }
        for (int code = 0; code < 256; code++)
            assert_int_equal(more[code], 0);
        assert_memory_equal(flow, expected, sizeof flow);
    }
}

static void slots_of_every_dtype(void **state)
{
    (void)state;
    rng r = {.state = 5};
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++) {
        histo_axis axis;
        for (int a = 0; test_axis(a, (histo_dtype)dtype, &axis); a++)
            for (int d = 0; d < DISTRIBUTIONS; d++) {
                prepared p;
                prepare(&p, &axis, (histo_dtype)dtype, d % 2);
                char *samples = make_samples(&r, (histo_dtype)dtype, (distribution)d, &axis, LONGEST);
                check_slots(&p, (histo_dtype)dtype, samples);
                check_codes(&p, (histo_dtype)dtype, samples);
                free(samples);
                discard(&p);
            }
    }
}

/* Regular axes of any width and place, some with bins of powers of two. Stretches of samples are all inside, or on
 * edges, or have some below, above, at infinity or NaN, so that every way to the slot and back to another is taken. */
static void slots_of_regular_axes(void **state)
{
    (void)state;
    static const histo_dtype dtypes[] = {HISTO_F32, HISTO_F64, HISTO_I16, HISTO_U32, HISTO_I64, HISTO_U64};
    enum { DTYPES = sizeof dtypes / sizeof *dtypes };
    rng r = {.state = 7};
    uint64_t room[LONGEST];
    for (int round = 0; round < 150 * DTYPES; round++) {
        const histo_dtype dtype = dtypes[round % DTYPES];
        const bool floats = dtype == HISTO_F32 || dtype == HISTO_F64;
        const int64_t bins = round % 7 ? 1 + rng_below(&r, 256) : 1 + rng_below(&r, 50000);
        const int power = floats ? (int)rng_below(&r, 80) - 40 : (int)rng_below(&r, dtype == HISTO_I16 ? 3 : 40);
        const double step = ldexp(round % 3 ? 1 : 1 + rng_uniform(&r), power);
        double lo = round % 4 == 0 ? 0 : (rng_uniform(&r) - 0.5) * 4 * (double)bins * step;
        if (round % 4 == 1 || !floats) lo = floor(lo / step) * step;
        if (round % 4 == 2) lo = (double)(float)lo;
        if (dtype == HISTO_U64 && lo < 0) lo = -lo;
        histo_axis axis = histo_axis_regular(bins, lo, lo + (double)bins * step);
        if (round % 2) axis = histo_axis_closed(axis);
        if (histo_axis_check(&axis) != HISTO_OK) continue; /* bins may be narrower than doubles are apart */
        prepared p;
        prepare(&p, &axis, dtype, false);
        const double width = axis.hi - axis.lo;
        for (int i = 0; i < LONGEST; i++) {
            const int64_t kind = i / 256, rare = rng_below(&r, 50);
            double x = axis.lo + rng_uniform(&r) * width;
            if (kind % 4 == 1 || (kind % 4 == 2 && rare == 0)) x = axis.lo + (double)rng_below(&r, bins + 1) * step;
            if (kind % 4 == 2 && rare == 1) x = nextafter(axis.lo, -(double)INFINITY);
            if (kind % 4 == 3) x += (rng_uniform(&r) - 0.5) * 2 * width;
            if (kind == 7 && rare < 4)
                x = rare == 0 ? NAN : rare == 1 ? (double)INFINITY : rare == 2 ? -1e300 : -0x1p-149;
            const float narrow = (float)x;
            const int64_t whole = fabs(x) < 9e18 ? (int64_t)floor(x) : rare % 2 ? INT64_MAX : INT64_MIN;
            memcpy((char *)room + (size_t)i * histo_dtype_size(dtype),
                   dtype == HISTO_F64   ? (const void *)&x
                   : dtype == HISTO_F32 ? (const void *)&narrow
                                        : (const void *)&whole,
                   histo_dtype_size(dtype));
        }
        check_slots(&p, dtype, (const char *)room);
        check_codes(&p, dtype, (const char *)room);
        discard(&p);
    }
}

/* Every distance and size, also against the direction of memory; memory ends right after the last sample. */
static void gathered_samples(void **state)
{
    (void)state;
    rng r = {.state = 11};
    for (size_t size = 1; size <= 8; size *= 2)
        for (int64_t stride = -3 * (int64_t)size; stride <= 17 * (int64_t)size; stride++)
            for (int k = 0; k < LENGTHS - 3; k++) {
                const int64_t n = lengths[k], before = stride < 0 ? -stride * (n - 1) : 0;
                const size_t bytes = (size_t)(before + (stride > 0 ? stride * (n - 1) : 0)) + size;
                char *from = malloc(bytes), to[HISTO_PIECE * sizeof(double) + 1];
                for (size_t i = 0; i < bytes; i++)
                    from[i] = (char)rng_next(&r);
                to[(size_t)n * size] = 99;
                histo_cpu_kernels_usable()->gather(to, from + before, stride, size, n);
                for (int64_t i = 0; i < n; i++)
                    assert_memory_equal(to + (size_t)i * size, from + before + i * stride, size);
                assert_int_equal(to[(size_t)n * size], 99);
                free(from);
            }
}

static void halves(void **state)
{
    (void)state;
    for (int bits = 0; bits < 1 << 16; bits++) {
        const int exponent = bits >> 10 & 31, fraction = bits & 1023;
        const double magnitude = exponent == 31  ? fraction ? (double)NAN : (double)INFINITY
                                 : exponent == 0 ? fraction * 0x1p-24
                                                 : ldexp(1024 + fraction, exponent - 25);
        const double x = (double)histo_f16_to_f32((uint16_t)bits);
        assert_true(isnan(magnitude) ? isnan(x)
                                     : x == (bits >> 15 ? -magnitude : magnitude) && !signbit(x) == !(bits >> 15));
    }
}

/* ---- Filters and runs ---- */

/* Every dtype against ranges that end between its values, on them and beyond them, and against zero. */
static void filters(void **state)
{
    (void)state;
    enum { N = 1000 };
    static const double ends[] = {-INFINITY, -1e300,     -0x1p63, -40000, -128.5, -1,    -0.0,    0x1p-24,
                                  0.1,       1,          127.25,  255,    255.5,  65504, 65535,   65536,
                                  0x1p31,    0x1p53 + 2, 0x1p63,  0x1p64, 1e39,   1e300, INFINITY};
    enum { ENDS = sizeof ends / sizeof *ends };
    const histo_cpu_kernels *kernels = histo_cpu_kernels_usable();
    rng r = {.state = 41};
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++) {
        const histo_axis axis = histo_axis_regular(10, -2, 300);
        char *x = make_samples(&r, (histo_dtype)dtype, SPECIAL, &axis, N);
        const size_t size = histo_dtype_size((histo_dtype)dtype);
        for (int pair = 0; pair < ENDS * ENDS; pair++) {
            const double lo = ends[pair / ENDS], hi = ends[pair % ENDS];
            if (!(lo <= hi)) continue;
            uint8_t kept[N], expected[N];
            int n = 0;
            char together[N * sizeof(double)];
            for (int i = 0; i < N; i++) {
                const long double value = sample_value(x + (size_t)i * size, (histo_dtype)dtype);
                expected[i] = value >= (long double)lo && value <= (long double)hi && value != 0;
            }
            kernels->keep_nonzero((histo_dtype)dtype, x, N, false, kept);
            kernels->keep_inside((histo_dtype)dtype, x, N, histo_bounds_of((histo_dtype)dtype, lo, hi), true, kept);
            assert_memory_equal(kept, expected, sizeof kept);
            kernels->compact(size, x, kept, N, together);
            for (int i = 0; i < N; i++)
                if (kept[i]) assert_memory_equal(together + (size_t)n++ * size, x + (size_t)i * size, size);
            assert_int_equal(kernels->count_kept(kept, N), n);
        }
        free(x);
    }
}

/* Values of every size, one of them different, at every position. */
static void runs(void **state)
{
    (void)state;
    enum { MAX = 700 };
    unsigned char values[MAX * 8 + 1];
    for (size_t size = 1; size <= 8; size *= 2)
        for (size_t n = 3; n <= MAX; n += n < 300 ? 1 : 97) {
            unsigned char *first = values + n % 2; /* unaligned */
            for (size_t i = 0; i < n * size; i++)
                first[i] = (unsigned char)(7 + i % size);
            assert_true(histo_all_equal(first, n, size));
            for (size_t i = 0; i < n * size; i += n < 40 ? 1 : 13) {
                first[i] ^= 16;
                assert_false(histo_all_equal(first, n, size));
                first[i] ^= 16;
            }
        }
    for (size_t i = 0; i < sizeof values; i++)
        values[i] = (unsigned char)(i % 8); /* equal only in groups of eight */
    for (size_t size = 1; size < 8; size *= 2)
        assert_false(histo_all_equal(values, 513, size));
}

/* ---- Sums of weights ---- */

/* n samples with integer weights, so that every order gives the same sum; all in one slot if `alike`. */
static void check_sums(rng *r, int copies, int numbers, bool floats, int n, bool alike)
{
    enum { SLOTS = 70, MAX = 3 * HISTO_PIECE };
    const size_t bytes = sizeof(double) * (size_t)(SLOTS * copies * numbers);
    histo_sums sums = {.at = aligned_alloc(64, (bytes + 63) / 64 * 64), .copies = copies, .numbers = numbers};
    memset(sums.at, 0, bytes);
    uint32_t slots[MAX];
    float single[MAX];
    double weights[MAX], expected[SLOTS][4] = {{0}};
    for (int i = 0; i < n; i++) {
        slots[i] = alike ? SLOTS - 1 : (uint32_t)rng_below(r, SLOTS);
        weights[i] = single[i] = (float)((int)rng_below(r, 201) - 100);
        expected[slots[i]][HISTO_SUM_W] += weights[i];
        expected[slots[i]][HISTO_SUM_COUNT]++;
        if (numbers > HISTO_SUM_W2) expected[slots[i]][HISTO_SUM_W2] += weights[i] * weights[i];
    }
    histo_cpu_kernels_usable()->add_weights(&sums, slots, floats ? (const void *)single : weights, floats, n, NULL);
    for (int s = 0; s < SLOTS; s++)
        for (int k = 0; k < numbers; k++) {
            double sum = 0;
            for (int c = 0; c < copies; c++)
                sum += sums.at[(s * copies + c) * numbers + k];
            assert_true(sum == expected[s][k]);
        }
    free(sums.at);
}

static void sums_of_weights(void **state)
{
    (void)state;
    static const int numbers[] = {1, 2, 3, 15, 17, HISTO_PIECE - 1, HISTO_PIECE, 2 * HISTO_PIECE + 9};
    rng r = {.state = 11};
    for (int copies = 1; copies <= HISTO_MAX_COPIES; copies += HISTO_MAX_COPIES - 1)
        for (int way = 0; way < 8; way++)
            for (int k = 0; k < 8; k++)
                check_sums(&r, copies, way & 1 ? 4 : 2, way & 2, numbers[k], way & 4);
}

/* Several weights of a sample, those of a lane or those of a sample side by side; integers, so that every order gives
 * the same sums. */
static void columns_of_weights(void **state)
{
    (void)state;
    enum { SLOTS = 50, STEP = 11, NUMBERS = LONGEST * STEP };
    rng r = {.state = 19};
    double *doubles = malloc(NUMBERS * sizeof *doubles);
    float *floats = malloc(NUMBERS * sizeof *floats);
    for (int i = 0; i < NUMBERS; i++)
        doubles[i] = floats[i] = (float)((int)rng_below(&r, 201) - 100);
    for (int lanes = 2; lanes <= HISTO_MAX_COLUMNS; lanes *= 2)
        for (int way = 0; way < 8; way++)
            for (int k = 0; k < LENGTHS; k++) {
                const bool squared = way & 1, rows = way & 2;
                const int n = lengths[k], step = k % 2 ? lanes : STEP;
                _Alignas(64) double sums[SLOTS * HISTO_MAX_COLUMNS * 2] = {0},
                                                                     expected[SLOTS * HISTO_MAX_COLUMNS * 2] = {0};
                histo_weight_lanes weights = {.step = rows ? step : 0, .floats = way & 4};
                uint32_t slots[LONGEST];
                for (int l = 0; l < lanes; l++)
                    weights.lane[l] = weights.floats ? (const void *)(floats + l * LONGEST) : doubles + l * LONGEST;
                for (int i = 0; i < n; i++) {
                    slots[i] = (uint32_t)rng_below(&r, SLOTS);
                    for (int l = 0; l < lanes; l++) {
                        const double w = doubles[rows ? i * step + l : l * LONGEST + i];
                        double *sum = &expected[(int)slots[i] * lanes * (squared ? 2 : 1) + l];
                        sum[0] += w;
                        if (squared) sum[lanes] += w * w;
                    }
                }
                histo_cpu_kernels_usable()->add_columns(sums, lanes, squared, slots, &weights, n);
                assert_memory_equal(sums, expected, sizeof sums);
            }
    free(doubles);
    free(floats);
}

/* ---- Numbers cut into digits ---- */

/* A number whose slices lie in windows [first, first + HISTO_DIGITS), or 0. */
static double any_number(rng *r, int first, bool floats)
{
    const int lowest = 32 * first - 13 - (floats ? 29 : 0), most = 32 * (first + HISTO_DIGITS) - 13 - 53;
    const uint64_t exponent = (uint64_t)(lowest + rng_below(r, most - lowest + 1));
    uint64_t bits = (rng_next(r) & ~(UINT64_C(0x7ff) << 52)) | exponent << 52;
    if (floats) bits &= ~((UINT64_C(1) << 29) - 1);
    if (rng_below(r, 10) == 0) bits &= UINT64_C(1) << 63;
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static void add_cut(int64_t *digits, double number, int first)
{
    const histo_exact_slices cut = histo_exact_cut_f64(histo_exact_bits(number));
    for (int k = 0; k < 3; k++)
        if (cut.slice[k]) digits[cut.window + k - first] += cut.negative ? -(int64_t)cut.slice[k] : cut.slice[k];
}

static void digits(void **state)
{
    (void)state;
    enum { SLOTS = 9, HIGHEST = 2046 / 32 - HISTO_DIGITS };
    const histo_cpu_kernels *kernels = histo_cpu_kernels_usable();
    rng r = {.state = 13};
    for (int first = HISTO_FIRST_DIGIT + 1; first <= HIGHEST; first++)
        for (int way = 0; way < 4; way++)
            for (int k = 0; k < LENGTHS - 3; k++) {
                const int n = lengths[k];
                double numbers[HISTO_PIECE];
                uint32_t slots[HISTO_PIECE];
                _Alignas(64) histo_digits sums[SLOTS] = {{0}}, expected[SLOTS] = {{0}};
                int64_t cut[HISTO_PIECE];
                for (int i = 0; i < n; i++) {
                    numbers[i] = any_number(&r, first, way & 1);
                    slots[i] = way & 2 ? (uint32_t)(SLOTS - 1) : (uint32_t)rng_below(&r, SLOTS);
                    add_cut(expected[slots[i]], numbers[i], first);
                }
                kernels->add_digits(sums, slots, numbers, n, first);
                assert_memory_equal(sums, expected, sizeof sums);
                for (int d = 0; d < HISTO_DIGITS; d++) {
                    kernels->cut_digits(numbers, n, first + d, cut);
                    for (int i = 0; i < n; i++) {
                        int64_t one[HISTO_DIGITS] = {0};
                        add_cut(one, numbers[i], first);
                        assert_int_equal(cut[i], one[d]);
                    }
                }
            }
}

static void magnitudes(void **state)
{
    (void)state;
    static const double specials[] = {0,         -0.0,       INFINITY,  -INFINITY, NAN,
                                      0x1p-1074, -0x1p-1074, 0x1p-1022, 1e308,     -1e308};
    enum { SPECIALS = sizeof specials / sizeof *specials };
    rng r = {.state = 17};
    for (int round = 0; round < 3000; round++) {
        const int n = lengths[round % (LENGTHS - 3)];
        double numbers[HISTO_PIECE];
        uint64_t least = UINT64_MAX, most = 0;
        for (int i = 0; i < n; i++) {
            numbers[i] = round % 5 == 0 ? 0 : any_number(&r, 4 + (int)rng_below(&r, 50), false);
            if (round % 2 && rng_below(&r, n) == 0) numbers[i] = specials[rng_below(&r, SPECIALS)];
            const uint64_t magnitude = histo_exact_bits(fabs(numbers[i]));
            most = magnitude > most ? magnitude : most;
            if (magnitude && magnitude < least) least = magnitude;
        }
        const histo_magnitudes found = histo_cpu_kernels_usable()->magnitudes(numbers, n);
        assert_true(found.most == most);
        if (most) assert_true(found.least == least || !(least <= histo_exact_bits(INFINITY))); /* only NaN */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_by_scalar_code),
        cmocka_unit_test(bytes_by_the_best_way),
        cmocka_unit_test(shorts_as_bytes),
        cmocka_unit_test(repeated_values),
        cmocka_unit_test(slots_of_every_dtype),
        cmocka_unit_test(slots_of_regular_axes),
        cmocka_unit_test(gathered_samples),
        cmocka_unit_test(halves),
        cmocka_unit_test(filters),
        cmocka_unit_test(runs),
        cmocka_unit_test(sums_of_weights),
        cmocka_unit_test(columns_of_weights),
        cmocka_unit_test(digits),
        cmocka_unit_test(magnitudes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
