/* Counting bytes by positional popcount: 64 values are the 64 bits of a word, and words are added bit by bit.
 *
 * 1. Split the bytes into four groups by their two high bits (compress). Within a group the low six bits are the value.
 * 2. Turn a byte into a word with bit (value) set: a rotation, which uses only the low six bits of its count, so
 * whatever is above the byte in its lane does no harm. Eight loads at consecutive addresses bring every byte to the low
 * end of a lane.
 * 3. Carry-save adders sum these words in planes: plane p holds bit p of each count, for 8 lanes with 64 counts each.
 * Two ternary-logic operations add two vectors to a plane and carry one to the next.
 * 4. Before a count can exceed the planes, they are added to the counters.
 * Splitting and counting use different execution ports, so they are interleaved, a few instructions at a time: with
 * each block that is split, one block of the fullest group is counted. A block of equal bytes is one addition.
 *
 * For 64 bytes: 4 compressions and stores, 8 rotations, 16 adder operations and about 3 others; it does not depend on
 * the data. Compiled for AVX-512 BW and VBMI2. */
#include <immintrin.h>
#include <string.h>

#include "cpu/samples/runs.h"
#include "cpu/strategies/count_bytes.h"

enum {
    BLOCK = 512,      /* bytes of one group that are counted together: 64 vectors of 8 */
    CHUNK = 8192,     /* bytes split between two packings of the groups: everything fits the L1 cache */
    LEFT = 4 * BLOCK, /* upper bound of the bytes left over: each split also counts a full block of a group */
    TREE = 6,         /* planes in a block's adder tree, which carries multiples of 64 */
    PLANES = 12,      /* counts per lane below 4096 */
    MAX_BLOCKS = ((1 << PLANES) - 1) / (1 << TREE),
};

typedef struct group {
    _Alignas(64) uint8_t bytes[LEFT + CHUNK + 64]; /* with room to load and store full vectors */
    __m512i planes[PLANES];
    size_t begin, end; /* the bytes not yet counted */
    int blocks;        /* number of blocks in the planes */
} group;

typedef struct state {
    group groups[4];
    size_t split; /* bytes split since the groups were packed */
    _Alignas(64) uint64_t counts[256];
} state;

static void start(void *at)
{
    state *s = at;
    for (int g = 0; g < 4; g++) {
        memset(s->groups[g].planes, 0, sizeof s->groups[g].planes);
        s->groups[g].begin = s->groups[g].end = 0;
        s->groups[g].blocks = 0;
    }
    s->split = 0;
    memset(s->counts, 0, sizeof s->counts);
}

/* *plane += a + b without carries, which are returned. */
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

/* Add the planes to the counts of the group's 64 values, and clear them. 16 bits hold the sum over 8 lanes. */
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

/* Always inlined, to keep the planes and the ends of the groups in registers. */
#define INLINE static inline __attribute__((always_inline))

/* Append the bytes of v, all below 128, to their groups. */
INLINE void split_in_two(state *s, __m512i v, size_t ends[4])
{
    const __mmask64 high = _mm512_movepi8_mask(_mm512_add_epi8(v, v));
    const size_t in_high = (size_t)_mm_popcnt_u64(_cvtmask64_u64(high));
    _mm512_storeu_si512(s->groups[0].bytes + ends[0], _mm512_maskz_compress_epi8(_knot_mask64(high), v));
    _mm512_storeu_si512(s->groups[1].bytes + ends[1], _mm512_maskz_compress_epi8(high, v));
    ends[0] += 64 - in_high;
    ends[1] += in_high;
}

/* Append the bytes of v to their groups. */
INLINE void split(state *s, __m512i v, size_t ends[4])
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
        _mm512_storeu_si512(s->groups[g].bytes + ends[g], _mm512_maskz_compress_epi8(of_group[g], v));
        ends[g] += in_group[g];
    }
}

/* A block to be split while another is counted: bytes, or 16-bit integers that are narrowed to bytes; both NULL if
 * there is none. */
typedef struct input {
    state *to;
    const uint8_t *bytes;
    const uint16_t *shorts;
    bool halves;    /* the bytes are below 128 */
    __m512i first;  /* subtracted from the shorts */
    __m128i shift;  /* shift to the right that follows */
    size_t ends[4]; /* the end of each group */
} input;

/* Narrow shorts to bytes, in another order: a pack takes eight bytes of either vector in turn. */
INLINE __m512i narrow(const input *in, const uint16_t *shorts)
{
    const __m512i a = _mm512_sub_epi16(_mm512_loadu_si512(shorts), in->first);
    const __m512i b = _mm512_sub_epi16(_mm512_loadu_si512(shorts + 32), in->first);
    return _mm512_packus_epi16(_mm512_srl_epi16(a, in->shift), _mm512_srl_epi16(b, in->shift));
}

INLINE void split_some(input *in, size_t at)
{
    if (in->bytes) {
        split(in->to, _mm512_loadu_si512(in->bytes + at), in->ends);
        __builtin_prefetch(in->bytes + at + CHUNK, 0, 2);
    }
    if (in->shorts && in->halves)
        split_in_two(in->to, narrow(in, in->shorts + at), in->ends);
    else if (in->shorts)
        split(in->to, narrow(in, in->shorts + at), in->ends);
}

/* Adder trees over 4, 8, … 64 vectors of a block; each returns its carries, which have that weight. */
INLINE __m512i add_4(__m512i *planes, const uint8_t *block, size_t at)
{
    const uint8_t *b = block + at;
    __m512i low = add_carry(&planes[0], one_hot(b), one_hot(b + 1));
    __m512i high = add_carry(&planes[0], one_hot(b + 2), one_hot(b + 3));
    return add_carry(&planes[1], low, high);
}

INLINE __m512i add_8(__m512i *planes, const uint8_t *block, size_t at, input *in)
{
    split_some(in, at);
    __m512i low = add_4(planes, block, at), high = add_4(planes, block, at + 4);
    return add_carry(&planes[2], low, high);
}

INLINE __m512i add_16(__m512i *planes, const uint8_t *block, size_t at, input *in)
{
    __m512i low = add_8(planes, block, at, in), high = add_8(planes, block, at + 64, in);
    return add_carry(&planes[3], low, high);
}

INLINE __m512i add_32(__m512i *planes, const uint8_t *block, size_t at, input *in)
{
    __m512i low = add_16(planes, block, at, in), high = add_16(planes, block, at + 128, in);
    return add_carry(&planes[4], low, high);
}

INLINE __m512i add_64(__m512i *planes, const uint8_t *block, size_t at, input *in)
{
    __m512i low = add_32(planes, block, at, in), high = add_32(planes, block, at + 256, in);
    return add_carry(&planes[5], low, high);
}

/* Split a block, if there is one, while counting a block of the group, unless g is NULL. */
INLINE void split_and_count(state *s, input in, group *g)
{
    in.to = s;
    for (int i = 0; i < 4; i++)
        in.ends[i] = s->groups[i].end;
    if (g) {
        if (g->blocks == MAX_BLOCKS) empty_planes(g, s->counts + 64 * (g - s->groups));
        __m512i planes[TREE]; /* copied in a loop: memcpy would keep them in memory */
        for (int p = 0; p < TREE; p++)
            planes[p] = g->planes[p];
        __m512i carries = add_64(planes, g->bytes + g->begin, 0, &in);
        for (int p = 0; p < TREE; p++)
            g->planes[p] = planes[p];
        for (int p = TREE; p < PLANES; p++) {
            __m512i plane = g->planes[p];
            g->planes[p] = _mm512_xor_si512(plane, carries);
            carries = _mm512_and_si512(plane, carries);
        }
        g->begin += BLOCK;
        g->blocks++;
    } else {
        for (size_t at = 0; at < BLOCK; at += 64)
            split_some(&in, at);
    }
    for (int i = 0; i < 4; i++)
        s->groups[i].end = in.ends[i];
}

/* The group with the most uncounted bytes; NULL if none has a full block. */
static inline group *fullest(state *s)
{
    group *best = NULL;
    size_t most = BLOCK - 1;
    for (int i = 0; i < 4; i++) {
        group *g = &s->groups[i];
        size_t has = g->end - g->begin;
        best = has > most ? g : best;
        most = has > most ? has : most;
    }
    return best;
}

/* Whether all bytes of a block are equal. The first vector rules out nearly all others. */
static inline bool all_equal(const uint8_t *bytes)
{
    const __m512i first = _mm512_loadu_si512(bytes);
    return _mm512_cmpneq_epi64_mask(_mm512_loadu_si512(bytes + 1), first) == 0 && histo_all_equal(bytes, BLOCK, 1);
}

/* Count all full blocks. */
static void drain(state *s)
{
    for (int i = 0; i < 4; i++)
        for (group *g = &s->groups[i]; g->end - g->begin >= BLOCK;)
            split_and_count(s, (input){0}, g);
}

/* Split less than a block. */
static void split_rest(state *s, const uint8_t *bytes, size_t n)
{
    size_t i = 0, ends[4] = {s->groups[0].end, s->groups[1].end, s->groups[2].end, s->groups[3].end};
    for (; i + 64 <= n; i += 64)
        split(s, _mm512_loadu_si512(bytes + i), ends);
    for (int g = 0; g < 4; g++)
        s->groups[g].end = ends[g];
    for (; i < n; i++)
        s->counts[bytes[i]]++;
    drain(s);
}

static void split_all(state *s, const uint8_t *bytes, size_t n)
{
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        if (all_equal(bytes + i))
            s->counts[bytes[i]] += BLOCK;
        else
            split_and_count(s, (input){.bytes = bytes + i}, fullest(s));
    }
    if (i < n) split_rest(s, bytes + i, n - i);
}

/* Move the remaining bytes of each group to the front. */
static void pack(state *s)
{
    for (int i = 0; i < 4; i++) {
        group *g = &s->groups[i];
        g->end -= g->begin;
        for (size_t at = 0; at < g->end; at += 64)
            _mm512_store_si512(g->bytes + at, _mm512_loadu_si512(g->bytes + g->begin + at));
        g->begin = 0;
    }
    s->split = 0;
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
        if (s->split == CHUNK) pack(s);
    }
}

/* Whether all integers of a block are in first … first + width. */
INLINE bool are_inside(const uint16_t *shorts, __m512i first, __m512i width)
{
    __m512i farthest = _mm512_setzero_si512();
    for (int i = 0; i < BLOCK; i += 32) {
        farthest = _mm512_max_epu16(farthest, _mm512_sub_epi16(_mm512_loadu_si512(shorts + i), first));
        __builtin_prefetch((const char *)(shorts + i) + CHUNK, 0, 2);
    }
    return _mm512_cmpgt_epu16_mask(farthest, width) == 0;
}

INLINE size_t add_some(state *s, const uint16_t *shorts, size_t n, const histo_shorts *as, bool halves)
{
    const __m512i width = _mm512_set1_epi16((short)as->width);
    input in = {.halves = halves, .first = _mm512_set1_epi16((short)as->first), .shift = _mm_cvtsi32_si128(as->shift)};
    size_t i = 0;
    for (; i + BLOCK <= n && are_inside(shorts + i, in.first, width); i += BLOCK) {
        if (s->split + BLOCK > CHUNK) pack(s);
        in.shorts = shorts + i;
        split_and_count(s, in, fullest(s));
        s->split += BLOCK;
    }
    return i;
}

static size_t add_shorts(void *at, const uint16_t *shorts, size_t n, const histo_shorts *as)
{
    return as->width >> as->shift < 128 ? add_some(at, shorts, n, as, true) : add_some(at, shorts, n, as, false);
}

static void finish(void *at, uint64_t counts[256])
{
    state *s = at;
    drain(s);
    for (int i = 0; i < 4; i++) {
        group *g = &s->groups[i];
        for (; g->begin < g->end; g->begin++)
            s->counts[g->bytes[g->begin]]++;
        empty_planes(g, s->counts + 64 * i);
    }
    pack(s);
    for (int v = 0; v < 256; v++)
        counts[v] += s->counts[v];
    memset(s->counts, 0, sizeof s->counts);
}

const histo_byte_counting histo_byte_counting_vbmi2 = {sizeof(state), 0.14, 0.85, start, add, add_shorts, finish};
