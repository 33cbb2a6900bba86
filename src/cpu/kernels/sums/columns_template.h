/* Adds several weights per sample. sums.c includes this once for each type and number of weights: NAME(function) is the
 * function's name, TYPE the type of the weights, LANES their number. */
static inline void NAME(add_to_column)(double *sums, bool squared, uint32_t slot, const TYPE *const *weights,
                                       int64_t step, int i)
{
    typedef double column __attribute__((vector_size(LANES * sizeof(double))));
    typedef TYPE row __attribute__((vector_size(LANES * sizeof(TYPE))));
    column *of_slot = (column *)sums + (size_t)slot * (squared ? 2 : 1), w;
    if (step) {
        row together;
        memcpy(&together, weights[0] + i * step, sizeof together);
        w = __builtin_convertvector(together, column);
    } else {
        for (int lane = 0; lane < LANES; lane++)
            w[lane] = (double)weights[lane][i];
    }
    of_slot[0] += w;
    if (squared) of_slot[1] += w * w;
}

/* Consecutive additions are a few samples apart, as in the pipeline, but within a few cache lines of each lane's
 * weights: those of eight lanes would not fit the L1 cache otherwise. */
static inline void NAME(add_columns)(double *sums, bool squared, const uint32_t *slots, const void *const *from,
                                     int64_t step, int n)
{
    const TYPE *weights[LANES];
    memcpy(weights, from, sizeof weights);
    int begin = 0;
    for (; begin + HISTO_STEP <= n; begin += HISTO_STEP) {
        for (int lane = 0; lane < LANES && !step; lane++)
            histo_prefetch_l2(weights[lane] + begin, HISTO_STEP * sizeof(TYPE));
        if (step == LANES) histo_prefetch_l2(weights[0] + begin * step, HISTO_STEP * LANES * sizeof(TYPE));
        for (int round = 0; round < HISTO_ROUNDS; round++)
            for (int k = round; k < HISTO_STEP; k += HISTO_ROUNDS)
                NAME(add_to_column)(sums, squared, slots[begin + k], weights, step, begin + k);
    }
    for (; begin < n; begin++)
        NAME(add_to_column)(sums, squared, slots[begin], weights, step, begin);
}

static void NAME(add)(double *sums, bool squared, const uint32_t *slots, const histo_weight_lanes *weights, int n)
{
    if (squared)
        weights->step ? NAME(add_columns)(sums, true, slots, weights->lane, weights->step, n)
                      : NAME(add_columns)(sums, true, slots, weights->lane, 0, n);
    else
        weights->step ? NAME(add_columns)(sums, false, slots, weights->lane, weights->step, n)
                      : NAME(add_columns)(sums, false, slots, weights->lane, 0, n);
}

#undef NAME
#undef TYPE
#undef LANES
