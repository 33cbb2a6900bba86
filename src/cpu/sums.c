/* Adding weights to a thread's own sums. Compiled once for each level of the instruction set (isa.h).
 *
 * Successive additions to the same sum are about twelve cycles apart, because each waits for the store before it. So
 * samples of several streams are interleaved, as in byte_table.h, and distributed over several copies of the sums; a
 * piece whose samples all have the same slot is summed in vectors. */
#include "cpu/isa.h"
#include "cpu/runs.h"

typedef double pair __attribute__((vector_size(16)));
typedef double four __attribute__((vector_size(32)));

static inline void add_pair(void *copy, double w)
{
    *(pair *)copy += (pair){w, 1};
}

static inline void add_four(void *copy, double w)
{
    *(four *)copy += (four){w, 1, w * w, 0};
}

enum { TOGETHER = HISTO_PIECE, STREAMS = 16, STREAM = TOGETHER / STREAMS };

#define DEFINE_ADD(name, type, vector)                                                                                 \
    static void add_##name(const histo_sums *sums, const uint32_t *slots, const type *weights, int n)                  \
    {                                                                                                                  \
        const int shift = __builtin_ctz((unsigned)sums->copies * sizeof(vector));                                      \
        char *copies[HISTO_MAX_COPIES];                                                                                \
        for (int c = 0; c < HISTO_MAX_COPIES; c++)                                                                     \
            copies[c] = (char *)sums->at + (size_t)(c & (sums->copies - 1)) * sizeof(vector);                          \
        for (; n >= TOGETHER; n -= TOGETHER, slots += TOGETHER, weights += TOGETHER)                                   \
            for (int round = 0; round < STREAM; round++) {                                                             \
                histo_prefetch_l1(weights + round * STREAMS, STREAMS * sizeof *weights);                               \
                for (int i = round; i < TOGETHER; i += STREAM)                                                         \
                    add_##vector(copies[i / STREAM % HISTO_MAX_COPIES] + ((size_t)slots[i] << shift),                  \
                                 (double)weights[i]);                                                                  \
            }                                                                                                          \
        for (int i = 0; i < n; i++)                                                                                    \
            add_##vector(copies[0] + ((size_t)slots[i] << shift), (double)weights[i]);                                 \
    }
DEFINE_ADD(floats, float, pair)
DEFINE_ADD(doubles, double, pair)
DEFINE_ADD(floats_squared, float, four)
DEFINE_ADD(doubles_squared, double, four)

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

void HISTO_OF_ISA(add_weights)(const histo_sums *sums, const uint32_t *slots, const void *weights, bool floats, int n)
{
    const bool squared = sums->numbers > HISTO_SUM_W2;
    if (n > 2 && histo_all_equal(slots, (size_t)n, sizeof *slots)) {
        double *copy = sums->at + (size_t)slots[0] * (size_t)(sums->copies * sums->numbers);
        (floats ? add_up_floats(copy, squared, weights, n) : add_up_doubles(copy, squared, weights, n));
    } else if (squared) {
        (floats ? add_floats_squared(sums, slots, weights, n) : add_doubles_squared(sums, slots, weights, n));
    } else {
        (floats ? add_floats(sums, slots, weights, n) : add_doubles(sums, slots, weights, n));
    }
}
