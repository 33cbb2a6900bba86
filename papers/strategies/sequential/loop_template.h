/* Template of sequential_loop.c, included once for each type of samples: see there. Slot 0 is below the axis, slot
 * bins + 1 above it. */
static void NAME(const histo_lookup *lookup, const double *edges, const char *at, int64_t stride, int64_t n,
                 uint64_t *counts)
{
    (void)edges;
    const int64_t first = (int64_t)lookup->lo;
    const uint32_t bins = (uint32_t)lookup->bins;
    uint64_t *result = counts + 1;
    for (int64_t i = 0; i < n; i++, at += stride) {
        TYPE x;
        memcpy(&x, at, sizeof x);
        const int64_t bin = x - first;
        if ((uint64_t)bin < bins)
            result[bin]++;
        else
            counts[bin < 0 ? 0 : bins + 1]++;
    }
}
#undef TYPE
#undef NAME
