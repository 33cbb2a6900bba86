/* Adds up weights of one type into one copy of a slot's sums. sums.c includes this once for each: NAME(function) is the
 * function's name, TYPE the type of the weights. */
static void NAME(add_up)(double *copy, bool squared, const TYPE *weights, int n)
{
    enum { LANES = 16 };
    double w[LANES] = {0}, w2[LANES] = {0};
    copy[HISTO_SUM_COUNT] += n;
    for (; n >= LANES; n -= LANES, weights += LANES) {
        histo_prefetch_l1(weights, LANES * sizeof *weights);
        for (int k = 0; k < LANES; k++) {
            const double weight = (double)weights[k];
            w[k] += weight;
            w2[k] += weight * weight;
        }
    }
    for (int k = 0; k < LANES; k++) {
        const double weight = k < n ? (double)weights[k] : 0;
        copy[HISTO_SUM_W] += w[k] + weight;
        if (squared) copy[HISTO_SUM_W2] += w2[k] + weight * weight;
    }
}

#undef NAME
#undef TYPE
