/* Exact sums of samples and of their squares. Compiled once for each instruction set level (isa.h).
 *
 * Adding a number to the double 1.5 * 2^(52 + e) rounds it to a multiple of 2^e: the rounded value can be read off the
 * bits of the sum, or is the difference of the sums, and the remainder is exact. In this way numbers are cut into
 * pieces on a grid that all samples of a block share, narrow enough that as many pieces as a lane gets, or their
 * products, add up in a double or an int64 without rounding. The grid extends from the largest sample down to the last
 * bit of the smallest nonzero one. Blocks that need more bits than the pieces have are summed elsewhere
 * (survey/sums.c). */
#include "cpu/kernels/power_sums/power_sums.h"

#include <math.h>
#include <string.h>

#include "cpu/kernels/isa.h"
#include "view/dtype.h"

/* A register holds LANES doubles. Sums are exact, so the number of lanes does not affect them. */
#if defined(__AVX512F__)
enum { LANES = 8, SHARE_BITS = 8 };
#elif defined(__AVX2__)
enum { LANES = 4, SHARE_BITS = 9 };
#else
enum { LANES = 2, SHARE_BITS = 10 };
#endif
_Static_assert(LANES << SHARE_BITS == HISTO_SUMMED_BLOCK, "a lane adds up at most 2^SHARE_BITS samples of a block");

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef uint64_t whole_lanes __attribute__((vector_size(LANES * sizeof(uint64_t))));

/* ---- Integers ---- */

#define NAME(function) function##_u8
#define TYPE uint8_t
#define SUM uint32_t
#define SQUARE uint32_t
#define HALF 16
#include "cpu/kernels/power_sums/integers_template.h"

#define NAME(function) function##_i8
#define TYPE int8_t
#define SUM int32_t
#define SQUARE uint32_t
#define HALF 16
#include "cpu/kernels/power_sums/integers_template.h"

#define NAME(function) function##_u16
#define TYPE uint16_t
#define SUM uint32_t
#define SQUARE uint32_t
#define HALF 16
#include "cpu/kernels/power_sums/integers_template.h"

#define NAME(function) function##_i16
#define TYPE int16_t
#define SUM int32_t
#define SQUARE uint32_t
#define HALF 16
#include "cpu/kernels/power_sums/integers_template.h"

#define NAME(function) function##_u32
#define TYPE uint32_t
#define SUM uint64_t
#define SQUARE uint64_t
#define HALF 32
#include "cpu/kernels/power_sums/integers_template.h"

#define NAME(function) function##_i32
#define TYPE int32_t
#define SUM int64_t
#define SQUARE uint64_t
#define HALF 32
#include "cpu/kernels/power_sums/integers_template.h"

/* ---- Floats ---- */

/* The grid of a block: all samples are multiples of 2^bottom below 2^top. */
typedef struct grid {
    int bottom, top;
} grid;

static grid grid_of(double largest, double least, int significant)
{
    grid block_grid;
    (void)frexp(largest, &block_grid.top);
    (void)frexp(least, &block_grid.bottom);
    block_grid.bottom -= significant;
    return block_grid;
}

/* The smallest nonzero magnitude, from bits without the sign; subtracting 1 makes zeros the largest. */
static double least_f32(const float *x, int n)
{
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bits = (bits & INT32_MAX) - 1;
        least = bits < least ? bits : least;
    }
    float smallest;
    least++;
    memcpy(&smallest, &least, sizeof smallest);
    return (double)smallest;
}

static double least_f64(const double *x, int n)
{
    int64_t least = INT64_MAX; /* signed, which more instruction sets compare */
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        const int64_t moved = (int64_t)((bits << 1) + INT64_MAX);
        least = moved < least ? moved : least;
    }
    double smallest;
    const uint64_t bits = ((uint64_t)least - INT64_MAX) >> 1;
    memcpy(&smallest, &bits, sizeof smallest);
    return smallest;
}

static histo_term term_of(const lanes *sum, const lanes *begin, int exponent)
{
    histo_term term = {0, exponent};
    const double scale = ldexp(1, -exponent);
    for (int l = 0; l < LANES; l++)
        term.value += (int64_t)(((*sum)[l] - (*begin)[l]) * scale);
    return term;
}

/* Squares have 48 bits. `upper` starts from a number so large that additions round to multiples of 2^high; `lower` sums
 * what they lose. */
static bool add_f32(const float *x, int n, double largest, histo_block_sums *to)
{
    enum { SIGNIFICANT = 24, BELOW_TOP = 51 - SHARE_BITS, MOST_BITS = (54 + BELOW_TOP - SHARE_BITS) / 2 };
    const grid block_grid = grid_of(largest, least_f32(x, n), SIGNIFICANT);
    if (block_grid.top - block_grid.bottom > MOST_BITS) return false;
    const int high = 2 * block_grid.top - BELOW_TOP;
    const lanes none = {0}, begin = none + ldexp(1, 52 + high);
    lanes sum = none, upper = begin, lower = none;
    double widened[HISTO_SUMMED_BLOCK];
    for (int i = 0; i < n; i++)
        widened[i] = (double)x[i];
    for (int i = n; i % LANES; i++)
        widened[i] = 0;
    for (int i = 0; i < n; i += LANES) {
        lanes wide;
        memcpy(&wide, widened + i, sizeof wide);
        const lanes square = wide * wide, before = upper;
        sum += wide;
        upper += square;
        lower += square - (upper - before);
    }
    to->sum[0] = term_of(&sum, &none, block_grid.bottom);
    to->squares[0] = term_of(&upper, &begin, high);
    to->squares[1] = term_of(&lower, &none, 2 * block_grid.bottom);
    return true;
}

/* Adds the bits of x * y + magic, which are exact, so it does not matter whether the operation is fused. */
static inline void add_product(whole_lanes *sum, const lanes *x, const lanes *y, const lanes *magic)
{
    lanes moved;
#if defined(__FMA__) || defined(__AVX512F__)
    for (int l = 0; l < LANES; l++)
        moved[l] = __builtin_fma((*x)[l], (*y)[l], (*magic)[l]);
#else
    moved = *x * *y + *magic;
#endif
    *sum += (whole_lanes)moved;
}

/* What add_product has added to the `n` sums of each lane. */
static histo_term product_term(const whole_lanes *sum, double magic, int n, int exponent)
{
    uint64_t all = 0, bits;
    memcpy(&bits, &magic, sizeof bits);
    for (int l = 0; l < LANES; l++)
        all += (*sum)[l];
    return (histo_term){(int64_t)(all - bits * (uint64_t)n * LANES), exponent};
}

/* x = a + b + c, each of at most 25 bits and multiples of 2^(bottom + 50), 2^(bottom + 25) and 2^bottom. The square is
 * a^2 + 2 a b + (2 a c + b^2) + 2 b c + c^2. */
static bool add_f64(const double *x, int n, double largest, histo_block_sums *to)
{
    enum { SIGNIFICANT = 53, PIECE = 25, MOST_BITS = 74, LARGEST = 400, SMALLEST = -450 };
    const grid block_grid = grid_of(largest, least_f64(x, n), SIGNIFICANT);
    if (block_grid.top - block_grid.bottom > MOST_BITS || block_grid.top > LARGEST || block_grid.bottom < SMALLEST)
        return false;
    const int unit = block_grid.bottom, square = 2 * unit;
    double magic[5];
    for (int k = 0; k < 5; k++)
        magic[k] = ldexp(1.5, 52 + square + k * PIECE);
    const lanes none = {0}, cut_a = none + ldexp(1.5, 52 + unit + 2 * PIECE),
                cut_b = none + ldexp(1.5, 52 + unit + PIECE);
    const lanes of_cc = none + magic[0], of_bc = none + magic[1], of_bb = none + magic[2], of_ab = none + magic[3],
                of_aa = none + magic[4];
    lanes sum_a = none, sum_b = none, sum_c = none;
    whole_lanes aa = {0}, ab = {0}, bb = {0}, bc = {0}, cc = {0};
    double filled[HISTO_SUMMED_BLOCK];
    if (n % LANES) {
        memcpy(filled, x, (size_t)n * sizeof *x);
        for (int i = n; i % LANES; i++)
            filled[i] = 0;
        x = filled;
    }
    for (int i = 0; i < n; i += LANES) {
        lanes rest;
        memcpy(&rest, x + i, sizeof rest);
        const lanes a = (rest + cut_a) - cut_a, bc_of_x = rest - a, b = (bc_of_x + cut_b) - cut_b, c = bc_of_x - b;
        const lanes twice = a + a, outer = twice * c + of_bb;
        sum_a += a;
        sum_b += b;
        sum_c += c;
        add_product(&aa, &a, &a, &of_aa);
        add_product(&ab, &a, &b, &of_ab);
        add_product(&bb, &b, &b, &outer);
        add_product(&bc, &b, &c, &of_bc);
        add_product(&cc, &c, &c, &of_cc);
    }
    const int times = (n + LANES - 1) / LANES;
    to->sum[0] = term_of(&sum_a, &none, unit + 2 * PIECE);
    to->sum[1] = term_of(&sum_b, &none, unit + PIECE);
    to->sum[2] = term_of(&sum_c, &none, unit);
    to->squares[0] = product_term(&aa, magic[4], times, square + 4 * PIECE);
    to->squares[1] = product_term(&ab, magic[3], times, square + 3 * PIECE + 1);
    to->squares[2] = product_term(&bb, magic[2], times, square + 2 * PIECE);
    to->squares[3] = product_term(&bc, magic[1], times, square + PIECE + 1);
    to->squares[4] = product_term(&cc, magic[0], times, square);
    return true;
}

bool HISTO_OF_ISA(sum_block)(histo_dtype dtype, const void *samples, int n, double largest, histo_block_sums *to)
{
    *to = (histo_block_sums){0};
    switch (dtype) {
#define CASE(constant, name, ...)                                                                                      \
    case constant:                                                                                                     \
        add_##name(samples, n, to);                                                                                    \
        return true;
        HISTO_NARROW_INTEGERS(CASE)
#undef CASE
    case HISTO_F32:
        return add_f32(samples, n, largest, to);
    case HISTO_F64:
        return add_f64(samples, n, largest, to);
    default:
        return false;
    }
}
