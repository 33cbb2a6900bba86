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

enum { ONE = 1, SHIFT = HISTO_NODE_COUNT_BITS };

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

/* Copy so many bytes, a piece at a time; the last pieces overlap. */
static inline __attribute__((always_inline)) void copy_pieces(char *to, const char *from, size_t bytes, size_t piece)
{
    for (size_t at = 0; at + piece < bytes; at += piece)
        memcpy(to + at, from + at, piece);
    memcpy(to + bytes - piece, from + bytes - piece, piece);
}

static inline void copy_row(char *to, const char *from, size_t bytes)
{
    if (bytes >= 16)
        copy_pieces(to, from, bytes, 16);
    else if (bytes >= 4)
        copy_pieces(to, from, bytes, 4);
    else
        copy_pieces(to, from, bytes, 1);
}

/* Copy features that are not adjacent. */
static inline void copy_apart(char *to, const char *row, const histo_node_gathering *g)
{
    if (g->size == 1)
        for (int f = 0; f < g->features; f++)
            to[f] = row[g->at[f]];
    else
        for (int f = 0; f < g->features; f++)
            memcpy(to + 2 * f, row + g->at[f], 2);
}

void HISTO_OF_ISA(node_gather)(const histo_node_gathering *g, char *to, int64_t pitch)
{
    const size_t bytes = (size_t)(g->features * g->size);
    for (int i = 0; i < g->n; i++, to += pitch) {
        const char *row = g->table + (g->rows ? g->rows[i] : (uint32_t)i) * g->stride;
        if (g->at)
            copy_apart(to, row, g);
        else
            copy_row(to, row, bytes);
    }
}

enum { LINE = 64, HISTO_NODE_STREAMS = HISTO_NODE_ROW_BYTES / LINE + 2 };

/* What is prefetched of each row of the next block: base + row * stride. */
typedef struct histo_node_stream {
    const char *base;
    int64_t stride;
    const uint32_t *rows;
} histo_node_stream;

/* The streams are the lines of a row, which may begin anywhere in a line, and the weights. */
static inline int streams_of(const histo_node_ahead *a)
{
    return a->rows ? (int)((a->bytes + LINE - 1) / LINE) + 2 : 0;
}

static inline histo_node_stream stream_of(const histo_node_ahead *a, int k)
{
    static const uint32_t none[HISTO_NODE_LISTED];
    const int last = streams_of(a) - 1, at = k * LINE;
    if (k > last) return (histo_node_stream){(const char *)none, 0, none};
    if (k == last)
        return (histo_node_stream){(const char *)a->weights, a->lanes * (int64_t)sizeof *a->weights, a->rows};
    return (histo_node_stream){a->table + (at < a->bytes ? at : a->bytes - 1), a->stride, a->rows};
}

static inline void prefetch(const histo_node_stream *stream, int i)
{
    __builtin_prefetch(stream->base + stream->rows[i] * stream->stride, 0, 3);
}

static void prefetch_stream(const histo_node_ahead *a, int k, int n)
{
    const histo_node_stream stream = stream_of(a, k);
    for (int i = 0; i < n; i++)
        prefetch(&stream, i);
}

void HISTO_OF_ISA(node_prefetch)(const histo_node_ahead *a, int n)
{
    for (int k = 0; k < streams_of(a); k++)
        prefetch_stream(a, k, n);
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
