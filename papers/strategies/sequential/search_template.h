/* Template of sequential_search.c, included once for each type of samples: see there. */
static void NAME(const histo_lookup *lookup, const double *edges, const char *at, int64_t stride, int64_t n,
                 uint64_t *counts)
{
    const int32_t bins = lookup->bins;
    for (int64_t i = 0; i < n; i++, at += stride) {
        TYPE x;
        memcpy(&x, at, sizeof x);
        int32_t low = 0, high = bins + 1; /* edges[low - 1] <= x < edges[high], where they exist */
        while (low < high) {
            const int32_t middle = (low + high) / 2;
            if (COMPUTE(histo_less)(x, edges[middle]))
                high = middle;
            else
                low = middle + 1;
        }
        const double value = (double)x; /* NaN is not below any edge */
        if (low == bins + 1 && !COMPUTE(histo_is_over)(lookup, x)) low = value == value ? bins : bins + 2;
        counts[low]++;
    }
}
#undef TYPE
#undef NAME
#undef COMPUTE
