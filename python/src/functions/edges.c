#include "functions/edges.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "functions/axes.h"
#include "functions/fill.h"
#include "samples/numpy_api.h"
#include "samples/results.h"
#include "samples/samples.h"

PyObject *tuple_of(PyObject *object)
{
    if (PyTuple_CheckExact(object)) return Py_NewRef(object);
    PyObject *tuple = PyList_CheckExact(object) ? PyList_AsTuple(object) : NULL;
    if (!tuple) PyErr_Clear();
    return tuple;
}

/* True and *x for a Python number that is a double; NumPy's float64 is one unless `exact`. */
static bool number_of(PyObject *object, bool exact, double *x)
{
    if (exact ? PyFloat_CheckExact(object) : PyFloat_Check(object)) {
        *x = PyFloat_AsDouble(object);
        return isfinite(*x);
    }
    if (!PyLong_CheckExact(object)) return false;
    int overflow;
    const long long i = PyLong_AsLongLongAndOverflow(object, &overflow);
    *x = (double)i;
    return !overflow && i >= -(1LL << DBL_MANT_DIG) && i <= 1LL << DBL_MANT_DIG;
}

static bool item_of(PyObject *range, Py_ssize_t i, bool exact, double *x)
{
    PyObject *item = PySequence_GetItem(range, i); /* another thread may change a list */
    const bool is = item && number_of(item, exact, x);
    if (!item) PyErr_Clear();
    Py_XDECREF(item);
    return is;
}

/* True if `range` is a tuple or list of two numbers. */
static bool pair_of(PyObject *range, bool exact, double *lo, double *hi)
{
    if (PyTuple_CheckExact(range))
        return PyTuple_Size(range) == 2 && number_of(PyTuple_GetItem(range, 0), exact, lo) &&
               number_of(PyTuple_GetItem(range, 1), exact, hi);
    return PyList_CheckExact(range) && PyList_Size(range) == 2 && item_of(range, 0, exact, lo) &&
           item_of(range, 1, exact, hi);
}

static bool is_signed(histo_dtype dtype)
{
    return dtype == HISTO_I8 || dtype == HISTO_I16 || dtype == HISTO_I32 || dtype == HISTO_I64;
}

static bool is_float(histo_dtype dtype)
{
    return dtype >= HISTO_F16;
}

/* The double next to a number of this dtype: not below it if `up`, else not above it. */
static double outwards(histo_dtype dtype, histo_number n, bool up)
{
    if (is_float(dtype)) return n.f64;
    double x = is_signed(dtype) ? (double)n.i64 : (double)n.u64;
    const bool above = is_signed(dtype) ? x >= 0x1p63 || (int64_t)x > n.i64 : x >= 0x1p64 || (uint64_t)x > n.u64;
    const bool below = !above && (is_signed(dtype) ? (int64_t)x < n.i64 : (uint64_t)x < n.u64);
    if (up && below) x = nextafter(x, INFINITY);
    if (!up && above) x = nextafter(x, -INFINITY);
    return x;
}

typedef struct extremes_so_far {
    histo_dtype dtype;
    histo_extremes found;
} extremes_so_far;

static bool is_less(histo_dtype dtype, histo_number a, histo_number b)
{
    return is_float(dtype) ? a.f64 < b.f64 : is_signed(dtype) ? a.i64 < b.i64 : a.u64 < b.u64;
}

static histo_status extremes_of_piece(void *state, const histo_view *views, const histo_fill_options *options)
{
    extremes_so_far *so_far = state;
    histo_extremes piece, *all = &so_far->found;
    const histo_status status = histo_find_extremes(views, options, &piece, 1);
    if (status != HISTO_OK) return status;
    const bool first = all->samples == all->nan + all->below + all->above;
    if (piece.samples > piece.nan + piece.below + piece.above) {
        if (first || is_less(so_far->dtype, piece.min, all->min)) all->min = piece.min;
        if (first || is_less(so_far->dtype, all->max, piece.max)) all->max = piece.max;
    }
    all->samples += piece.samples;
    all->nan += piece.nan;
    all->below += piece.below;
    all->above += piece.above;
    all->masked += piece.masked;
    return HISTO_OK;
}

int extremes_find(const histo_view *samples, const histo_fill_options *options, histo_extremes *found)
{
    extremes_so_far so_far = {.dtype = native(samples->dtype)};
    const int done = in_pieces(NULL, 1, samples, options, extremes_of_piece, &so_far);
    *found = so_far.found;
    return done;
}

/* The smallest and largest sample; 0 if they are not finite, which histo.functions tells. */
static int range_of_samples(const histo_view *samples, const histo_fill_options *reading, double *lo, double *hi)
{
    histo_extremes extremes;
    if (extremes_find(samples, reading, &extremes) < 0) return -1;
    if (extremes.nan || extremes.below || extremes.above) return 0;
    *lo = outwards(native(samples->dtype), extremes.min, false);
    *hi = outwards(native(samples->dtype), extremes.max, true);
    return 1;
}

/* Room for n edges; NULL with an exception. */
static double *room_for(int64_t n, edges *out)
{
    if (n <= FEW_EDGES) return out->few;
    out->memory = PyMem_Malloc((size_t)n * sizeof *out->memory);
    if (!out->memory) PyErr_NoMemory();
    return out->memory;
}

/* edges_find for a number of bins. */
static int find_equal(PyObject *module, const histo_view *samples, int64_t bins, PyObject *range, edges_rule rule,
                      const histo_fill_options *reading, edges *out)
{
    const histo_dtype dtype = native(samples->dtype);
    const bool single = dtype == HISTO_F32;
    histo_dtype computed = HISTO_F64, edge = single ? HISTO_F32 : HISTO_F64;
    double lo = 0, hi = 1;
    if (dtype == HISTO_F16 || dtype == HISTO_BF16 || bins < 1 || bins > HISTO_MAX_BINS) return 0;
    if (range) {
        if (!pair_of(range, single, &lo, &hi) || lo > hi) return 0;
        if (rule == LIKE_HISTOGRAMDD) edge = HISTO_F64;
    } else if (histo_view_size(samples) > 0) {
        const int finite = range_of_samples(samples, reading, &lo, &hi);
        if (finite != 1) return finite;
        computed = edge;
    } else if (rule == LIKE_HISTOGRAMDD) {
        edge = HISTO_F64;
    }
    if (lo == hi) {
        const double half = 0.5;
        lo = computed == HISTO_F32 ? (double)((float)lo - 0.5F) : lo - half;
        hi = computed == HISTO_F32 ? (double)((float)hi + 0.5F) : hi + half;
    }
    const int64_t n = bins + 1;
    void *data;
    out->array = result_new(module, edge, 1, &n, &data);
    if (!out->array) return -1;
    double *values = data;
    if (edge == HISTO_F32) {
        values = room_for(n, out);
        if (!values) return -1;
    }
    if (histo_linspace(bins, lo, hi, computed, edge, values) != HISTO_OK) return 0;
    if (edge == HISTO_F32) {
        float *floats = data;
        for (int64_t i = 0; i < n; i++)
            floats[i] = (float)values[i];
    }
    /* Where bins have a width, histo_linspace has made the edges of a regular axis. */
    const bool regular = edge == HISTO_F64 && (hi - lo) / (double)bins >= DBL_MIN;
    out->axis = regular ? histo_axis_closed(histo_axis_regular(bins, lo, hi)) : axis_through(bins, values);
    return 1;
}

/* Whether edges are numbers that do not decrease. */
static bool are_rising(int64_t bins, const double *e)
{
    bool rising = true;
    for (int64_t i = 0; rising && i < bins; i++)
        rising = e[i] <= e[i + 1];
    return rising;
}

/* Edges of a dtype as doubles; false if one is an integer of 2^53 or more. */
static bool as_doubles(PyArrayObject *array, histo_dtype dtype, int64_t n, double *values)
{
    const char *at = PyArray_DATA(array);
    const npy_intp step = PyArray_STRIDE(array, 0);
    bool exact = true;
    for (int64_t i = 0; i < n; i++, at += step) {
        values[i] = histo_sample_value(at, dtype);
        exact = exact && fabs(values[i]) < 0x1p53; /* where 2^53 + 1 is rounded to it */
    }
    return exact || is_float(dtype);
}

/* edges_find for an array of edges, a reference to which goes to *out. */
static int take_given(PyObject *object, edges *out)
{
    out->array = object;
    PyArrayObject *array = (PyArrayObject *)object;
    histo_dtype dtype;
    const char kind = PyArray_DESCR(array)->kind;
    if (PyArray_NDIM(array) != 1 || kind == 'm' || kind == 'M' || kind == 'b' || !PyArray_ISNOTSWAPPED(array) ||
        !numpy_dtype(PyArray_DESCR(array), &dtype))
        return 0;
    const int64_t n = PyArray_DIM(array, 0);
    if (n < 2 || n - 1 > HISTO_MAX_BINS) return 0;
    const double *values = PyArray_DATA(array);
    if (dtype != HISTO_F64 || !PyArray_ISCARRAY_RO(array)) {
        double *const doubles = room_for(n, out);
        if (!doubles) return -1;
        if (!as_doubles(array, dtype, n, doubles)) return 0;
        values = doubles;
    }
    if (!are_rising(n - 1, values)) return 0;
    out->axis = axis_through(n - 1, values);
    return 1;
}

static int find(PyObject *module, const histo_view *samples, PyObject *bins, PyObject *range, edges_rule rule,
                const histo_fill_options *reading, edges *out)
{
    if (!bins) return find_equal(module, samples, 10, range, rule, reading, out);
    if (PyLong_CheckExact(bins)) {
        int overflow;
        const int64_t n = PyLong_AsLongLongAndOverflow(bins, &overflow);
        return overflow ? 0 : find_equal(module, samples, n, range, rule, reading, out);
    }
    if (PyArray_CheckExact(bins)) return take_given(Py_NewRef(bins), out);
    if (!PyList_CheckExact(bins) && !PyTuple_CheckExact(bins)) return 0;
    PyObject *array = samples_of_list(module, bins);
    if (array) return take_given(array, out);
    return PyErr_Occurred() ? -1 : 0;
}

int edges_find(PyObject *module, const histo_view *samples, PyObject *bins, PyObject *range, edges_rule rule,
               const histo_fill_options *reading, edges *out)
{
    edges_start(out);
    const int done = find(module, samples, bins, range, rule, reading, out);
    if (done != 1) edges_release(out);
    return done;
}

void edges_release(edges *e)
{
    PyMem_Free(e->memory);
    Py_XDECREF(e->array);
    edges_start(e);
}
