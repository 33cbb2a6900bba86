/* The fast path of NumPy's functions: for the arguments that most calls have. All others are for histo.functions, which
 * also says what is wrong with arguments: the functions here return NOT_MINE wherever something is unusual. */
#include "functions/functions.h"

#include <string.h>

#include "functions/arguments.h"
#include "functions/counting.h"
#include "functions/docs.h"
#include "functions/edges.h"
#include "functions/fill.h"
#include "samples/numpy_api.h"
#include "samples/results.h"
#include "samples/samples.h"

enum { NOT_MINE = 0, MINE = 1, FAILED = -1 };

static bool none_given(PyObject *const *values, int from, int to)
{
    for (int i = from; i < to; i++)
        if (values[i] && values[i] != Py_False) return false;
    return true;
}

/* The number of threads, 0 for None; false if that is for histo.functions. */
static bool threads_of(PyObject *object, int *threads)
{
    *threads = 0;
    if (!object) return true;
    if (!PyLong_CheckExact(object)) return false;
    int overflow;
    const long n = PyLong_AsLongAndOverflow(object, &overflow);
    *threads = (int)n;
    return !overflow && n >= 1 && n <= 1024;
}

/* take_array for tensors of PyTorch in host memory. */
static int take_exchanged(PyObject *module, PyObject *object, PyObject **owner, histo_view *view)
{
    python_samples s = {0};
    const int taken = samples_of_exchange(module, object, &s);
    const bool usable = taken == 1 && !s.on_gpu && !s.is_bool && !s.memory; /* memory is what its owner alone keeps */
    if (taken < 0) PyErr_Clear();                                           /* histo.functions says what is wrong */
    if (usable) {
        *owner = Py_NewRef(s.owner);
        *view = s.view;
    }
    samples_release(&s);
    return usable ? MINE : NOT_MINE;
}

/* The view of an array or list of numbers that need no warning and no conversion; *owner is a new reference. */
static int take_array(PyObject *module, PyObject *object, PyObject **owner, histo_view *view)
{
    if (!numpy_seen(module) && numpy_import(module) < 0) return FAILED;
    if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) {
        *owner = samples_of_list(module, object);
        if (!*owner) return PyErr_Occurred() ? FAILED : NOT_MINE;
    } else if (PyArray_CheckExact(object)) {
        *owner = Py_NewRef(object);
    } else {
        return take_exchanged(module, object, owner, view);
    }
    PyArrayObject *array = (PyArrayObject *)*owner;
    const char kind = PyArray_DESCR(array)->kind;
    if ((kind != 'i' && kind != 'u' && kind != 'f') || PyArray_NDIM(array) > HISTO_MAX_DIMS ||
        !numpy_dtype(PyArray_DESCR(array), &view->dtype))
        return NOT_MINE;
    if (PyArray_ISBYTESWAPPED(array)) view->dtype |= HISTO_SWAPPED;
    view->data = PyArray_DATA(array);
    view->ndim = PyArray_NDIM(array);
    view->batch_ndim = 0;
    for (int d = 0; d < view->ndim; d++) {
        view->shape[d] = PyArray_DIM(array, d);
        view->strides[d] = PyArray_STRIDE(array, d);
    }
    return MINE;
}

static bool same_shape(const histo_view *a, const histo_view *b)
{
    return a->ndim == b->ndim && memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0;
}

/* Weights of floats, whose sums have their dtype. `weights` may be NULL. */
static int take_weights(PyObject *module, PyObject *weights, const histo_view *like, PyObject **owner, histo_view *view)
{
    if (!weights) return MINE;
    const int taken = take_array(module, weights, owner, view);
    if (taken != MINE) return taken;
    return (view->dtype == HISTO_F64 || view->dtype == HISTO_F32) && same_shape(view, like) ? MINE : NOT_MINE;
}

/* n / widths / n.sum() as NumPy computes it for counts; false where it warns. The edges are float64 or float32. */
static bool density_of(const int64_t *counts, const edges *e, int64_t bins, double *density)
{
    PyArrayObject *array = (PyArrayObject *)e->array;
    if (!PyArray_ISCARRAY_RO(array) || (PyArray_TYPE(array) != NPY_FLOAT64 && PyArray_TYPE(array) != NPY_FLOAT32))
        return false;
    const double *f64 = PyArray_DATA(array);
    const float *f32 = PyArray_DATA(array);
    int64_t sum = 0;
    for (int64_t i = 0; i < bins; i++)
        sum += counts[i];
    for (int64_t i = 0; i < bins && sum > 0; i++) {
        const double width = PyArray_TYPE(array) == NPY_FLOAT64 ? f64[i + 1] - f64[i] : (double)(f32[i + 1] - f32[i]);
        density[i] = (double)counts[i] / width / (double)sum;
    }
    return sum > 0;
}

/* ---- In the memory of a GPU ---- */

/* Samples and float weights in the memory of a GPU, on one stream. */
typedef struct gpu_operands {
    python_samples x, weights;
    histo_fill_options reading;
} gpu_operands;

static void gpu_release(gpu_operands *t)
{
    samples_release(&t->weights);
    samples_release(&t->x);
}

/* weights may be NULL. Bool is not mine, since it needs a warning; nor are arrays of libraries that know no streams. */
static int gpu_take(PyObject *module, PyObject *x, PyObject *weights, int threads, gpu_operands *t)
{
    const python_samples *const both[] = {&t->x, &t->weights}, *first;
    *t = (gpu_operands){.reading.threads = threads};
    if (samples_take(module, x, &t->x) < 0) return FAILED;
    if (!t->x.on_gpu || !t->x.owner || t->x.unordered || t->x.is_bool) return NOT_MINE;
    t->reading.stream = t->x.stream;
    if (!weights) return MINE;
    if (samples_take(module, weights, &t->weights) < 0) return PyErr_Clear(), NOT_MINE; /* complex, perhaps */
    if (samples_meet(2, both, &first) < 0) return FAILED;
    const histo_view *w = &t->weights.view;
    const bool floats = w->dtype == HISTO_F32 || w->dtype == HISTO_F64;
    return floats && same_shape(&t->x.view, w) && !t->weights.unordered ? MINE : NOT_MINE;
}

/* Count into a new array of int64, or add up weights into one of the dtype `sums`. */
static int gpu_count(PyObject *module, const gpu_operands *t, const histo_axis *axis, histo_dtype sums, PyObject **n)
{
    const bool weighted = t->weights.release;
    const count_request c = {.naxes = 1,
                             .axes = axis,
                             .views = &t->x.view,
                             .weights = weighted ? &t->weights.view : NULL,
                             .threads = t->reading.threads,
                             .home = t->x.home,
                             .stream = t->x.stream};
    void *data;
    *n = result_beside(module, &t->x, weighted ? sums : HISTO_I64, 1, &axis->bins, &data);
    return *n && counting_run(&c, weighted ? sums : HISTO_U64, data, axis->bins) == 0 ? MINE : FAILED;
}

/* histogram_mine for samples in the memory of a GPU. wide: sums are doubles, whatever the dtype of the weights. */
static int histogram_on_gpu(PyObject *module, PyObject *a, PyObject *weights, PyObject *bins, PyObject *range,
                            int threads, bool wide, PyObject **result)
{
    gpu_operands t;
    edges e;
    PyObject *n = NULL, *shown = NULL;
    edges_start(&e);
    int mine = gpu_take(module, a, weights, threads, &t);
    if (mine == MINE) mine = edges_find(module, &t.x.view, bins, range, LIKE_HISTOGRAM, &t.reading, &e);
    if (mine == MINE) mine = gpu_count(module, &t, &e.axis, wide ? HISTO_F64 : t.weights.view.dtype, &n);
    PyObject *devices = mine == MINE ? python_module(module, true) : NULL;
    /* Only edges that may come again are worth keeping on the GPU: those that samples end at seldom do. */
    const bool again = range || (bins && !PyLong_CheckExact(bins));
    if (devices) shown = PyObject_CallMethod(devices, again ? "edges_beside" : "put_beside", "OO", e.array, a);
    if (mine == MINE && !shown) mine = FAILED;
    if (mine == MINE) *result = PyTuple_Pack(2, n, shown);
    Py_XDECREF(shown);
    Py_XDECREF(n);
    edges_release(&e);
    gpu_release(&t);
    return mine;
}

/* ---- numpy.histogram and numpy.histogram_bin_edges ---- */

static int count_line(PyObject *module, const histo_view *view, const histo_view *weights, bool density, int threads,
                      const edges *e, PyObject **n)
{
    const count_request c = {.naxes = 1, .axes = &e->axis, .views = view, .weights = weights, .threads = threads};
    const int64_t bins = e->axis.bins;
    const histo_dtype dtype = weights ? weights->dtype : HISTO_I64;
    void *data, *shares;
    *n = result_new(module, dtype, 1, &bins, &data);
    if (!*n || counting_run(&c, weights ? dtype : HISTO_U64, data, bins) < 0) return FAILED;
    if (!density) return MINE;
    PyObject *result = result_new(module, HISTO_F64, 1, &bins, &shares);
    if (!result) return FAILED;
    const bool done = !weights && density_of(data, e, bins, shares);
    Py_DECREF(*n);
    *n = result;
    return done ? MINE : NOT_MINE;
}

static bool is_float64(PyObject *dtype)
{
    PyArray_Descr *descr = NULL;
    if (!PyArray_DescrConverter(dtype, &descr)) return PyErr_Clear(), false;
    const bool is = descr->type_num == NPY_FLOAT64 && PyArray_ISNBO(descr->byteorder);
    Py_DECREF(descr);
    return is;
}

static int histogram_mine(PyObject *module, PyObject *const *v, PyObject **result)
{
    enum { A, BINS, RANGE, DENSITY, WEIGHTS, REST, THREADS = REST + 3, MORE, DTYPE = 11, MISSING };
    int threads;
    if (!v[A] || !none_given(v, REST, THREADS) || !none_given(v, MORE, DTYPE) || v[MISSING] ||
        (v[DENSITY] && !PyBool_Check(v[DENSITY])) || !threads_of(v[THREADS], &threads))
        return NOT_MINE;
    if (v[DTYPE]) {
        if (!numpy_seen(module) || !v[WEIGHTS] || v[DENSITY] == Py_True || !is_float64(v[DTYPE]) ||
            !samples_on_gpu(module, v[A]))
            return NOT_MINE;
        return histogram_on_gpu(module, v[A], v[WEIGHTS], v[BINS], v[RANGE], threads, true, result);
    }
    PyObject *owner = NULL, *weights_owner = NULL, *n = NULL;
    histo_view view, weights;
    edges e;
    const histo_fill_options reading = {.threads = threads};
    edges_start(&e);
    int mine = take_array(module, v[A], &owner, &view);
    if (mine == NOT_MINE && !owner && v[DENSITY] != Py_True && samples_on_gpu(module, v[A]))
        return histogram_on_gpu(module, v[A], v[WEIGHTS], v[BINS], v[RANGE], threads, false, result);
    if (mine == MINE) mine = take_weights(module, v[WEIGHTS], &view, &weights_owner, &weights);
    if (mine == MINE) mine = edges_find(module, &view, v[BINS], v[RANGE], LIKE_HISTOGRAM, &reading, &e);
    const bool density = v[DENSITY] == Py_True;
    if (mine == MINE) mine = count_line(module, &view, v[WEIGHTS] ? &weights : NULL, density, threads, &e, &n);
    if (mine == MINE) *result = PyTuple_Pack(2, n, e.array);
    Py_XDECREF(n);
    edges_release(&e);
    Py_XDECREF(weights_owner);
    Py_XDECREF(owner);
    return mine;
}

static int bin_edges_mine(PyObject *module, PyObject *const *v, PyObject **result)
{
    enum { A, BINS, RANGE, WEIGHTS, MASK, THREADS, DEVICE, MISSING };
    int threads;
    if (!v[A] || v[WEIGHTS] || v[MASK] || v[DEVICE] || v[MISSING] || !threads_of(v[THREADS], &threads)) return NOT_MINE;
    PyObject *owner = NULL;
    histo_view view;
    edges e;
    const histo_fill_options reading = {.threads = threads};
    edges_start(&e);
    int mine = take_array(module, v[A], &owner, &view);
    if (mine == MINE) mine = edges_find(module, &view, v[BINS], v[RANGE], LIKE_HISTOGRAM, &reading, &e);
    if (mine == MINE) *result = Py_NewRef(e.array);
    edges_release(&e);
    Py_XDECREF(owner);
    return mine;
}

/* The operands of a histogram of several axes. */
typedef struct dd_operands {
    int naxes, threads;
    histo_view views[HISTO_MAX_AXES], weights;
    PyObject *owners[HISTO_MAX_AXES], *weights_owner;
    edges edges[HISTO_MAX_AXES];
} dd_operands;

/* Without operands; not by clearing all of it, which would take longer than counting a few samples. */
static void joint_start(dd_operands *j, int naxes)
{
    j->naxes = naxes;
    j->weights_owner = NULL;
    for (int a = 0; a < HISTO_MAX_AXES; a++) {
        j->owners[a] = NULL;
        edges_start(&j->edges[a]);
    }
}

static void joint_release(dd_operands *j)
{
    for (int a = 0; a < HISTO_MAX_AXES; a++) {
        if (j->edges[a].array) edges_release(&j->edges[a]);
        Py_XDECREF(j->owners[a]);
    }
    Py_XDECREF(j->weights_owner);
}

/* Item i of a tuple of n items; NULL if it is none. */
static PyObject *item_of(PyObject *tuple, Py_ssize_t n, Py_ssize_t i)
{
    return tuple && PyTuple_Size(tuple) == n ? PyTuple_GetItem(tuple, i) : NULL;
}

static int take_column(PyObject *module, PyObject *array, dd_operands *j, int a)
{
    const int mine = take_array(module, array, &j->owners[a], &j->views[a]);
    if (mine != MINE) return mine;
    const histo_view *first = &j->views[0], *view = &j->views[a];
    return view->ndim == 1 && view->dtype == first->dtype && same_shape(view, first) ? MINE : NOT_MINE;
}

/* Take the items of a tuple of arrays. */
static int take_items(PyObject *module, PyObject *tuple, dd_operands *j)
{
    const Py_ssize_t n = PyTuple_Size(tuple);
    if (n < 1 || n > HISTO_MAX_AXES) return NOT_MINE;
    j->naxes = (int)n;
    int mine = MINE;
    for (int a = 0; a < j->naxes && mine == MINE; a++)
        mine = PyArray_CheckExact(PyTuple_GetItem(tuple, a)) ? take_column(module, PyTuple_GetItem(tuple, a), j, a)
                                                             : NOT_MINE;
    return mine;
}

/* Take the columns of an array of two dimensions, or the items of a tuple or list of arrays. */
static int take_columns(PyObject *module, PyObject *sample, dd_operands *j)
{
    if (!PyArray_CheckExact(sample)) {
        PyObject *tuple = tuple_of(sample);
        const int mine = tuple ? take_items(module, tuple, j) : NOT_MINE;
        Py_XDECREF(tuple);
        return mine;
    }
    histo_view all;
    const int mine = take_array(module, sample, &j->owners[0], &all);
    if (mine != MINE) return mine;
    if (all.ndim != 2 || all.shape[1] < 1 || all.shape[1] > HISTO_MAX_AXES) return NOT_MINE;
    j->naxes = (int)all.shape[1];
    for (int a = 0; a < j->naxes; a++)
        j->views[a] = (histo_view){.data = (const char *)all.data + a * all.strides[1],
                                   .dtype = all.dtype,
                                   .ndim = 1,
                                   .shape = {all.shape[0]},
                                   .strides = {all.strides[0]}};
    return MINE;
}

/* `bins` is one number for all axes, or a tuple; `range` is NULL or a tuple. */
static int find_edges(PyObject *module, PyObject *bins, PyObject *range, dd_operands *j)
{
    const bool same = !bins || PyLong_CheckExact(bins);
    const histo_fill_options reading = {.threads = j->threads};
    int mine = MINE;
    for (int a = 0; a < j->naxes && mine == MINE; a++) {
        PyObject *bins_here = same ? bins : item_of(bins, j->naxes, a);
        PyObject *range_here = range ? item_of(range, j->naxes, a) : NULL;
        if ((bins && !bins_here) || (range && !range_here)) return NOT_MINE;
        mine = edges_find(module, &j->views[a], bins_here, range_here == Py_None ? NULL : range_here, LIKE_HISTOGRAMDD,
                          &reading, &j->edges[a]);
    }
    return mine;
}

/* The counts or sums as doubles, as numpy.histogramdd has them. */
static PyObject *count_joint(PyObject *module, const dd_operands *j, bool weighted)
{
    histo_axis axes[HISTO_MAX_AXES];
    int64_t shape[HISTO_MAX_AXES], size = 1;
    for (int a = 0; a < j->naxes; a++) {
        axes[a] = j->edges[a].axis;
        shape[a] = axes[a].bins;
        if (size > HISTO_MAX_BINS / shape[a]) {
            PyErr_Format(PyExc_MemoryError, "a histogram has at most %lld bins, all axes multiplied",
                         (long long)HISTO_MAX_BINS);
            return NULL;
        }
        size *= shape[a];
    }
    const count_request c = {.naxes = j->naxes,
                             .axes = axes,
                             .views = j->views,
                             .weights = weighted ? &j->weights : NULL,
                             .threads = j->threads};
    void *data;
    PyObject *n = result_new(module, HISTO_F64, j->naxes, shape, &data);
    if (n && counting_run(&c, HISTO_F64, data, size) < 0) Py_CLEAR(n);
    return n;
}

/* numpy.histogramdd for columns that have been taken. */
static int count_columns(PyObject *module, PyObject *bins, PyObject *range, PyObject *weights, dd_operands *j,
                         PyObject **n)
{
    PyObject *each = !bins || PyLong_CheckExact(bins) ? Py_XNewRef(bins) : tuple_of(bins);
    PyObject *ranges = range ? tuple_of(range) : NULL;
    int mine = (bins && !each) || (range && !ranges) ? NOT_MINE : MINE;
    if (mine == MINE) mine = take_weights(module, weights, &j->views[0], &j->weights_owner, &j->weights);
    if (mine == MINE) mine = find_edges(module, each, ranges, j);
    Py_XDECREF(each);
    Py_XDECREF(ranges);
    if (mine != MINE) return mine;
    *n = count_joint(module, j, weights != NULL);
    return *n ? MINE : FAILED;
}

static int histogramdd_mine(PyObject *module, PyObject *const *v, PyObject **result)
{
    enum { SAMPLE, BINS, RANGE, DENSITY, WEIGHTS, REST, THREADS = REST + 2, MORE, END = 12 };
    dd_operands j;
    joint_start(&j, 0);
    if (!v[SAMPLE] || !none_given(v, DENSITY, WEIGHTS) || !none_given(v, REST, THREADS) || !none_given(v, MORE, END) ||
        !threads_of(v[THREADS], &j.threads) || !numpy_seen(module))
        return NOT_MINE;
    PyObject *n = NULL;
    int mine = take_columns(module, v[SAMPLE], &j);
    if (mine == MINE) mine = count_columns(module, v[BINS], v[RANGE], v[WEIGHTS], &j, &n);
    PyObject *list = mine == MINE ? PyList_New(j.naxes) : NULL;
    for (int a = 0; list && a < j.naxes; a++)
        if (PyList_SetItem(list, a, Py_NewRef(j.edges[a].array)) < 0) Py_CLEAR(list);
    if (list) *result = PyTuple_Pack(2, n, list);
    Py_XDECREF(list);
    Py_XDECREF(n);
    joint_release(&j);
    return mine;
}

static int histogram2d_mine(PyObject *module, PyObject *const *v, PyObject **result)
{
    enum { X, Y, BINS, RANGE, DENSITY, WEIGHTS, REST, THREADS = REST + 2, MORE, END = 13 };
    dd_operands j;
    joint_start(&j, 2);
    if (!v[X] || !v[Y] || !none_given(v, DENSITY, WEIGHTS) || !none_given(v, REST, THREADS) ||
        !none_given(v, MORE, END) || !threads_of(v[THREADS], &j.threads) || !numpy_seen(module) ||
        !PyArray_CheckExact(v[X]) || !PyArray_CheckExact(v[Y]))
        return NOT_MINE;
    PyObject *n = NULL, *bins = v[BINS], *both = NULL;
    int mine = take_column(module, v[X], &j, 0);
    if (mine == MINE) mine = take_column(module, v[Y], &j, 1);
    if (bins && PyArray_CheckExact(bins) && PyArray_NDIM((PyArrayObject *)bins) == 1 &&
        PyArray_DIM((PyArrayObject *)bins, 0) > 2)
        bins = both = PyTuple_Pack(2, bins, bins);
    if (mine == MINE) mine = count_columns(module, bins, v[RANGE], v[WEIGHTS], &j, &n);
    if (mine == MINE) *result = PyTuple_Pack(3, n, j.edges[0].array, j.edges[1].array);
    Py_XDECREF(both);
    Py_XDECREF(n);
    joint_release(&j);
    return mine;
}

/* numpy.bincount's arguments. */
typedef struct bincount_operands {
    histo_view x;
    const histo_view *weights; /* or NULL */
    int64_t minlength;
    int threads;
    void *stream; /* of those in the memory of a GPU */
} bincount_operands;

/* The length of the result for the first n numbers; not mine if there is a negative number, or no number at
 * all. */
static int length_of(const bincount_operands *b, int64_t n, int64_t *length)
{
    histo_view head = b->x;
    histo_extremes extremes;
    const histo_fill_options options = {.threads = b->threads, .stream = b->stream};
    head.shape[0] = n;
    if (extremes_find(&head, &options, &extremes) < 0) return FAILED;
    /* Read as signed: a huge unsigned number is as little mine as a negative one. */
    if (extremes.samples == 0 || extremes.min.i64 < 0 || extremes.max.i64 < 0 || extremes.max.i64 >= HISTO_MAX_BINS)
        return NOT_MINE;
    *length = extremes.max.i64 + 1 > b->minlength ? extremes.max.i64 + 1 : b->minlength;
    return MINE;
}

/* A length that suffices in all likelihood, so that the numbers are read once. *spare: it may be more than needed. Only
 * counts, and no weights, tell then what is. */
static int guess_length(const bincount_operands *b, int64_t *length, bool *spare)
{
    enum { LEAST = 1024, MOST = 4096, SHARE = 64, SPARE = 8 };
    const int64_t n = b->x.shape[0], share = n / SHARE;
    const int64_t looked_at = share < LEAST ? LEAST : share > MOST ? MOST : share;
    *spare = false;
    *length = b->minlength;
    if (n > 0 && n <= b->minlength) return MINE; /* soon counted again, if it is wrong */
    const int mine = length_of(b, n < looked_at ? n : looked_at, length);
    if (mine != MINE || n <= looked_at || *length == b->minlength) return mine;
    if (b->weights || *length > n) return length_of(b, n, length); /* a spare part would take longer to cut off */
    *spare = true;
    *length += *length / SPARE;
    if (*length > HISTO_MAX_BINS) *length = HISTO_MAX_BINS;
    return MINE;
}

static int count_numbers(PyObject *module, const bincount_operands *b, int64_t length, histo_tally *tally, PyObject **n)
{
    enum { MAPPED = 1 << 18 }; /* a result of this length is in pages of its own, which the system clears */
    const histo_axis axis = histo_axis_integer(0, length);
    const count_request c = {.naxes = 1,
                             .axes = &axis,
                             .views = &b->x,
                             .weights = b->weights,
                             .threads = b->threads,
                             .tally = tally,
                             .zeroed = length >= MAPPED};
    const histo_dtype dtype = b->weights ? HISTO_F64 : HISTO_I64;
    void *data;
    *n = c.zeroed ? result_zeros(module, dtype, 1, &length, &data) : result_new(module, dtype, 1, &length, &data);
    return *n && counting_run(&c, b->weights ? HISTO_F64 : HISTO_U64, data, length) == 0 ? MINE : FAILED;
}

/* The counts up to the last that is not 0, but at least minlength of them. */
static PyObject *without_spare(PyObject *module, PyObject *n, int64_t minlength)
{
    const int64_t *counts = PyArray_DATA((PyArrayObject *)n);
    int64_t length = PyArray_DIM((PyArrayObject *)n, 0);
    while (length > minlength && counts[length - 1] == 0)
        length--;
    void *data;
    PyObject *result = result_new(module, HISTO_I64, 1, &length, &data);
    if (result) memcpy(data, counts, (size_t)length * sizeof *counts);
    return result;
}

static int count_all_numbers(PyObject *module, const bincount_operands *b, PyObject **result)
{
    int64_t length;
    bool spare;
    histo_tally tally;
    PyObject *n = NULL;
    int mine = guess_length(b, &length, &spare);
    if (mine == MINE) mine = count_numbers(module, b, length, &tally, &n);
    if (mine == MINE && tally.under[0]) mine = NOT_MINE;
    if (mine == MINE && tally.over[0]) {
        Py_CLEAR(n);
        spare = false;
        mine = length_of(b, b->x.shape[0], &length);
        if (mine == MINE) mine = count_numbers(module, b, length, NULL, &n);
    }
    if (mine == MINE) *result = spare ? without_spare(module, n, b->minlength) : Py_NewRef(n);
    Py_XDECREF(n);
    return mine != MINE || *result ? mine : FAILED;
}

static bool are_numbers(const histo_view *x)
{
    return x->ndim == 1 && native(x->dtype) < HISTO_F16;
}

static int bincount_on_gpu(PyObject *module, PyObject *x, PyObject *weights, bincount_operands *b, PyObject **result)
{
    gpu_operands t;
    PyObject *n = NULL;
    int64_t length = 0;
    int mine = gpu_take(module, x, weights, b->threads, &t);
    if (mine == MINE && !are_numbers(&t.x.view)) mine = NOT_MINE;
    b->x = t.x.view;
    b->stream = t.x.stream;
    if (mine == MINE) mine = length_of(b, b->x.shape[0], &length);
    const histo_axis axis = histo_axis_integer(0, length);
    if (mine == MINE) mine = gpu_count(module, &t, &axis, HISTO_F64, &n);
    if (mine == MINE) *result = Py_NewRef(n);
    Py_XDECREF(n);
    gpu_release(&t);
    return mine;
}

static int bincount_mine(PyObject *module, PyObject *const *v, PyObject **result)
{
    enum { X, WEIGHTS, MINLENGTH, REST, THREADS = REST + 3, MORE, END = 10 };
    int threads;
    if (!v[X] || !none_given(v, REST, THREADS) || !none_given(v, MORE, END) || !threads_of(v[THREADS], &threads))
        return NOT_MINE;
    bincount_operands b = {.threads = threads};
    if (v[MINLENGTH]) {
        int overflow = 0;
        if (PyLong_CheckExact(v[MINLENGTH])) b.minlength = PyLong_AsLongLongAndOverflow(v[MINLENGTH], &overflow);
        if (!PyLong_CheckExact(v[MINLENGTH]) || overflow || b.minlength < 0 || b.minlength > HISTO_MAX_BINS)
            return NOT_MINE;
    }
    PyObject *owner = NULL, *weights_owner = NULL;
    histo_view weights;
    int mine = take_array(module, v[X], &owner, &b.x);
    if (mine == NOT_MINE && !owner && samples_on_gpu(module, v[X]))
        return bincount_on_gpu(module, v[X], v[WEIGHTS], &b, result);
    if (mine == MINE && !are_numbers(&b.x)) mine = NOT_MINE;
    if (mine == MINE) mine = take_weights(module, v[WEIGHTS], &b.x, &weights_owner, &weights);
    if (v[WEIGHTS]) b.weights = &weights;
    if (mine == MINE) mine = count_all_numbers(module, &b, result);
    Py_XDECREF(weights_owner);
    Py_XDECREF(owner);
    return mine;
}

typedef int mine_function(PyObject *module, PyObject *const *values, PyObject **result);

static PyObject *call(PyObject *module, int which, mine_function *mine, PyObject *const *args, Py_ssize_t n,
                      PyObject *kwnames)
{
    PyObject *values[MAX_ARGUMENTS], *result = NULL;
    if (arguments_of(state_of_module(module), which, args, n, kwnames, values)) {
        const int done = mine(module, values, &result);
        if (done != NOT_MINE) return done == MINE ? result : NULL;
    }
    const bool given = n > 0 || (kwnames && PyTuple_Size(kwnames) > 0);
    return call_python(module, which, given && samples_on_gpu(module, args[0]), args, n, kwnames);
}

static PyObject *histogram(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *kwnames)
{
    return call(module, OF_HISTOGRAM, histogram_mine, args, n, kwnames);
}

static PyObject *histogram_bin_edges(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *kwnames)
{
    return call(module, OF_BIN_EDGES, bin_edges_mine, args, n, kwnames);
}

static PyObject *histogramdd(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *kwnames)
{
    return call(module, OF_HISTOGRAMDD, histogramdd_mine, args, n, kwnames);
}

static PyObject *histogram2d(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *kwnames)
{
    return call(module, OF_HISTOGRAM2D, histogram2d_mine, args, n, kwnames);
}

static PyObject *bincount(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *kwnames)
{
    return call(module, OF_BINCOUNT, bincount_mine, args, n, kwnames);
}

static PyObject *version(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(histo_version());
}

static PyObject *threads(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromLong(histo_threads());
}

enum { FAST = METH_FASTCALL | METH_KEYWORDS };

static PyMethodDef functions[] = {
    {"histogram", (PyCFunction)(void (*)(void))histogram, FAST, histogram_doc},
    {"histogram_bin_edges", (PyCFunction)(void (*)(void))histogram_bin_edges, FAST, histogram_bin_edges_doc},
    {"histogramdd", (PyCFunction)(void (*)(void))histogramdd, FAST, histogramdd_doc},
    {"histogram2d", (PyCFunction)(void (*)(void))histogram2d, FAST, histogram2d_doc},
    {"bincount", (PyCFunction)(void (*)(void))bincount, FAST, bincount_doc},
    {"version", version, METH_NOARGS, "version()\n--\n\nThe version of libhisto."},
    {"threads", threads, METH_NOARGS, "threads()\n--\n\nThe number of threads of calls that do not give one."},
    {0},
};

int functions_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
