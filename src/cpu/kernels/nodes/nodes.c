/* Sums of gradients over bins. Compiled once for each level of the instruction set (isa.h). */
#include <math.h>
#include <string.h>

#include "cpu/kernels/isa.h"
#include "cpu/kernels/pick.h"

typedef int64_t word_of_1;
typedef int64_t word_of_2 __attribute__((vector_size(16)));

/* ---- Values to integers ---- */

/* Adding this leaves the nearest integer in the low bits of a double, if that is in the range of int32_t. */
static const double to_integer = 0x1.8p52;

static inline int32_t integer_of(double scaled)
{
    const double shifted = scaled + to_integer;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    return (int32_t)(uint32_t)bits;
}

#define TYPE float
#define BITS uint32_t
#define INFINITE 0x7f800000u
#include "cpu/kernels/nodes/quantize_template.h"

#define TYPE double
#define BITS uint64_t
#define INFINITE UINT64_C(0x7ff0000000000000)
#include "cpu/kernels/nodes/quantize_template.h"

void HISTO_OF_ISA(quantize)(const void *values, bool doubles, int n, histo_quantizing by, int32_t *to, int step)
{
    if (doubles)
        quantize_all_double(values, n, by, to, step);
    else
        quantize_all_float(values, n, by, to, step);
}

double HISTO_OF_ISA(largest)(const void *values, bool doubles, int n)
{
    return doubles ? largest_of_double(values, n) : largest_of_float(values, n);
}

/* ---- Words ---- */

enum { ONE = 1, SHIFT = HISTO_NODE_COUNT_BITS, AHEAD = 32 };

static inline int64_t first_lane(int32_t weight)
{
    return (int64_t)weight * ((int64_t)1 << SHIFT) + ONE;
}

void HISTO_OF_ISA(node_words)(const int32_t *weights, int lanes, const uint32_t *rows, int64_t first, int n,
                              int64_t *words)
{
    const int32_t *of = weights + first * lanes;
    if (!rows && lanes == 1)
        for (int i = 0; i < n; i++)
            words[i] = first_lane(of[i]);
    else if (!rows)
        for (int i = 0; i < n; i++) {
            words[2 * i] = first_lane(of[2 * i]);
            words[2 * i + 1] = of[2 * i + 1];
        }
    else
        for (int i = 0; i < n; i++) {
            const int32_t *row = weights + (size_t)rows[i] * (size_t)lanes;
            __builtin_prefetch(weights + (size_t)rows[i + AHEAD < n ? i + AHEAD : n - 1] * (size_t)lanes);
            words[lanes * i] = first_lane(row[0]);
            if (lanes == 2) words[2 * i + 1] = row[1];
        }
}

/* ---- Additions ---- */

/* 8 adjacent bytes. */
static inline uint64_t piece_of(const void *bytes)
{
    uint64_t piece;
    memcpy(&piece, bytes, sizeof piece);
    return piece;
}

/* Prefetch the beginning of the next block of columns: hardware starts anew where a block, of as many bytes as a page,
 * begins. */
static inline void prefetch_columns(const histo_node_adding *a, size_t bytes)
{
    enum { LINE = 64, LINES = 8 };
    for (int c = 0; c < a->features; c++)
        for (int line = 0; line < LINES; line++)
            __builtin_prefetch((const char *)a->columns[c] + bytes + line * LINE, 0, 2);
}

static inline void prefetch_row(const char *row, size_t bytes)
{
    enum { LINE = 64 };
    __builtin_prefetch(row);
    for (size_t at = LINE; at < bytes; at += LINE)
        __builtin_prefetch(row + at);
    __builtin_prefetch(row + bytes - 1);
}

#define BINS uint8_t
#define LANES 1
#include "cpu/kernels/nodes/add_template.h"

#define BINS uint8_t
#define LANES 2
#include "cpu/kernels/nodes/add_template.h"

#define BINS uint16_t
#define LANES 1
#include "cpu/kernels/nodes/add_template.h"

#define BINS uint16_t
#define LANES 2
#include "cpu/kernels/nodes/add_template.h"

void HISTO_OF_ISA(node_add_columns)(const histo_node_adding *a)
{
    if (a->wide)
        (a->lanes == 1 ? add_columns_uint16_t_1 : add_columns_uint16_t_2)(a);
    else
        (a->lanes == 1 ? add_columns_uint8_t_1 : add_columns_uint8_t_2)(a);
}

void HISTO_OF_ISA(node_add_rows)(const histo_node_adding *a)
{
    if (a->wide)
        (a->lanes == 1 ? add_rows_uint16_t_1 : add_rows_uint16_t_2)(a);
    else
        (a->lanes == 1 ? add_rows_uint8_t_1 : add_rows_uint8_t_2)(a);
}
