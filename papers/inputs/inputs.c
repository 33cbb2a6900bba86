/* The inputs of the gallery, and their samples. */
#include "papers/inputs/inputs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/threads/pool.h"
#include "bench/core/times.h"
#include "papers/inputs/images.h"
#include "papers/inputs/position.h"
#include "plan/strategy.h"
#include "view/dtype.h"

static const struct {
    const char *name;
    bench_kind kind;
} pictures[] = {{"fractal", BENCH_FRACTAL}, {"random", BENCH_UNIFORM},    {"degenerate", BENCH_DEGENERATE},
                {"moon", BENCH_MOON},       {"gradient", BENCH_GRADIENT}, {"smooth", BENCH_SMOOTH},
                {"checker", BENCH_CHECKER}};

static const struct {
    const char *name;
    int64_t width, height;
} sizes[] = {{"1080p", 1920, 1080}, {"4k", 3840, 2160}};

enum {
    PICTURES = sizeof pictures / sizeof pictures[0],
    SIZES = sizeof sizes / sizeof sizes[0],
    MAX_BINS = 10,
    K = 1024,
    M = 1024 * 1024
};

#define RANGE_OF_BINS 256, K, 4 * K, 8 * K, 32 * K, 96 * K, 256 * K, M, 2 * M
#define FEW_BINS 256, K, 8 * K

/* Distributions; distinct-K and middle-K are those of Per-Block Histograms and of Ross 2014, figure 6.6. The thesis
 * shows A.1 to A.6 as pictures and gives numbers for A.3 alone (4.3); of the others it says which are wider or more
 * uniform. */
static const bench_distribution distributions[] = {
    {"uniform", BENCH_UNIFORM, 0, 0},
    {"clustered", BENCH_CLUSTERED, 0.125, 0},
    {"zipf", BENCH_ZIPF, 0, 0},
    {"degenerate", BENCH_DEGENERATE, 0, 0},
    {"sorted", BENCH_SORTED, 0, 0},
    {"sorted-chunks", BENCH_CHUNKS, 64 * K, 0}, /* Milic et al. 2013, figure 7c */
    {"normal", BENCH_CLUSTERED, 0.322, 0},      /* figure 7b: a deviation of 1/16 of the range */
    {"wide-normal", BENCH_CLUSTERED, 0.859, 0}, /* IV.F: a larger one, of 1/6, … */
    {"four-normals", BENCH_NORMALS, 4, 0},      /* … several normal distributions, … */
    {"image-like", BENCH_RUNS, 0, 0},           /* … and samples as in an image */
    {"wafer-256x4096", BENCH_WAFER, 0.125, 0},
    {"wafer-256x8192", BENCH_WAFER, 0.1, 0},
    {"wafer-a1", BENCH_WAFER_PAIRS, 0.125, 0.8},
    {"wafer-a2", BENCH_WAFER_PAIRS, 0.09, 0.5},
    {"wafer-a3", BENCH_WAFER_PAIRS, 0.125, 0.5},
    {"wafer-a4", BENCH_WAFER_PAIRS, 0.02, 0.12},
    {"wafer-a5", BENCH_WAFER_FLAT, 0.125, 0.75},
    {"wafer-a6", BENCH_WAFER_FLAT, 0.06, 0.5},
};
enum { DISTRIBUTIONS = sizeof distributions / sizeof distributions[0] };

/* Arrays: one input per number of bins. */
static const struct {
    const char *distribution;
    histo_dtype dtype;
    int64_t bins[MAX_BINS];
} arrays[] = {
    /* Ross 2014, 4.3 and 6.3 */
    {"uniform", HISTO_U32, {RANGE_OF_BINS}},
    {"degenerate", HISTO_U32, {RANGE_OF_BINS}},
    {"clustered", HISTO_U32, {RANGE_OF_BINS}},
    /* Ross 2014, 4.2, without images */
    {"wafer-256x4096", HISTO_U32, {M}},
    {"wafer-256x8192", HISTO_U32, {2 * M}},
    /* Per-Block Histograms, table 4 */
    {"distinct-256", HISTO_U8, {256}},
    {"distinct-128", HISTO_U8, {256}},
    {"distinct-64", HISTO_U8, {256}},
    {"distinct-32", HISTO_U8, {256}},
    {"distinct-16", HISTO_U8, {256}},
    {"distinct-8", HISTO_U8, {256}},
    {"distinct-4", HISTO_U8, {256}},
    {"distinct-2", HISTO_U8, {256}},
    {"distinct-1", HISTO_U8, {256}},
    /* Podlozhnyuk 2007: histogram64 and histogram256 */
    {"uniform", HISTO_U8, {64, 256}},
    /* Milic et al. 2013, IV.E and IV.F: types and distributions */
    {"uniform", HISTO_I32, {FEW_BINS}},
    {"normal", HISTO_I32, {FEW_BINS}},
    {"sorted", HISTO_I32, {FEW_BINS}},
    {"uniform", HISTO_F64, {FEW_BINS}},
    {"normal", HISTO_F64, {FEW_BINS}},
    {"sorted", HISTO_F64, {FEW_BINS}},
    /* not in the papers */
    {"uniform", HISTO_F32, {FEW_BINS, 64 * K}},
    {"normal", HISTO_F32, {FEW_BINS, 64 * K}},
    {"uniform", HISTO_U16, {256, 64 * K}},
    {"zipf", HISTO_U16, {64 * K}},
    {"zipf", HISTO_U32, {4 * K, M}},
    /* Ross 2014, appendix A and figure 6.6 */
    {"wafer-a1", HISTO_U32, {M, 2 * M}},
    {"wafer-a2", HISTO_U32, {M, 2 * M}},
    {"wafer-a3", HISTO_U32, {M, 2 * M}},
    {"wafer-a4", HISTO_U32, {M, 2 * M}},
    {"wafer-a5", HISTO_U32, {M, 2 * M}},
    {"wafer-a6", HISTO_U32, {M, 2 * M}},
    {"middle-2", HISTO_U32, {M}},
    {"middle-8", HISTO_U32, {M}},
    {"middle-32", HISTO_U32, {M}},
    {"middle-128", HISTO_U32, {M}},
    /* Milic et al. 2013, figure 7c */
    {"sorted-chunks", HISTO_I32, {FEW_BINS}},
    {"sorted-chunks", HISTO_F64, {FEW_BINS}},
};

enum { ARRAYS = sizeof arrays / sizeof arrays[0] };

/* K of "NAME-K", from 1 to `most`; 0 for anything else. */
static long numbered(const char *name, const char *family, long most)
{
    size_t length = strlen(family);
    if (strncmp(name, family, length) != 0 || name[length] < '1' || name[length] > '9') return 0;
    char *end;
    long k = strtol(name + length, &end, 10);
    return *end || k > most ? 0 : k;
}

histo_status bench_distribution_parse(const char *name, bench_distribution *to)
{
    enum { MOST_DISTINCT = 65536, MOST_MIDDLE = 1 << 20 };
    for (int i = 0; i < DISTRIBUTIONS; i++) {
        *to = distributions[i];
        if (strcmp(to->name, name) == 0) return HISTO_OK;
    }
    *to = (bench_distribution){.kind = BENCH_DISTINCT, .shape = (double)numbered(name, "distinct-", MOST_DISTINCT)};
    long middle = numbered(name, "middle-", MOST_MIDDLE);
    if (middle) *to = (bench_distribution){.kind = BENCH_MIDDLE, .shape = 1.0 / (double)middle};
    snprintf(to->name, sizeof to->name, "%s", name);
    if (to->shape > 0) return HISTO_OK;
    return histo_fail(
        HISTO_INVALID,
        "there is no distribution '%s': take uniform, clustered, normal, wide-normal, four-normals, "
        "image-like, zipf, degenerate, sorted, sorted-chunks, distinct-K with K from 1 to %d, middle-K or "
        "wafer-a1 to wafer-a6",
        name, MOST_DISTINCT);
}

bool bench_dtype_made(histo_dtype dtype)
{
    static const histo_dtype made[] = {HISTO_U8,  HISTO_I8,  HISTO_U16, HISTO_I16, HISTO_U32,
                                       HISTO_I32, HISTO_U64, HISTO_I64, HISTO_F32, HISTO_F64};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (made[i] == dtype) return true;
    return false;
}

/* Not more bins than the type has values, nor more distinct values than bins; rows of a wafer are whole. */
bool bench_bins_possible(const bench_distribution *of, histo_dtype dtype, int64_t bins)
{
    enum { ROW = 256 };
    const int bits = 8 * (int)histo_dtype_size(dtype);
    const bool wafer = of->kind == BENCH_WAFER || of->kind == BENCH_WAFER_PAIRS || of->kind == BENCH_WAFER_FLAT;
    if (bins < 1 || bins > HISTO_MAX_BINS || (bits < 32 && bins > INT64_C(1) << bits)) return false;
    return (of->kind != BENCH_DISTINCT || of->shape <= (double)bins) && (!wafer || bins % ROW == 0);
}

bench_input bench_input_of(const bench_distribution *of, histo_dtype dtype, int64_t bins)
{
    bench_input input = {.kind = of->kind, .shape = of->shape, .across = of->across, .dtype = dtype, .bins = bins};
    snprintf(input.name, sizeof input.name, "%s/%s/%lld", of->name, histo_dtype_name(dtype), (long long)bins);
    return input;
}

static void add_image(bench_input *to, const char *name, bench_kind kind, int size, const bench_photo *photo)
{
    *to = (bench_input){.kind = kind,
                        .width = sizes[size].width,
                        .height = sizes[size].height,
                        .photo = photo,
                        .dtype = HISTO_U8,
                        .bins = 256};
    snprintf(to->name, sizeof to->name, "%.60s/%s", name, sizes[size].name);
}

/* "1080p", "4k" or "WIDTHxHEIGHT"; false for anything else. */
static bool parse_size(const char *text, int64_t *width, int64_t *height)
{
    enum { MOST = 65536 };
    for (int size = 0; size < SIZES; size++) {
        *width = sizes[size].width;
        *height = sizes[size].height;
        if (strcmp(text, sizes[size].name) == 0) return true;
    }
    char *x, *end = "x";
    *width = strtol(text, &x, 10);
    *height = *x == 'x' ? strtol(x + 1, &end, 10) : 0;
    return !*end && *width >= 1 && *width <= MOST && *height >= 1 && *height <= MOST;
}

histo_status bench_input_parse(const char *name, bench_input *to)
{
    char first[32], dtype_name[16];
    const char *rest = name + strcspn(name, "/");
    snprintf(first, sizeof first, "%.*s", (int)(rest - name), name);
    for (int p = 0; p < PICTURES; p++) {
        if (strcmp(first, pictures[p].name) != 0) continue;
        if (!*rest) return histo_fail(HISTO_INVALID, "'%s' lacks a size, as in %s/4k", name, name);
        *to = (bench_input){.kind = pictures[p].kind, .dtype = HISTO_U8, .bins = 256};
        snprintf(to->name, sizeof to->name, "%s", name);
        if (parse_size(rest + 1, &to->width, &to->height)) return HISTO_OK;
    }
    bench_distribution of;
    histo_dtype dtype;
    histo_status status = bench_distribution_parse(first, &of);
    if (status != HISTO_OK) return status;
    if (!*rest) return histo_fail(HISTO_INVALID, "'%s' lacks a type and bins, as in %s/u32/4096", name, name);
    const char *bins = rest + 1 + strcspn(rest + 1, "/");
    char *end = "?";
    snprintf(dtype_name, sizeof dtype_name, "%.*s", (int)(bins - rest - 1), rest + 1);
    long long count = *bins ? strtoll(bins + 1, &end, 10) : 0;
    const bool stored = strcmp(end, "/edges") == 0;
    if (histo_dtype_parse(dtype_name, &dtype) != HISTO_OK || !bench_dtype_made(dtype) || (*end && !stored))
        return histo_fail(HISTO_INVALID, "'%s' is not an input: inputs are called as uniform/u32/4096 or moon/4k",
                          name);
    double smallest, beyond = INFINITY;
    if (stored && histo_dtype_is_integer(dtype)) histo_dtype_limits(dtype, &smallest, &beyond);
    if (!bench_bins_possible(&of, dtype, count) || (double)count > beyond)
        return histo_fail(HISTO_INVALID, "%s cannot have %lld bins of %s", of.name, count, histo_dtype_name(dtype));
    *to = bench_input_of(&of, dtype, count);
    if (!stored) return HISTO_OK;
    to->axis = BENCH_QUADRATIC;
    snprintf(to->name, sizeof to->name, "%s", name);
    return HISTO_OK;
}

bench_input *bench_inputs_list(const bench_photo *photos, int photo_count, int *count)
{
    size_t max_inputs = (size_t)(photo_count + PICTURES) * SIZES + ARRAYS * MAX_BINS;
    bench_input *list = malloc(max_inputs * sizeof *list), *next = list;
    if (!list) return NULL;
    for (int size = 0; size < SIZES; size++) {
        for (int p = 0; p < photo_count; p++)
            add_image(next++, photos[p].name, BENCH_PHOTO, size, &photos[p]);
        for (int p = 0; p < PICTURES; p++)
            add_image(next++, pictures[p].name, pictures[p].kind, size, NULL);
    }
    for (int a = 0; a < ARRAYS; a++) {
        bench_distribution of;
        if (bench_distribution_parse(arrays[a].distribution, &of) != HISTO_OK) continue;
        for (int b = 0; b < MAX_BINS && arrays[a].bins[b]; b++)
            *next++ = bench_input_of(&of, arrays[a].dtype, arrays[a].bins[b]);
    }
    *count = (int)(next - list);
    return list;
}

void bench_inputs_describe(FILE *to)
{
    static const struct {
        const char *name, *what;
    } arrays_are[] = {
        {"uniform", "every bin equally likely"},
        {"degenerate", "a single value"},
        {"clustered", "Gaussian, 99 % in the middle eighth of the bins (Ross 2014, 4.3)"},
        {"middle-K", "uniform in the middle K-th of the bins (Ross 2014, figure 6.6)"},
        {"wafer-a1 … wafer-a6", "a wafer's histograms of 256 columns (Ross 2014, 4.2 and figures A.1 to A.6)"},
        {"wafer-256x4096", "the same without images: 99 % in the middle eighth"},
        {"wafer-256x8192", "and tenth of the rows"},
        {"normal", "Gaussian, its deviation 1/16 of the bins (Milic et al. 2013, figure 7b)"},
        {"wide-normal", "Gaussian, its deviation 1/6 of the bins (IV.F)"},
        {"four-normals", "four Gaussians side by side (IV.F)"},
        {"image-like", "runs of equal and nearly equal values, as in an image (IV.F)"},
        {"sorted-chunks", "uniform, sorted in chunks of 65536 samples (figure 7c)"},
        {"sorted", "uniform, sorted"},
        {"distinct-K", "K values (Per-Block Histograms, table 4)"},
        {"zipf", "bin i with a probability proportional to 1 / (i + 1)"},
    };
    fputs("images, as moon/4k, moon/1080p or moon/640x480:\n ", to);
    for (int p = 0; p < PICTURES; p++)
        fprintf(to, " %s", pictures[p].name);
    fputs("\narrays, as uniform/u32/4096: DISTRIBUTION/TYPE/BINS, or with stored edges of unequal width\n"
          "uniform/u32/4096/edges, the TYPE one of\n ",
          to);
    for (int d = 0; d < HISTO_DTYPE_COUNT; d++)
        if (bench_dtype_made((histo_dtype)d)) fprintf(to, " %s", histo_dtype_name((histo_dtype)d));
    fputs("\nand the DISTRIBUTION one of\n", to);
    for (size_t i = 0; i < sizeof arrays_are / sizeof *arrays_are; i++) {
        const bool wide = strstr(arrays_are[i].name, "…") != NULL; /* three bytes for one column */
        fprintf(to, "  %-*s  %s\n", wide ? 21 : 19, arrays_are[i].name, arrays_are[i].what);
    }
}

bool bench_input_selected(const bench_input *input, const char *list)
{
    while (*list) {
        size_t length = strcspn(list, ",");
        char behind = strncmp(input->name, list, length) == 0 ? input->name[length] : 'x';
        if (length && (!behind || behind == '/' || behind == '-')) return true;
        list += length + (list[length] == ',');
    }
    return false;
}

/* Integers are at least one apart, from 0 to the square of the bins or as far as the type reaches. */
static double quadratic_edge(const bench_input *input, int64_t i)
{
    const double bins = (double)input->bins, at = (double)i / bins;
    if (!histo_dtype_is_integer(input->dtype)) return at * at;
    double smallest, beyond;
    histo_dtype_limits(input->dtype, &smallest, &beyond);
    return (double)i + floor((fmin(bins * bins, beyond) - bins) * at * at);
}

histo_axis bench_input_axis(const bench_input *input, double *edges)
{
    enum { EDGES = 2 }; /* stream of random numbers */
    int64_t bins = input->bins;
    switch (input->axis) {
    case BENCH_QUANTILES:
        for (int64_t i = 0; i <= bins; i++)
            edges[i] = random_normal(EDGES, i);
        bench_sort(edges, (size_t)bins + 1);
        return histo_axis_variable(bins, edges);
    case BENCH_QUADRATIC:
        for (int64_t i = 0; i <= bins; i++)
            edges[i] = quadratic_edge(input, i);
        return histo_axis_variable(bins, edges);
    case BENCH_LOG:
        return histo_axis_log(bins, 0.001, 1000);
    default:
        break;
    }
    if (!histo_dtype_is_integer(input->dtype)) return histo_axis_regular(bins, 0, 1);
    double smallest, beyond;
    histo_dtype_limits(input->dtype, &smallest, &beyond);
    return histo_axis_integer(smallest < 0 ? -bins / 2 : 0, bins);
}

int bench_input_axes(const bench_input *input)
{
    return input->axes ? input->axes : 1;
}

histo_axis bench_joint_axis(const bench_input *input, int a)
{
    enum { TWELVE_BITS = 4096 };
    double smallest, beyond;
    if (!histo_dtype_is_integer(input->dtype)) return histo_axis_regular(input->each[a], 0, 1);
    histo_dtype_limits(input->dtype, &smallest, &beyond);
    if (bench_is_stack(input)) {
        if (beyond > TWELVE_BITS) beyond = TWELVE_BITS;
        return histo_axis_regular(input->each[a], a == 0 ? -beyond : 0, beyond);
    }
    return input->dtype == HISTO_U8 ? histo_axis_regular(input->each[a], 0, beyond)
                                    : histo_axis_integer(0, input->each[a]);
}

size_t bench_input_bytes(const bench_input *input, int64_t n)
{
    int columns = input->layout ? 1 : bench_input_axes(input);
    return (size_t)n * (size_t)columns * histo_dtype_size(input->dtype);
}

histo_view bench_input_view(const bench_input *input, const void *samples, int64_t all, int64_t first, int64_t n, int a)
{
    int64_t axes = bench_input_axes(input), size = (int64_t)histo_dtype_size(input->dtype);
    int64_t at = input->interleaved ? first * axes + a : a * all + first;
    histo_view view = histo_view_1d((const char *)samples + at * size, input->dtype, n);
    if (input->interleaved) view.strides[0] = axes * size;
    return view;
}

typedef struct making {
    const bench_input *input;
    const histo_axis *axis;
    int64_t n;
    void *samples;
    int ranges;
} making;

/* Interleaved pieces, since some parts of an image take longer than others. */
static void make_range(void *context, int range)
{
    enum { PIECE = 1 << 14 };
    const making *m = context;
    const bench_input *input = m->input;
    bool drawn = input->kind <= BENCH_PHOTO;
    for (int64_t begin = (int64_t)range * PIECE; begin < m->n; begin += (int64_t)m->ranges * PIECE) {
        int64_t end = begin + PIECE < m->n ? begin + PIECE : m->n;
        for (int64_t i = begin; i < end; i++) {
            if (drawn)
                ((uint8_t *)m->samples)[i] = bench_pixel(input, i % input->width, i / input->width);
            else
                bench_store(input, m->axis, m->samples, i, m->n);
        }
    }
}

void bench_input_make(const bench_input *input, const histo_axis *axis, int64_t n, void *samples)
{
    making m = {input, axis, n, samples, histo_backend_cpu.threads(0)};
    histo_pool_run(m.ranges, make_range, &m);
}
