/* Extremes of integers of one type. extremes.c includes this once for each: NAME(function) is the function's name for
 * the TYPE, MEMBER the member of histo_number that holds it. */
static inline void NAME(merge)(TYPE low, TYPE high, int64_t n, histo_extremes *e)
{
    const bool first = !any_yet(e);
    if (first || low < e->min.MEMBER) e->min.MEMBER = low;   /* NOLINT(bugprone-signed-char-misuse,cert-str34-c) */
    if (first || high > e->max.MEMBER) e->max.MEMBER = high; /* NOLINT(bugprone-signed-char-misuse,cert-str34-c) */
    e->samples += (uint64_t)n;
}

static void NAME(add)(const TYPE *x, int64_t n, histo_extremes *e)
{
    TYPE low = x[0], high = x[0];
    for (int64_t i = 0; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    NAME(merge)(low, high, n, e);
}

static void NAME(add_columns)(const char *table, int64_t pitch, int rows, int columns, histo_extremes *e)
{
    TYPE low[HISTO_COLUMNS], high[HISTO_COLUMNS];
    memcpy(low, table, (size_t)columns * sizeof *low);
    memcpy(high, table, (size_t)columns * sizeof *high);
    for (int r = 1; r < rows; r++) {
        const TYPE *x = (const TYPE *)(const void *)(table + r * pitch);
        for (int c = 0; c < columns; c++) {
            low[c] = x[c] < low[c] ? x[c] : low[c];
            high[c] = x[c] > high[c] ? x[c] : high[c];
        }
    }
    for (int c = 0; c < columns; c++)
        NAME(merge)(low[c], high[c], rows, &e[c]);
}

#undef NAME
#undef TYPE
#undef MEMBER
