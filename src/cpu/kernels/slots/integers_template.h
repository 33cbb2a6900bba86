/* Integers of one type -> slots and codes on bins of 2^k integers (histo_pow2), or directly into counters. slots.c
 * includes this once for each type: NAME(function) is the function's name for the type, PREFIX is int or uint, and BITS
 * is the width. */
#define TYPE HISTO_JOIN(PREFIX, HISTO_JOIN(BITS, _t))
#define TYPE_32 HISTO_JOIN(PREFIX, 32_t) /* with the same signedness */
#define TYPE_64 HISTO_JOIN(PREFIX, 64_t)

/* Bins of 2^shift integers: see histo_pow2. low and high are 32-bit numbers of the samples' signedness. */
static inline void NAME(pow2)(const histo_lookup *l, const TYPE *restrict samples, int n, uint32_t *restrict out)
{
    const TYPE low = (TYPE)(TYPE_32)l->pow2.low, high = (TYPE)(TYPE_32)l->pow2.high;
    const uint32_t from = l->pow2.from;
    const int shift = l->pow2.shift;
    const uint32_t at_high = l->pow2.closed ? (uint32_t)l->bins : ((uint32_t)high - from) >> shift;
    for (int i = 0; i < n; i++) {
        TYPE x = samples[i], cut = x > low ? x : low;
        cut = cut < high ? cut : high;
        uint32_t slot = ((uint32_t)cut - from) >> shift;
        out[i] = x == high ? at_high : slot;
    }
}

#if BITS > 8

/* The slots of a piece, produced while those of the previous piece are counted. */
static void NAME(produce_pow2)(const histo_lookup *l, const histo_spans *spans, const void *from, uint32_t *out,
                               histo_consumer to)
{
    (void)spans;
    const TYPE *samples = from;
    for (int i = 0; i < HISTO_PIECE; i += BATCH) {
        histo_prefetch_l1(samples + i, BATCH * sizeof *samples);
        NAME(pow2)(l, samples + i, BATCH, out + i);
        histo_consume(&to, i / BATCH);
    }
}

#endif

#if BITS == 16 || BITS == 32

/* Codes on bins of 2^shift integers; false if a sample is outside the bins, or equal to the end of a closed axis.
 * Computes in the samples' width; also false if a distance from lo, which need not be a value of that type, does not
 * fit it. */
static bool NAME(pow2_codes)(const histo_lookup *l, const TYPE *restrict samples, int n, uint8_t *restrict codes)
{
    const int shift = l->pow2.shift & (BITS - 1);
    const uint32_t from = l->pow2.from, lo = from + ((uint32_t)1 << l->pow2.shift);
    const uint32_t low = l->pow2.low, high = l->pow2.high; /* either may be just outside the bins */
    const TYPE first = (TYPE)(low + ((low - from) >> l->pow2.shift == 0));
    const TYPE last = (TYPE)(high - ((high - from) >> l->pow2.shift > (uint32_t)l->bins));
    bool beyond = l->pow2.shift >= BITS || (uint32_t)last - lo > (UNSIGNED)-1;
    UNSIGNED outside = 0;
    int i = 0;
    if (BITS == 16 && first <= last)
        i = short_codes(samples, n, (uint16_t)first, (uint16_t)((uint32_t)last - (uint32_t)first), (uint16_t)lo, shift,
                        codes, &beyond);
    for (; i < n; i++) {
        outside |= (UNSIGNED)(samples[i] < first) | (UNSIGNED)(samples[i] > last);
        codes[i] = (uint8_t)((UNSIGNED)((UNSIGNED)samples[i] - (UNSIGNED)lo) >> shift);
    }
    return !outside && !beyond;
}

#elif BITS == 64

/* The same for 64-bit integers; distances fit, since the axis is within 32 bits. */
static bool NAME(pow2_codes)(const histo_lookup *l, const TYPE *restrict samples, int n, uint8_t *restrict codes)
{
    const int shift = l->pow2.shift;
    const uint32_t from = l->pow2.from, lo = from + ((uint32_t)1 << shift);
    const uint32_t low = l->pow2.low, high = l->pow2.high;
    const TYPE first = (TYPE)(TYPE_32)(low + ((low - from) >> shift == 0));
    const TYPE last = (TYPE)(TYPE_32)(high - ((high - from) >> shift > (uint32_t)l->bins));
    const uint64_t width = (uint64_t)last - (uint64_t)first;
    uint64_t outside = first > last;
    int i = narrow_codes(samples, n, (uint64_t)first, width, lo, shift, codes, &outside);
    for (; i < n; i++) {
        outside |= (uint64_t)((uint64_t)samples[i] - (uint64_t)first > width);
        codes[i] = (uint8_t)(((uint32_t)samples[i] - lo) >> shift);
    }
    return !outside;
}

/* Bins of 2^shift integers on any axis whose edges are below 2^53; false if the axis has other bins. */
static bool NAME(wide_pow2)(const histo_lookup *l, const TYPE *restrict samples, int n, uint32_t *restrict out)
{
    int exponent;
    const bool is_power = frexp(l->step, &exponent) == 0.5 && exponent >= 1 && exponent <= 31;
    const double least = (TYPE)-1 > 0 ? 0 : -0x1p53;
    const bool near = l->lo >= least && l->hi <= 0x1p53;
    if (!is_power || !near || l->lo != floor(l->lo) || l->hi != l->lo + l->bins * l->step) return false;
    const TYPE lo = (TYPE)l->lo, hi = (TYPE)l->hi;
    const uint64_t width = (uint64_t)hi - (uint64_t)lo;
    const uint32_t over = (uint32_t)l->bins + 1, at_hi = l->closed ? over - 1 : over;
    const int shift = exponent - 1;
    for (int i = 0; i < n; i++) {
        const uint64_t distance = (uint64_t)samples[i] - (uint64_t)lo;
        const uint64_t outside = samples[i] < lo ? 0 : over;
        const uint64_t slot = distance < width ? (distance >> shift) + 1 : outside;
        out[i] = (uint32_t)(samples[i] == hi ? at_hi : slot);
    }
    return true;
}

#endif

#if BITS >= 32

/* Samples inside bins of one integer each need no slots: a sample is the index of its counter, up to a constant in the
 * table's address. Pieces with other samples are counted by slot, as are those in which a value seems to be frequent.
 * Vectors examine the next piece while increments wait for stores. */
#define SAMPLES NAME(samples)
#define SIGNS NAME(signs)
typedef TYPE SAMPLES __attribute__((vector_size(VECTOR), aligned(sizeof(TYPE)), may_alias));
typedef SIGNED SIGNS __attribute__((vector_size(VECTOR)));

/* The first and last value inside the bins. */
static inline void NAME(ends)(const histo_lookup *l, TYPE *first, TYPE *last)
{
    const uint32_t from = l->pow2.from, low = l->pow2.low, high = l->pow2.high;
    *first = (TYPE)(TYPE_32)(low + (low - from == 0));
    *last = (TYPE)(TYPE_32)(high - (high - from > (uint32_t)l->bins));
}

/* Record which samples of a round are outside. */
static inline void NAME(add_outside)(const TYPE *samples, TYPE first, TYPE last, SIGNS *outside)
{
    enum { VECTORS = HISTO_STREAMS * sizeof *samples / VECTOR };
    const SAMPLES *at = (const SAMPLES *)samples;
    for (int k = 0; k < (int)VECTORS; k++)
        *outside |= (at[k] < first) | (at[k] > last);
}

static inline bool NAME(any)(const SIGNS *outside)
{
    SIGNED any = 0;
    for (size_t k = 0; k < VECTOR / sizeof any; k++)
        any |= (*outside)[k];
    return any;
}

/* Whether a value seems to be frequent in a piece: increments of one counter would wait for each other. */
static inline bool NAME(may_be_few)(const TYPE *samples)
{
    int equal = 0;
    for (int i = 0; i < HISTO_PIECE; i += HISTO_STREAM)
        equal += samples[i] == samples[i + HISTO_STREAM / 2];
    return equal * 5 > HISTO_STREAMS;
}

static void NAME(count)(const histo_lookup *l, const TYPE *samples, int n, uint32_t *table)
{
    enum { IN_ROUND = HISTO_STREAMS * sizeof *samples };
    TYPE first, last;
    uint32_t slots[HISTO_PIECE];
    NAME(ends)(l, &first, &last);
    const uintptr_t place = (uintptr_t)((uint32_t)first - l->pow2.from) - (uintptr_t)(TYPE_64)first;
    const uintptr_t counters = (uintptr_t)table + place * sizeof *table;
    bool examined = false;
    SIGNS outside = {0};
    for (int some; n > 0; n -= some, samples += some) {
        some = n < HISTO_PIECE ? n : HISTO_PIECE;
        for (int i = 0; i < some / HISTO_PIECE * HISTO_PIECE && !examined; i += HISTO_STREAMS)
            NAME(add_outside)(samples + i, first, last, &outside);
        if (some < HISTO_PIECE || NAME(any)(&outside) || NAME(may_be_few)(samples)) {
            NAME(pow2)(l, samples, some, slots);
            HISTO_OF_ISA(count_words)(table, slots, some, NULL, NULL, NULL);
            examined = false;
            outside = (SIGNS){0};
            continue;
        }
        examined = n >= 2 * HISTO_PIECE;
        const TYPE *next = examined ? samples + HISTO_PIECE : samples;
        for (int i = 0; i < HISTO_STREAM; i++) {
            histo_prefetch_l1((const char *)next + (size_t)i * IN_ROUND, IN_ROUND);
            NAME(add_outside)(next + (size_t)i * HISTO_STREAMS, first, last, &outside);
            for (int stream = 0; stream < HISTO_STREAMS; stream++)
                /* NOLINTNEXTLINE(performance-no-int-to-ptr): the counter of zero may lie outside the table */
                ++*(uint32_t *)(counters + (uintptr_t)(TYPE_64)samples[stream * HISTO_STREAM + i] * sizeof *table);
        }
    }
}

#endif

#undef NAME
#undef TYPE
#undef BITS
#undef PREFIX
#undef TYPE_32
#undef TYPE_64
#undef SAMPLES
#undef SIGNS
