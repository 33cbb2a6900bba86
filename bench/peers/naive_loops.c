#include "bench/peers/naive_loops.h"

#include <math.h>
#include <string.h>

#include "view/dtype.h"

naive_bins naive_bins_of(const histo_axis *axis, const double *edges, histo_dtype dtype)
{
    naive_bins b = {.how = NAIVE_SEARCHING, .bins = axis->bins, .edges = edges};
    b.lo = edges[0];
    b.hi = edges[b.bins];
    b.scale = (double)b.bins / (b.hi - b.lo);
    if (axis->kind <= HISTO_REGULAR) b.how = NAIVE_MULTIPLYING;
    if (axis->kind == HISTO_INTEGER && histo_dtype_is_integer(dtype) && fabs(b.lo) <= 0x1p53)
        b.how = histo_dtype_size(dtype) == 1 && b.bins == 256 ? NAIVE_BYTE : NAIVE_SUBTRACTING;
    return b;
}

#define ALWAYS static inline __attribute__((always_inline))

/* -1 outside. */
#define LOOPS(constant, name, storage, compute, widen)                                                                 \
    /* floats are binned as floats */                                                                                  \
    typedef __typeof__(_Generic((storage)0, float : 0.0F, default : 0.0)) real_##name;                                 \
    ALWAYS int64_t bin_##name(const naive_bins *b, storage stored, int how)                                            \
    {                                                                                                                  \
        if (how == NAIVE_BYTE) return (uint8_t)((uint64_t)(int64_t)stored - (uint64_t)(int64_t)b->lo);                 \
        if (how == NAIVE_SUBTRACTING) {                                                                                \
            uint64_t bin = (uint64_t)(int64_t)stored - (uint64_t)(int64_t)b->lo;                                       \
            return bin < (uint64_t)b->bins ? (int64_t)bin : -1;                                                        \
        }                                                                                                              \
        const real_##name x = (real_##name)widen(stored), lo = (real_##name)b->lo;                                     \
        if (!(x >= lo && x < (real_##name)b->hi)) return -1;                                                           \
        if (how == NAIVE_MULTIPLYING) {                                                                                \
            int64_t bin = (int64_t)((x - lo) * (real_##name)b->scale);                                                 \
            return bin < b->bins ? bin : b->bins - 1;                                                                  \
        }                                                                                                              \
        int64_t below = 0, above = b->bins;                                                                            \
        while (above - below > 1) {                                                                                    \
            int64_t middle = (below + above) / 2;                                                                      \
            if ((double)x < b->edges[middle])                                                                          \
                above = middle;                                                                                        \
            else                                                                                                       \
                below = middle;                                                                                        \
        }                                                                                                              \
        return below;                                                                                                  \
    }                                                                                                                  \
    ALWAYS void count_##name##_by(const naive_bins *b, const char *at, int64_t stride, int64_t n, uint64_t *counts,    \
                                  int how)                                                                             \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            storage x;                                                                                                 \
            memcpy(&x, at + i * stride, sizeof x);                                                                     \
            int64_t bin = bin_##name(b, x, how);                                                                       \
            if (bin >= 0) counts[bin]++;                                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    static void count_##name(const naive_bins *b, const char *at, int64_t stride, int64_t n, uint64_t *counts)         \
    {                                                                                                                  \
        const int64_t size = sizeof(storage);                                                                          \
        if (b->how == NAIVE_BYTE && stride == size)                                                                    \
            count_##name##_by(b, at, size, n, counts, NAIVE_BYTE);                                                     \
        else if (b->how == NAIVE_SUBTRACTING && stride == size)                                                        \
            count_##name##_by(b, at, size, n, counts, NAIVE_SUBTRACTING);                                              \
        else if (b->how == NAIVE_SUBTRACTING)                                                                          \
            count_##name##_by(b, at, stride, n, counts, NAIVE_SUBTRACTING);                                            \
        else if (b->how == NAIVE_MULTIPLYING)                                                                          \
            count_##name##_by(b, at, stride, n, counts, NAIVE_MULTIPLYING);                                            \
        else                                                                                                           \
            count_##name##_by(b, at, stride, n, counts, NAIVE_SEARCHING);                                              \
    }                                                                                                                  \
    /* bins[i] = bins[i] * b->bins + the bin of sample i; negative outside. */                                         \
    static void index_##name(const naive_bins *b, const char *at, int64_t stride, int64_t n, int64_t *bins)            \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            storage x;                                                                                                 \
            memcpy(&x, at + i * stride, sizeof x);                                                                     \
            int64_t bin = bin_##name(b, x, b->how);                                                                    \
            bins[i] = bin < 0 || bins[i] < 0 ? -1 : bins[i] * b->bins + bin;                                           \
        }                                                                                                              \
    }                                                                                                                  \
    static void widen_##name(const char *at, int64_t stride, int64_t n, double *widened)                               \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            storage x;                                                                                                 \
            memcpy(&x, at + i * stride, sizeof x);                                                                     \
            widened[i] = (double)widen(x);                                                                             \
        }                                                                                                              \
    }
HISTO_DTYPES(LOOPS)
#undef LOOPS

#define ENTRY(constant, name, storage, compute, widen) [constant] = {count_##name, index_##name, widen_##name},
const naive_loop naive_loops[HISTO_DTYPE_COUNT] = {HISTO_DTYPES(ENTRY)};
#undef ENTRY
