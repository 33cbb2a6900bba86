/* Extremes of floats of one type, derived from what bits_template.h finds. extremes.c includes this once for each:
 * NAME(function) is the function's name for the type, BITS its width, INFINITE the bits of infinity. */
#define OF_BITS(name) HISTO_JOIN(name##_, BITS)
#define SIGN ((UNSIGNED)SIGNED_MIN)

static inline void NAME(merge)(OF_BITS(piece) p, int n, histo_extremes *e)
{
    const int finite = n - (int)p.nan - (int)p.below - (int)p.above;
    const bool first = !any_yet(e);
    e->samples += (uint64_t)n;
    e->nan += p.nan;
    e->below += p.below;
    e->above += p.above;
    if (finite == 0) return;
    /* Adding 0 makes zeros positive. */
    const double min = NAME(number)(p.top & SIGN ? p.top : (UNSIGNED)p.least) + 0.0;
    const double max = NAME(number)((UNSIGNED)(p.most < 0 ? p.least : p.most)) + 0.0;
    if (first || min < e->min.f64) e->min.f64 = min;
    if (first || max > e->max.f64) e->max.f64 = max;
}

static void NAME(add)(const UNSIGNED *x, int64_t n, histo_extremes *e)
{
    enum { PIECE = PIECE_BYTES / (BITS / 8) };
    bool looked = false;
    for (int64_t begin = 0; begin < n; begin += PIECE) {
        const int length = n - begin < PIECE ? (int)(n - begin) : PIECE;
        OF_BITS(piece) p;
        if (!looked) p = OF_BITS(bits_of)(x + begin, length);
        if (looked || p.most >= INFINITE || p.top >= (UNSIGNED)(INFINITE | SIGN)) {
            p = OF_BITS(finite_bits_of)(x + begin, length, INFINITE);
            looked = p.nan || p.below || p.above; /* the next piece may have some as well */
        }
        NAME(merge)(p, length, e);
    }
}

static void NAME(add_columns)(const char *table, int64_t pitch, int rows, int columns, histo_extremes *e)
{
    OF_BITS(columns) all;
    OF_BITS(find_columns)(table, pitch, rows, columns, &all);
    bool finite = true;
    for (int c = 0; c < columns; c++)
        finite &= (all.most[c] < INFINITE) & (all.top[c] < (UNSIGNED)(INFINITE | SIGN));
    if (!finite) OF_BITS(find_finite_columns)(table, pitch, rows, columns, INFINITE, &all);
    for (int c = 0; c < columns; c++) {
        const OF_BITS(piece) p = {all.least[c], all.most[c], all.top[c], all.nan[c], all.below[c], all.above[c]};
        NAME(merge)(p, rows, &e[c]);
    }
}

#undef NAME
#undef BITS
#undef INFINITE
#undef OF_BITS
#undef SIGN
