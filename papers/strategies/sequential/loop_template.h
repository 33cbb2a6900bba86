/* Template of sequential_loop.c, included once for each type of samples: see there. Slot 0 is below the axis, slot
 * bins + 1 above it. */
static void NAME(int64_t first, uint32_t bins, const char *at, int64_t stride, int64_t n, uint64_t *counts)
{
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
