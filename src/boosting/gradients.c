/* Gradients as integers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/floats.h"
#include "base/memory.h"
#include "base/threads/pool.h"
#include "base/threads/share.h"
#include "base/threads/threads.h"
#include "boosting/boosting.h"
#include "cpu/backend/backend.h"
#include "cpu/kernels/kernels.h"
#include "view/gather.h"
#include "view/view.h"

#define TYPE int8_t
#include "boosting/integers_template.h"

#define TYPE uint8_t
#include "boosting/integers_template.h"

#define TYPE int16_t
#include "boosting/integers_template.h"

#define TYPE uint16_t
#include "boosting/integers_template.h"

#define TYPE int32_t
#include "boosting/integers_template.h"

enum {
    MOST_BITS = 31,   /* of a magnitude */
    DOUBLE_BITS = 53, /* of a sum that a double holds */
    BLOCK = 1024,     /* rows */
    LINE = 64,
    GRAIN = 1 << 16, /* rows of a thread */
};

static int pairs_of(int weights)
{
    return (weights + 1) / 2;
}

static void free_pairs(histo_gradients *g)
{
    for (int p = 0; p < pairs_of(g->weights); p++) {
        histo_free(g->pairs[p]);
        g->pairs[p] = NULL;
    }
}

/* Make room for the weights in host memory. */
static histo_status allocate_pairs(histo_gradients *g)
{
    for (int p = 0; p < pairs_of(g->weights); p++) {
        const size_t used = (size_t)g->rows * (size_t)histo_gradient_lanes(g, p) * sizeof *g->pairs[p];
        const size_t bytes = used / LINE * LINE + LINE;
        g->pairs[p] = histo_cpu_allocate(bytes);
        if (!g->pairs[p]) {
            free_pairs(g);
            return histo_fail_memory(bytes, "the gradients");
        }
        memset(g->pairs[p], 0, bytes);
    }
    return HISTO_OK;
}

histo_status histo_gradients_create(histo_gradients **gradients, int64_t rows, int weights)
{
    HISTO_STANDARD_FLOATS;
    if (!gradients) return histo_fail(HISTO_INVALID, "the place for the gradients is NULL");
    *gradients = NULL;
    if (rows < 0 || rows > HISTO_MAX_TABLE_ROWS)
        return histo_fail(HISTO_INVALID, "rows is %lld, not 0 to 2^31 - 1", (long long)rows);
    if (weights < 1 || weights > HISTO_MAX_GRADIENTS)
        return histo_fail(HISTO_INVALID, "weights is %d, not 1 to %d", weights, HISTO_MAX_GRADIENTS);
    histo_gradients *g = histo_calloc(1, sizeof *g);
    if (!g) return histo_fail_memory(sizeof *g, "the gradients");
    g->rows = rows;
    g->weights = weights;
    for (int w = 0; w < weights; w++)
        g->units[w] = 1;
    const histo_status status = allocate_pairs(g);
    if (status == HISTO_OK)
        *gradients = g;
    else
        histo_free(g);
    return status;
}

static void free_on_device(histo_device_gradients *there)
{
    if (there) there->backend->nodes->free_gradients(there);
}

void histo_gradients_destroy(histo_gradients *gradients)
{
    if (!gradients) return;
    free_on_device(gradients->on_device);
    free_pairs(gradients);
    histo_free(gradients);
}

double histo_gradients_unit(const histo_gradients *gradients, int weight)
{
    double units[HISTO_MAX_GRADIENTS];
    if (!gradients || weight < 0 || weight >= gradients->weights) return 0;
    if (!gradients->units_there) return gradients->units[weight];
    histo_device_gradients *there = gradients->on_device;
    return there->backend->nodes->units(there, units) == HISTO_OK ? units[weight] : 0;
}

/* ---- Setting ---- */

static bool is_float(histo_dtype dtype)
{
    return dtype == HISTO_F32 || dtype == HISTO_F64;
}

/* What a thread finds in its share of the rows. */
typedef histo_gradients_found finding;

typedef struct setting {
    histo_gradients *gradients;
    const histo_view *values;
    const histo_cpu_kernels *kernels;
    int tasks;
    finding *found; /* [tasks] */
    histo_quantizing by[HISTO_MAX_GRADIENTS];
} setting;

/* A block of rows of all weights. */
typedef struct block {
    const void *values[HISTO_MAX_GRADIENTS]; /* contiguous */
    bool finite;
    _Alignas(64) double room[HISTO_MAX_GRADIENTS][BLOCK];
} block;

static void load(const setting *s, int w, int64_t row, int n, block *b)
{
    const histo_view *view = &s->values[w];
    const int64_t size = (int64_t)histo_dtype_size(view->dtype);
    const char *from = (const char *)view->data + row * view->strides[0];
    b->values[w] = from;
    if (view->strides[0] == size && (uintptr_t)from % (uintptr_t)size == 0) return;
    histo_gather((char *)b->room[w], from, view->strides[0], (size_t)size, n);
    b->values[w] = b->room[w];
}

static double value_of(const setting *s, const block *b, int w, int i)
{
    const histo_dtype dtype = s->values[w].dtype;
    return histo_sample_value((const char *)b->values[w] + (size_t)i * histo_dtype_size(dtype), dtype);
}

/* A weight of a row that is not finite; negative: all are. */
static int nonfinite_weight(const setting *s, const block *b, int i)
{
    for (int w = 0; w < s->gradients->weights; w++)
        if (is_float(s->values[w].dtype) && !isfinite(value_of(s, b, w, i))) return w;
    return -1;
}

static void search_rows(const setting *s, const block *b, int64_t row, int n, finding *f)
{
    for (int i = 0; i < n; i++) {
        const int bad = nonfinite_weight(s, b, i);
        if (bad >= 0 && !f->nonfinite++) {
            f->first = row + i;
            f->weight = bad;
        }
        for (int w = 0; w < s->gradients->weights && bad < 0; w++)
            f->largest[w] = fmax(f->largest[w], fabs(value_of(s, b, w, i)));
    }
}

static void share_of(const setting *s, int index, int64_t *begin, int64_t *end)
{
    *begin = histo_share_begin(s->gradients->rows, s->tasks, index);
    *end = histo_share_begin(s->gradients->rows, s->tasks, index + 1);
}

static void search_share(void *context, int index)
{
    const setting *s = context;
    finding f = {.nonfinite = 0};
    block b;
    int64_t begin, end;
    share_of(s, index, &begin, &end);
    for (int64_t row = begin; row < end; row += BLOCK) {
        const int n = end - row < BLOCK ? (int)(end - row) : BLOCK;
        double largest[HISTO_MAX_GRADIENTS] = {0};
        bool finite = true;
        for (int w = 0; w < s->gradients->weights; w++) {
            if (!is_float(s->values[w].dtype)) continue;
            load(s, w, row, n, &b);
            largest[w] = s->kernels->largest(b.values[w], s->values[w].dtype == HISTO_F64, n);
            finite = finite && isfinite(largest[w]);
        }
        if (finite)
            for (int w = 0; w < s->gradients->weights; w++)
                f.largest[w] = fmax(f.largest[w], largest[w]);
        else
            search_rows(s, &b, row, n, &f);
        if (histo_stops("reading", n, row - begin, end - begin)) break;
    }
    s->found[index] = f;
}

static void take_integers(const void *from, histo_dtype dtype, int n, int32_t *to, int step)
{
    switch (dtype) {
    case HISTO_I8:
        take_int8_t(from, n, to, step);
        break;
    case HISTO_U8:
        take_uint8_t(from, n, to, step);
        break;
    case HISTO_I16:
        take_int16_t(from, n, to, step);
        break;
    case HISTO_U16:
        take_uint16_t(from, n, to, step);
        break;
    default:
        take_int32_t(from, n, to, step);
    }
}

static void set_share(void *context, int index)
{
    const setting *s = context;
    const histo_gradients *g = s->gradients;
    block b;
    int64_t begin, end;
    share_of(s, index, &begin, &end);
    for (int64_t row = begin; row < end; row += BLOCK) {
        const int n = end - row < BLOCK ? (int)(end - row) : BLOCK;
        for (int w = 0; w < g->weights; w++) {
            const int lanes = histo_gradient_lanes(g, w / 2);
            int32_t *to = g->pairs[w / 2] + row * lanes + w % 2;
            load(s, w, row, n, &b);
            if (is_float(s->values[w].dtype))
                s->kernels->quantize(b.values[w], s->values[w].dtype == HISTO_F64, n, s->by[w], to, lanes);
            else
                take_integers(b.values[w], s->values[w].dtype, n, to, lanes);
        }
        for (int i = 0; i < n && s->found[index].nonfinite; i++)
            if (nonfinite_weight(s, &b, i) >= 0)
                for (int w = 0; w < g->weights; w++)
                    g->pairs[w / 2][(row + i) * histo_gradient_lanes(g, w / 2) + w % 2] = 0;
    }
}

/* *home: the device whose memory they are in. */
static histo_status check_values(const histo_gradients *g, const histo_view *values, histo_device *home)
{
    if (!g) return histo_fail(HISTO_INVALID, "gradients is NULL");
    if (!values) return histo_fail(HISTO_INVALID, "values is NULL");
    for (int w = 0; w < g->weights; w++) {
        char what[32];
        histo_device there;
        snprintf(what, sizeof what, "values[%d]", w);
        histo_status status = histo_boosting_check(&values[w], 1, what, &there);
        if (w == 0) *home = there;
        if (status == HISTO_OK) status = histo_boosting_check_home(what, there, *home);
        if (status != HISTO_OK) return status;
        const histo_dtype dtype = values[w].dtype;
        if (!is_float(dtype) && dtype > HISTO_I16 && dtype != HISTO_I32)
            return histo_fail(HISTO_INVALID,
                              "%s: gradients are of HISTO_F32, HISTO_F64, HISTO_I8, HISTO_U8, HISTO_I16, HISTO_U16 or "
                              "HISTO_I32 in this machine's byte order",
                              what);
        if (values[w].shape[0] != g->rows)
            return histo_fail(HISTO_INVALID, "%s has %lld values, and gradients has %lld rows", what,
                              (long long)values[w].shape[0], (long long)g->rows);
    }
    return HISTO_OK;
}

/* The bits of a magnitude so that a sum over all rows has DOUBLE_BITS at most. */
static int bits_for(int64_t rows)
{
    int bits = MOST_BITS;
    while (bits > 1 && rows > INT64_C(1) << (DOUBLE_BITS - bits))
        bits--;
    return bits;
}

/* *exponent of the unit that the caller wants. */
static histo_status check_unit(int w, double unit, histo_dtype dtype, double largest, int *exponent)
{
    const double mantissa = frexp(unit, exponent);
    --*exponent;
    if (!(unit > 0) || isinf(unit) || mantissa != 0.5)
        return histo_fail(HISTO_INVALID, "units[%d] is %g, which is not a power of two", w, unit);
    if (!is_float(dtype) && unit != 1)
        return histo_fail(HISTO_INVALID, "units[%d] is %g, and integers have the unit 1", w, unit);
    if (histo_units_in(largest, *exponent) >= ldexp(1, MOST_BITS))
        return histo_fail(HISTO_INVALID, "units[%d] is %g, and the largest magnitude, %g, is more than 2^31 - 1 units",
                          w, unit, largest);
    return HISTO_OK;
}

static histo_status find_units(setting *s, const double *wanted, int64_t *nonfinite, double *units)
{
    finding all = {.nonfinite = 0};
    for (int t = 0; t < s->tasks; t++) {
        const finding *f = &s->found[t];
        if (f->nonfinite && !all.nonfinite) {
            all.first = f->first;
            all.weight = f->weight;
        }
        all.nonfinite += f->nonfinite;
        for (int w = 0; w < s->gradients->weights; w++)
            all.largest[w] = fmax(all.largest[w], f->largest[w]);
    }
    if (all.nonfinite && !nonfinite)
        return histo_fail(HISTO_INVALID, "values[%d]: the value of row %lld is NaN or infinite", all.weight,
                          (long long)all.first);
    for (int w = 0; w < s->gradients->weights; w++) {
        int exponent = histo_unit_exponent(all.largest[w], bits_for(s->gradients->rows));
        histo_status status = HISTO_OK;
        if (wanted) status = check_unit(w, wanted[w], s->values[w].dtype, all.largest[w], &exponent);
        if (status != HISTO_OK) return status;
        units[w] = ldexp(1, exponent);
        s->by[w] = (histo_quantizing){ldexp(1, -exponent / 2), ldexp(1, -exponent - -exponent / 2)};
    }
    if (nonfinite) *nonfinite = all.nonfinite;
    return HISTO_OK;
}

/* ---- On a GPU ---- */

/* The bits of a magnitude, at most. */
static int bits_of(const histo_view *values, int weights, int bits_of_floats)
{
    static const int bits_of_integers[] = {
        [HISTO_I8] = 7, [HISTO_U8] = 8, [HISTO_I16] = 15, [HISTO_U16] = 16, [HISTO_I32] = MOST_BITS};
    int most = 1;
    for (int w = 0; w < weights; w++) {
        const int bits = is_float(values[w].dtype) ? bits_of_floats : bits_of_integers[values[w].dtype];
        most = bits > most ? bits : most;
    }
    return most;
}

/* Set the weights of `there`. */
static histo_status set_there(histo_gradients *g, histo_device_gradients *there, const histo_view *values,
                              const histo_gradients_options *options)
{
    const histo_node_backend *nodes = there->backend->nodes;
    const bool waits = !options->nonfinite || histo_boosting_home(options->nonfinite) == HISTO_DEVICE_CPU;
    const int bits = bits_of(values, g->weights, options->units ? MOST_BITS : bits_for(g->rows));
    if (!waits) {
        histo_status status = nodes->search(there, values, options->stream, NULL);
        if (status == HISTO_OK)
            status = nodes->quantize(there, values, bits, NULL, options->nonfinite, options->stream);
        if (status == HISTO_OK) g->units_there = true;
        return status;
    }
    finding found;
    setting s = {.gradients = g, .values = values, .tasks = 1, .found = &found};
    double units[HISTO_MAX_GRADIENTS];
    int exponents[HISTO_MAX_GRADIENTS];
    histo_status status = nodes->search(there, values, options->stream, &found);
    if (status == HISTO_OK) status = find_units(&s, options->units, options->nonfinite, units);
    if (status != HISTO_OK) return status;
    for (int w = 0; w < g->weights; w++)
        exponents[w] = ilogb(units[w]);
    status = nodes->quantize(there, values, bits, exponents, NULL, options->stream);
    if (status != HISTO_OK) return status;
    memcpy(g->units, units, (size_t)g->weights * sizeof *units);
    return HISTO_OK;
}

static histo_status check_stream(const histo_gradients *g, const histo_backend *backend, histo_device home,
                                 const histo_gradients_options *options)
{
    const histo_device counter = options->nonfinite ? histo_boosting_home(options->nonfinite) : HISTO_DEVICE_CPU;
    if (counter != HISTO_DEVICE_CPU) {
        const histo_status status = histo_boosting_check_home("nonfinite", counter, home);
        if (status != HISTO_OK) return status;
        if (options->units)
            return histo_fail(HISTO_UNSUPPORTED, "units are compared with gradients: nonfinite must be in host memory");
    }
    if (!backend->capturing(options->stream)) return HISTO_OK;
    if (counter == HISTO_DEVICE_CPU)
        return histo_fail(HISTO_UNSUPPORTED, "gradients are set in a graph if nonfinite is in the memory of the GPU");
    if (!g->on_device || g->on_device->device != home)
        return histo_fail(HISTO_UNSUPPORTED, "set the gradients once like this before that is captured into a graph");
    return HISTO_OK;
}

static histo_status set_on_device(histo_gradients *g, const histo_view *values, histo_device home,
                                  const histo_gradients_options *options)
{
    const histo_backend *backend = histo_backend_of(home);
    histo_status status = check_stream(g, backend, home, options);
    if (status != HISTO_OK) return status;
    histo_device_gradients *there = g->on_device && g->on_device->device == home ? g->on_device : NULL, *made = NULL;
    if (!there) {
        status = backend->nodes->gradients(g->rows, g->weights, home, &made);
        there = made;
    }
    if (status == HISTO_OK) status = set_there(g, there, values, options);
    if (status != HISTO_OK) {
        free_on_device(made);
        return status;
    }
    if (made) {
        free_on_device(g->on_device);
        g->on_device = made;
        free_pairs(g);
    }
    return HISTO_OK;
}

static histo_status set_here(histo_gradients *g, const histo_view *values, const histo_gradients_options *options)
{
    setting s = {.gradients = g, .values = values, .kernels = histo_cpu_kernels_usable()};
    const int threads = histo_threads_for(options->threads);
    const int64_t shares = g->rows / GRAIN + 1;
    s.tasks = shares < threads ? (int)shares : threads;
    s.found = histo_calloc((size_t)s.tasks, sizeof *s.found);
    if (!s.found) return histo_fail_memory((size_t)s.tasks * sizeof *s.found, "looking at gradients");
    histo_status status = histo_pool_run_long("reading", s.tasks, search_share, &s);
    double units[HISTO_MAX_GRADIENTS];
    if (status == HISTO_OK) status = find_units(&s, options->units, options->nonfinite, units);
    if (status == HISTO_OK && !g->pairs[0]) status = allocate_pairs(g);
    if (status == HISTO_OK) {
        histo_pool_run(s.tasks, set_share, &s); /* to the end: half of new weights are none */
        memcpy(g->units, units, (size_t)g->weights * sizeof *units);
        free_on_device(g->on_device);
        g->on_device = NULL;
        g->units_there = false;
    }
    histo_free(s.found);
    return status;
}

histo_status histo_gradients_set(histo_gradients *gradients, const histo_view *values,
                                 const histo_gradients_options *given)
{
    HISTO_STANDARD_FLOATS;
    static const histo_gradients_options defaults;
    const histo_gradients_options *options = given ? given : &defaults;
    histo_device home = HISTO_DEVICE_CPU;
    if (options->nonfinite && histo_boosting_home(options->nonfinite) == HISTO_DEVICE_CPU) *options->nonfinite = 0;
    histo_status status = check_values(gradients, values, &home);
    if (status == HISTO_OK)
        status = histo_check_reserved(options->reserved, sizeof options->reserved, "histo_gradients_options");
    if (status == HISTO_OK) status = histo_threads_check(options->threads);
    if (status != HISTO_OK) return status;
    if (home != HISTO_DEVICE_CPU) return set_on_device(gradients, values, home, options);
    if (options->nonfinite)
        status = histo_boosting_check_home("nonfinite", histo_boosting_home(options->nonfinite), home);
    return status == HISTO_OK ? set_here(gradients, values, options) : status;
}
