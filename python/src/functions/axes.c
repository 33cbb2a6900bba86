#include "functions/axes.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "samples/samples.h"

histo_axis axis_through(int64_t bins, const double *edges)
{
    const double lo = edges[0], hi = edges[bins], step = (hi - lo) / (double)bins;
    bool regular = step >= DBL_MIN && isfinite(step) && edges[bins - 1] < hi;
    for (int64_t i = 1; regular && i < bins; i++) /* a regular axis refuses bins without a width */
        regular = edges[i - 1] < edges[i] && lo + (double)i * step == edges[i];
    return histo_axis_closed(regular ? histo_axis_regular(bins, lo, hi) : histo_axis_variable(bins, edges));
}

static int axis_of_tuple(PyObject *tuple, histo_axis *axis)
{
    long long bins, first;
    double lo, hi;
    if (PyTuple_Size(tuple) == 2) {
        if (!PyArg_ParseTuple(tuple, "LL", &bins, &first)) return -1;
        *axis = histo_axis_integer(first, bins);
    } else {
        if (!PyArg_ParseTuple(tuple, "Ldd", &bins, &lo, &hi)) return -1;
        *axis = histo_axis_closed(histo_axis_regular(bins, lo, hi));
    }
    return 0;
}

static int axis_of_edges(const histo_view *v, histo_axis *axis, void **edges)
{
    if (v->ndim != 1 || v->shape[0] < 2) {
        PyErr_SetString(PyExc_ValueError, "edges must be an array of one dimension, with two elements or more");
        return -1;
    }
    const int64_t n = v->shape[0];
    *edges = PyMem_Malloc((size_t)n * sizeof(double));
    if (!*edges) {
        PyErr_NoMemory();
        return -1;
    }
    const histo_dtype dtype = native(v->dtype);
    const bool whole = dtype == HISTO_I64 || dtype == HISTO_U64;
    double *values = *edges;
    uint64_t *bits = *edges;
    for (int64_t i = 0; i < n; i++) {
        const char *edge = (const char *)v->data + i * v->strides[0];
        if (!whole) {
            values[i] = histo_sample_value(edge, v->dtype);
            continue;
        }
        memcpy(&bits[i], edge, sizeof *bits);
        if (v->dtype & HISTO_SWAPPED) bits[i] = __builtin_bswap64(bits[i]);
    }
    *axis = dtype == HISTO_I64   ? histo_axis_closed(histo_axis_variable_i64(n - 1, *edges))
            : dtype == HISTO_U64 ? histo_axis_closed(histo_axis_variable_u64(n - 1, *edges))
                                 : axis_through(n - 1, values);
    return 0;
}

int axis_of(PyObject *module, PyObject *object, histo_axis *axis, void **edges)
{
    *edges = NULL;
    if (PyTuple_Check(object)) return axis_of_tuple(object, axis);
    python_samples s;
    if (samples_take_here(module, object, &s) < 0) return -1;
    const int made = axis_of_edges(&s.view, axis, edges);
    samples_release(&s);
    return made;
}
