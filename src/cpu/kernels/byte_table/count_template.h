/* Counts indices of one type in counters of one width. byte_table.c includes this once for each kind of index:
 * NAME(function) is the function's name, INDEX_BITS the width of an index, COUNTER_BITS that of a counter. If SPREAD is
 * defined, a value's counter is at histo_spread_place(value). */
#define INDEX HISTO_JOIN(uint, HISTO_JOIN(INDEX_BITS, _t))
#define COUNTER HISTO_JOIN(uint, HISTO_JOIN(COUNTER_BITS, _t))
#define OF_INDEX(function) HISTO_JOIN(function##_, INDEX_BITS)
#define OF_COUNTER(function) HISTO_JOIN(function##_, COUNTER_BITS)
#if defined(SPREAD)
#define VALUE_AT(place) histo_spread_place(place)
#else
#define VALUE_AT(place) (place)
#endif

#if defined(__AVX512BW__)

/* Whether count_few is worth trying: only if the first value of the groups is also frequent in their last vectors,
 * which is true neither of short runs nor of a single group. */
static inline bool NAME(may_be_few)(const INDEX *at)
{
    enum { LANES = 64 / sizeof *at };
    int far = 0;
    for (const INDEX *from = at; from < at + HISTO_PIECE; from += GROUP)
        far += OF_INDEX(alike)(from + GROUP - LANES, *from);
    return far * 32 >= GROUPS * LANES * 6;
}

/* Count a group value by value if few values make up much of it; else return false, quickly if two of its values are
 * rare in the first vector. */
static inline bool NAME(count_few)(COUNTER *table, const INDEX *at, histo_carry_fn *carry, const void *to)
{
    enum { PROBES = 3, FEW = 5, SOME_OTHERS = 12, MAX_OTHERS = 40, LANES = 64 / sizeof *at };
    INDEX places[FEW] = {at[0], at[GROUP / 2 - 1], at[GROUP - 1]};
    if (OF_INDEX(alike)(at, places[0]) * 6 < LANES && OF_INDEX(alike)(at, places[1]) * 6 < LANES) return false;
    uint64_t equal[FEW], left = ~(uint64_t)0;
    int few = PROBES;
    for (int i = 0; i < PROBES; i++) {
        equal[i] = OF_INDEX(equal)(at, places[i]) & left;
        left &= ~equal[i];
    }
    for (; few < FEW && ones(left) > SOME_OTHERS; few++) {
        places[few] = at[__builtin_ctzll(left)];
        equal[few] = OF_INDEX(equal)(at, places[few]) & left;
        left &= ~equal[few];
    }
    if (ones(left) > MAX_OTHERS) return false;
    for (int i = 0; i < few; i++)
        if (OF_COUNTER(add)(&table[places[i]], ones(equal[i]))) carry(to, VALUE_AT(places[i]));
    for (; left; left &= left - 1) {
        const INDEX place = at[__builtin_ctzll(left)];
        if (OF_COUNTER(add)(&table[place], 1)) carry(to, VALUE_AT(place));
    }
    return true;
}

#else

static inline bool NAME(may_be_few)(const INDEX *at)
{
    (void)at;
    return true;
}

/* Count a group if all its values are equal; else return false. */
static inline bool NAME(count_few)(COUNTER *table, const INDEX *at, histo_carry_fn *carry, const void *to)
{
    if (!histo_all_equal(at, GROUP, sizeof *at)) return false;
    if (OF_COUNTER(add)(&table[*at], GROUP)) carry(to, VALUE_AT(*at));
    return true;
}

#endif

/* Count a group in which no value is frequent, in QUARTERS streams. */
static inline void NAME(count_group)(COUNTER *table, const INDEX *at, histo_carry_fn *carry, const void *to)
{
    uint64_t carries = 0;
    for (int round = 0; round < QUARTER; round++)
        for (int stream = 0; stream < QUARTERS; stream++)
            carries = OF_COUNTER(histo_increment)(&table[at[stream * QUARTER + round]], carries);
    for (; carries; carries &= carries - 1) {
        const int count = GROUP - 1 - __builtin_ctzll(carries); /* indices counted before it */
        carry(to, VALUE_AT(at[count % QUARTERS * QUARTER + count / QUARTERS]));
    }
}

#if INDEX_BITS == 16
/* Values are their own indices: there is nothing to produce. */
#define PRODUCE(next, table, from, carried) (void)0
#elif COUNTER_BITS == 8
#define PRODUCE(next, table, from, carried)                                                                            \
    histo_produce(next, (histo_consumer){.at = from, .bytes = table, .carries = carried})
#else
#define PRODUCE(next, table, from, carried) histo_produce(next, (histo_consumer){.at = from, .words = table})
#endif

/* Count a piece while producing the slots of the next one. */
static inline void NAME(count_interleaved)(COUNTER *table, const INDEX *at, histo_carry_fn *carry, const void *to,
                                           const histo_producer *next)
{
    uint64_t carries[HISTO_STEPS];
    if (next)
        PRODUCE(next, table, at, carries);
    else
        for (int step = 0; step < HISTO_STEPS; step++)
            carries[step] = NAME(histo_count_step_of)(table, at, step);
    for (int step = 0; sizeof *table == 1 && step < HISTO_STEPS; step++)
        for (uint64_t left = carries[step]; left; left &= left - 1)
            carry(to, VALUE_AT(at[index_of(step, __builtin_ctzll(left))]));
}

static bool NAME(count)(COUNTER *table, const INDEX *at, int n, histo_carry_fn *carry, const void *to,
                        const histo_producer *next)
{
    bool produced = false;
    for (; n >= HISTO_PIECE; n -= HISTO_PIECE, at += HISTO_PIECE) {
#if defined(SPREAD)
        INDEX places[HISTO_PIECE];
        for (int i = 0; i < HISTO_PIECE; i++)
            places[i] = histo_spread_place(at[i]);
#else
        const INDEX *places = at;
#endif
        bool counted[GROUPS], some = false;
        const bool few = NAME(may_be_few)(places);
        for (int g = 0; few && g < GROUPS; g++)
            some |= counted[g] = NAME(count_few)(table, places + g * GROUP, carry, to);
        if (!some) {
            produced = next && next->produce;
            NAME(count_interleaved)(table, places, carry, to, produced ? next : NULL);
        }
        for (int g = 0; some && g < GROUPS; g++)
            if (!counted[g]) NAME(count_group)(table, places + g * GROUP, carry, to);
    }
#if !defined(SPREAD)
    for (; n >= GROUP; n -= GROUP, at += GROUP)
        if (!NAME(count_few)(table, at, carry, to)) NAME(count_group)(table, at, carry, to);
#endif
    for (int i = 0; i < n; i++)
        if (OF_COUNTER(add)(&table[VALUE_AT(at[i])], 1)) carry(to, at[i]);
    return produced;
}

#undef NAME
#undef INDEX_BITS
#undef COUNTER_BITS
#undef INDEX
#undef COUNTER
#undef OF_INDEX
#undef OF_COUNTER
#undef SPREAD
#undef VALUE_AT
#undef PRODUCE
