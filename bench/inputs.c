/* The inputs of the gallery, and their samples. */
#include "bench/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "bench/images.h"
#include "bench/position.h"
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

/* Arrays: one input per number of bins. */
static const struct {
    const char *name;
    bench_kind kind;
    double shape;
    histo_dtype dtype;
    int64_t bins[MAX_BINS];
} arrays[] = {
    /* Ross 2014, 4.3 and 6.3 */
    {"uniform", BENCH_UNIFORM, 0, HISTO_U32, {RANGE_OF_BINS}},
    {"degenerate", BENCH_DEGENERATE, 0, HISTO_U32, {RANGE_OF_BINS}},
    {"clustered", BENCH_CLUSTERED, 0.125, HISTO_U32, {RANGE_OF_BINS}},
    /* Ross 2014, 4.2 and appendix A */
    {"wafer-256x4096", BENCH_WAFER, 0.125, HISTO_U32, {M}},
    {"wafer-256x8192", BENCH_WAFER, 0.1, HISTO_U32, {2 * M}},
    /* Per-Block Histograms, table 4 */
    {"distinct-256", BENCH_DISTINCT, 256, HISTO_U8, {256}},
    {"distinct-128", BENCH_DISTINCT, 128, HISTO_U8, {256}},
    {"distinct-64", BENCH_DISTINCT, 64, HISTO_U8, {256}},
    {"distinct-32", BENCH_DISTINCT, 32, HISTO_U8, {256}},
    {"distinct-16", BENCH_DISTINCT, 16, HISTO_U8, {256}},
    {"distinct-8", BENCH_DISTINCT, 8, HISTO_U8, {256}},
    {"distinct-4", BENCH_DISTINCT, 4, HISTO_U8, {256}},
    {"distinct-2", BENCH_DISTINCT, 2, HISTO_U8, {256}},
    {"distinct-1", BENCH_DISTINCT, 1, HISTO_U8, {256}},
    /* Podlozhnyuk 2007: histogram64 and histogram256 */
    {"uniform", BENCH_UNIFORM, 0, HISTO_U8, {64, 256}},
    /* Milic et al. 2013, IV.E and IV.F: types; uniform, a narrow normal (deviation 1/16 of the range) and sorted */
    {"uniform", BENCH_UNIFORM, 0, HISTO_I32, {FEW_BINS}},
    {"normal", BENCH_CLUSTERED, 0.322, HISTO_I32, {FEW_BINS}},
    {"sorted", BENCH_SORTED, 0, HISTO_I32, {FEW_BINS}},
    {"uniform", BENCH_UNIFORM, 0, HISTO_F64, {FEW_BINS}},
    {"normal", BENCH_CLUSTERED, 0.322, HISTO_F64, {FEW_BINS}},
    {"sorted", BENCH_SORTED, 0, HISTO_F64, {FEW_BINS}},
    /* not in the papers */
    {"uniform", BENCH_UNIFORM, 0, HISTO_F32, {FEW_BINS, 64 * K}},
    {"normal", BENCH_CLUSTERED, 0.322, HISTO_F32, {FEW_BINS, 64 * K}},
    {"uniform", BENCH_UNIFORM, 0, HISTO_U16, {256, 64 * K}},
    {"zipf", BENCH_ZIPF, 0, HISTO_U16, {64 * K}},
    {"zipf", BENCH_ZIPF, 0, HISTO_U32, {4 * K, M}},
};

enum { ARRAYS = sizeof arrays / sizeof arrays[0] };

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
        for (int b = 0; b < MAX_BINS && arrays[a].bins[b]; b++, next++) {
            *next = (bench_input){
                .kind = arrays[a].kind, .shape = arrays[a].shape, .dtype = arrays[a].dtype, .bins = arrays[a].bins[b]};
            snprintf(next->name, sizeof next->name, "%s/%s/%lld", arrays[a].name, histo_dtype_name(next->dtype),
                     (long long)next->bins);
        }
    }
    *count = (int)(next - list);
    return list;
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

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

histo_axis bench_input_axis(const bench_input *input, double *edges)
{
    enum { EDGES = 2 }; /* stream of random numbers */
    int64_t bins = input->bins;
    switch (input->axis) {
    case BENCH_QUANTILES:
        for (int64_t i = 0; i <= bins; i++)
            edges[i] = random_normal(EDGES, i);
        qsort(edges, (size_t)bins + 1, sizeof *edges, compare_doubles);
        return histo_axis_variable(bins, edges);
    case BENCH_QUADRATIC:
        for (int64_t i = 0; i <= bins; i++)
            edges[i] = (double)i / (double)bins * ((double)i / (double)bins);
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
