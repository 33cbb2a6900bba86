/* Values of one type to integers. nodes.c includes this for float and double. */
#define NAME_OF(function, type) function##_##type
#define NAMED(function, type) NAME_OF(function, type)
#define NAME(function) NAMED(function, TYPE)

static inline BITS NAME(magnitude)(const TYPE *value)
{
    BITS bits;
    memcpy(&bits, value, sizeof bits);
    return bits & (BITS)(~(BITS)0 >> 1);
}

static double NAME(largest_of)(const TYPE *values, int n)
{
    BITS most = 0;
    for (int i = 0; i < n; i++) {
        const BITS bits = NAME(magnitude)(&values[i]);
        most = bits > most ? bits : most;
    }
    TYPE largest;
    if (most > INFINITE) most = INFINITE; /* NaN */
    memcpy(&largest, &most, sizeof largest);
    return (double)largest;
}

static void NAME(quantize_all)(const TYPE *restrict values, int n, histo_quantizing by, int32_t *restrict to, int step)
{
    for (int i = 0; i < n; i++) {
        const bool finite = NAME(magnitude)(&values[i]) < INFINITE;
        to[(int64_t)i * step] = integer_of(finite ? (double)values[i] * by.scale * by.scale_too : 0);
    }
}

#undef NAME
#undef NAMED
#undef NAME_OF
#undef TYPE
#undef BITS
#undef INFINITE
