#include "boosting/flush.h"

#include <string.h>

/* Where the count and the sums of a feature's bin 0 are written. */
typedef struct place {
    char *at[3];
    int64_t stride[3];
    double unit[3];
    histo_dtype count, sum;
} place;

static char *position_of(const histo_bin_array *array, const histo_written *to, int64_t node, int32_t feature)
{
    return array->at + node * array->node_stride + to->first[feature] * array->bin_stride;
}

static place place_of(histo_node_tile *t, int32_t feature)
{
    const histo_written *to = &t->fill->to;
    place p = {.count = to->arrays[0].dtype, .sum = to->arrays[1].dtype};
    for (int number = 0; number < 3; number++) {
        const int plane = number ? 2 * t->pair + number : 0;
        const histo_bin_array *array = &to->arrays[plane];
        const bool wanted = number <= t->lanes && (number || !t->pair) && array->at;
        p.at[number] = wanted ? position_of(array, to, t->piece->node, feature) : t->nowhere;
        p.stride[number] = wanted ? array->bin_stride : 0;
        p.unit[number] = wanted ? array->unit : 1;
    }
    return p;
}

/* ---- Accumulators to numbers ---- */

static inline __attribute__((always_inline)) void write_bin(const place *p, int64_t bin, int64_t *from, int lanes,
                                                            histo_dtype count, histo_dtype sum)
{
    const int64_t first = from[0];
    histo_write_number(p->at[0] + bin * p->stride[0], first & HISTO_NODE_ROWS, 1, count);
    histo_write_number(p->at[1] + bin * p->stride[1], first >> HISTO_NODE_COUNT_BITS, p->unit[1], sum);
    if (lanes == 2) histo_write_number(p->at[2] + bin * p->stride[2], from[1], p->unit[2], sum);
    memset(from, 0, (size_t)lanes * sizeof *from);
}

static inline __attribute__((always_inline)) void write_bins(place p, int64_t *from, int lanes, int n,
                                                             histo_dtype count, histo_dtype sum)
{
    for (int bin = 0; bin < n; bin++)
        write_bin(&p, bin, from + (int64_t)bin * lanes, lanes, count, sum);
}

/* The bins of some rows, which may be the same. */
typedef struct some_rows {
    const char *first; /* bin of row 0 */
    int64_t stride, size, row;
    const uint32_t *rows; /* or NULL: from `row` on */
    int n;
} some_rows;

static inline __attribute__((always_inline)) void write_bins_of(place p, const some_rows *of, int64_t *from, int lanes,
                                                                histo_dtype count, histo_dtype sum)
{
    for (int i = 0; i < of->n; i++) {
        const char *sample = of->first + (of->rows ? of->rows[i] : of->row + i) * of->stride;
        uint16_t bin = *(const uint8_t *)sample;
        if (of->size == 2) memcpy(&bin, sample, sizeof bin);
        int64_t *accumulator = from + (size_t)bin * (size_t)lanes;
        if (*accumulator) write_bin(&p, bin, accumulator, lanes, count, sum); /* which counts rows */
    }
}

/* Is everything as scikit-learn has it? Functions are compiled for that, too. */
static bool is_usual(const place *p)
{
    return p->count == HISTO_U32 && p->sum == HISTO_F64;
}

static void write_feature(place p, int64_t *from, int lanes, int n)
{
    if (!is_usual(&p))
        write_bins(p, from, lanes, n, p.count, p.sum);
    else if (lanes == 2)
        write_bins(p, from, 2, n, HISTO_U32, HISTO_F64);
    else
        write_bins(p, from, 1, n, HISTO_U32, HISTO_F64);
}

static void write_feature_of(place p, const some_rows *of, int64_t *from, int lanes)
{
    if (!is_usual(&p))
        write_bins_of(p, of, from, lanes, p.count, p.sum);
    else if (lanes == 2)
        write_bins_of(p, of, from, 2, HISTO_U32, HISTO_F64);
    else
        write_bins_of(p, of, from, 1, HISTO_U32, HISTO_F64);
}

/* ---- Zeros ---- */

static void write_zeros(const histo_node_tile *t, int32_t feature)
{
    const histo_written *to = &t->fill->to;
    const int64_t n = t->fill->features->bins[feature], node = t->piece->node;
    if (to->structs && t->pair == 0) {
        histo_bin_array all = to->arrays[1];
        all.at = to->structs;
        memset(position_of(&all, to, node, feature), 0, (size_t)(n * all.bin_stride));
        return;
    }
    for (int number = t->pair ? 1 : 0; number <= t->lanes; number++) {
        const histo_bin_array *array = &to->arrays[number ? 2 * t->pair + number : 0];
        if (!array->at) continue;
        char *at = position_of(array, to, node, feature);
        const int64_t size = (int64_t)histo_dtype_size(array->dtype);
        if (array->bin_stride == size)
            memset(at, 0, (size_t)(n * size));
        else
            for (int64_t bin = 0; bin < n; bin++)
                memset(at + bin * array->bin_stride, 0, size == 4 ? 4 : 8);
    }
}

void histo_node_flush_block(histo_node_tile *t, int64_t row, const uint32_t *rows, int n)
{
    enum { MANY = 2 }; /* bins for each row */
    some_rows of = {.stride = t->row_stride, .size = t->size, .row = row, .rows = rows, .n = n};
    for (int32_t i = t->begin; i < t->end; i++) {
        const int32_t feature = histo_feature_of(t->fill, i), bins = t->fill->features->bins[feature];
        const place p = place_of(t, feature);
        int64_t *from = t->to[i - t->begin];
        if (bins < MANY * n) {
            write_feature(p, from, t->lanes, bins);
            continue;
        }
        write_zeros(t, feature);
        of.first = t->table + t->at[i - t->begin];
        write_feature_of(p, &of, from, t->lanes);
    }
}

/* ---- Planes ---- */

/* The numbers of bin 0 of a feature, and how many each bin has. */
static int64_t *plane_of(const histo_node_fill *fill, int64_t planes, int32_t feature, int *numbers)
{
    *numbers = 1 + fill->gradients->weights;
    return fill->planes + (planes * fill->features->total + fill->features->start[feature]) * *numbers;
}

/* Add a feature's accumulators. */
static void add_to_plane(const histo_node_tile *t, int32_t feature, int64_t *from)
{
    enum { AHEAD = 128 };
    int numbers;
    int64_t *to = plane_of(t->fill, t->piece->planes, feature, &numbers);
    int64_t *sums = to + 1 + 2 * t->pair;
    const int lanes = t->lanes, bins = t->fill->features->bins[feature];
    for (int bin = 0; bin < bins; bin++, from += lanes, to += numbers, sums += numbers) {
        const int64_t count = from[0] & HISTO_NODE_ROWS;
        __builtin_prefetch(to + AHEAD, 1, 3);
        __builtin_prefetch(from + AHEAD, 1, 3);
        if (t->pair == 0) to[0] += count;
        sums[0] += from[0] >> HISTO_NODE_COUNT_BITS;
        if (lanes == 2) sums[1] += from[1];
        memset(from, 0, (size_t)lanes * sizeof *from);
    }
}

void histo_node_flush(histo_node_tile *t)
{
    for (int32_t i = t->begin; i < t->end; i++) {
        const int32_t feature = histo_feature_of(t->fill, i);
        int64_t *from = t->to[i - t->begin];
        if (t->piece->planes < 0) {
            write_feature(place_of(t, feature), from, t->lanes, t->fill->features->bins[feature]);
            continue;
        }
        pthread_mutex_t *lock = &t->fill->locks[feature % HISTO_PLANE_LOCKS];
        pthread_mutex_lock(lock);
        add_to_plane(t, feature, from);
        pthread_mutex_unlock(lock);
    }
}

void histo_node_planes_write(const histo_node_fill *fill, int64_t node, int64_t planes, int32_t feature)
{
    int numbers;
    const int64_t *from = plane_of(fill, planes, feature, &numbers);
    for (int number = 0; number < numbers; number++) {
        const histo_bin_array *array = &fill->to.arrays[number];
        if (!array->at) continue;
        char *at = position_of(array, &fill->to, node, feature);
        for (int32_t bin = 0; bin < fill->features->bins[feature]; bin++, at += array->bin_stride)
            histo_write_number(at, from[(int64_t)bin * numbers + number], array->unit, array->dtype);
    }
}
