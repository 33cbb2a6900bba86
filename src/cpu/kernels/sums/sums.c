/* Adds weights to per-thread sums. Compiled once for each instruction set level (isa.h).
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

/* A weight and 1, in a single instruction where there is one. */
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

static inline void add_float(void *sums, const float *w)
{
    *(pair *)sums += one_and_float(w);
}

static inline void add_double(void *sums, const double *w)
{
    *(pair *)sums += one_and(w);
}

static inline void add_squared(void *sums, double w)
{
    *(four *)sums += (four){w, 1, w * w, 0};
}

static inline void add_float_squared(void *sums, const float *w)
{
    add_squared(sums, (double)*w);
}

static inline void add_double_squared(void *sums, const double *w)
{
    add_squared(sums, *w);
}

#define NAME(function) function##_float
#define TYPE float
#define VECTOR pair
#include "cpu/kernels/sums/sums_template.h"

#define NAME(function) function##_double
#define TYPE double
#define VECTOR pair
#include "cpu/kernels/sums/sums_template.h"

#define NAME(function) function##_float_squared
#define TYPE float
#define VECTOR four
#include "cpu/kernels/sums/sums_template.h"

#define NAME(function) function##_double_squared
#define TYPE double
#define VECTOR four
#include "cpu/kernels/sums/sums_template.h"

#define NAME(function) function##_floats
#define TYPE float
#include "cpu/kernels/sums/add_up_template.h"

#define NAME(function) function##_doubles
#define TYPE double
#include "cpu/kernels/sums/add_up_template.h"

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

#define NAME(function) function##_floats_2
#define TYPE float
#define LANES 2
#include "cpu/kernels/sums/columns_template.h"

#define NAME(function) function##_floats_4
#define TYPE float
#define LANES 4
#include "cpu/kernels/sums/columns_template.h"

#define NAME(function) function##_floats_8
#define TYPE float
#define LANES 8
#include "cpu/kernels/sums/columns_template.h"

#define NAME(function) function##_doubles_2
#define TYPE double
#define LANES 2
#include "cpu/kernels/sums/columns_template.h"

#define NAME(function) function##_doubles_4
#define TYPE double
#define LANES 4
#include "cpu/kernels/sums/columns_template.h"

#define NAME(function) function##_doubles_8
#define TYPE double
#define LANES 8
#include "cpu/kernels/sums/columns_template.h"

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
