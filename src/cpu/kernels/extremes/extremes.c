/* Extremes. Compiled once for each instruction set level (isa.h); the compiler vectorises the loops.
 *
 * Floats are compared as integers. Positive floats sort like their bits; negative ones sort in the opposite order,
 * above all positive ones if bits are unsigned, below them if bits are signed. So three numbers give the extremes: the
 * largest unsigned, the largest signed and the smallest signed bits. That takes three instructions per vector, and also
 * detects NaN and infinities, whose bits are beyond those of finite numbers. A piece that has some is examined
 * again. */
#include "cpu/kernels/extremes/extremes.h"

#include <string.h>

#include "cpu/kernels/isa.h"
#include "cpu/kernels/template.h"
#include "view/dtype.h"

enum { PIECE_BYTES = 16384 }; /* fits the L1 cache; 16 bits can count its samples */

/* Whether there has been a finite sample, so that there is a minimum. */
static inline bool any_yet(const histo_extremes *e)
{
    return e->samples > e->nan + e->below + e->above;
}

/* ---- Integers ---- */

#define NAME(function) function##_u8
#define TYPE uint8_t
#define MEMBER u64
#include "cpu/kernels/extremes/integers_template.h"

#define NAME(function) function##_i8
#define TYPE int8_t
#define MEMBER i64
#include "cpu/kernels/extremes/integers_template.h"

#define NAME(function) function##_u16
#define TYPE uint16_t
#define MEMBER u64
#include "cpu/kernels/extremes/integers_template.h"

#define NAME(function) function##_i16
#define TYPE int16_t
#define MEMBER i64
#include "cpu/kernels/extremes/integers_template.h"

#define NAME(function) function##_u32
#define TYPE uint32_t
#define MEMBER u64
#include "cpu/kernels/extremes/integers_template.h"

#define NAME(function) function##_i32
#define TYPE int32_t
#define MEMBER i64
#include "cpu/kernels/extremes/integers_template.h"

#define NAME(function) function##_u64
#define TYPE uint64_t
#define MEMBER u64
#include "cpu/kernels/extremes/integers_template.h"

#define NAME(function) function##_i64
#define TYPE int64_t
#define MEMBER i64
#include "cpu/kernels/extremes/integers_template.h"

/* ---- Floats ---- */

static inline double number_f64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline double number_f32(uint32_t bits)
{
    return (double)histo_f32_from_bits(bits);
}

static inline double number_f16(uint16_t bits)
{
    return (double)histo_f16_to_f32(bits);
}

static inline double number_bf16(uint16_t bits)
{
    return (double)histo_bf16_to_f32(bits);
}

#define NAME(function) function##_16
#define BITS 16
#include "cpu/kernels/extremes/bits_template.h"

#define NAME(function) function##_32
#define BITS 32
#include "cpu/kernels/extremes/bits_template.h"

#define NAME(function) function##_64
#define BITS 64
#include "cpu/kernels/extremes/bits_template.h"

#define NAME(function) function##_f16
#define BITS 16
#define INFINITE 0x7c00
#include "cpu/kernels/extremes/floats_template.h"

#define NAME(function) function##_bf16
#define BITS 16
#define INFINITE 0x7f80
#include "cpu/kernels/extremes/floats_template.h"

#define NAME(function) function##_f32
#define BITS 32
#define INFINITE 0x7f800000
#include "cpu/kernels/extremes/floats_template.h"

#define NAME(function) function##_f64
#define BITS 64
#define INFINITE INT64_C(0x7ff0000000000000)
#include "cpu/kernels/extremes/floats_template.h"

void HISTO_OF_ISA(add_extremes)(histo_dtype dtype, const void *samples, int64_t n, histo_extremes *extremes)
{
    if (n == 0) return;
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant:                                                                                                     \
        add_##name(samples, n, extremes);                                                                              \
        break;
    HISTO_SWITCH_DTYPE(dtype, CASE)
#undef CASE
}

void HISTO_OF_ISA(add_column_extremes)(histo_dtype dtype, const void *table, int64_t pitch, int rows, int columns,
                                       histo_extremes *extremes)
{
    if (rows == 0) return;
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant:                                                                                                     \
        add_columns_##name(table, pitch, rows, columns, extremes);                                                     \
        break;
    HISTO_SWITCH_DTYPE(dtype, CASE)
#undef CASE
}
