/* Adding weights to a thread's own sums. Compiled once for each level of the instruction set (isa.h).
 *
 * Successive additions to the same sum are about twelve cycles apart, because each waits for the store before it. So
 * samples of several streams are interleaved, as in byte_table.h, and distributed over several copies of the sums; a
 * piece whose samples all have the same slot is summed in vectors. */
#include <string.h>

#include "cpu/kernels/isa.h"
#include "cpu/samples/runs.h"

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

typedef double pair __attribute__((vector_size(16)));
typedef double four __attribute__((vector_size(32)));

/* A weight and 1, in one instruction where there is one. */
static inline pair one_and(const double *w)
{
#if defined(__SSE2__)
    return (pair)_mm_loadl_pd((__m128d){1, 1}, w);
#elif defined(__aarch64__)
    return (pair)vcombine_f64(vld1_f64(w), vdup_n_f64(1));
#else
    return (pair){*w, 1};
#endif
}

static inline pair one_and_float(const float *w)
{
#if defined(__SSE2__)
    return (pair)_mm_cvtss_sd((__m128d){1, 1}, _mm_load_ss(w));
#else
    const double widened = (double)*w;
    return one_and(&widened);
#endif
}

#define DEFINE_ADD_ONE(name, type, one_and)                                                                            \
    static inline void add_##name(void *sums, const type *w)                                                           \
    {                                                                                                                  \
        *(pair *)sums += one_and(w);                                                                                   \
    }                                                                                                                  \
    static inline void add_##name##_squared(void *sums, const type *w)                                                 \
    {                                                                                                                  \
        const double x = (double)*w;                                                                                   \
        *(four *)sums += (four){x, 1, x * x, 0};                                                                       \
    }
DEFINE_ADD_ONE(float, float, one_and_float)
DEFINE_ADD_ONE(double, double, one_and)

/* The weights wait in the pipeline for one piece, so they are prefetched as much farther ahead. */
#define DEFINE_ADD(name, type, vector)                                                                                 \
    static inline void add_round_##name(char *sums, int copies, const uint32_t *slots, const type *weights)            \
    {                                                                                                                  \
        for (int k = 0; k < HISTO_STREAMS; k++)                                                                        \
            add_##name(sums + (size_t)slots[k * HISTO_STREAM] * ((size_t)copies * sizeof(vector)) +                    \
                           (size_t)(k % copies) * sizeof(vector),                                                      \
                       &weights[k * HISTO_STREAM]);                                                                    \
    }                                                                                                                  \
                                                                                                                       \
    static void add_step_##name(const histo_sums *sums, const uint32_t *slots, const void *from, int step)             \
    {                                                                                                                  \
        const type *weights = from;                                                                                    \
        char *const at = (char *)sums->at;                                                                             \
        histo_prefetch_l1(weights + HISTO_PIECE + step * HISTO_STEP, HISTO_STEP * sizeof *weights);                    \
        if (sums->copies == HISTO_MAX_COPIES)                                                                          \
            for (int round = step * HISTO_ROUNDS; round < (step + 1) * HISTO_ROUNDS; round++)                          \
                add_round_##name(at, HISTO_MAX_COPIES, slots + round, weights + round);                                \
        else                                                                                                           \
            for (int round = step * HISTO_ROUNDS; round < (step + 1) * HISTO_ROUNDS; round++)                          \
                add_round_##name(at, 1, slots + round, weights + round);                                               \
    }                                                                                                                  \
                                                                                                                       \
    static bool add_all_##name(const histo_sums *sums, const uint32_t *slots, const void *from, int n,                 \
                               const histo_producer *next)                                                             \
    {                                                                                                                  \
        const type *weights = from;                                                                                    \
        const size_t size = sizeof(vector) * (size_t)sums->copies;                                                     \
        bool produced = false;                                                                                         \
        for (; n >= HISTO_PIECE; n -= HISTO_PIECE, slots += HISTO_PIECE, weights += HISTO_PIECE) {                     \
            produced = next && next->produce;                                                                          \
            if (produced)                                                                                              \
                histo_produce(                                                                                         \
                    next, (histo_consumer){.at = slots, .sums = sums, .weights = weights, .add = add_step_##name});    \
            for (int step = 0; step < HISTO_STEPS && !produced; step++)                                                \
                add_step_##name(sums, slots, weights, step);                                                           \
        }                                                                                                              \
        for (int i = 0; i < n; i++)                                                                                    \
            add_##name((char *)sums->at + slots[i] * size, &weights[i]);                                               \
        return produced;                                                                                               \
    }
DEFINE_ADD(float, float, pair)
DEFINE_ADD(double, double, pair)
DEFINE_ADD(float_squared, float, four)
DEFINE_ADD(double_squared, double, four)

/* Sum weights to one copy. */
#define DEFINE_ADD_UP(name, type)                                                                                      \
    static void add_up_##name(double *copy, bool squared, const type *weights, int n)                                  \
    {                                                                                                                  \
        enum { LANES = 16 };                                                                                           \
        double w[LANES] = {0}, w2[LANES] = {0};                                                                        \
        copy[HISTO_SUM_COUNT] += n;                                                                                    \
        for (; n >= LANES; n -= LANES, weights += LANES) {                                                             \
            histo_prefetch_l1(weights, LANES * sizeof *weights);                                                       \
            for (int k = 0; k < LANES; k++) {                                                                          \
                const double weight = (double)weights[k];                                                              \
                w[k] += weight;                                                                                        \
                w2[k] += weight * weight;                                                                              \
            }                                                                                                          \
        }                                                                                                              \
        for (int k = 0; k < LANES; k++) {                                                                              \
            const double weight = k < n ? (double)weights[k] : 0;                                                      \
            copy[HISTO_SUM_W] += w[k] + weight;                                                                        \
            if (squared) copy[HISTO_SUM_W2] += w2[k] + weight * weight;                                                \
        }                                                                                                              \
    }
DEFINE_ADD_UP(floats, float)
DEFINE_ADD_UP(doubles, double)

bool HISTO_OF_ISA(add_weights)(const histo_sums *sums, const uint32_t *slots, const void *weights, bool floats, int n,
                               const histo_producer *next)
{
    const bool squared = sums->numbers > HISTO_SUM_W2;
    if (n > 2 && histo_all_equal(slots, (size_t)n, sizeof *slots)) {
        double *copy = sums->at + (size_t)slots[0] * (size_t)(sums->copies * sums->numbers);
        (floats ? add_up_floats(copy, squared, weights, n) : add_up_doubles(copy, squared, weights, n));
        return false;
    }
    if (squared)
        return floats ? add_all_float_squared(sums, slots, weights, n, next)
                      : add_all_double_squared(sums, slots, weights, n, next);
    return floats ? add_all_float(sums, slots, weights, n, next) : add_all_double(sums, slots, weights, n, next);
}

/* ---- Several weights of a sample ---- */

/* Neighbours are a number of samples apart, as in the pipeline, but all in a few lines of each lane's weights: those of
 * eight lanes would not fit the L1 cache else. */
#define DEFINE_ADD_COLUMNS(name, type, LANES)                                                                          \
    static inline void add_to_column_##name(double *sums, bool squared, uint32_t slot, const type *const *weights,     \
                                            int64_t step, int i)                                                       \
    {                                                                                                                  \
        typedef double column __attribute__((vector_size(LANES * sizeof(double))));                                    \
        typedef type row __attribute__((vector_size(LANES * sizeof(type))));                                           \
        column *of_slot = (column *)sums + (size_t)slot * (squared ? 2 : 1), w;                                        \
        if (step) {                                                                                                    \
            row together;                                                                                              \
            memcpy(&together, weights[0] + i * step, sizeof together);                                                 \
            w = __builtin_convertvector(together, column);                                                             \
        } else {                                                                                                       \
            for (int lane = 0; lane < LANES; lane++)                                                                   \
                w[lane] = (double)weights[lane][i];                                                                    \
        }                                                                                                              \
        of_slot[0] += w;                                                                                               \
        if (squared) of_slot[1] += w * w;                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static inline void add_columns_##name(double *sums, bool squared, const uint32_t *slots, const void *const *from,  \
                                          int64_t step, int n)                                                         \
    {                                                                                                                  \
        const type *weights[LANES];                                                                                    \
        memcpy(weights, from, sizeof weights);                                                                         \
        int begin = 0;                                                                                                 \
        for (; begin + HISTO_STEP <= n; begin += HISTO_STEP) {                                                         \
            for (int lane = 0; lane < LANES && !step; lane++)                                                          \
                histo_prefetch_l2(weights[lane] + begin, HISTO_STEP * sizeof(type));                                   \
            if (step == LANES) histo_prefetch_l2(weights[0] + begin * step, HISTO_STEP * LANES * sizeof(type));        \
            for (int round = 0; round < HISTO_ROUNDS; round++)                                                         \
                for (int k = round; k < HISTO_STEP; k += HISTO_ROUNDS)                                                 \
                    add_to_column_##name(sums, squared, slots[begin + k], weights, step, begin + k);                   \
        }                                                                                                              \
        for (; begin < n; begin++)                                                                                     \
            add_to_column_##name(sums, squared, slots[begin], weights, step, begin);                                   \
    }                                                                                                                  \
                                                                                                                       \
    static void add_##name(double *sums, bool squared, const uint32_t *slots, const histo_weight_lanes *weights,       \
                           int n)                                                                                      \
    {                                                                                                                  \
        if (squared)                                                                                                   \
            weights->step ? add_columns_##name(sums, true, slots, weights->lane, weights->step, n)                     \
                          : add_columns_##name(sums, true, slots, weights->lane, 0, n);                                \
        else                                                                                                           \
            weights->step ? add_columns_##name(sums, false, slots, weights->lane, weights->step, n)                    \
                          : add_columns_##name(sums, false, slots, weights->lane, 0, n);                               \
    }
DEFINE_ADD_COLUMNS(floats_2, float, 2)
DEFINE_ADD_COLUMNS(floats_4, float, 4)
DEFINE_ADD_COLUMNS(floats_8, float, 8)
DEFINE_ADD_COLUMNS(doubles_2, double, 2)
DEFINE_ADD_COLUMNS(doubles_4, double, 4)
DEFINE_ADD_COLUMNS(doubles_8, double, 8)

void HISTO_OF_ISA(add_columns)(double *sums, int lanes, bool squared, const uint32_t *slots,
                               const histo_weight_lanes *weights, int n)
{
    switch (lanes) {
    case 2:
        (weights->floats ? add_floats_2 : add_doubles_2)(sums, squared, slots, weights, n);
        break;
    case 4:
        (weights->floats ? add_floats_4 : add_doubles_4)(sums, squared, slots, weights, n);
        break;
    default:
        (weights->floats ? add_floats_8 : add_doubles_8)(sums, squared, slots, weights, n);
        break;
    }
}
