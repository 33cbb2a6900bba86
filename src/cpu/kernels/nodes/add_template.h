/* Additions of words of LANES lanes to the accumulators of bins of the type BINS. nodes.c includes this for each.
 *
 * Bins are read several at a time, which leaves loads to the accumulators. Additions to the same accumulator wait for
 * each other; those of other features go on meanwhile. */
#define NAME_OF(function, type, lanes) function##_##type##_##lanes
#define NAMED(function, type, lanes) NAME_OF(function, type, lanes)
#define NAME(function) NAMED(function, BINS, LANES)
#define WORD NAMED(word, of, LANES)

/* The bin in the low bits of a piece of several. */
static inline void NAME(add)(WORD *to, uint64_t piece, WORD word)
{
    to[(BINS)piece] += word;
}

static void NAME(add_columns)(const histo_node_adding *a)
{
    enum { BITS = 8 * sizeof(BINS), SOME = 8 / sizeof(BINS) };
    const WORD *words = (const WORD *)a->words;
    const int n = a->n;
    int i = 0;
    if (a->features == HISTO_NODE_COLUMNS) {
        const BINS *c0 = a->columns[0], *c1 = a->columns[1], *c2 = a->columns[2], *c3 = a->columns[3];
        WORD *to0 = (WORD *)a->to[0], *to1 = (WORD *)a->to[1], *to2 = (WORD *)a->to[2], *to3 = (WORD *)a->to[3];
        for (; i + SOME <= n; i += SOME) {
            uint64_t p0 = piece_of(c0 + i), p1 = piece_of(c1 + i);
            uint64_t p2 = piece_of(c2 + i), p3 = piece_of(c3 + i);
            for (int k = 0; k < SOME; k++) {
                const WORD word = words[i + k];
                NAME(add)(to0, p0 >> histo_place_in_word(k, BITS), word);
                NAME(add)(to1, p1 >> histo_place_in_word(k, BITS), word);
                NAME(add)(to2, p2 >> histo_place_in_word(k, BITS), word);
                NAME(add)(to3, p3 >> histo_place_in_word(k, BITS), word);
            }
        }
    }
    for (int f = 0; f < a->features; f++) {
        const BINS *column = a->columns[f];
        WORD *to = (WORD *)a->to[f];
        for (int k = i; k < n; k++)
            to[column[k]] += words[k];
    }
}

static void NAME(add_rows)(const histo_node_adding *a)
{
    enum { BITS = 8 * sizeof(BINS), SOME = 8 / sizeof(BINS) };
    const WORD *words = (const WORD *)a->words;
    const size_t bytes = (size_t)a->features * sizeof(BINS);
    for (int i = 0; i < a->n; i++) {
        const WORD word = words[i];
        const char *row = a->table + (a->rows ? a->rows[i] : (uint32_t)i) * a->stride;
        if (a->rows) prefetch_row(a->table + a->rows[i + AHEAD < a->n ? i + AHEAD : a->n - 1] * a->stride, bytes);
        int f = 0;
        for (; !a->at && f + SOME <= a->features; f += SOME) {
            const uint64_t piece = piece_of(row + (size_t)f * sizeof(BINS));
            for (int k = 0; k < SOME; k++)
                NAME(add)((WORD *)a->to[f + k], piece >> histo_place_in_word(k, BITS), word);
        }
        for (; f < a->features; f++) {
            BINS bin;
            memcpy(&bin, row + (a->at ? a->at[f] : f * (int64_t)sizeof bin), sizeof bin);
            NAME(add)((WORD *)a->to[f], bin, word);
        }
    }
}

#undef WORD
#undef NAME
#undef NAMED
#undef NAME_OF
#undef BINS
#undef LANES
