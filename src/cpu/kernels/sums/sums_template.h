/* Adds weights of one type to the sums of their slots. sums.c includes this once for each: NAME(function) is the
 * function's name, TYPE the type of the weights, VECTOR that of a slot's sums. */
static inline void NAME(add_round)(char *sums, int copies, const uint32_t *slots, const TYPE *weights)
{
    for (int k = 0; k < HISTO_STREAMS; k++)
        NAME(add)
    (sums + (size_t)slots[k * HISTO_STREAM] * ((size_t)copies * sizeof(VECTOR)) + (size_t)(k % copies) * sizeof(VECTOR),
     &weights[k * HISTO_STREAM]);
}

/* The weights wait in the pipeline for one piece, so they are prefetched one piece farther ahead. */
static void NAME(add_step)(const histo_sums *sums, const uint32_t *slots, const void *from, int step)
{
    const TYPE *weights = from;
    char *const at = (char *)sums->at;
    histo_prefetch_l1(weights + HISTO_PIECE + step * HISTO_STEP, HISTO_STEP * sizeof *weights);
    if (sums->copies == HISTO_MAX_COPIES)
        for (int round = step * HISTO_ROUNDS; round < (step + 1) * HISTO_ROUNDS; round++)
            NAME(add_round)(at, HISTO_MAX_COPIES, slots + round, weights + round);
    else
        for (int round = step * HISTO_ROUNDS; round < (step + 1) * HISTO_ROUNDS; round++)
            NAME(add_round)(at, 1, slots + round, weights + round);
}

static bool NAME(add_all)(const histo_sums *sums, const uint32_t *slots, const void *from, int n,
                          const histo_producer *next)
{
    const TYPE *weights = from;
    const size_t size = sizeof(VECTOR) * (size_t)sums->copies;
    bool produced = false;
    for (; n >= HISTO_PIECE; n -= HISTO_PIECE, slots += HISTO_PIECE, weights += HISTO_PIECE) {
        produced = next && next->produce;
        if (produced)
            histo_produce(next, (histo_consumer){.at = slots, .sums = sums, .weights = weights, .add = NAME(add_step)});
        for (int step = 0; step < HISTO_STEPS && !produced; step++)
            NAME(add_step)(sums, slots, weights, step);
    }
    for (int i = 0; i < n; i++)
        NAME(add)((char *)sums->at + slots[i] * size, &weights[i]);
    return produced;
}

#undef NAME
#undef TYPE
#undef VECTOR
