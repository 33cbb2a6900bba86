/* Additions of words of LANES lanes to the accumulators of bins of the type BINS. nodes.c includes this for each.
 *
 * Bins are read several at a time, which leaves loads to the accumulators: a CPU stores once a cycle, and everything
 * else is done meanwhile. Additions to the same accumulator wait for each other; those of other features go on. */
#define NAME_OF(function, type, lanes) function##_##type##_##lanes
#define NAMED(function, type, lanes) NAME_OF(function, type, lanes)
#define NAME(function) NAMED(function, BINS, LANES)
#define WORD NAMED(word, of, LANES)

/* Add a word to the accumulator of bin number k in a piece of several bins, which are shifted to be offsets in bytes.
 */
static inline __attribute__((always_inline)) void NAME(add)(char *to, uint64_t piece, int k, WORD word)
{
    enum { SCALE = LANES == 1 ? 3 : 4 };
    const int place = histo_place_in_word(k, 8 * sizeof(BINS));
    const uint64_t scaled = place < SCALE ? piece << (SCALE - place) : piece >> (place - SCALE);
    *(WORD *)(void *)(to + (scaled & (uint64_t)(BINS)-1 << SCALE)) += word;
}

/* Add a block of rows to `some` columns from f on. Meanwhile, the columns of the next block and its weights are
 * prefetched: a block of a column has as many bytes as a page, at whose end hardware stops doing so. */
static inline __attribute__((always_inline)) void NAME(add_columns_of)(const histo_node_adding *a, int f, int some)
{
    enum { SOME = 8 / sizeof(BINS), TURNS = 8 };
    const WORD *words = (const WORD *)a->words;
    const int32_t *weights = a->weights_ahead;
    const int n = a->n;
    char *to[HISTO_NODE_COLUMNS];
    for (int c = 0; c < some; c++)
        to[c] = (char *)a->to[f + c];
    int i = 0;
    for (; i + SOME <= n; i += SOME) {
        uint64_t pieces[HISTO_NODE_COLUMNS];
        for (int c = 0; c < some; c++)
            pieces[c] = piece_of((const BINS *)a->columns[f + c] + i);
        const int turn = i / SOME % TURNS;
        const char *ahead = turn < some ? (const char *)((const BINS *)a->columns[f + turn] + n + i) : NULL;
        __builtin_prefetch(ahead ? ahead : (const char *)(weights + i * LANES), 0, 2);
        for (int k = 0; k < SOME; k++) {
            const WORD word = words[i + k]; /* which the compiler cannot know to stay */
            for (int c = 0; c < some; c++)
                NAME(add)(to[c], pieces[c], k, word);
        }
    }
    for (; i < n; i++)
        for (int c = 0; c < some; c++)
            ((WORD *)(void *)to[c])[((const BINS *)a->columns[f + c])[i]] += words[i];
}

static void NAME(add_columns)(const histo_node_adding *a)
{
    int f = 0;
    if (a->features == HISTO_NODE_COLUMNS) {
        NAME(add_columns_of)(a, 0, HISTO_NODE_COLUMNS);
        return;
    }
    for (; f + HISTO_NODE_FEW_COLUMNS <= a->features; f += HISTO_NODE_FEW_COLUMNS)
        NAME(add_columns_of)(a, f, HISTO_NODE_FEW_COLUMNS);
    for (; f < a->features; f++)
        NAME(add_columns_of)(a, f, 1);
}

/* Add a word to `some` features whose bins are in one piece. Bytes have so few bins that each feature can have room for
 * 256, which makes the distances of accumulators constants. */
static inline __attribute__((always_inline)) void NAME(add_piece)(int64_t *const *to, const char *bins, int some,
                                                                  WORD word)
{
    uint64_t piece = 0;
    memcpy(&piece, bins, (size_t)some * sizeof(BINS));
    for (int k = 0; k < some; k++) {
        char *at = sizeof(BINS) == 1 ? (char *)to[0] + k * HISTO_NODE_BYTE_STRIDE(LANES) : (char *)to[k];
        NAME(add)(at, piece, k, word);
    }
}

/* Add a block of rows to `some` features from f on, and prefetch a stream. */
static inline __attribute__((always_inline)) void NAME(add_pieces)(const histo_node_adding *a, int f, int some,
                                                                   int stream)
{
    const WORD *words = (const WORD *)a->words;
    const char *row = a->table + (size_t)f * sizeof(BINS);
    const int64_t stride = a->stride;
    const int n = a->n;
    int64_t *const *to = a->to + f;
    const histo_node_stream ahead = stream_of(&a->ahead, stream);
    for (int i = 0; i < n; i++, row += stride) {
        prefetch(&ahead, i);
        NAME(add_piece)(to, row, some, words[i]);
    }
}

/* Add a word to all features. */
static inline void NAME(add_row)(int64_t *const *to, const char *row, int features, WORD word)
{
    enum { SOME = 8 / sizeof(BINS) };
    int f = 0;
    for (; f + SOME <= features; f += SOME)
        NAME(add_piece)(to + f, row + (size_t)f * sizeof(BINS), SOME, word);
    for (; f + 2 <= features; f += 2)
        NAME(add_piece)(to + f, row + (size_t)f * sizeof(BINS), 2, word);
    if (f < features) NAME(add_piece)(to + f, row + (size_t)f * sizeof(BINS), 1, word);
}

/* Add up row by row, which keeps additions to the bins of one feature far apart. */
static void NAME(add_whole_rows)(const histo_node_adding *a)
{
    const WORD *words = (const WORD *)a->words;
    const int streams = streams_of(&a->ahead);
    histo_node_stream ahead[HISTO_NODE_STREAMS];
    for (int k = 0; k < streams; k++)
        ahead[k] = stream_of(&a->ahead, k);
    for (int i = 0; i < a->n; i++) {
        for (int k = 0; k < streams; k++)
            prefetch(&ahead[k], i);
        NAME(add_row)(a->to, a->table + i * a->stride, a->features, words[i]);
    }
}

/* Add up a few features at a time, whose accumulators fit an L1 cache; if few bins are used, all do. */
static void NAME(add_rows)(const histo_node_adding *a)
{
    enum { SOME = 8 / sizeof(BINS) };
    if (a->skewed) {
        NAME(add_whole_rows)(a);
        return;
    }
    int f = 0, stream = 0;
    for (; f + SOME <= a->features; f += SOME)
        NAME(add_pieces)(a, f, SOME, stream++);
    if (SOME > 4 && a->features & 4) NAME(add_pieces)(a, f, 4, stream++);
    f = a->features & ~3;
    if (a->features & 2) NAME(add_pieces)(a, f, 2, stream++);
    f = a->features & ~1;
    if (a->features & 1) NAME(add_pieces)(a, f, 1, stream++);
    for (; stream < streams_of(&a->ahead); stream++)
        prefetch_stream(&a->ahead, stream, a->n);
}

#undef WORD
#undef NAME
#undef NAMED
#undef NAME_OF
#undef BINS
#undef LANES
