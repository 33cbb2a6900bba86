/* Gathers elements of BITS bits that are a constant number of elements apart. channels.c includes this once for each
 * width. */
#define NAME(function) HISTO_JOIN(function##_, BITS)

#if defined(__AVX512BW__)

/* Gather every apart-th element: load whole vectors and compact the elements wanted. Returns how many have been
 * gathered. Does not read beyond the last sample. */
static int64_t NAME(pick)(char *to, const char *from, int apart, int64_t n)
{
    enum { VECTOR = 64, MOST = 16 };
    SIGNED numbers[VECTOR_LANES];
    MASK wanted[MOST];
    for (int i = 0; i < VECTOR_LANES; i++)
        numbers[i] = (SIGNED)(i * apart);
    const __m512i at = _mm512_loadu_si512(numbers);
    for (int v = 0; v < apart; v++)
        wanted[v] = EPI_MASK(cmplt)(at, EPI(set1)((SIGNED)((v + 1) * VECTOR_LANES)));
    for (int v = apart - 1; v > 0; v--)
        wanted[v] = (MASK)(wanted[v] & ~wanted[v - 1]);
    int64_t i = 0;
    for (; i + VECTOR_LANES < n; i += VECTOR_LANES) {
        __m512i picked = EPI(permutexvar)(at, _mm512_loadu_si512(from));
        for (int v = 1; v < apart; v++)
            picked = EPI(mask_permutexvar)(picked, wanted[v], at, _mm512_loadu_si512(from + v * VECTOR));
        _mm512_storeu_si512(to, picked);
        from += (int64_t)apart * VECTOR;
        to += VECTOR;
    }
    return i;
}

#else

#define WORD NAME(word)
typedef UNSIGNED WORD __attribute__((aligned(1), may_alias));

static inline void NAME(pick_apart)(WORD *restrict to, const WORD *restrict from, int apart, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = from[i * apart];
}

static int64_t NAME(pick)(char *to, const char *from, int64_t apart, int64_t n)
{
    WORD *restrict out = (WORD *)(void *)to;
    const WORD *in = (const WORD *)(const void *)from;
    switch (apart) {
    case 2:
        NAME(pick_apart)(out, in, 2, n);
        return n;
    case 3:
        NAME(pick_apart)(out, in, 3, n);
        return n;
    case 4:
        NAME(pick_apart)(out, in, 4, n);
        return n;
    default:
        return 0;
    }
}

#endif

#undef BITS
#undef NAME
#undef WORD
