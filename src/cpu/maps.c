/* Kernels of maps. Compiled once for each level of the instruction set (isa.h), without contraction; where nothing else
 * is said, the compiler vectorises the loops.
 *
 * Tables of 256 bytes are looked up by permutations of vectors: four registers hold a table with VBMI, 16 lookups of 16
 * bytes make one with AVX2 and NEON. Tables of more or wider entries are read sample by sample, which is limited by
 * loads: so the four tables of a blend are joined, and one load brings what all of them have for a sample. */
#include "cpu/maps.h"

#include <math.h>
#include <string.h>

#include "cpu/isa.h"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
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
    const byte_table t = load_table(table);
    for (int64_t i = 0; i < n; i += VECTOR) {
        const __mmask64 some = n - i < VECTOR ? ~(~UINT64_C(0) << (n - i)) : ~UINT64_C(0);
        _mm512_mask_storeu_epi8(to + i, some, look_up(&t, _mm512_maskz_loadu_epi8(some, samples + i)));
    }
    return n;
}

#elif defined(__AVX2__)

/* 16 lookups by the low four bits, of which the high four choose, bit by bit. */
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
        __m256i found[PARTS], bit = _mm256_slli_epi16(of, 3); /* bit 4 where blends look for it */
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

#elif defined(__ARM_NEON)

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

#if defined(__AVX512VBMI__)

/* Tables of up to 1024 bytes, by permutations of 128 bytes each. */
static void map_few_pairs(const histo_pair_table *table, const uint8_t *a, const uint8_t *b, int n, uint8_t *to)
{
    enum { PART = 2 * VECTOR };
    const byte_table low = load_table(table->low), high = load_table(table->high), column = load_table(table->column);
    for (int i = 0; i < n; i += VECTOR) {
        const __mmask64 some = n - i < VECTOR ? ~(~UINT64_C(0) << (n - i)) : ~UINT64_C(0);
        const __m512i of_a = _mm512_maskz_loadu_epi8(some, a + i), of_b = _mm512_maskz_loadu_epi8(some, b + i);
        const __m512i at = _mm512_or_si512(look_up(&low, of_a), look_up(&column, of_b));
        __m512i part = look_up(&high, of_a); /* of 256 bytes; then of 128: */
        part = _mm512_add_epi8(part, part);
        part = _mm512_mask_add_epi8(part, _mm512_movepi8_mask(at), part, _mm512_set1_epi8(1));
        __m512i found = _mm512_setzero_si512();
        for (int k = 0; k * PART < table->size; k++) {
            const uint8_t *from = table->results + k * PART;
            const __m512i here =
                _mm512_permutex2var_epi8(_mm512_loadu_si512(from), at, _mm512_loadu_si512(from + VECTOR));
            found = _mm512_mask_mov_epi8(found, _mm512_cmpeq_epi8_mask(part, _mm512_set1_epi8((char)k)), here);
        }
        _mm512_mask_storeu_epi8(to + i, some, found);
    }
}

#endif

static void map_pairs(const histo_pair_table *table, const uint8_t *a, const uint8_t *b, int n, uint8_t *to)
{
    enum { FEW = 1024, PART = 512 };
#if defined(__AVX512VBMI__)
    if (table->size <= FEW) {
        map_few_pairs(table, a, b, n, to);
        return;
    }
#endif
    uint8_t low[PART], high[PART], column[PART];
    uint16_t at[PART];
    for (int begin = 0; begin < n; begin += PART) {
        const int some = n - begin < PART ? n - begin : PART;
        map_bytes(table->low, a + begin, some, low);
        map_bytes(table->high, a + begin, some, high);
        map_bytes(table->column, b + begin, some, column);
        for (int i = 0; i < some; i++)
            at[i] = (uint16_t)(high[i] << 8 | low[i] | column[i]);
        for (int i = 0; i < some; i++)
            to[begin + i] = table->results[at[i]];
    }
}

/* ---- Blends ---- */

/* The blend of two values in float, in OpenCV's order. */
static inline float between(float low, float high, float share)
{
    return low * (1 - share) + high * share;
}

static inline float between_four(float a, float b, float c, float d, float share, float down)
{
    return between(between(a, b, share), between(c, d, share), down);
}

#if defined(__AVX512VBMI__)

static void join_bytes(const uint8_t *const tables[4], histo_joined_bytes *joined)
{
    for (int t = 0; t < 4; t++)
        memcpy(joined->of + 256 * t, tables[t], 256);
}

static inline __m512 floats_of(const uint8_t *bytes)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_load_si128((const __m128i *)bytes)));
}

static inline __m512 between_vectors(__m512 low, __m512 high, __m512 share, __m512 rest)
{
    return _mm512_add_ps(_mm512_mul_ps(low, rest), _mm512_mul_ps(high, share));
}

static void blend_bytes(const histo_joined_bytes *joined, const uint8_t *samples, int n, const float *share, float down,
                        float *values)
{
    enum { LANES = 16 };
    const __m512 one = _mm512_set1_ps(1), lower = _mm512_set1_ps(down), upper = _mm512_sub_ps(one, lower);
    _Alignas(64) uint8_t found[4][VECTOR];
    for (int i = 0; i < n; i += VECTOR) {
        const __mmask64 some = n - i < VECTOR ? ~(~UINT64_C(0) << (n - i)) : ~UINT64_C(0);
        const __m512i of = _mm512_maskz_loadu_epi8(some, samples + i);
        for (int t = 0; t < 4; t++) {
            const byte_table table = load_table(joined->of + 256 * t);
            _mm512_store_si512(found[t], look_up(&table, of));
        }
        for (int k = 0; k < VECTOR / LANES; k++) {
            const __mmask16 part = (__mmask16)(some >> (k * LANES));
            const __m512 right = _mm512_maskz_loadu_ps(part, share + i + k * LANES), left = _mm512_sub_ps(one, right);
            const int at = k * LANES;
            const __m512 above = between_vectors(floats_of(found[0] + at), floats_of(found[1] + at), right, left);
            const __m512 below = between_vectors(floats_of(found[2] + at), floats_of(found[3] + at), right, left);
            _mm512_mask_storeu_ps(values + i + at, part, between_vectors(above, below, lower, upper));
        }
    }
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
                        float *values)
{
    enum { PART = 512 };
    uint32_t found[PART];
    for (int begin = 0; begin < n; begin += PART) {
        const int some = n - begin < PART ? n - begin : PART;
        for (int i = 0; i < some; i++)
            memcpy(&found[i], joined->of + 4 * (size_t)samples[begin + i], sizeof found[i]);
        for (int i = 0; i < some; i++)
            values[begin + i] = between_four((float)(int32_t)(found[i] & 255), (float)(int32_t)(found[i] >> 8 & 255),
                                             (float)(int32_t)(found[i] >> 16 & 255), (float)(int32_t)(found[i] >> 24),
                                             share[begin + i], down);
    }
}

#endif

static void join_shorts(const uint16_t *const tables[4], int n, uint64_t *joined)
{
    const uint16_t *a = tables[0], *b = tables[1], *c = tables[2], *d = tables[3];
    for (int i = 0; i < n; i++)
        joined[i] = a[i] | (uint64_t)b[i] << 16 | (uint64_t)c[i] << 32 | (uint64_t)d[i] << 48;
}

static void blend_shorts(const uint64_t *joined, uint16_t last, const uint16_t *samples, int n, const float *share,
                         float down, float *values)
{
    enum { PART = 256 };
    uint16_t at[PART];
    uint32_t above[PART], below[PART];
    for (int begin = 0; begin < n; begin += PART) {
        const int some = n - begin < PART ? n - begin : PART;
        for (int i = 0; i < some; i++)
            at[i] = samples[begin + i] < last ? samples[begin + i] : last;
        for (int i = 0; i < some; i++) {
            const uint64_t four = joined[at[i]];
            above[i] = (uint32_t)four;
            below[i] = (uint32_t)(four >> 32);
        }
        for (int i = 0; i < some; i++)
            values[begin + i] = between_four((float)(int32_t)(above[i] & 0xffff), (float)(int32_t)(above[i] >> 16),
                                             (float)(int32_t)(below[i] & 0xffff), (float)(int32_t)(below[i] >> 16),
                                             share[begin + i], down);
    }
}

/* Adding 3 * 2^22 rounds to a whole number, which is in the low bits of the sum. */
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

/* ---- Lines between edges ---- */

static inline double share_at(double x, double low, double high, int32_t slot, int32_t bins)
{
    const double share = (x - low) / (high - low), inside = slot == 0 ? 0 : slot == bins + 1 ? 1 : share;
    return slot == bins + 2 ? (double)NAN : inside;
}

/* The edge below, or the nearest one that has an edge above. */
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

static void sum_moments(const uint8_t *values, int n, uint64_t sums[3])
{
    enum { PART = 64 }; /* sums of 32 bits hold 2^8 * 2^6 * 2^12 */
    sums[0] = sums[1] = sums[2] = 0;
    for (int begin = 0; begin < n; begin += PART) {
        const uint8_t *part = values + begin;
        const int some = n - begin < PART ? n - begin : PART;
        const uint64_t first = (uint64_t)begin;
        uint32_t zeroth = 0, linear = 0, square = 0;
        if (some == PART)
            for (uint32_t i = 0; i < PART; i++) {
                zeroth += part[i];
                linear += i * part[i];
                square += i * i * part[i];
            }
        else
            for (uint32_t i = 0; i < (uint32_t)some; i++) {
                zeroth += part[i];
                linear += i * part[i];
                square += i * i * part[i];
            }
        sums[0] += zeroth;
        sums[1] += first * zeroth + linear;
        sums[2] += first * first * zeroth + 2 * first * linear + square;
    }
}

const histo_map_kernels HISTO_WITH_ISA(map_kernels, HISTO_ISA) = {
    .map_bytes = map_bytes,
    .map_pairs = map_pairs,
    .join_bytes = join_bytes,
    .join_shorts = join_shorts,
    .blend_bytes = blend_bytes,
    .blend_shorts = blend_shorts,
    .round_bytes = round_bytes,
    .round_shorts = round_shorts,
    .find_places = find_places,
    .interpolate = interpolate,
    .sum_moments = sum_moments,
};
