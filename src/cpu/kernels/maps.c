/* Kernels for maps. Compiled once for each instruction set level (isa.h), without contraction; unless stated otherwise,
 * the compiler vectorises the loops.
 *
 * Tables of 256 bytes are looked up by vector permutations: with VBMI, four registers hold a table; with AVX2 and NEON,
 * 16 tables of 16 bytes make up one. Tables with more or wider entries are read sample by sample, which is limited by
 * loads: so the four tables of a blend are interleaved, and one load brings a sample's values from all of them. */
#include "cpu/kernels/maps.h"

#include <math.h>
#include <string.h>

#include "cpu/kernels/isa.h"
#include "cpu/kernels/pick.h"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* ---- Tables of bytes ---- */

#if defined(__AVX512VBMI__)

enum { VECTOR = 64 };

typedef struct byte_table {
    __m512i part[4];
} byte_table;

static inline byte_table load_table(const uint8_t table[256])
{
    byte_table t;
    for (int k = 0; k < 4; k++)
        t.part[k] = _mm512_loadu_si512(table + k * VECTOR);
    return t;
}

static inline __m512i look_up(const byte_table *t, __m512i samples)
{
    const __m512i below = _mm512_permutex2var_epi8(t->part[0], samples, t->part[1]);
    const __m512i above = _mm512_permutex2var_epi8(t->part[2], samples, t->part[3]);
    return _mm512_mask_mov_epi8(below, _mm512_movepi8_mask(samples), above);
}

static int64_t map_vectors(const uint8_t table[256], const uint8_t *samples, int64_t n, uint8_t *to)
{
    if (n < VECTOR) return 0;
    const byte_table t = load_table(table);
    const __m512i last = look_up(&t, _mm512_loadu_si512(samples + n - VECTOR)); /* loaded before results overwrite
                                                                                 * samples */
    for (int64_t i = 0; i + VECTOR <= n; i += VECTOR)
        _mm512_storeu_si512(to + i, look_up(&t, _mm512_loadu_si512(samples + i)));
    _mm512_storeu_si512(to + n - VECTOR, last);
    return n;
}

#elif defined(__AVX2__)

/* 16 lookups by the low four bits, among which the high four select, bit by bit. */
static int64_t map_vectors(const uint8_t table[256], const uint8_t *samples, int64_t n, uint8_t *to)
{
    enum { VECTOR = 32, PARTS = 16 };
    __m256i parts[PARTS];
    for (int k = 0; k < PARTS; k++)
        parts[k] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(table + 16 * k)));
    int64_t i = 0;
    for (; i + VECTOR <= n; i += VECTOR) {
        const __m256i of = _mm256_loadu_si256((const __m256i *)(samples + i));
        const __m256i low = _mm256_and_si256(of, _mm256_set1_epi8(15));
        __m256i found[PARTS], bit = _mm256_slli_epi16(of, 3); /* bit 4, at the position that blends test */
        for (int k = 0; k < PARTS; k++)
            found[k] = _mm256_shuffle_epi8(parts[k], low);
        for (int left = PARTS / 2; left > 0; left /= 2) {
            for (int k = 0; k < left; k++)
                found[k] = _mm256_blendv_epi8(found[2 * k], found[2 * k + 1], bit);
            bit = left == 8 ? _mm256_slli_epi16(of, 2) : left == 4 ? _mm256_slli_epi16(of, 1) : of;
        }
        _mm256_storeu_si256((__m256i *)(to + i), found[0]);
    }
    return i;
}

#elif defined(__aarch64__)

static int64_t map_vectors(const uint8_t table[256], const uint8_t *samples, int64_t n, uint8_t *to)
{
    enum { VECTOR = 16 };
    uint8x16x4_t parts[4];
    for (int k = 0; k < 4; k++)
        for (int v = 0; v < 4; v++)
            parts[k].val[v] = vld1q_u8(table + 64 * k + 16 * v);
    int64_t i = 0;
    for (; i + VECTOR <= n; i += VECTOR) {
        uint8x16_t of = vld1q_u8(samples + i), found = vqtbl4q_u8(parts[0], of);
        for (int k = 1; k < 4; k++) {
            of = vsubq_u8(of, vdupq_n_u8(64));
            found = vqtbx4q_u8(found, parts[k], of);
        }
        vst1q_u8(to + i, found);
    }
    return i;
}

#else

static int64_t map_vectors(const uint8_t table[256], const uint8_t *samples, int64_t n, uint8_t *to)
{
    (void)table, (void)samples, (void)n, (void)to;
    return 0;
}

#endif

static void map_bytes(const uint8_t table[256], const uint8_t *samples, int64_t n, uint8_t *to)
{
    for (int64_t i = map_vectors(table, samples, n, to); i < n; i++)
        to[i] = table[samples[i]];
}

/* ---- Tables of pairs of bytes ---- */

HISTO_DEFINE_PICK(pick, uint16_t, uint8_t)

#if defined(__AVX512VBMI__)

typedef struct pair_tables {
    byte_table low, high, column;
} pair_tables;

static inline pair_tables load_pair_tables(const histo_pair_table *table)
{
    return (pair_tables){load_table(table->low), load_table(table->high), load_table(table->column)};
}

/* Look up the places of pairs of bytes: returns the low bytes; *high: the high bytes. */
static inline __m512i look_up_places(const pair_tables *t, const uint8_t *a, const uint8_t *b, __m512i *high)
{
    const __m512i of_a = _mm512_loadu_si512(a);
    *high = look_up(&t->high, of_a);
    return _mm512_or_si512(look_up(&t->low, of_a), look_up(&t->column, _mm512_loadu_si512(b)));
}

/* Find the indices of pairs in the results; returns how many have been found. */
static int find_pairs(const histo_pair_table *table, const uint8_t *a, const uint8_t *b, int n, uint16_t *at)
{
    const pair_tables t = load_pair_tables(table);
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                  second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    if (n < VECTOR) return 0;
    for (int i = 0; i < n; i += VECTOR) {
        const int k = i + VECTOR <= n ? i : n - VECTOR; /* the last vector overlaps the one before */
        __m512i high;
        const __m512i low = look_up_places(&t, a + k, b + k, &high);
        const __m512i even = _mm512_unpacklo_epi8(low, high), odd = _mm512_unpackhi_epi8(low, high);
        _mm512_storeu_si512(at + k, _mm512_permutex2var_epi64(even, first, odd));
        _mm512_storeu_si512(at + k + VECTOR / 2, _mm512_permutex2var_epi64(even, second, odd));
    }
    return n;
}

/* Up to 1024 results, by permutations of 128 each. */
static inline __m512i look_up_pairs(const pair_tables *t, const uint8_t *results, int parts, const uint8_t *a,
                                    const uint8_t *b)
{
    __m512i part, found = _mm512_setzero_si512();
    const __m512i at = look_up_places(t, a, b, &part); /* parts of 256; then of 128: */
    part = _mm512_add_epi8(part, part);
    part = _mm512_mask_add_epi8(part, _mm512_movepi8_mask(at), part, _mm512_set1_epi8(1));
    for (int k = 0; k < parts; k++) {
        const uint8_t *from = results + k * 2 * VECTOR;
        const __m512i here = _mm512_permutex2var_epi8(_mm512_loadu_si512(from), at, _mm512_loadu_si512(from + VECTOR));
        found = _mm512_mask_mov_epi8(found, _mm512_cmpeq_epi8_mask(part, _mm512_set1_epi8((char)k)), here);
    }
    return found;
}

/* Returns how many pairs have been mapped. */
static int map_few_pairs(const histo_pair_table *table, const uint8_t *a, const uint8_t *b, int n, uint8_t *to)
{
    enum { FEW = 1024, PART = 2 * VECTOR };
    if (table->size > FEW || n < VECTOR) return 0;
    const pair_tables t = load_pair_tables(table);
    const int last = n - VECTOR, parts = (table->size + PART - 1) / PART;
    const __m512i of_last = look_up_pairs(&t, table->results, parts, a + last, b + last); /* loaded before results
                                                                                           * overwrite samples */
    for (int i = 0; i < last; i += VECTOR)
        _mm512_storeu_si512(to + i, look_up_pairs(&t, table->results, parts, a + i, b + i));
    _mm512_storeu_si512(to + last, of_last);
    return n;
}

#else

static int find_pairs(const histo_pair_table *table, const uint8_t *a, const uint8_t *b, int n, uint16_t *at)
{
    (void)table, (void)a, (void)b, (void)n, (void)at;
    return 0;
}

static int map_few_pairs(const histo_pair_table *table, const uint8_t *a, const uint8_t *b, int n, uint8_t *to)
{
    (void)table, (void)a, (void)b, (void)n, (void)to;
    return 0;
}

#endif

static void map_numbers(const uint32_t *slots, uint32_t last, size_t size, int n, void *to)
{
    if (size == 1)
        for (int i = 0; i < n; i++)
            ((uint8_t *)to)[i] = (uint8_t)(slots[i] < last ? slots[i] : last);
    else if (size == 2)
        for (int i = 0; i < n; i++)
            ((uint16_t *)to)[i] = (uint16_t)(slots[i] < last ? slots[i] : last);
    else
        for (int i = 0; i < n; i++)
            ((uint32_t *)to)[i] = slots[i] < last ? slots[i] : last;
}

static void map_pairs(const histo_pair_table *table, const uint8_t *a, const uint8_t *b, int n, uint8_t *to)
{
    enum { PART = 1024 };
    uint16_t at[PART];
    for (int begin = map_few_pairs(table, a, b, n, to); begin < n; begin += PART) {
        const int some = n - begin < PART ? n - begin : PART;
        for (int i = find_pairs(table, a + begin, b + begin, some, at); i < some; i++)
            at[i] =
                (uint16_t)((table->high[a[begin + i]] << 8 | table->low[a[begin + i]]) + table->column[b[begin + i]]);
        pick(at, table->results, some, to + begin);
    }
}

/* ---- Rounding ---- */

/* Adding 3 * 2^22 rounds to an integer, which is in the low bits of the sum. */
static inline uint32_t whole_of(float value, float most)
{
    const float above = value > 0 ? value : 0, clamped = above < most ? above : most, sum = clamped + 0x1.8p23F;
    uint32_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return bits;
}

static void round_bytes(const float *restrict values, int n, uint8_t *restrict to)
{
    for (int i = 0; i < n; i++)
        to[i] = (uint8_t)whole_of(values[i], 255);
}

static void round_shorts(const float *restrict values, int n, uint16_t *restrict to)
{
    for (int i = 0; i < n; i++)
        to[i] = (uint16_t)whole_of(values[i], 65535);
}

/* ---- Blends ---- */

/* The weights of the higher of two tables, at positions along a dimension: see histo_neighbours_of. */
static void find_shares(int32_t first, float scale, int n, float *restrict share)
{
    for (int i = 0; i < n; i++) {
        const float at = (float)(first + i) * scale - 0.5F, toward_zero = (float)(int32_t)at;
        share[i] = at - (toward_zero > at ? toward_zero - 1 : toward_zero);
    }
}

/* Vectors with element-wise operators; products and sums of a blend are in OpenCV's order. */
#if defined(__AVX2__)

#if defined(__AVX512BW__)
enum { LANES = 16 };
#else
enum { LANES = 8 };
#endif
typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
typedef uint32_t words __attribute__((vector_size(LANES * sizeof(uint32_t))));
typedef int32_t integers __attribute__((vector_size(LANES * sizeof(int32_t))));

/* A single instruction converts signed integers. */
static inline floats floats_of(words below_2_31)
{
    return __builtin_convertvector((integers)below_2_31, floats);
}

#else

typedef float floats;

#endif

#if defined(__AVX512BW__)

static inline void store_shorts(floats values, uint16_t *to)
{
    _mm256_storeu_si256((__m256i *)to, _mm512_cvtusepi32_epi16(_mm512_cvtps_epi32(values)));
}

/* The lower and upper words of joined[at[i]], loaded directly into halves of registers. */
static inline void load_joined(const uint64_t *joined, const uint16_t *at, words *lower, words *upper)
{
    __m256d quarter[4];
    for (int k = 0; k < 4; k++) {
        __m128d half[2];
        for (int v = 0; v < 2; v++) {
            const uint16_t *two = at + 4 * k + 2 * v;
            half[v] = _mm_loadh_pd(_mm_load_sd((const double *)(joined + two[0])), (const double *)(joined + two[1]));
        }
        quarter[k] = _mm256_insertf128_pd(_mm256_castpd128_pd256(half[0]), half[1], 1);
    }
    const __m512i a = _mm512_castpd_si512(_mm512_insertf64x4(_mm512_castpd256_pd512(quarter[0]), quarter[1], 1));
    const __m512i b = _mm512_castpd_si512(_mm512_insertf64x4(_mm512_castpd256_pd512(quarter[2]), quarter[3], 1));
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    *lower = (words)_mm512_permutex2var_epi32(a, even, b);
    *upper = (words)_mm512_permutex2var_epi32(a, _mm512_add_epi32(even, _mm512_set1_epi32(1)), b);
}

#elif defined(__AVX2__)

static inline void store_shorts(floats values, uint16_t *to)
{
    const __m256i whole = _mm256_cvtps_epi32(values);
    _mm_storeu_si128((__m128i *)to,
                     _mm_packus_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1)));
}

/* The lower and upper words of joined[at[i]], loaded directly into halves of registers. */
static inline void load_joined(const uint64_t *joined, const uint16_t *at, words *lower, words *upper)
{
    __m128d half[4];
    for (int k = 0; k < 4; k++)
        half[k] =
            _mm_loadh_pd(_mm_load_sd((const double *)(joined + at[2 * k])), (const double *)(joined + at[2 * k + 1]));
    const __m256 a = _mm256_castpd_ps(_mm256_insertf128_pd(_mm256_castpd128_pd256(half[0]), half[2], 1));
    const __m256 b = _mm256_castpd_ps(_mm256_insertf128_pd(_mm256_castpd128_pd256(half[1]), half[3], 1));
    *lower = (words)_mm256_castps_si256(_mm256_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0)));
    *upper = (words)_mm256_castps_si256(_mm256_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1)));
}

#endif

/* x in all lanes. */
static inline floats repeat(float x)
{
    return x - (floats){0};
}

static inline floats between(floats low, floats high, floats share, floats rest)
{
    return low * rest + high * share;
}

static inline floats between_four(const floats of[4], floats share, float down)
{
    const floats rest = 1.0F - share;
    return between(between(of[0], of[1], share, rest), between(of[2], of[3], share, rest), repeat(down),
                   repeat(1 - down));
}

#if defined(__AVX512VBMI__)

static void join_bytes(const uint8_t *const tables[4], histo_joined_bytes *joined)
{
    for (int t = 0; t < 4; t++)
        memcpy(joined->of + 256 * t, tables[t], 256);
}

/* The blended values of VECTOR samples. */
static inline void blend_vector(const histo_joined_bytes *joined, __m512i samples, const float *share, float down,
                                bool rounded, void *to)
{
    _Alignas(64) uint8_t found[4][VECTOR];
    for (int t = 0; t < 4; t++) {
        const byte_table table = load_table(joined->of + 256 * t);
        _mm512_store_si512(found[t], look_up(&table, samples));
    }
    for (int at = 0; at < VECTOR; at += LANES) {
        floats of[4];
        for (int t = 0; t < 4; t++)
            of[t] = floats_of((words)_mm512_cvtepu8_epi32(_mm_load_si128((const __m128i *)(found[t] + at))));
        const floats blended = between_four(of, _mm512_loadu_ps(share + at), down);
        if (rounded)
            _mm_storeu_si128((__m128i *)((uint8_t *)to + at), _mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(blended)));
        else
            _mm512_storeu_ps((float *)to + at, blended);
    }
}

static inline void blend_vectors(const histo_joined_bytes *joined, const uint8_t *samples, int n, const float *share,
                                 float down, bool rounded, void *to)
{
    const size_t size = rounded ? sizeof(uint8_t) : sizeof(float);
    if (n < VECTOR) {
        uint8_t bytes[VECTOR] = {0};
        float shares[VECTOR] = {0}, blended[VECTOR];
        memcpy(bytes, samples, (size_t)n);
        memcpy(shares, share, (size_t)n * sizeof *share);
        blend_vector(joined, _mm512_loadu_si512(bytes), shares, down, rounded, blended);
        memcpy(to, blended, (size_t)n * size);
        return;
    }
    const int last = n - VECTOR; /* the last vector overlaps the one before, so it is loaded before results can
                                  * overwrite it */
    const __m512i of_last = _mm512_loadu_si512(samples + last);
    for (int i = 0; i < last; i += VECTOR)
        blend_vector(joined, _mm512_loadu_si512(samples + i), share + i, down, rounded, (char *)to + (size_t)i * size);
    blend_vector(joined, of_last, share + last, down, rounded, (char *)to + (size_t)last * size);
}

static void blend_bytes(const histo_joined_bytes *joined, const uint8_t *samples, int n, const float *share, float down,
                        bool rounded, void *to)
{
    if (rounded)
        blend_vectors(joined, samples, n, share, down, true, to);
    else
        blend_vectors(joined, samples, n, share, down, false, to);
}

#else

static void join_bytes(const uint8_t *const tables[4], histo_joined_bytes *joined)
{
    for (int i = 0; i < 256; i++) {
        const uint32_t four =
            tables[0][i] | (uint32_t)tables[1][i] << 8 | (uint32_t)tables[2][i] << 16 | (uint32_t)tables[3][i] << 24;
        memcpy(joined->of + 4 * i, &four, sizeof four);
    }
}

static void blend_bytes(const histo_joined_bytes *joined, const uint8_t *samples, int n, const float *share, float down,
                        bool rounded, void *to)
{
    enum { PART = 512 };
    uint32_t found[PART];
    float blended[PART];
    for (int begin = 0; begin < n; begin += PART) {
        const int some = n - begin < PART ? n - begin : PART;
        for (int i = 0; i < some; i++)
            memcpy(&found[i], joined->of + 4 * (size_t)samples[begin + i], sizeof found[i]);
        for (int i = 0; i < some; i++) {
            const float right = share[begin + i], left = 1 - right;
            const float above = (float)(int32_t)(found[i] & 255) * left + (float)(int32_t)(found[i] >> 8 & 255) * right;
            const float below =
                (float)(int32_t)(found[i] >> 16 & 255) * left + (float)(int32_t)(found[i] >> 24) * right;
            blended[i] = above * (1 - down) + below * down;
        }
        if (rounded)
            round_bytes(blended, some, (uint8_t *)to + begin);
        else
            memcpy((float *)to + begin, blended, (size_t)some * sizeof *blended);
    }
}

#endif

static void join_shorts(const uint16_t *const tables[4], int n, uint64_t *joined)
{
    const uint16_t *a = tables[0], *b = tables[1], *c = tables[2], *d = tables[3];
    for (int i = 0; i < n; i++)
        joined[i] = a[i] | (uint64_t)b[i] << 16 | (uint64_t)c[i] << 32 | (uint64_t)d[i] << 48;
}

enum { PLACES = 512 }; /* number blended together */

#if defined(__AVX2__)

/* n is a multiple of LANES. */
static inline void blend_places(const uint64_t *joined, const uint16_t *at, int n, const float *share, float down,
                                bool rounded, void *to)
{
    for (int i = 0; i < n; i += LANES) {
        words lower, upper;
        floats shares;
        load_joined(joined, at + i, &lower, &upper);
        memcpy(&shares, share + i, sizeof shares);
        const floats of[4] = {floats_of(lower & 0xffff), floats_of(lower >> 16), floats_of(upper & 0xffff),
                              floats_of(upper >> 16)};
        const floats blended = between_four(of, shares, down);
        if (rounded)
            store_shorts(blended, (uint16_t *)to + i);
        else
            memcpy((float *)to + i, &blended, sizeof blended);
    }
}

/* at[n], padded to a multiple of LANES, are indices into the table. */
static inline void blend_all_places(const uint64_t *joined, const uint16_t *at, int n, const float *share, float down,
                                    bool rounded, void *to)
{
    const int whole = n / LANES * LANES, rest = n - whole;
    const size_t size = rounded ? sizeof(uint16_t) : sizeof(float);
    blend_places(joined, at, whole, share, down, rounded, to);
    if (!rest) return;
    float shares[LANES] = {0}, blended[LANES];
    memcpy(shares, share + whole, (size_t)rest * sizeof *share);
    blend_places(joined, at + whole, LANES, shares, down, rounded, blended);
    memcpy((char *)to + (size_t)whole * size, blended, (size_t)rest * size);
}

#else

static inline void blend_all_places(const uint64_t *joined, const uint16_t *at, int n, const float *share, float down,
                                    bool rounded, void *to)
{
    uint32_t above[PLACES], below[PLACES];
    float blended[PLACES];
    for (int i = 0; i < n; i++) {
        const uint64_t four = joined[at[i]];
        above[i] = (uint32_t)four;
        below[i] = (uint32_t)(four >> 32);
    }
    for (int i = 0; i < n; i++) {
        const float of[4] = {(float)(int32_t)(above[i] & 0xffff), (float)(int32_t)(above[i] >> 16),
                             (float)(int32_t)(below[i] & 0xffff), (float)(int32_t)(below[i] >> 16)};
        blended[i] = between_four(of, share[i], down);
    }
    if (rounded)
        round_shorts(blended, n, to);
    else
        memcpy(to, blended, (size_t)n * sizeof *blended);
}

#endif

static void blend_shorts(const uint64_t *joined, uint16_t last, const uint16_t *samples, int n, const float *share,
                         float down, bool rounded, void *to)
{
    uint16_t at[PLACES] = {0};
    for (int begin = 0; begin < n; begin += PLACES) {
        const int some = n - begin < PLACES ? n - begin : PLACES;
        for (int i = 0; i < some; i++)
            at[i] = samples[begin + i] < last ? samples[begin + i] : last;
        if (rounded)
            blend_all_places(joined, at, some, share + begin, down, true, (uint16_t *)to + begin);
        else
            blend_all_places(joined, at, some, share + begin, down, false, (float *)to + begin);
    }
}

/* ---- Lines between edges ---- */

static inline double share_at(double x, double low, double high, int32_t slot, int32_t bins)
{
    const double share = (x - low) / (high - low), inside = slot == 0 ? 0 : slot == bins + 1 ? 1 : share;
    return slot == bins + 2 ? (double)NAN : inside;
}

/* The edge below; clamped so that there is an edge above. */
static inline int32_t edge_of(int32_t slot, int32_t bins)
{
    const int32_t edge = slot > 0 ? slot - 1 : 0, inside = edge < bins ? edge : bins - 1;
    return slot == bins + 2 ? 0 : inside;
}

static void find_places(const histo_between_edges *axis, const double *restrict samples, int n,
                        uint32_t *restrict slots, double *restrict share)
{
    const int32_t bins = axis->bins;
    const double lo = axis->lo, step = axis->step, top = axis->top;
    const double *edges = axis->edges;
    if (edges)
        for (int i = 0; i < n; i++) {
            const int32_t slot = (int32_t)slots[i], edge = edge_of(slot, bins);
            share[i] = share_at(samples[i], edges[edge], edges[edge + 1], slot, bins);
            slots[i] = (uint32_t)edge;
        }
    else
        for (int i = 0; i < n; i++) {
            const int32_t slot = (int32_t)slots[i], edge = edge_of(slot, bins);
            const double high = edge + 1 == bins ? top : lo + (edge + 1) * step;
            share[i] = share_at(samples[i], lo + edge * step, high, slot, bins);
            slots[i] = (uint32_t)edge;
        }
}

static void interpolate(const double *restrict entries, const uint32_t *restrict edges, const double *restrict share,
                        int n, double *restrict values)
{
    for (int i = 0; i < n; i++) {
        const int32_t edge = (int32_t)edges[i];
        const double low = entries[edge], high = entries[edge + 1];
        values[i] = share[i] == 1 ? high : low + (high - low) * share[i];
    }
}

/* ---- Moments ---- */

#if defined(__AVX512BW__)

/* Sums over part number p of the vector, weighted by powers of p: the sum of i^k * values[i] follows from i = 64 * p +
 * l. */
typedef struct part_sums {
    __m512i zeroth[3], linear[2], square;
} part_sums;

static inline __m512i products(__m512i values, __m512i factors)
{
    return _mm512_madd_epi16(_mm512_maddubs_epi16(values, factors), _mm512_set1_epi16(1));
}

/* The low bytes of two vectors of shorts. */
static inline __m512i narrow(__m512i a, __m512i b)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(a)), _mm512_cvtepi16_epi8(b), 1);
}

static void sum_moments(const uint8_t *values, int n, uint64_t sums[3])
{
    enum { PART = 64 };
    const __m512i low =
        _mm512_cvtepu8_epi16(_mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                                              21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31));
    const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(PART / 2)), mask = _mm512_set1_epi16(63);
    const __m512i low2 = _mm512_mullo_epi16(low, low), high2 = _mm512_mullo_epi16(high, high);
    const __m512i place = narrow(low, high); /* its square is 64 * major + minor, which are signed bytes */
    const __m512i minor = narrow(_mm512_and_si512(low2, mask), _mm512_and_si512(high2, mask));
    const __m512i major = narrow(_mm512_srli_epi16(low2, 6), _mm512_srli_epi16(high2, 6));
    const __m512i zero = _mm512_setzero_si512();
    part_sums s = {{zero, zero, zero}, {zero, zero}, zero};
    for (int begin = 0; begin < n; begin += PART) {
        uint8_t rest[PART] = {0};
        const uint8_t *part = n - begin < PART ? memcpy(rest, values + begin, (size_t)(n - begin)) : values + begin;
        const __m512i of = _mm512_loadu_si512(part), number = _mm512_set1_epi32(begin / PART);
        const __m512i zeroth = _mm512_sad_epu8(of, zero), linear = products(of, place);
        const __m512i once = _mm512_mul_epu32(zeroth, number);
        s.zeroth[0] = _mm512_add_epi64(s.zeroth[0], zeroth);
        s.zeroth[1] = _mm512_add_epi64(s.zeroth[1], once);
        s.zeroth[2] = _mm512_add_epi64(s.zeroth[2], _mm512_mul_epu32(once, number));
        s.linear[0] = _mm512_add_epi32(s.linear[0], linear);
        s.linear[1] = _mm512_add_epi32(s.linear[1], _mm512_mullo_epi32(linear, number));
        s.square = _mm512_add_epi32(s.square, products(of, minor));
        s.square = _mm512_add_epi32(s.square, _mm512_slli_epi32(products(of, major), 6));
    }
    sums[0] = (uint64_t)_mm512_reduce_add_epi64(s.zeroth[0]);
    sums[1] = (uint64_t)(PART * _mm512_reduce_add_epi64(s.zeroth[1]) + _mm512_reduce_add_epi32(s.linear[0]));
    sums[2] = (uint64_t)(PART * PART * _mm512_reduce_add_epi64(s.zeroth[2]) +
                         2 * PART * (int64_t)_mm512_reduce_add_epi32(s.linear[1]) + _mm512_reduce_add_epi32(s.square));
}

#else

static void sum_moments(const uint8_t *values, int n, uint64_t sums[3])
{
    enum { PART = 256, STEP = 32 }; /* 32-bit sums of a vector hold 2^8 * 2^5 * 2^16 */
    sums[0] = sums[1] = sums[2] = 0;
    for (int begin = 0; begin < n; begin += PART) {
        const uint8_t *part = values + begin;
        uint8_t rest[PART];
        const int some = n - begin < PART ? n - begin : PART, padded = (some + STEP - 1) / STEP * STEP;
        if (some < padded) {
            memcpy(rest, part, (size_t)some);
            memset(rest + some, 0, (size_t)(padded - some));
            part = rest;
        }
        const uint64_t first = (uint64_t)begin;
        uint32_t zeroth = 0, linear = 0, square = 0;
        for (uint32_t i = 0; i < (uint32_t)padded; i++) {
            zeroth += part[i];
            linear += i * part[i];
            square += i * i * part[i];
        }
        sums[0] += zeroth;
        sums[1] += first * zeroth + linear;
        sums[2] += first * first * zeroth + 2 * first * linear + square;
    }
}

#endif

const histo_map_kernels HISTO_WITH_ISA(map_kernels, HISTO_ISA) = {
    .map_bytes = map_bytes,
    .map_numbers = map_numbers,
    .map_pairs = map_pairs,
    .join_bytes = join_bytes,
    .join_shorts = join_shorts,
    .blend_bytes = blend_bytes,
    .blend_shorts = blend_shorts,
    .find_shares = find_shares,
    .round_bytes = round_bytes,
    .round_shorts = round_shorts,
    .find_places = find_places,
    .interpolate = interpolate,
    .sum_moments = sum_moments,
};
