/* Hist.fill: samples, weights, mask and range filter broadcast to one shape, and counted. */
#include <math.h>

#include "functions/fill.h"
#include "hist/hist.h"
#include "samples/numpy_api.h"
#include "samples/samples.h"

enum { MAX_OPERANDS = HISTO_MAX_AXES + 3 };

typedef struct fill_operands {
    hist *h;
    bool from_python; /* Histogram._fill has seen the arguments: they do not go there again */
    int taken;        /* the samples of all axes, then weights, mask and range filter as given */
    python_samples sources[MAX_OPERANDS];
    union {
        double real;
        int64_t whole;
    } numbers[MAX_OPERANDS]; /* operands that are Python's */
    histo_view views[MAX_OPERANDS];
    histo_fill_options options;
    fill_mask mask; /* with the nulls of all operands */
    void *mask_bytes;
} fill_operands;

static void release(fill_operands *o)
{
    for (int i = 0; i < o->taken; i++)
        samples_release(&o->sources[i]);
    PyMem_Free(o->mask_bytes);
}

/* A number of Python; false if it is something else, or an integer beyond 64 bits. */
static bool take_number(fill_operands *o, PyObject *object)
{
    histo_dtype dtype = HISTO_F64;
    if (PyFloat_CheckExact(object)) {
        o->numbers[o->taken].real = PyFloat_AsDouble(object);
    } else if (PyLong_CheckExact(object)) {
        int overflow;
        o->numbers[o->taken].whole = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow) return false;
        dtype = HISTO_I64;
    } else {
        return false;
    }
    python_samples *const s = &o->sources[o->taken];
    s->release = NULL;
    s->has_nulls = s->on_gpu = s->unordered = false;
    s->chunks = 0;
    o->views[o->taken] = histo_view_nd(&o->numbers[o->taken], dtype, 0, NULL);
    return true;
}

static const histo_view *take(fill_operands *o, PyObject *object)
{
    python_samples *s = &o->sources[o->taken];
    if (take_number(o, object)) return &o->views[o->taken++];
    if (samples_take_in_chunks(o->h->base.module, object, s) != 0) return NULL;
    o->views[o->taken] = s->view;
    return &o->views[o->taken++];
}

/* ---- Streams ---- */

static void list(const fill_operands *o, const python_samples **all)
{
    for (int i = 0; i < o->taken; i++)
        all[i] = &o->sources[i];
}

/* Samples in the memory of a GPU are counted on their library's stream. */
static int meet(fill_operands *o)
{
    const python_samples *all[MAX_OPERANDS], *on_gpu;
    list(o, all);
    if (samples_meet(o->taken, all, &on_gpu) < 0) return -1;
    if (!on_gpu) return 0;
    o->options.stream = on_gpu->stream;
    o->h->home = on_gpu->home;
    o->h->exchange = on_gpu->exchange;
    o->h->on_gpu = true;
    return 0;
}

static int settle(const fill_operands *o)
{
    const python_samples *all[MAX_OPERANDS];
    list(o, all);
    return samples_settle(o->taken, all);
}

/* ---- Shapes ---- */

/* Grow shape[*ndim] to hold the view as NumPy broadcasts; -1 if it cannot. */
static int widen(int64_t *shape, int *ndim, const histo_view *v)
{
    const int more = v->ndim - *ndim;
    if (more > 0) {
        for (int d = v->ndim - 1; d >= more; d--)
            shape[d] = shape[d - more];
        for (int d = 0; d < more; d++)
            shape[d] = 1;
        *ndim = v->ndim;
    }
    for (int d = 0; d < v->ndim; d++) {
        int64_t *n = &shape[*ndim - v->ndim + d];
        if (*n == 1)
            *n = v->shape[d];
        else if (v->shape[d] != 1 && v->shape[d] != *n)
            return -1;
    }
    return 0;
}

static void stretch(histo_view *v, const int64_t *shape, int ndim)
{
    const int more = ndim - v->ndim;
    for (int d = ndim - 1; d >= 0; d--) {
        const bool has = d >= more && v->shape[d - more] == shape[d];
        v->strides[d] = has ? v->strides[d - more] : 0;
        v->shape[d] = shape[d];
    }
    v->ndim = ndim;
}

static int broadcast(fill_operands *o)
{
    int64_t shape[HISTO_MAX_DIMS] = {0};
    int ndim = 0;
    for (int i = 0; i < o->taken; i++) {
        if (widen(shape, &ndim, &o->views[i]) == 0) continue;
        PyErr_SetString(PyExc_ValueError, "the shapes of samples, weights, mask and where do not broadcast together");
        return -1;
    }
    bool fits = ndim >= o->h->nbatch;
    for (int d = 0; fits && d < o->h->nbatch; d++)
        fits = shape[d] == o->h->batch[d];
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "the first dimensions of the samples are not the histogram's batch");
        return -1;
    }
    int64_t size = 1;
    for (int d = 0; d < ndim; d++) {
        if (shape[d] && size > INT64_MAX / shape[d]) {
            PyErr_SetString(PyExc_ValueError, "these are more than 2^63 - 1 samples");
            return -1;
        }
        size *= shape[d];
    }
    for (int i = 0; i < o->taken; i++) {
        stretch(&o->views[i], shape, ndim);
        o->views[i].batch_ndim = o->h->nbatch;
    }
    return 0;
}

/* Samples, weights and filters that are null are masked; a mask that is null masks. */
static int mask_nulls(fill_operands *o)
{
    fill_mask masks[MAX_OPERANDS + 1];
    int n = 0;
    for (int i = 0; i < o->taken; i++) {
        if (!o->sources[i].has_nulls) continue;
        histo_view present = o->sources[i].present;
        stretch(&present, o->views[i].shape, o->views[i].ndim);
        present.batch_ndim = o->views[i].batch_ndim;
        masks[n++] = (fill_mask){present, o->sources[i].present_offset};
    }
    if (!n) return 0;
    if (o->options.mask) masks[n++] = (fill_mask){*o->options.mask, 0};
    if (masks_join(n, masks, &o->mask, &o->mask_bytes) < 0) return -1;
    o->options.mask = &o->mask.view;
    o->options.mask_offset = o->mask.offset;
    return 0;
}

/* ---- Chunks ---- */

/* The operand whose nulls are the mask of all chunks; -1: none has nulls, -2: several do, or there is another mask. */
static int find_nulls(const fill_operands *o, int64_t chunks)
{
    int found = -1;
    for (int i = 0; i < o->taken; i++) {
        bool any = false;
        for (int64_t c = 0; c < chunks && o->sources[i].chunks; c++)
            any = any || o->sources[i].chunk[c].has_nulls;
        if (any && (found >= 0 || o->options.mask)) return -2;
        if (any) found = i;
    }
    return found;
}

/* The number of chunks that all operands but numbers have, of the same sizes; 0 if one is in one place, or in others.
 */
static int64_t same_chunks(const fill_operands *o)
{
    const python_samples *first = NULL;
    bool same = o->h->nbatch == 0;
    for (int i = 0; i < o->taken && same; i++) {
        const python_samples *s = &o->sources[i];
        if (!s->release) continue;
        if (!first) first = s;
        same = s->chunks && s->chunks == first->chunks;
        for (int64_t c = 0; same && c < s->chunks; c++)
            same = s->chunk[c].view.shape[0] == first->chunk[c].view.shape[0];
    }
    return same && first ? first->chunks : 0;
}

/* Describe chunk c; views[taken + 1] are its own. */
static histo_fill_chunk chunk_of(const fill_operands *o, int64_t c, int64_t n, int of_nulls, histo_view *views)
{
    static const unsigned char present = 1;
    const histo_fill_options *all = &o->options;
    for (int i = 0; i < o->taken; i++) {
        views[i] = o->sources[i].chunks ? o->sources[i].chunk[c].view : o->views[i];
        if (!o->sources[i].chunks) stretch(&views[i], &n, 1);
    }
    histo_fill_chunk chunk = {.views = views,
                              .weights = all->weights ? &views[all->weights - o->views] : NULL,
                              .mask = all->mask ? &views[all->mask - o->views] : NULL,
                              .where = all->where ? &views[all->where - o->views] : NULL};
    if (of_nulls < 0) return chunk;
    const samples_chunk *one = &o->sources[of_nulls].chunk[c];
    histo_view *mask = &views[o->taken];
    *mask = one->has_nulls ? one->present : histo_view_1d(&present, HISTO_BIT, n);
    if (!one->has_nulls) mask->strides[0] = 0;
    chunk.mask = mask;
    chunk.mask_offset = one->has_nulls ? one->present_offset : 0;
    return chunk;
}

/* Count operands that have the same chunks: 1, 0 if they do not, -1 with an exception. */
static int count_chunks(fill_operands *o)
{
    const int64_t chunks = same_chunks(o);
    const int of_nulls = chunks ? find_nulls(o, chunks) : -1;
    if (!chunks || of_nulls < -1) return 0;
    const size_t views = (size_t)o->taken + 1;
    histo_fill_chunk *all = PyMem_Calloc((size_t)chunks, sizeof *all);
    histo_view *of_all = PyMem_Calloc((size_t)chunks * views, sizeof *of_all);
    histo_fill_options options = o->options;
    int done = -1;
    if (!all || !of_all) PyErr_NoMemory();
    for (int64_t c = 0; c < chunks && all && of_all; c++) {
        int64_t n = 0;
        for (int i = 0; i < o->taken; i++)
            if (o->sources[i].chunks) n = o->sources[i].chunk[c].view.shape[0];
        all[c] = chunk_of(o, c, n, of_nulls, of_all + (size_t)c * views);
    }
    options.weights = options.mask = options.where = NULL;
    if (all && of_all) done = fill_chunks(&o->h->base, &o->h->hist, o->h->naxes, chunks, all, &options);
    PyMem_Free(all);
    PyMem_Free(of_all);
    return done == 0 ? 1 : -1;
}

/* Copy chunks to one place, where operands have others. */
static int join_chunks(fill_operands *o)
{
    for (int i = 0; i < o->taken; i++) {
        if (!o->sources[i].chunks) continue;
        if (samples_join(&o->sources[i]) < 0) return -1;
        o->views[i] = o->sources[i].view;
    }
    return 0;
}

/* ---- Arguments ---- */

enum { FOR_PYTHON = 1 }; /* also: an unweighted histogram gets weights, an array is lazy, a limit is not a double */

/* Whether an argument is lazy, as Dask's are. */
static bool is_for_python(const fill_operands *o, PyObject *object)
{
    if (o->from_python || PyFloat_CheckExact(object) || PyLong_CheckExact(object)) return false;
    if (numpy_seen(o->h->base.module) && PyArray_Check(object)) return false;
    return PyObject_HasAttrString((PyObject *)Py_TYPE(object), "__dask_graph__");
}

/* A limit of a range that is a double; false for what Python compares: dates, and integers that doubles do not hold. */
static bool take_limit(PyObject *object, double *limit)
{
    if (!PyFloat_CheckExact(object) && !PyLong_CheckExact(object)) return false;
    *limit = PyFloat_AsDouble(object);
    if (!PyErr_Occurred()) return PyFloat_CheckExact(object) || fabs(*limit) < 0x1p53;
    PyErr_Clear();
    return false;
}

static int take_where(fill_operands *o, PyObject *tuple)
{
    PyObject *array, *lo, *hi;
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != 3) {
        PyErr_SetString(PyExc_TypeError, "where is a tuple (array, lo, hi)");
        return -1;
    }
    if (!PyArg_ParseTuple(tuple, "OOO", &array, &lo, &hi)) return -1;
    if (is_for_python(o, array) || !take_limit(lo, &o->options.where_lo) || !take_limit(hi, &o->options.where_hi))
        return FOR_PYTHON;
    return (o->options.where = take(o, array)) ? 0 : -1;
}

/* -1 with an exception, FOR_PYTHON if the argument is none of those that are known here. */
static int take_named(fill_operands *o, PyObject *name, PyObject *value)
{
    const bool none = value == Py_None;
    if (is_for_python(o, value)) return FOR_PYTHON;
    if (PyUnicode_CompareWithASCIIString(name, "weight") == 0)
        return !none && !o->h->weighted && !o->from_python     ? FOR_PYTHON
               : none || (o->options.weights = take(o, value)) ? 0
                                                               : -1;
    if (PyUnicode_CompareWithASCIIString(name, "mask") == 0) return none || (o->options.mask = take(o, value)) ? 0 : -1;
    if (PyUnicode_CompareWithASCIIString(name, "threads") == 0) {
        if (none) return 0;
        const long threads = PyLong_AsLong(value);
        if (threads == -1 && PyErr_Occurred()) return -1;
        if (threads < 1 || threads > 1024) {
            PyErr_SetString(PyExc_ValueError, "threads is a number from 1 to 1024");
            return -1;
        }
        o->options.threads = (int)threads;
        return 0;
    }
    if (PyUnicode_CompareWithASCIIString(name, "where") != 0) return FOR_PYTHON;
    if (none) return 0;
    return take_where(o, value);
}

static int take_all(fill_operands *o, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    const int naxes = o->h->naxes;
    const Py_ssize_t nnames = names ? PyTuple_Size(names) : 0;
    if (nargs != naxes) {
        if (nnames) return FOR_PYTHON;
        PyErr_Format(PyExc_TypeError, "fill takes the samples of %d %s, not of %zd", naxes,
                     naxes == 1 ? "axis" : "axes", nargs);
        return -1;
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        if (is_for_python(o, args[i])) return FOR_PYTHON;
        if (!take(o, args[i])) return -1;
    }
    for (Py_ssize_t i = 0; i < nnames; i++) {
        const int taken = take_named(o, PyTuple_GetItem(names, i), args[nargs + i]);
        if (taken != 0) return taken;
    }
    return 0;
}

static PyObject *by_python(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    PyObject *method = PyObject_GetAttrString(self, "_fill"), *result = NULL;
    PyObject *positional = PyTuple_New(nargs), *named = PyDict_New();
    bool ok = method && positional && named;
    for (Py_ssize_t i = 0; ok && i < nargs; i++)
        ok = PyTuple_SetItem(positional, i, Py_NewRef(args[i])) == 0;
    for (Py_ssize_t i = 0; ok && names && i < PyTuple_Size(names); i++)
        ok = PyDict_SetItem(named, PyTuple_GetItem(names, i), args[nargs + i]) == 0;
    if (ok) result = PyObject_Call(method, positional, named);
    Py_XDECREF(method);
    Py_XDECREF(positional);
    Py_XDECREF(named);
    return result;
}

static PyObject *fill_numbers(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names,
                              bool from_python)
{
    fill_operands o;
    o.h = (hist *)self;
    o.from_python = from_python;
    o.taken = 0;
    o.options = (histo_fill_options){0};
    o.mask_bytes = NULL;
    if (!o.h->naxes) return PyErr_Format(PyExc_ValueError, "this histogram was never made: __init__ did not run");
    const int taken = take_all(&o, args, nargs, names);
    const int counted = taken == 0 ? count_chunks(&o) : -1;
    const bool filled =
        counted > 0 ||
        (counted == 0 && join_chunks(&o) == 0 && meet(&o) == 0 && broadcast(&o) == 0 && mask_nulls(&o) == 0 &&
         fill(&o.h->base, &o.h->hist, o.h->naxes, o.views, &o.options, NULL) == 0 && settle(&o) == 0);
    release(&o);
    if (taken == FOR_PYTHON) return by_python(self, args, nargs, names);
    return filled ? Py_NewRef(self) : NULL;
}

PyObject *hist_fill_numbers(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    return fill_numbers(self, args, nargs, names, true);
}

PyObject *hist_fill(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    const int taking = ((hist *)self)->taking;
    if (taking == TAKING_NUMBERS) return fill_numbers(self, args, nargs, names, false);
    PyObject *filled = taking == TAKING_BY_PYTHON ? NULL : hist_fill_means(self, args, nargs, names);
    return filled || PyErr_Occurred() ? filled : by_python(self, args, nargs, names);
}
