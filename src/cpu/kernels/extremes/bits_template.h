/* What three comparisons find out about floats of BITS bits, compared as integers (extremes.c). extremes.c includes
 * this once for each width. */
#define PIECE NAME(piece)
#define COLUMNS NAME(columns)

typedef struct PIECE {
    SIGNED least, most;
    UNSIGNED top;
    UNSIGNED nan, below, above; /* numbers of samples */
} PIECE;

static PIECE NAME(bits_of)(const UNSIGNED *x, int n)
{
    SIGNED least = (SIGNED)x[0], most = least;
    UNSIGNED top = x[0];
    for (int i = 0; i < n; i++) {
        const UNSIGNED u = x[i];
        const SIGNED s = (SIGNED)u;
        least = s < least ? s : least;
        most = s > most ? s : most;
        top = u > top ? u : top;
    }
    return (PIECE){.least = least, .most = most, .top = top};
}

/* The extremes of the finite samples, and the number of others. */
static PIECE NAME(finite_bits_of)(const UNSIGNED *x, int n, UNSIGNED infinity)
{
    SIGNED least = SIGNED_MAX, most = SIGNED_MIN;
    UNSIGNED top = 0, nan = 0, below = 0, above = 0;
    for (int i = 0; i < n; i++) {
        const UNSIGNED u = x[i], magnitude = u & (UNSIGNED)SIGNED_MAX;
        const SIGNED s = (SIGNED)u;
        const bool finite = magnitude < infinity;
        const SIGNED low = finite ? s : SIGNED_MAX, high = finite ? s : SIGNED_MIN;
        const UNSIGNED unsigned_high = finite ? u : 0;
        least = low < least ? low : least;
        most = high > most ? high : most;
        top = unsigned_high > top ? unsigned_high : top;
        nan = (UNSIGNED)(nan + (magnitude > infinity));
        above = (UNSIGNED)(above + (u == infinity));
        below = (UNSIGNED)(below + (u == (UNSIGNED)(infinity | (UNSIGNED)SIGNED_MIN)));
    }
    return (PIECE){least, most, top, nan, below, above};
}

/* A piece for each column of a table. */
typedef struct COLUMNS {
    SIGNED least[HISTO_COLUMNS], most[HISTO_COLUMNS];
    UNSIGNED top[HISTO_COLUMNS];
    UNSIGNED nan[HISTO_COLUMNS], below[HISTO_COLUMNS], above[HISTO_COLUMNS];
} COLUMNS;

static void NAME(find_columns)(const char *table, int64_t pitch, int rows, int columns, COLUMNS *all)
{
    const size_t row = (size_t)columns * (BITS / 8);
    memcpy(all->least, table, row);
    memcpy(all->most, table, row);
    memcpy(all->top, table, row);
    memset(all->nan, 0, row);
    memset(all->below, 0, row);
    memset(all->above, 0, row);
    for (int r = 1; r < rows; r++) {
        const UNSIGNED *x = (const UNSIGNED *)(const void *)(table + r * pitch);
        for (int c = 0; c < columns; c++) {
            const UNSIGNED u = x[c];
            const SIGNED s = (SIGNED)u;
            all->least[c] = s < all->least[c] ? s : all->least[c];
            all->most[c] = s > all->most[c] ? s : all->most[c];
            all->top[c] = u > all->top[c] ? u : all->top[c];
        }
    }
}

static void NAME(find_finite_columns)(const char *table, int64_t pitch, int rows, int columns, UNSIGNED infinity,
                                      COLUMNS *all)
{
    for (int c = 0; c < columns; c++) {
        all->least[c] = SIGNED_MAX;
        all->most[c] = SIGNED_MIN;
        all->top[c] = 0;
    }
    for (int r = 0; r < rows; r++) {
        const UNSIGNED *x = (const UNSIGNED *)(const void *)(table + r * pitch);
        for (int c = 0; c < columns; c++) {
            const UNSIGNED u = x[c], magnitude = u & (UNSIGNED)SIGNED_MAX;
            const SIGNED s = (SIGNED)u;
            const bool finite = magnitude < infinity, negative = s < 0;
            const SIGNED low = finite ? s : SIGNED_MAX, high = finite ? s : SIGNED_MIN;
            const UNSIGNED unsigned_high = finite ? u : 0;
            all->least[c] = low < all->least[c] ? low : all->least[c];
            all->most[c] = high > all->most[c] ? high : all->most[c];
            all->top[c] = unsigned_high > all->top[c] ? unsigned_high : all->top[c];
            all->nan[c] = (UNSIGNED)(all->nan[c] + (magnitude > infinity));
            all->above[c] = (UNSIGNED)(all->above[c] + ((magnitude == infinity) & !negative));
            all->below[c] = (UNSIGNED)(all->below[c] + ((magnitude == infinity) & negative));
        }
    }
}

#undef NAME
#undef BITS
#undef PIECE
#undef COLUMNS
