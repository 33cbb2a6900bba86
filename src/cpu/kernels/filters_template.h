/* Filters on bit patterns, for samples of BITS bits of any type. filters.c includes this once for each width. */
#define NAME(function) HISTO_JOIN(function##_, BITS)

/* ignored: 1 for floats, whose sign bit does not matter; else 0. */
static void NAME(nonzero)(const void *samples, int n, int ignored, bool too, uint8_t *restrict kept)
{
    const UNSIGNED *restrict from = samples;
    const UNSIGNED mask = (UNSIGNED) ~(UNSIGNED)0 >> ignored;
    KEEP_ALL((from[i] & mask) != 0);
}

/* Branchless: samples that are not kept are overwritten. */
static void NAME(compact)(const void *samples, const uint8_t *kept, int n, void *to)
{
    const UNSIGNED *from = samples;
    UNSIGNED *out = to;
    int i = 0, at = 0;
#if defined(__AVX512BW__)
    /* Full vectors are written, but never beyond sample i + LANES. */
    enum { LANES = BITS == 64 ? 8 : 16 };
    for (; i + LANES <= n; i += LANES) {
        const unsigned flags = flags_of(kept + i, LANES);
        store_lanes(out + at, compress_lanes(load_lanes(from + i, BITS), flags, BITS), BITS);
        at += (int)_mm_popcnt_u32(flags);
    }
#endif
    for (; i < n; at += kept[i++])
        out[at] = from[i];
}

#undef BITS
#undef NAME
