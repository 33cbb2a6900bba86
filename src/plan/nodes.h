/* Histograms of nodes of features in the memory of a device: see <histo/boosting.h>. */
#ifndef PLAN_NODES_H
#define PLAN_NODES_H

#include <histo/histo.h>

#include "base/host_device.h"

#ifdef __cplusplus
#include <cmath>
extern "C" {
#else
#include <math.h>
#endif

struct histo_backend;

/* A copy of a table, and the gradients of its rows, which the backend extends. */
typedef struct histo_device_features {
    const struct histo_backend *backend;
    histo_device device;
} histo_device_features;

typedef struct histo_device_gradients {
    const struct histo_backend *backend;
    histo_device device;
    int64_t rows;
    int weights, bits; /* of a magnitude, at most */
} histo_device_gradients;

/* A sample that is in no bin of its feature: of the first row that has one. */
typedef struct histo_stray_bin {
    int64_t row; /* -1: there is none */
    int32_t feature, bin;
} histo_stray_bin;

/* What gradients are. */
typedef struct histo_gradients_found {
    double largest[HISTO_MAX_GRADIENTS]; /* magnitudes, of floats in rows that are finite */
    int64_t nonfinite, first;            /* rows that are not, and the first of them */
    int weight;                          /* one that is not finite there */
} histo_gradients_found;

/* Where one number of each bin is written. */
typedef struct histo_node_array {
    char *at; /* NULL: nowhere */
    histo_dtype dtype;
    int64_t bin_stride, node_stride; /* in bytes */
} histo_node_array;

#define HISTO_NOT_WRITTEN INT64_MIN

/* A fill whose arguments have been checked, but for numbers that are in the device's memory. */
typedef struct histo_node_request {
    const histo_view *rows; /* NULL: all */
    const int64_t *offsets; /* NULL: one node */
    int64_t nodes;
    int64_t *first; /* [features]: the position of bin 0 in what is written, or HISTO_NOT_WRITTEN */
    histo_node_array counts, sums[HISTO_MAX_GRADIENTS];
    bool to_host; /* what is written is in host memory; waits */
    void *stream;
} histo_node_request;

/* Calls enqueue work on a stream, unless they are said to wait. */
typedef struct histo_node_backend {
    /* Copy a table in the device's memory; bins[features] are in host memory. Waits. HISTO_OK without features: there
     * is a stray bin. */
    histo_status (*features)(const histo_view *table, const int32_t *bins, histo_device device, void *stream,
                             histo_stray_bin *stray, histo_device_features **made);
    void (*free_features)(histo_device_features *features);
    /* Wait for fills; HISTO_INVALID if a list had numbers that are no rows. */
    histo_status (*wait)(histo_device_features *features);
    histo_status (*gradients)(int64_t rows, int weights, histo_device device, histo_device_gradients **made);
    void (*free_gradients)(histo_device_gradients *gradients);
    /* Look at all values; waits unless `found` is NULL. */
    histo_status (*search)(histo_device_gradients *gradients, const histo_view *values, void *stream,
                           histo_gradients_found *found);
    /* Set the weights to multiples of 2^exponents[w], or of units that are found from what `search` has; bits: of a
     * magnitude, at most. *nonfinite, in the device's memory or NULL, gets the number of rows that are not finite. */
    histo_status (*quantize)(histo_device_gradients *gradients, const histo_view *values, int bits,
                             const int *exponents, int64_t *nonfinite, void *stream);
    /* The units of all weights; waits. */
    histo_status (*units)(histo_device_gradients *gradients, double *units);
    histo_status (*fill)(histo_device_features *features, histo_device_gradients *gradients,
                         const histo_node_request *request);
} histo_node_backend;

/* The number of units of 2^exponent that a magnitude is rounded to. */
HISTO_INLINE double histo_units_in(double magnitude, int exponent)
{
    return rint(ldexp(magnitude, -exponent));
}

/* The exponent of the unit for magnitudes of so many bits, up to the largest. Doubles have no smaller unit than
 * 2^-1074. */
HISTO_INLINE int histo_unit_exponent(double largest, int bits)
{
    int exponent = 0;
    if (largest == 0) return exponent;
    frexp(largest, &exponent);
    exponent -= bits;
    if (exponent < -1074) exponent = -1074;
    return histo_units_in(largest, exponent) < ldexp(1.0, bits) ? exponent : exponent + 1;
}

#ifdef __cplusplus
}
#endif

#endif
