/* Samples of a block -> slots, in loops that the compiler turns into vector code. Compiled once for each level of the
 * instruction set (HISTO_SLOTS names the function), always without contraction. */
#include <string.h>

#include "cpu/cpu.h"
#include "view/dtype.h"

/* The uniform lookup of slot_of.h without branches: a guess, then one correction either way. Comparisons are by value,
 * so every dtype that double holds exactly takes this path. */
static inline uint32_t uniform_slot(const histo_lookup *l, double x)
{
    double most = l->bins - 1;
    double t = (x - l->lo) * l->per_step;
    t = t > 0 ? t : 0; /* NaN and underflow go to 0, and are put right below */
    t = t < most ? t : most;
    int32_t i = (int32_t)t;
    double at = (double)i;
    i -= x < l->lo + at * l->step;
    i += (x >= l->lo + (at + 1) * l->step) & (at < most);
    uint32_t n = (uint32_t)l->bins;
    uint32_t slot = (uint32_t)i + 1;
    uint32_t top = (l->closed & (x == l->hi)) ? n : n + 1;
    slot = x < l->lo ? 0 : slot;
    slot = x >= l->hi ? top : slot;
    return x != x ? n + 2 : slot;
}

#define DEFINE_SLOTS(constant, name, storage, compute, widen)                                                          \
    static void slots_##name(const histo_lookup *lookup, const storage *restrict samples, int n, uint32_t stride,      \
                             uint32_t *restrict out)                                                                   \
    {                                                                                                                  \
        const histo_lookup l = *lookup;                                                                                \
        if (sizeof(storage) <= 2 && l.table) {                                                                         \
            for (int i = 0; i < n; i++)                                                                                \
                out[i] += stride * l.table[TABLE_INDEX(samples[i])];                                                   \
        } else if (l.kind == HISTO_UNIFORM && IS_DOUBLE(compute)) {                                                    \
            for (int i = 0; i < n; i++)                                                                                \
                out[i] += stride * uniform_slot(&l, (double)widen(samples[i]));                                        \
        } else {                                                                                                       \
            for (int i = 0; i < n; i++)                                                                                \
                out[i] += stride * SLOT_OF(compute)(&l, (compute)widen(samples[i]));                                   \
        }                                                                                                              \
    }

#define TABLE_INDEX(x) _Generic((x), int8_t : (uint8_t)(x), int16_t : (uint16_t)(x), default : (size_t)(x))
#define IS_DOUBLE(compute) _Generic((compute)0, double : true, default : false)
#define SLOT_OF(compute)                                                                                               \
    _Generic((compute)0, double : histo_slot_f64, int64_t : histo_slot_i64, uint64_t : histo_slot_u64)

HISTO_DTYPES(DEFINE_SLOTS)

void HISTO_SLOTS(const histo_lookup *lookup, histo_dtype dtype, const void *samples, int n, uint32_t stride,
                 bool accumulate, uint32_t *out)
{
    if (!accumulate) memset(out, 0, (size_t)n * sizeof *out);
    switch (dtype) {
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant:                                                                                                     \
        slots_##name(lookup, samples, n, stride, out);                                                                 \
        break;
        HISTO_DTYPES(CASE)
#undef CASE
    default:
        break;
    }
}
