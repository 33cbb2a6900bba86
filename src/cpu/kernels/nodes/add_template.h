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

/* Add a block of rows to `some` columns from f on. */
static inline __attribute__((always_inline)) void NAME(add_group)(const histo_node_adding *a, int f, int some)
{
    enum { BITS = 8 * sizeof(BINS), SOME = 8 / sizeof(BINS) };
    const WORD *words = (const WORD *)a->words;
    const int n = a->n;
    WORD *to[HISTO_NODE_COLUMNS];
    for (int c = 0; c < some; c++)
        to[c] = (WORD *)a->to[f + c];
    int i = 0;
    for (; i + SOME <= n; i += SOME) {
        uint64_t pieces[HISTO_NODE_COLUMNS];
        for (int c = 0; c < some; c++)
            pieces[c] = piece_of((const BINS *)a->columns[f + c] + i);
        for (int k = 0; k < SOME; k++) {
            const WORD word = words[i + k]; /* which the compiler cannot know to stay */
            for (int c = 0; c < some; c++)
                NAME(add)(to[c], pieces[c] >> histo_place_in_word(k, BITS), word);
        }
    }
    for (; i < n; i++)
        for (int c = 0; c < some; c++)
            to[c][((const BINS *)a->columns[f + c])[i]] += words[i];
}

static void NAME(add_columns)(const histo_node_adding *a)
{
    int f = 0;
    prefetch_columns(a, (size_t)a->n * sizeof(BINS));
    if (a->features == HISTO_NODE_COLUMNS) {
        NAME(add_group)(a, 0, HISTO_NODE_COLUMNS);
        return;
    }
    for (; f + HISTO_NODE_FEW_COLUMNS <= a->features; f += HISTO_NODE_FEW_COLUMNS)
        NAME(add_group)(a, f, HISTO_NODE_FEW_COLUMNS);
    for (; f < a->features; f++)
        NAME(add_group)(a, f, 1);
}

/* Add a word to `some` features whose bins are adjacent. Bytes have so few bins that each feature can have room for
 * 256, which makes the distances of accumulators constants. */
static inline __attribute__((always_inline)) void NAME(add_some)(int64_t *const *to, char *first, const char *bins,
                                                                 int some, WORD word)
{
    uint64_t piece = 0;
    memcpy(&piece, bins, (size_t)some * sizeof(BINS));
    for (int k = 0; k < some; k++) {
        char *at = sizeof(BINS) == 1 ? first + k * HISTO_NODE_BYTE_STRIDE(LANES) : (char *)to[k];
        const uint64_t bin = (BINS)(piece >> histo_place_in_word(k, 8 * sizeof(BINS)));
        *(WORD *)(void *)(at + bin * sizeof(WORD)) += word;
    }
}

/* The address of the accumulators and of the bins of the next features. */
typedef struct NAME(place) {
    int64_t *const *to;
    char *first;
    const char *bins;
} NAME(place);

static inline __attribute__((always_inline)) void NAME(add_next)(NAME(place) * at, int some, WORD word)
{
    NAME(add_some)(at->to, at->first, at->bins, some, word);
    at->to += some;
    at->first += some * HISTO_NODE_BYTE_STRIDE(LANES);
    at->bins += (size_t)some * sizeof(BINS);
}

static inline void NAME(add_row)(const char *row, int features, int64_t *const *to, WORD word)
{
    enum { SOME = 8 / sizeof(BINS) };
    NAME(place) at = {to, (char *)to[0], row};
    for (int left = features; left >= SOME; left -= SOME)
        NAME(add_next)(&at, SOME, word);
    if (SOME > 4 && features & 4) NAME(add_next)(&at, 4, word);
    if (features & 2) NAME(add_next)(&at, 2, word);
    if (features & 1) NAME(add_next)(&at, 1, word);
}

/* Add a word to features that are not adjacent. */
static inline void NAME(add_apart)(const char *row, const histo_node_adding *a, WORD word)
{
    for (int f = 0; f < a->features; f++)
        NAME(add_some)(a->to + f, (char *)a->to[f], row + a->at[f], 1, word);
}

static inline WORD NAME(word_of)(const int32_t *weights)
{
#if LANES == 1
    return first_lane(weights[0]);
#else
    return (WORD){first_lane(weights[0]), weights[1]};
#endif
}

static void NAME(add_rows)(const histo_node_adding *a)
{
    const WORD *words = (const WORD *)a->words;
    int64_t *const *to = a->to;
    const char *table = a->table;
    const uint32_t *rows = a->rows;
    const int64_t stride = a->stride;
    const int n = a->n, features = a->features;
    const size_t bytes = (size_t)features * sizeof(BINS);
    if (rows)
        for (int i = 0; i < n; i++) {
            const uint32_t row = rows[i], later = rows[i + AHEAD < n ? i + AHEAD : n - 1];
            const WORD word = NAME(word_of)(a->weights + (size_t)row * LANES);
            prefetch_row(table + later * stride, bytes);
            __builtin_prefetch(a->weights + (size_t)later * LANES);
            if (a->at)
                NAME(add_apart)(table + row * stride, a, word);
            else
                NAME(add_row)(table + row * stride, features, to, word);
        }
    else
        for (int i = 0; i < n; i++)
            if (a->at)
                NAME(add_apart)(table + i * stride, a, words[i]);
            else
                NAME(add_row)(table + i * stride, features, to, words[i]);
}

#undef WORD
#undef NAME
#undef NAMED
#undef NAME_OF
#undef BINS
#undef LANES
