/* Drawing random problems: the whole space, weighted by what users do. Integers and exact products only, so that every
 * machine draws the same. */
#include <stdlib.h>

#include "bench/core/random_numbers.h"
#include "bench/random/random_problem.h"
#include "view/dtype.h"

/* Relative frequencies, indexed by the enumerations. docs/internals/performance.md has them as a table. */
static const int of_types[HISTO_DTYPE_COUNT] = {22, 1, 13, 4, 4, 6, 2, 4, 2, 2, 24, 16};
static const int of_axes[HISTO_MAX_AXES] = {700, 200, 70, 14, 6, 4, 3, 3};
static const int of_integer_axes[HISTO_AXIS_KIND_COUNT] = {57, 33, 7, 1, 1, 1};
static const int of_float_axes[HISTO_AXIS_KIND_COUNT] = {2, 67, 21, 7, 1, 2};
static const int of_edges[PROBLEM_EDGE_KINDS] = {30, 40, 15, 5, 10};
static const int of_kinds[PROBLEM_KINDS] = {16, 4, 24, 9, 5, 5, 2, 3, 6, 4, 6, 2, 2, 6, 6};
static const int of_layouts[PROBLEM_LAYOUTS] = {46, 6, 4, 8, 1, 2, 5, 12, 11, 3, 2};      /* of one axis */
static const int of_joint_layouts[PROBLEM_LAYOUTS] = {62, 4, 18, 5, 1, 1, 1, 1, 5, 1, 1}; /* of several */
static const int of_channels[] = {15, 50, 25, 2, 2, 3, 3};                                /* 2 … 8 */
static const int of_weightings[] = {50, 20, 20, 10}; /* from HISTO_WEIGHT_FAST on */
enum {                                               /* per cent */
       USUAL_BINS = 35,
       ONE_BIN = 1,
       SPARSE = 12, /* of several axes */
       FLOWS = 35,  /* a quarter of them have many samples outside */
       NANS = 12,   /* of problems with floats; a quarter of them have many */
       WEIGHTED = 10,
       MASKED = 9,
       FILTERED = 8,
       OFFSET = 12
};

/* Sizes on a GPU, as powers of two, and where the samples are. On a CPU from 2^8 to the largest. */
typedef enum draw_class {
    DRAW_LARGE = 0,
    DRAW_MIDDLE,
    DRAW_SMALL,
    DRAW_PINNED,
    DRAW_PAGEABLE,
    DRAW_CLASSES
} draw_class;
static const int of_classes[DRAW_CLASSES] = {50, 4, 33, 7, 6};
static const struct {
    int from, to;
    problem_place place;
} classes[DRAW_CLASSES] = {{22, 30, PROBLEM_DEVICE},
                           {20, 22, PROBLEM_DEVICE},
                           {8, 20, PROBLEM_DEVICE},
                           {8, 27, PROBLEM_PINNED},
                           {8, 27, PROBLEM_PAGEABLE}};

typedef struct source {
    uint64_t seed;
    int64_t taken;
} source;

static uint64_t next(source *s)
{
    return random_bits(0, s->taken++) ^ (s->seed * UINT64_C(0xda942042e4dd58b5));
}

/* [0, n) */
static int64_t below(source *s, int64_t n)
{
    uint64_t mixed = next(s);
    mixed ^= mixed >> 32;
    mixed *= UINT64_C(0xd6e8feb86659fd93);
    mixed ^= mixed >> 32;
    return (int64_t)(mixed % (uint64_t)n);
}

static double unit(source *s)
{
    return (double)below(s, INT64_C(1) << 53) * 0x1p-53;
}

static bool chance(source *s, int percent)
{
    return below(s, 100) < percent;
}

/* An index with a probability proportional to its weight. */
static int pick(source *s, const int *weights, int count)
{
    int64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += weights[i];
    int64_t at = below(s, sum);
    int i = 0;
    for (; at >= weights[i]; i++)
        at -= weights[i];
    return i;
}
#define PICK(s, ...) pick(s, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))
#define PICK_OF(s, weights) pick(s, weights, sizeof(weights) / sizeof *(weights))

/* A number from 2^from to 2^to, whose logarithm is nearly uniform. */
static int64_t about(source *s, int from, int to)
{
    int64_t power = INT64_C(1) << (from + below(s, to - from));
    return power + below(s, power);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The exponent of the largest power of two in n > 0. */
static int log2_of(int64_t n)
{
    return 63 - __builtin_clzll((unsigned long long)n);
}

/* ---- Axes ---- */

/* The values that samples of a type take here. */
static void range_of(histo_dtype type, double *lo, double *hi)
{
    if (type <= HISTO_I64) {
        histo_dtype_limits(type, lo, hi);
    } else {
        *hi = type == HISTO_F16 ? 60000 : 1e9;
        *lo = -*hi;
    }
}

static histo_dtype draw_type(source *s)
{
    return (histo_dtype)PICK_OF(s, of_types);
}

/* A number with few or many digits. */
static double draw_number(source *s, double lo, double hi)
{
    double x = lo + unit(s) * (hi - lo), step = (hi - lo) / 4096;
    if (chance(s, 50)) return x;
    double power = 1;
    while (power > step)
        power /= 2;
    while (power * 2 <= step)
        power *= 2;
    return (double)(int64_t)(x / power) * power;
}

static int64_t draw_bins(source *s, int most_bits)
{
    static const int64_t usual[] = {10, 20, 50, 64, 100, 128, 200, 256, 256, 500, 512, 1000, 1024, 4096, 10000, 65536};
    if (chance(s, ONE_BIN)) return 1;
    if (chance(s, USUAL_BINS)) return smaller(usual[below(s, sizeof usual / sizeof *usual)], INT64_C(1) << most_bits);
    return about(s, 1, most_bits);
}

/* lo and hi of a regular or variable axis. */
static void draw_range(source *s, problem_axis *axis)
{
    double smallest, beyond;
    range_of(axis->type, &smallest, &beyond);
    if (axis->type <= HISTO_I64) {
        double end = beyond > 0x1p40 ? 0x1p40 : beyond, low = smallest < -0x1p40 ? -0x1p40 : smallest;
        int way = PICK(s, 45, 25, 20, 10);
        axis->lo = way == 0 ? smallest : way == 1 ? 0 : (double)(int64_t)draw_number(s, low / 2, end / 4);
        axis->hi = way == 0 ? beyond : axis->lo + 1 + (double)(int64_t)draw_number(s, end / 256, end / 2);
        if (way == 3) {
            axis->lo += unit(s);
            axis->hi += unit(s);
        }
        return;
    }
    static const double usual[][2] = {{0, 1},   {0, 1},  {0, 1},    {-1, 1},    {0, 100},
                                      {0, 256}, {-4, 4}, {0, 1000}, {-180, 180}};
    int way = PICK(s, 50, 30, 15, 5);
    if (way == 0) {
        int64_t which = below(s, sizeof usual / sizeof *usual);
        axis->lo = usual[which][0];
        axis->hi = usual[which][1];
    } else if (way == 3 && axis->type >= HISTO_F32) { /* far from zero */
        axis->lo = 1e6 + (double)below(s, 1000);
        axis->hi = axis->lo + draw_number(s, 1, 100);
    } else {
        const double scale = way == 1 ? 16 : axis->type == HISTO_F16 ? 16384 : 1e5;
        axis->lo = draw_number(s, -scale, scale);
        axis->hi = axis->lo + draw_number(s, scale / 64, scale);
    }
}

/* lo and hi of an axis whose bins are equal in a function of the samples. */
static void draw_curved_range(source *s, problem_axis *axis)
{
    bool above_zero = axis->kind == HISTO_LOG || axis->power < 0;
    double decade = 1;
    if (axis->type <= HISTO_I64) {
        double smallest, beyond;
        range_of(axis->type, &smallest, &beyond);
        axis->lo = above_zero || chance(s, 30) ? 1 : 0;
        axis->hi = beyond > 1e6 ? 1e6 : beyond;
        return;
    }
    for (int64_t power = below(s, 4); power > 0; power--)
        decade /= 10;
    axis->lo = above_zero || chance(s, 30) ? decade * (chance(s, 50) ? 1 : 1 + unit(s)) : 0;
    axis->hi = 2;
    for (int64_t power = 1 + below(s, 4); power > 0; power--)
        axis->hi *= 10;
}

/* Integer bins where the type has values. */
static void draw_integers(source *s, problem_axis *axis, int bits)
{
    double smallest, beyond;
    range_of(axis->type, &smallest, &beyond);
    if (beyond > 0x1p40) beyond = 0x1p40;
    if (smallest < -0x1p40) smallest = -0x1p40;
    double values = beyond - smallest;
    if (values <= (double)(INT64_C(1) << smaller(bits, 16)) && axis->bins > 200 && chance(s, 60))
        axis->bins = (int64_t)values;
    if ((double)axis->bins > values) axis->bins = (int64_t)values;
    double room = values - (double)axis->bins;
    axis->lo = chance(s, 60) ? (smallest < 0 ? (double)-(axis->bins / 2) : 0) : smallest;
    if (chance(s, 25)) axis->lo = smallest + (double)below(s, room < 0x1p40 ? (int64_t)room + 1 : INT64_C(1) << 40);
    if (axis->type > HISTO_I64) axis->lo = (double)below(s, 1000) - 500;
}

/* bits: of the largest number of bins. */
static void draw_axis(source *s, problem_axis *axis, int bits)
{
    static const double powers[] = {0.5, 2, 3, 1.5, 0.25, -1};
    axis->kind =
        (histo_axis_kind)pick(s, axis->type <= HISTO_I64 ? of_integer_axes : of_float_axes, HISTO_AXIS_KIND_COUNT);
    if (axis->kind == HISTO_VARIABLE) bits = (int)smaller(bits, 20);
    if (axis->kind >= HISTO_LOG) bits = (int)smaller(bits, 16);
    if (axis->type <= HISTO_I8) bits = (int)smaller(bits, 12);
    if (axis->type == HISTO_U16 || axis->type == HISTO_I16) bits = (int)smaller(bits, 18);
    axis->bins = draw_bins(s, bits);
    axis->closed = axis->kind != HISTO_INTEGER && chance(s, 25);
    if (axis->kind == HISTO_POWER) axis->power = powers[below(s, sizeof powers / sizeof *powers)];
    if (axis->kind == HISTO_VARIABLE) axis->edges = (problem_edges)PICK_OF(s, of_edges);
    if (axis->kind == HISTO_INTEGER)
        draw_integers(s, axis, bits);
    else if (axis->kind >= HISTO_LOG)
        draw_curved_range(s, axis);
    else
        draw_range(s, axis);
    if (axis->kind == HISTO_INTEGER) axis->hi = axis->lo + (double)axis->bins;
    /* Edges of a regular axis must differ, also where it is far from zero. */
    double end = -axis->lo > axis->hi ? -axis->lo : axis->hi, step = end * 0x1p-44;
    while (axis->bins > 2 && (axis->hi - axis->lo) / (double)axis->bins < step)
        axis->bins = axis->bins / 2 + 1;
}

static void draw_axes(source *s, random_problem *p)
{
    static const int bits_each[HISTO_MAX_AXES + 1] = {0, 24, 12, 8, 6, 4, 3, 3, 2};
    p->axes = 1 + PICK_OF(s, of_axes);
    bool equal_types = chance(s, 75), equal_axes = chance(s, 50);
    if (p->axes > 1 && chance(s, SPARSE)) p->storage = HISTO_SPARSE;
    int bits = p->storage == HISTO_SPARSE ? 7 : bits_each[p->axes];
    for (int a = 0; a < p->axes; a++) {
        p->axis[a].type = a && equal_types ? p->axis[0].type : draw_type(s);
        if (a && equal_types && equal_axes)
            p->axis[a] = p->axis[0];
        else
            draw_axis(s, &p->axis[a], bits);
    }
}

/* ---- Samples ---- */

static void draw_kind(source *s, random_problem *p)
{
    static const double exponents[] = {0.5, 0.75, 1, 1.25, 1.5, 2, 3};
    p->kind = (problem_kind)PICK_OF(s, of_kinds);
    double lengths = (double)about(s, 1, 14);
    switch (p->kind) {
    case PROBLEM_NORMAL:
    case PROBLEM_WAFER:
        p->shape = (double)about(s, 0, 8) / 1024;
        break;
    case PROBLEM_ZIPF:
    case PROBLEM_SCATTERED:
        p->shape = chance(s, 50) ? exponents[below(s, 7)] : (double)(100 + below(s, 200)) / 128;
        break;
    case PROBLEM_DISTINCT:
    case PROBLEM_SPREAD:
        p->shape = (double)about(s, 0, 10);
        break;
    case PROBLEM_PIECES:
    case PROBLEM_SAW:
        p->shape = lengths * 8;
        break;
    case PROBLEM_RUNS:
        p->shape = (double)about(s, 1, 8);
        break;
    case PROBLEM_MIXTURE:
        p->shape = (double)(1 + below(s, 31)) / 32;
        break;
    default:
        break;
    }
    p->by_value = chance(s, 40);
    bool heavy = chance(s, 25);
    if (chance(s, FLOWS)) p->flow = heavy ? (double)(1 + below(s, 16)) / 16 : (double)(1 + below(s, 40)) / 1024;
    bool floats = false;
    for (int a = 0; a < p->axes; a++)
        floats = floats || p->axis[a].type > HISTO_I64;
    if (floats && chance(s, NANS)) p->nan = heavy ? (double)(1 + below(s, 15)) / 16 : (double)(1 + below(s, 20)) / 1024;
}

static void draw_weights(source *s, random_problem *p)
{
    p->weights = HISTO_F64;
    if (p->storage == HISTO_SPARSE || !chance(s, WEIGHTED)) return;
    p->weighting = (histo_weighting)(1 + PICK_OF(s, of_weightings));
    p->weights = chance(s, 85) ? (chance(s, 50) ? HISTO_F32 : HISTO_F64) : draw_type(s);
}

static void draw_filters(source *s, random_problem *p)
{
    p->mask = p->where = 1;
    p->mask_run = 1;
    if (chance(s, MASKED)) {
        p->mask = (double)(1 + below(s, 15)) / 16;
        p->mask_type = chance(s, 85) ? HISTO_U8 : draw_type(s);
        if (chance(s, 50)) p->mask_run = about(s, 2, 10);
    }
    if (chance(s, FILTERED)) {
        p->where = (double)(1 + below(s, 15)) / 16;
        p->where_type = chance(s, 60) ? p->axis[0].type : draw_type(s);
    }
    p->alike = chance(s, 30);
}

/* ---- Layout ---- */

/* Slots of a histogram. Sparse ones are small, since they store the occupied slots only. */
static int64_t slots_of(const random_problem *p)
{
    int64_t slots = 1;
    for (int a = 0; a < p->axes; a++)
        slots = p->storage == HISTO_SPARSE ? 256 : slots * (p->axis[a].bins + 3);
    return slots;
}

/* Halve the bins of the axis that has most. */
static void halve_longest(random_problem *p)
{
    problem_axis *longest = p->axis;
    for (int a = 1; a < p->axes; a++)
        if (p->axis[a].bins > longest->bins) longest = &p->axis[a];
    longest->bins = longest->bins / 2;
    if (longest->kind == HISTO_INTEGER) longest->hi = longest->lo + (double)longest->bins;
}

/* A side of an image with at most n pixels. */
static int64_t draw_side(source *s, int64_t n)
{
    static const int64_t usual[] = {28, 64, 128, 224, 256, 320, 480, 512, 640, 1024, 1920, 2048, 3840};
    int64_t side = chance(s, 50) ? usual[below(s, sizeof usual / sizeof *usual)] : about(s, 3, 13);
    return smaller(side, n);
}

/* How many: at most `histograms`, and few enough for memory. */
static int64_t draw_batch(source *s, random_problem *p, int64_t histograms)
{
    const int64_t all_slots = INT64_C(1) << (p->weighting ? 22 : 26);
    histograms = smaller(histograms, all_slots / slots_of(p));
    histograms = smaller(histograms, p->storage == HISTO_SPARSE ? 256 : 1000000);
    return histograms < 2 ? 1 : smaller(histograms, about(s, 0, log2_of(histograms) + 1));
}

/* n: about how many samples. stored: how many may lie in memory, with the gaps. */
static void draw_layout(source *s, random_problem *p, int64_t n, int64_t stored)
{
    const int64_t size = (int64_t)histo_dtype_size(p->axis[0].type);
    p->batch = p->height = p->channels = p->stride = 1;
    p->layout = (problem_layout)pick(s, p->axes == 1 ? of_layouts : of_joint_layouts, PROBLEM_LAYOUTS);
    for (int a = 1; a < p->axes && p->layout == PROBLEM_TABLE; a++)
        if (p->axis[a].type != p->axis[0].type) p->layout = PROBLEM_ARRAY;
    int64_t width = n;
    switch (p->layout) {
    case PROBLEM_STRIDED:
        p->stride = chance(s, 85) ? 2 + below(s, 15) : about(s, 4, 10);
        if (chance(s, 25)) p->stride = chance(s, 70) ? -1 : -p->stride;
        width = larger(smaller(n, stored / llabs(p->stride)), PROBLEM_MIN_SAMPLES);
        break;
    case PROBLEM_TABLE:
        p->channels = p->axes + below(s, 8);
        width = larger(smaller(n, stored / p->channels), PROBLEM_MIN_SAMPLES);
        break;
    case PROBLEM_REGION:
    case PROBLEM_FLIPPED:
    case PROBLEM_TRANSPOSED:
        width = draw_side(s, n);
        p->height = n / width;
        break;
    case PROBLEM_CHANNEL:
    case PROBLEM_CHANNELS:
        p->channels = 2 + PICK_OF(s, of_channels);
        n = larger(smaller(p->layout == PROBLEM_CHANNEL ? n : n / p->channels, stored / p->channels),
                   PROBLEM_MIN_SAMPLES);
        width = draw_side(s, n);
        p->height = n / width;
        if (p->layout == PROBLEM_CHANNELS)
            p->batch = draw_batch(s, p, chance(s, 75) ? p->channels : 1 + below(s, p->channels));
        break;
    case PROBLEM_IMAGES:
        p->batch = draw_batch(s, p, n / 16 + 1);
        width = n / p->batch;
        if (chance(s, 65)) {
            int64_t side = draw_side(s, width);
            p->height = width / side;
            width = side;
        }
        break;
    case PROBLEM_COLUMNS:
        p->batch = draw_batch(s, p, smaller(n / 16 + 1, 4096));
        width = n / p->batch;
        break;
    case PROBLEM_SEGMENTS:
        p->batch = draw_batch(s, p, n / 4 + 1);
        break;
    default:
        break;
    }
    if (width < 1) width = 1;
    p->samples = p->layout == PROBLEM_SEGMENTS ? n : width * p->height * p->batch;
    bool rows = p->layout == PROBLEM_REGION || p->layout == PROBLEM_FLIPPED;
    if (p->layout == PROBLEM_CHANNELS || p->layout == PROBLEM_CHANNEL || p->layout == PROBLEM_IMAGES)
        rows = p->height > 1 && chance(s, 25);
    if (rows) p->pitch = (p->layout == PROBLEM_IMAGES ? width : width * p->channels) + below(s, 1 + width / 2);
    if (chance(s, OFFSET)) p->offset = chance(s, 80) ? size * (1 + below(s, 63)) : 1 + below(s, 63);
}

random_problem problem_draw(uint64_t seed, int64_t i, int64_t most_samples, bool on_gpu)
{
    const int64_t most_sparse = INT64_C(1) << 22, most_weighted = INT64_C(1) << 22;
    const int most_bits = log2_of(most_samples);
    source s = {random_bits(1, (int64_t)(seed ^ random_bits(2, i))), 0};
    random_problem p = {.seed = (uint64_t)below(&s, 1000000), .place = PROBLEM_CPU};
    int which = PICK_OF(&s, of_classes), from = 8, to = most_bits;
    if (on_gpu) {
        p.place = classes[which].place;
        to = (int)smaller(to, classes[which].to);
        from = (int)smaller(classes[which].from, to - 1);
    }
    draw_axes(&s, &p);
    draw_kind(&s, &p);
    draw_weights(&s, &p);
    while (p.weighting && slots_of(&p) > most_weighted)
        halve_longest(&p);
    draw_filters(&s, &p);
    int64_t n = about(&s, from, to);
    const int64_t stored = on_gpu ? larger(4 * n, INT64_C(1) << smaller(most_bits, 25)) : n;
    draw_layout(&s, &p, p.storage == HISTO_SPARSE ? smaller(n, most_sparse) : n, smaller(stored, most_samples));
    return p;
}
