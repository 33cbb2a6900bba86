/* Samples of BITS bits in brackets. brackets.c includes this once for each width. */
#define NAME(function) HISTO_JOIN(function##_, BITS)

#if defined(__AVX512BW__)

/* Count how many of keys[n], all of them in brackets, are in each. */
static void NAME(divide)(const UNSIGNED *keys, int n, order o, const histo_brackets *brackets, histo_bracketed *found)
{
    for (int b = 0; b < brackets->count; b++) {
        const SIGNED low = (SIGNED)brackets->low[b], high = (SIGNED)brackets->high[b], always = (SIGNED)o.always,
                     negative = (SIGNED)o.negative;
        UNSIGNED inside = 0;
        for (int i = 0; i < n; i++) {
            const SIGNED at = (SIGNED)keys[i] ^ always ^ (-(SIGNED)((SIGNED)keys[i] < 0) & negative);
            inside += (UNSIGNED)((at >= low) & (at <= high));
        }
        found->inside[b] += inside;
    }
}

/* Count the NaNs in samples that have some. */
static void NAME(count_nan)(const UNSIGNED *x, int n, order o, const histo_brackets *brackets, histo_bracketed *found)
{
    for (int i = 0; i < n; i++) {
        const int64_t at = (SIGNED)(x[i] ^ (UNSIGNED)o.always ^ ((SIGNED)x[i] < 0 ? (UNSIGNED)o.negative : 0));
        found->nan_below += at < brackets->least;
        found->nan_above += at > brackets->most;
    }
}

/* Samples in all brackets are copied together, so that those in each need not be counted one by one. A sample may be in
 * the last bracket that begins at it or below. Inlined for a constant number of brackets, which then stay in
 * registers. */
static inline __attribute__((always_inline)) int NAME(copied)(const UNSIGNED *x, int n, order o,
                                                              const histo_brackets *brackets, int count, bool floats,
                                                              histo_bracketed *found, UNSIGNED *to)
{
    const __m512i always = EPI(set1)((SIGNED)o.always), negative = EPI(set1)((SIGNED)o.negative),
                  least = EPI(set1)((SIGNED)brackets->least),
                  span = EPI(set1)((SIGNED)((UNSIGNED)brackets->most - (UNSIGNED)brackets->least)), one = EPI(set1)(1);
    __m512i low[HISTO_MAX_BRACKETS], high[HISTO_MAX_BRACKETS], from[HISTO_MAX_BRACKETS];
    for (int b = 0; b < count; b++) {
        low[b] = EPI(set1)((SIGNED)brackets->low[b]);
        high[b] = EPI(set1)((SIGNED)brackets->high[b]);
        from[b] = _mm512_setzero_si512();
    }
    MASK nan = 0;
    int kept = 0;
    for (int i = 0; i + VECTOR_LANES <= n; i += VECTOR_LANES) {
        const __m512i bits_of = _mm512_loadu_si512(x + i);
        const __m512i at =
            _mm512_xor_si512(_mm512_ternarylogic_epi64(bits_of, EPI(srai)(bits_of, BITS - 1), negative, 0x78), always);
        const MASK first = EPI_MASK(cmpge)(at, low[0]);
        __m512i end = high[0];
        from[0] = EPI(mask_add)(from[0], first, from[0], one);
        for (int b = 1; b < count; b++) {
            const MASK reached = EPI_MASK(cmpge)(at, low[b]);
            from[b] = EPI(mask_add)(from[b], reached, from[b], one);
            end = EPI(mask_mov)(end, reached, high[b]);
        }
        if (floats) nan |= HISTO_JOIN(HISTO_JOIN(_mm512_cmpgt_epu, BITS), _mask)(EPI(sub)(at, least), span);
        const MASK inside = HISTO_JOIN(HISTO_JOIN(_mm512_mask_cmple_epi, BITS), _mask)(first, at, end);
        _mm512_storeu_si512(to + kept, EPI(maskz_compress)(inside, bits_of));
        kept += (int)_mm_popcnt_u32(inside);
    }
    n -= n % VECTOR_LANES;
    for (int b = 0; b < count; b++)
        found->below[b] += (uint64_t)n - (uint64_t)EPI(reduce_add)(from[b]);
    if (nan) NAME(count_nan)(x, n, o, brackets, found);
    NAME(divide)(to, kept, o, brackets, found);
    return kept;
}

/* The same masks of vectors serve for counting and compressing. */
static int NAME(some_copied)(const UNSIGNED *x, int n, order o, const histo_brackets *brackets, bool floats,
                             histo_bracketed *found, UNSIGNED *to)
{
    const __m512i always = EPI(set1)((SIGNED)o.always), negative = EPI(set1)((SIGNED)o.negative),
                  least = EPI(set1)((SIGNED)brackets->least), most = EPI(set1)((SIGNED)brackets->most),
                  one = EPI(set1)(1);
    const int count = brackets->count;
    __m512i low[HISTO_MAX_BRACKETS], high[HISTO_MAX_BRACKETS], below[HISTO_MAX_BRACKETS], above[HISTO_MAX_BRACKETS],
        nan_below = _mm512_setzero_si512(), nan_above = nan_below;
    for (int b = 0; b < count; b++) {
        low[b] = EPI(set1)((SIGNED)brackets->low[b]);
        high[b] = EPI(set1)((SIGNED)brackets->high[b]);
        below[b] = above[b] = _mm512_setzero_si512();
    }
    MASK wanted[HISTO_MAX_BRACKETS];
    for (int b = 0; b < count; b++)
        wanted[b] = brackets->low[b] < brackets->high[b] ? (MASK)~0 : 0;
    int kept = 0;
    for (int i = 0; i + VECTOR_LANES <= n; i += VECTOR_LANES) {
        const __m512i bits_of = _mm512_loadu_si512(x + i);
        const __m512i at = _mm512_xor_si512(_mm512_xor_si512(bits_of, always),
                                            _mm512_and_si512(EPI(srai)(bits_of, BITS - 1), negative));
        MASK inside = 0;
        for (int b = 0; b < count; b++) {
            const MASK is_below = EPI_MASK(cmplt)(at, low[b]), is_above = EPI_MASK(cmpgt)(at, high[b]);
            below[b] = EPI(mask_add)(below[b], is_below, below[b], one);
            above[b] = EPI(mask_add)(above[b], is_above, above[b], one);
            inside |= (MASK)(~(is_below | is_above) & wanted[b]);
        }
        if (floats) {
            nan_below = EPI(mask_add)(nan_below, EPI_MASK(cmplt)(at, least), nan_below, one);
            nan_above = EPI(mask_add)(nan_above, EPI_MASK(cmpgt)(at, most), nan_above, one);
        }
        _mm512_storeu_si512(to + kept, EPI(maskz_compress)(inside, bits_of));
        kept += (int)_mm_popcnt_u32(inside);
    }
    for (int b = 0; b < count; b++) {
        const uint64_t under = (uint64_t)EPI(reduce_add)(below[b]), over = (uint64_t)EPI(reduce_add)(above[b]);
        found->below[b] += under;
        found->inside[b] += (uint64_t)(n - n % VECTOR_LANES) - under - over;
    }
    found->nan_below += (uint64_t)EPI(reduce_add)(nan_below);
    found->nan_above += (uint64_t)EPI(reduce_add)(nan_above);
    return kept;
}

static bool NAME(all_copied)(const histo_brackets *brackets)
{
    bool all = true;
    for (int b = 0; b < brackets->count; b++)
        all = all && brackets->low[b] < brackets->high[b];
    return all;
}

static inline __attribute__((always_inline)) int NAME(most)(const UNSIGNED *x, int n, order o,
                                                            const histo_brackets *brackets, bool floats,
                                                            histo_bracketed *found, UNSIGNED *to, int *kept)
{
    const bool all = NAME(all_copied)(brackets);
    if (all && brackets->count == 1)
        *kept = NAME(copied)(x, n, o, brackets, 1, floats, found, to);
    else if (all && brackets->count == 2)
        *kept = NAME(copied)(x, n, o, brackets, 2, floats, found, to);
    else if (all && brackets->count == 3)
        *kept = NAME(copied)(x, n, o, brackets, 3, floats, found, to);
    else
        *kept = NAME(some_copied)(x, n, o, brackets, floats, found, to);
    return n - n % VECTOR_LANES;
}

#else

/* Process all samples in loops that the compiler vectorises; only few samples are kept. */
static int NAME(most)(const UNSIGNED *x, int n, order o, const histo_brackets *brackets, bool floats,
                      histo_bracketed *found, UNSIGNED *to, int *kept)
{
    enum { WORD = 8 };
    SIGNED ordered[HISTO_BLOCK];
    uint8_t in[HISTO_BLOCK];
    const SIGNED always = (SIGNED)o.always, negative = (SIGNED)o.negative, least = (SIGNED)brackets->least,
                 most = (SIGNED)brackets->most;
    UNSIGNED nan_below = 0, nan_above = 0;
    const int whole = n - n % WORD;
    for (int i = 0; i < whole; i++) {
        const SIGNED at = (SIGNED)x[i];
        ordered[i] = at ^ always ^ (-(SIGNED)(at < 0) & negative);
        in[i] = 0;
    }
    for (int i = 0; i < whole && floats; i++) {
        nan_below += ordered[i] < least;
        nan_above += ordered[i] > most;
    }
    found->nan_below += nan_below;
    found->nan_above += nan_above;
    for (int b = 0; b < brackets->count; b++) {
        const SIGNED low = (SIGNED)brackets->low[b], high = (SIGNED)brackets->high[b];
        UNSIGNED below = 0, above = 0;
        for (int i = 0; i < whole; i++) {
            below += ordered[i] < low;
            above += ordered[i] > high;
        }
        for (int i = 0; i < whole && low < high; i++)
            in[i] |= (uint8_t)((ordered[i] >= low) & (ordered[i] <= high));
        found->below[b] += below;
        found->inside[b] += (uint64_t)whole - below - above;
    }
    int at = 0;
    for (int i = 0; i < whole; i += WORD) {
        uint64_t flags;
        memcpy(&flags, in + i, sizeof flags);
        if (!flags) continue;
        for (int k = 0; k < WORD; at += in[i + k++])
            to[at] = x[i + k];
    }
    *kept = at;
    return whole;
}

#endif

static int NAME(collect)(const UNSIGNED *x, int n, order o, const histo_brackets *brackets, bool floats,
                         histo_bracketed *found, UNSIGNED *to)
{
    int kept;
    for (int i = NAME(most)(x, n, o, brackets, floats, found, to, &kept); i < n; i++) {
        const int64_t signed_bits = (SIGNED)x[i],
                      at = (SIGNED)(signed_bits ^ o.always ^ (signed_bits < 0 ? o.negative : 0));
        bool in = false;
        for (int b = 0; b < brackets->count; b++) {
            const bool inside = at >= brackets->low[b] && at <= brackets->high[b];
            found->below[b] += at < brackets->low[b];
            found->inside[b] += inside;
            in |= inside && brackets->low[b] < brackets->high[b];
        }
        found->nan_below += at < brackets->least;
        found->nan_above += at > brackets->most;
        to[kept] = x[i];
        kept += in;
    }
    return kept;
}

#undef BITS
#undef NAME
