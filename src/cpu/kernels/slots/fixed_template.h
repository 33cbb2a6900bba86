/* Slots and codes in fixed point (fixed.h) of samples of one type: NAME(function) is the function's name for this type,
 * TYPE is float or double. Included by uniform_template.h.
 *
 * fixed_slots: the slots of a batch; false if one is in doubt. Positions are clamped to a quarter of a bin below
 * the axis and half a bin above it, neither of which is in doubt. fixed_codes: the bins of a batch as bytes; false if
 * one is in doubt or a sample is outside the axis. The order of codes does not matter, so four of them are packed
 * without crossing lanes. */
#if defined(__AVX512F__)

static inline bool NAME(fixed_slots)(const fixed_point *f, bool exact, const TYPE *samples, uint32_t *out)
{
    const __m512 below = _mm512_set1_ps(-0.25F * (float)(1 << f->bits));
    const __m512 above = _mm512_set1_ps(f->bins + 0.5F * (float)(1 << f->bits));
    const __m512i offset = _mm512_set1_epi32((int)f->margin + (1 << f->bits));
    const __m128i bits = _mm_cvtsi32_si128(f->bits), rest = _mm_cvtsi32_si128(32 - f->bits);
    const __m512i nan = _mm512_set1_epi32((int)f->nan);
    __m512i most = _mm512_setzero_si512(), least = _mm512_set1_epi32(-1);
    for (int i = 0; i < BATCH; i += LANES) {
        __m512 t = in_units(f, exact, NAME(distances)(f, exact, samples + i));
        const __mmask16 numbers = _mm512_cmp_ps_mask(t, t, _CMP_ORD_Q);
        t = _mm512_min_ps(above, _mm512_max_ps(below, t));
        __m512i place = _mm512_add_epi32(_mm512_cvt_roundps_epi32(t, DOWN), offset);
        __m512i slot = _mm512_srl_epi32(place, bits);
        most = _mm512_mask_max_epu32(most, numbers, most, slot);
        if (!exact) least = _mm512_mask_min_epu32(least, numbers, least, _mm512_sll_epi32(place, rest));
        _mm512_storeu_si512(out + i, _mm512_mask_mov_epi32(nan, numbers, slot));
    }
    return !any_doubt(most, f->last, least, f->doubtful << (32 - f->bits));
}

static inline bool NAME(fixed_codes)(const fixed_point *f, bool exact, const TYPE *samples, uint8_t *codes)
{
    const __m512i margin = _mm512_set1_epi32((int)f->margin);
    __m512i place[4], most = _mm512_setzero_si512(), least = _mm512_set1_epi32(-1);
    for (int k = 0; k < 4; k++) {
        __m512 t = in_units(f, exact, NAME(distances)(f, exact, samples + k * LANES));
        place[k] = _mm512_cvt_roundps_epi32(t, DOWN);
        if (!exact) {
            place[k] = _mm512_add_epi32(place[k], margin);
            least = _mm512_min_epu32(least, _mm512_slli_epi32(place[k], 32 - CODE_BITS));
        }
        most = _mm512_max_epu32(most, place[k]);
    }
    _mm512_storeu_si512(codes, four_codes(place));
    return !any_doubt(most, (uint32_t)f->bins - 1, least, f->doubtful << (32 - CODE_BITS));
}

#else

static inline bool NAME(fixed_slots)(const fixed_point *f, bool exact, const TYPE *restrict samples,
                                     uint32_t *restrict out)
{
    const TYPE lo = (TYPE)f->lo;
    const int32_t bin = 1 << f->bits, offset = (int32_t)f->margin + bin;
    const float per_step = f->per_step, below = -0.25F * (float)bin, above = f->bins + 0.5F * (float)bin;
    const int bits = f->bits, rest = 32 - bits;
    const uint32_t nan = f->nan;
    uint32_t most = 0, least = UINT32_MAX;
    for (int i = 0; i < BATCH; i++) {
        const float t = (float)(samples[i] - lo) * per_step;
        /* Rounding is towards 0, which is wrong below lo: such a sample is in doubt, or corrected. */
        const int32_t whole = (int32_t)clamped_to(t, below, above) - (exact && samples[i] < lo);
        const uint32_t place = (uint32_t)(whole + offset), slot = place >> bits, fraction = place << rest;
        most = slot > most ? slot : most;
        least = fraction < least ? fraction : least;
        out[i] = t == t ? slot : nan;
    }
    return exact ? most <= f->last : least >= f->doubtful << rest;
}

static inline bool NAME(fixed_codes)(const fixed_point *f, bool exact, const TYPE *restrict samples,
                                     uint8_t *restrict codes)
{
    const TYPE lo = (TYPE)f->lo;
    const float per_step = f->per_step;
    const uint32_t margin = f->margin, end = pattern_f32(f->bins);
    uint32_t most = 0, least = UINT32_MAX;
    for (int i = 0; i < BATCH; i++) {
        /* The patterns of negative numbers and NaN are above all others; what is converted to int must fit. */
        const uint32_t pattern = pattern_f32((float)(samples[i] - lo) * per_step);
        const uint32_t place = (uint32_t)(int32_t)f32_of_pattern(pattern < end ? pattern : end) + margin;
        const uint32_t fraction = place << (32 - CODE_BITS);
        most = pattern > most ? pattern : most;
        least = fraction < least ? fraction : least;
        codes[i] = (uint8_t)(place >> CODE_BITS);
    }
    return most < end && (exact || least >= f->doubtful << (32 - CODE_BITS));
}

#endif

/* The slots of batches up to the first one in doubt; returns the number of samples done. */
static int NAME(fixed_slots_run)(const fixed_point *f, const TYPE *samples, int n, uint32_t *slots)
{
    int i = 0;
    const fixed_point here = *f;
    if (here.exact)
        while (i + BATCH <= n && NAME(fixed_slots)(&here, true, samples + i, slots + i))
            i += BATCH;
    else
        while (i + BATCH <= n && NAME(fixed_slots)(&here, false, samples + i, slots + i))
            i += BATCH;
    return i;
}

/* The same for codes. */
static int NAME(fixed_codes_run)(const fixed_point *f, const TYPE *samples, int n, uint8_t *codes)
{
    int i = 0;
    const fixed_point here = *f;
    if (here.exact)
        for (; i + BATCH <= n && NAME(fixed_codes)(&here, true, samples + i, codes + i); i += BATCH)
            histo_prefetch_l2(samples + i, BATCH * sizeof *samples);
    else
        for (; i + BATCH <= n && NAME(fixed_codes)(&here, false, samples + i, codes + i); i += BATCH)
            histo_prefetch_l2(samples + i, BATCH * sizeof *samples);
    return i;
}
