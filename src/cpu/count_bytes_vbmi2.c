/* Counting bytes by positional popcount: 64 values are the 64 bits of a word, and words are added bit by bit.
 *
 * 1. Split a chunk into four groups by the two high bits (compress). Within a group the low six bits are the value.
 * 2. A byte becomes a word with bit (value) set: a rotation, which looks at six bits only, so that whatever stands
 *    above the byte in its lane does no harm. Eight loads, each a byte further, bring every byte to the low end of a
 *    lane.
 * 3. Carry-save adders sum these words in planes: plane p holds bit p of each count, of 8 lanes with 64 counts each.
 * Two ternary-logic operations add two vectors to a plane and carry one to the next.
 * 4. Before a count can outgrow the planes they are added to the counters.
 * A block of equal bytes is one addition.
 *
 * For 64 bytes: 4 compressions and stores, 8 rotations, 16 operations of the adders and about 3 of the rest; it does
 * not depend on the data. Compiled for AVX-512 BW and VBMI2. */
#include <immintrin.h>
#include <string.h>

#include "cpu/count_bytes.h"

enum {
    CHUNK = 8192, /* bytes split before groups are counted: all of it stays in the first-level cache */
    BLOCK = 512,  /* bytes of one group counted together: 64 vectors of 8 */
    RUN = 256,
    TREE = 6,    /* planes that a block's tree of adders works on: it carries multiples of 64 */
    PLANES = 12, /* counts of a lane below 4096 */
    MOST_BLOCKS = ((1 << PLANES) - 1) / (1 << TREE),
};

typedef struct group {
    _Alignas(64) uint8_t bytes[BLOCK + CHUNK + 64]; /* and room to store and load whole vectors */
    __m512i planes[PLANES];
    size_t filled;
    int blocks; /* in the planes */
} group;

typedef struct state {
    group groups[4];
    size_t split; /* bytes, since groups were counted */
    _Alignas(64) uint64_t counts[256];
} state;

static void start(void *at)
{
    state *s = at;
    for (int g = 0; g < 4; g++) {
        memset(s->groups[g].planes, 0, sizeof s->groups[g].planes);
        s->groups[g].filled = 0;
        s->groups[g].blocks = 0;
    }
    s->split = 0;
    memset(s->counts, 0, sizeof s->counts);
}

/* *plane + a + b: the sum bits stay, the carries are returned. */
static inline __m512i add_carry(__m512i *plane, __m512i a, __m512i b)
{
    enum { PARITY = 0x96, MAJORITY = 0xe8 };
    __m512i carries = _mm512_ternarylogic_epi64(*plane, a, b, MAJORITY);
    *plane = _mm512_ternarylogic_epi64(*plane, a, b, PARITY);
    return carries;
}

/* Bit (value mod 64) of each lane, for bytes at, at + 8, … at + 56. */
static inline __m512i one_hot(const uint8_t *at)
{
    return _mm512_rolv_epi64(_mm512_set1_epi64(1), _mm512_loadu_si512(at));
}

/* Trees of adders over 4, 8, … 64 vectors; each returns its carries, multiples of as many. */
static inline __m512i add_4(__m512i *planes, const uint8_t *at)
{
    __m512i a = add_carry(&planes[0], one_hot(at), one_hot(at + 1));
    __m512i b = add_carry(&planes[0], one_hot(at + 2), one_hot(at + 3));
    return add_carry(&planes[1], a, b);
}

static inline __m512i add_8(__m512i *planes, const uint8_t *at)
{
    __m512i a = add_4(planes, at), b = add_4(planes, at + 4);
    return add_carry(&planes[2], a, b);
}

static inline __m512i add_16(__m512i *planes, const uint8_t *at)
{
    __m512i a = add_8(planes, at), b = add_8(planes, at + 64);
    return add_carry(&planes[3], a, b);
}

static inline __m512i add_32(__m512i *planes, const uint8_t *at)
{
    __m512i a = add_16(planes, at), b = add_16(planes, at + 128);
    return add_carry(&planes[4], a, b);
}

static inline __m512i add_64(__m512i *planes, const uint8_t *at)
{
    __m512i a = add_32(planes, at), b = add_32(planes, at + 256);
    return add_carry(&planes[5], a, b);
}

/* Add the planes to the counts of the group's 64 values, and clear them. 16 bits hold the sum of 8 lanes. */
static void empty_planes(group *g, uint64_t *counts)
{
    __m512i low = _mm512_setzero_si512(), high = low;
    for (int p = 0; p < PLANES; p++) {
        const __m512i worth = _mm512_set1_epi16((short)(1 << p));
        uint64_t lanes[8];
        _mm512_storeu_si512(lanes, g->planes[p]);
        for (int l = 0; l < 8; l++) {
            low = _mm512_mask_add_epi16(low, (__mmask32)lanes[l], low, worth);
            high = _mm512_mask_add_epi16(high, (__mmask32)(lanes[l] >> 32), high, worth);
        }
    }
    uint16_t sums[64];
    _mm512_storeu_si512(sums, low);
    _mm512_storeu_si512(sums + 32, high);
    for (int v = 0; v < 64; v++)
        counts[v] += sums[v];
    memset(g->planes, 0, sizeof g->planes);
    g->blocks = 0;
}

/* Count blocks of the group from `at` on, as many as the planes hold; returns where it stopped. */
static size_t count_blocks(group *g, size_t at)
{
    __m512i planes[PLANES];
    memcpy(planes, g->planes, sizeof planes);
    for (; at + BLOCK <= g->filled && g->blocks < MOST_BLOCKS; at += BLOCK, g->blocks++) {
        __m512i carries = add_64(planes, g->bytes + at);
        for (int p = TREE; p < PLANES; p++) {
            __m512i plane = planes[p];
            planes[p] = _mm512_xor_si512(plane, carries);
            carries = _mm512_and_si512(plane, carries);
        }
    }
    memcpy(g->planes, planes, sizeof planes);
    return at;
}

/* Count the group's whole blocks; less than one is left, at the front. */
static void count_group(group *g, uint64_t *counts)
{
    if (g->filled < BLOCK) return;
    size_t at = 0;
    while (g->filled - at >= BLOCK) {
        if (g->blocks == MOST_BLOCKS) empty_planes(g, counts);
        at = count_blocks(g, at);
    }
    for (size_t i = 0; i < BLOCK; i += 64)
        _mm512_store_si512(g->bytes + i, _mm512_loadu_si512(g->bytes + at + i));
    g->filled -= at;
}

/* Append the bytes of v to their groups. */
static inline void split(state *s, __m512i v, size_t filled[4])
{
    __mmask64 high = _mm512_movepi8_mask(v), next = _mm512_movepi8_mask(_mm512_add_epi8(v, v));
    __mmask64 both = _kand_mask64(high, next);
    __mmask64 of_group[4] = {_knot_mask64(_kor_mask64(high, next)), _kandn_mask64(high, next),
                             _kandn_mask64(next, high), both};
    size_t in_both = (size_t)_mm_popcnt_u64(_cvtmask64_u64(both));
    size_t in_high = (size_t)_mm_popcnt_u64(_cvtmask64_u64(high));
    size_t in_next = (size_t)_mm_popcnt_u64(_cvtmask64_u64(next));
    size_t in_group[4] = {64 - in_high - in_next + in_both, in_next - in_both, in_high - in_both, in_both};
    for (int g = 0; g < 4; g++) {
        _mm512_storeu_si512(s->groups[g].bytes + filled[g], _mm512_maskz_compress_epi8(of_group[g], v));
        filled[g] += in_group[g];
    }
}

/* Are the RUN bytes of a, b, c, d all equal? shifted: those of a, and the one after, from the second on. */
static inline bool all_equal(__m512i shifted, __m512i a, __m512i b, __m512i c, __m512i d)
{
    enum { OR_XOR = 0xf6 }; /* x | (y ^ z) */
    __m512i differ = _mm512_xor_si512(shifted, a);
    differ = _mm512_ternarylogic_epi64(differ, a, b, OR_XOR);
    differ = _mm512_ternarylogic_epi64(differ, a, c, OR_XOR);
    differ = _mm512_ternarylogic_epi64(differ, a, d, OR_XOR);
    return _mm512_test_epi64_mask(differ, differ) == 0;
}

static void split_all(state *s, const uint8_t *bytes, size_t n)
{
    size_t filled[4], i = 0;
    for (int g = 0; g < 4; g++)
        filled[g] = s->groups[g].filled;
    for (; i + RUN <= n; i += RUN) {
        __m512i v[4];
        for (int k = 0; k < 4; k++) {
            v[k] = _mm512_loadu_si512(bytes + i + 64 * k);
            __builtin_prefetch(bytes + i + 64 * k + CHUNK, 0, 2); /* while groups are counted nothing else is read */
        }
        if (all_equal(_mm512_loadu_si512(bytes + i + 1), v[0], v[1], v[2], v[3])) {
            s->counts[bytes[i]] += RUN;
            continue;
        }
        for (int k = 0; k < 4; k++)
            split(s, v[k], filled);
    }
    for (; i + 64 <= n; i += 64)
        split(s, _mm512_loadu_si512(bytes + i), filled);
    for (; i < n; i++)
        s->counts[bytes[i]]++;
    for (int g = 0; g < 4; g++)
        s->groups[g].filled = filled[g];
}

static void add(void *at, const uint8_t *bytes, size_t n)
{
    state *s = at;
    while (n) {
        size_t room = CHUNK - s->split, some = n < room ? n : room;
        split_all(s, bytes, some);
        bytes += some;
        n -= some;
        s->split += some;
        if (s->split < CHUNK) continue;
        for (int g = 0; g < 4; g++)
            count_group(&s->groups[g], s->counts + 64 * g);
        s->split = 0;
    }
}

static void finish(void *at, uint64_t counts[256])
{
    state *s = at;
    for (int g = 0; g < 4; g++) {
        group *it = &s->groups[g];
        count_group(it, s->counts + 64 * g);
        for (size_t i = 0; i < it->filled; i++)
            s->counts[it->bytes[i]]++;
        it->filled = 0;
        empty_planes(it, s->counts + 64 * g);
    }
    for (int v = 0; v < 256; v++)
        counts[v] += s->counts[v];
    memset(s->counts, 0, sizeof s->counts);
    s->split = 0;
}

const histo_byte_counting histo_byte_counting_vbmi2 = {sizeof(state), 0.16, start, add, finish};
