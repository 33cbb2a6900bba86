/* Row numbers of the type TYPE. row_list.c includes this for each. */
#define NAME_OF(function, type) function##_##type
#define NAMED(function, type) NAME_OF(function, type)
#define NAME(function) NAMED(function, TYPE)

static int64_t NAME(row_of)(const char *at)
{
    TYPE row;
    memcpy(&row, at, sizeof row);
    return (int64_t)row;
}

/* Is one of n numbers not in 0 … last? */
static inline __attribute__((always_inline)) bool NAME(strays)(const char *at, int64_t stride, int64_t n, int64_t last)
{
    uint64_t signs = 0; /* a minimum would take several instructions in SSE2 */
    for (int64_t i = 0; i < n; i++) {
        const uint64_t row = (uint64_t)NAME(row_of)(at + i * stride);
        signs |= row | ((uint64_t)last - row);
    }
    return signs >> 63;
}

static bool NAME(has_stray)(const char *at, int64_t stride, int64_t n, int64_t last)
{
    return stride == sizeof(TYPE) ? NAME(strays)(at, sizeof(TYPE), n, last) : NAME(strays)(at, stride, n, last);
}

static void NAME(take)(const char *at, int64_t stride, int n, uint32_t *rows)
{
    for (int i = 0; i < n; i++)
        rows[i] = (uint32_t)NAME(row_of)(at + i * stride);
}

#undef NAME
#undef NAMED
#undef NAME_OF
#undef TYPE
