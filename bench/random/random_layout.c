/* What a problem's line leaves to be computed: shapes and strides, edges, segments. */
#include <math.h>
#include <stdlib.h>

#include "bench/core/random_numbers.h"
#include "bench/random/random_problem.h"

enum { STREAM_EDGES = 40, STREAM_SEGMENTS = 60 };

int64_t problem_stream(const random_problem *p, uint64_t stream)
{
    return (int64_t)(random_bits(stream, (int64_t)p->seed) >> 8);
}

static int64_t width_of(const random_problem *p)
{
    return p->layout == PROBLEM_SEGMENTS ? p->samples : p->samples / p->batch / p->height;
}

/* A layout of the same shape, in C order and without gaps. */
static problem_shape packed(problem_shape at)
{
    int64_t stride = 1;
    for (int d = at.ndim - 1; d >= 0; d--) {
        at.strides[d] = stride;
        stride *= at.shape[d];
    }
    at.stored = stride;
    at.first = 0;
    return at;
}

problem_shape problem_samples_shape(const random_problem *p)
{
    const int64_t width = width_of(p), height = p->height, batch = p->batch, channels = p->channels;
    const int64_t pitch = p->pitch ? p->pitch : width, pixels = p->pitch ? p->pitch : width * channels;
    const int64_t columns = p->pitch ? p->pitch : batch, length = height * width, stride = llabs(p->stride);
    switch (p->layout) {
    case PROBLEM_STRIDED: {
        const int64_t last = (width - 1) * stride;
        return (problem_shape){1, 0, {width}, {p->stride}, p->stride < 0 ? last : 0, last + 1};
    }
    case PROBLEM_TABLE:
        return (problem_shape){1, 0, {width}, {channels}, 0, width * channels};
    case PROBLEM_REGION:
        return (problem_shape){2, 0, {height, width}, {pitch, 1}, 0, height * pitch};
    case PROBLEM_FLIPPED:
        return (problem_shape){2, 0, {height, width}, {-pitch, 1}, (height - 1) * pitch, height * pitch};
    case PROBLEM_TRANSPOSED:
        return (problem_shape){2, 0, {height, width}, {1, height}, 0, length};
    case PROBLEM_CHANNEL:
        return (problem_shape){2, 0, {height, width}, {pixels, channels}, 0, height * pixels};
    case PROBLEM_CHANNELS:
        return (problem_shape){3, 1, {batch, height, width}, {1, pixels, channels}, 0, height * pixels};
    case PROBLEM_IMAGES:
        return (problem_shape){3, 1, {batch, height, width}, {height * pitch, pitch, 1}, 0, batch * height * pitch};
    case PROBLEM_COLUMNS:
        return (problem_shape){2, 1, {batch, length}, {1, columns}, 0, length * columns};
    default:
        return (problem_shape){1, 0, {width}, {1}, 0, width};
    }
}

problem_shape problem_others_shape(const random_problem *p)
{
    problem_shape shape = problem_samples_shape(p);
    return p->alike ? shape : packed(shape);
}

int64_t problem_slots(const random_problem *p)
{
    const int64_t limit = INT64_C(1) << 62;
    int64_t slots = p->batch;
    for (int a = 0; a < p->axes; a++) {
        if (slots > limit / (p->axis[a].bins + 3)) return -1;
        slots *= p->axis[a].bins + 3;
    }
    return slots;
}

/* The width of bin i before it is scaled. */
static double gap_of(problem_edges kind, int64_t stream, int64_t i)
{
    const double x = random_uniform(0, stream + 2 * i);
    double gap = 1;
    switch (kind) {
    case PROBLEM_JITTER:
        return 0.75 + x / 2;
    case PROBLEM_GAPS:
        return 0.001 + x * x * 4;
    case PROBLEM_UNEQUAL:
        for (uint64_t halvings = random_bits(0, stream + 2 * i + 1) % 21; halvings > 0; halvings--)
            gap /= 2;
        return gap * (1 + x);
    case PROBLEM_FLOATS:
        return 1;
    default:
        return (double)(2 * i + 1);
    }
}

histo_axis problem_axis_make(const random_problem *p, int a, double *edges)
{
    const problem_axis *from = &p->axis[a];
    const int64_t stream = problem_stream(p, STREAM_EDGES + (uint64_t)a);
    histo_axis axis = {.kind = from->kind, .closed = from->closed, .bins = from->bins, .lo = from->lo, .hi = from->hi};
    axis.power = from->power;
    if (from->kind != HISTO_VARIABLE) return axis;
    double sum = 0;
    for (int64_t i = 0; i < from->bins; i++) {
        edges[i] = sum;
        sum += gap_of(from->edges, stream, i);
    }
    edges[from->bins] = sum;
    for (int64_t i = 0; i <= from->bins; i++) {
        edges[i] = from->lo + edges[i] / sum * (from->hi - from->lo);
        if (from->edges == PROBLEM_FLOATS && i % from->bins) edges[i] = (double)(float)edges[i];
        if (i && !(edges[i] > edges[i - 1])) edges[i] = nextafter(edges[i - 1], INFINITY);
    }
    histo_axis variable = histo_axis_variable(from->bins, edges);
    variable.closed = from->closed;
    return variable;
}

static int compare_offsets(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void problem_offsets(const random_problem *p, int64_t *offsets)
{
    const int64_t stream = problem_stream(p, STREAM_SEGMENTS);
    for (int64_t b = 1; b < p->batch; b++) {
        double x = random_uniform(0, stream + b);
        offsets[b] = (int64_t)(x * x * (double)p->samples); /* short segments first; some are empty */
    }
    offsets[0] = 0;
    offsets[p->batch] = p->samples;
    qsort(offsets + 1, (size_t)p->batch - 1, sizeof *offsets, compare_offsets);
}
