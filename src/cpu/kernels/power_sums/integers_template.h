/* Sums of integers of one TYPE and of their squares. power_sums.c includes this once for each: NAME(function) is the
 * function's name for the TYPE. Squares are added up in two halves of HALF bits, whose sums fit a SQUARE again. */
static void NAME(add)(const TYPE *x, int n, histo_block_sums *to)
{
    SUM sum = 0;
    SQUARE low = 0, high = 0;
    for (int i = 0; i < n; i++) {
        const SUM value = (SUM)x[i]; /* NOLINT(bugprone-signed-char-misuse,cert-str34-c): a number */
        const SQUARE square = (SQUARE)(value * value);
        sum += value;
        low += square & (((SQUARE)1 << HALF) - 1);
        high += square >> HALF;
    }
    to->sum[0].value = (int64_t)sum;
    to->squares[0].value = (int64_t)low;
    to->squares[1] = (histo_term){(int64_t)high, HALF};
}

#undef NAME
#undef TYPE
#undef SUM
#undef SQUARE
#undef HALF
