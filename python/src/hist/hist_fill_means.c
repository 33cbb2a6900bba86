/* Hist.fill of means: samples and their values, plain arrays of one length. */
#include "functions/fill.h"
#include "hist/hist.h"
#include "samples/numpy_api.h"
#include "samples/samples.h"

/* The samples of all axes, then values, weights and mask; those that are not given are zero. */
enum { MAX_ARRAYS = HISTO_MAX_AXES + 3 };

/* PIECE, EXACT_PIECE: signals are handled after so many samples. OF_A_THREAD: as histo.statistics.groups has it. */
enum { PIECE = 1 << 24, EXACT_PIECE = 1 << 20, OF_A_THREAD = 1 << 18 };

typedef struct means_operands {
    hist *h;
    int taken; /* arrays of sources */
    python_samples sources[MAX_ARRAYS];
    histo_view axes[HISTO_MAX_AXES];
    means_samples all;
} means_operands;

static void release(means_operands *o)
{
    for (int i = 0; i < o->taken; i++)
        samples_release(&o->sources[i]);
}

/* Take an array of NumPy with one dimension; false, perhaps with an exception, if it is something else. */
static bool take(means_operands *o, PyObject *object, histo_view *view)
{
    python_samples *const s = &o->sources[o->taken];
    if (!numpy_seen(o->h->base.module) || Py_TYPE(object) != &PyArray_Type) return false;
    *s = (python_samples){0};
    if (samples_of_array(object, s) != 1) return false;
    o->taken++;
    *view = s->view;
    return view->ndim == 1 && view->dtype == native(view->dtype);
}

static bool take_axes(means_operands *o, PyObject *const *arrays, Py_ssize_t n)
{
    bool taken = n > 0 && n == o->h->naxes;
    for (Py_ssize_t a = 0; a < n && taken; a++)
        taken = take(o, arrays[a], &o->axes[a]);
    return taken;
}

static bool take_doubles(means_operands *o, PyObject *object, histo_view *view)
{
    return take(o, object, view) && view->dtype == HISTO_F64;
}

static bool take_mask(means_operands *o, PyObject *object)
{
    return take(o, object, &o->all.mask) && o->all.mask.dtype == HISTO_U8;
}

/* Whether all have one length, which they are then known to have. */
static bool fit(means_operands *o)
{
    const int64_t n = o->all.n = o->axes[0].shape[0];
    bool same = true;
    for (int i = 0; i < o->taken; i++)
        same = same && o->sources[i].view.shape[0] == n;
    o->all.views = o->axes;
    return same;
}

/* A piece of the samples; -1 with an exception. */
static int fill_piece(const means_operands *o, int64_t begin, int64_t n, bool exact)
{
    hist *const h = o->h;
    histo_view views[HISTO_MAX_AXES];
    const means_samples part = means_part(&o->all, h->naxes, begin, n, views);
    if (locked_take(&h->base) < 0) return -1;
    histo_status status;
    if (releases_gil(part.n)) {
        Py_BEGIN_ALLOW_THREADS status = means_fill(&h->means, h->hist, &part, exact);
        Py_END_ALLOW_THREADS
    } else {
        status = means_fill(&h->means, h->hist, &part, exact);
    }
    locked_drop(&h->base);
    if (status == HISTO_OK) return PyErr_CheckSignals();
    raise_status(status);
    return -1;
}

static PyObject *fill_all(means_operands *o, bool exact)
{
    const int64_t all = o->all.n, piece = exact ? EXACT_PIECE : PIECE;
    int done = 0;
    for (int64_t begin = 0; begin < all && done == 0; begin += piece)
        done = fill_piece(o, begin, all - begin < piece ? all - begin : piece, exact);
    return done == 0 ? Py_NewRef((PyObject *)o->h) : NULL;
}

/* Whether an argument by name is one of those that are known here, and plain. */
static bool take_named(means_operands *o, PyObject *name, PyObject *value)
{
    if (PyUnicode_CompareWithASCIIString(name, "sample") == 0) return take_doubles(o, value, &o->all.values);
    if (PyUnicode_CompareWithASCIIString(name, "weight") == 0)
        return value == Py_None || take_doubles(o, value, &o->all.weights);
    if (PyUnicode_CompareWithASCIIString(name, "mask") == 0) return value == Py_None || take_mask(o, value);
    if (PyUnicode_CompareWithASCIIString(name, "where") == 0) return value == Py_None;
    if (PyUnicode_CompareWithASCIIString(name, "threads") != 0 || value == Py_None) return value == Py_None;
    const long threads = PyLong_CheckExact(value) ? PyLong_AsLong(value) : 0;
    o->all.threads = (int)threads;
    return threads > 0 && threads <= 1024;
}

PyObject *hist_fill_means(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    means_operands o;
    o.h = (hist *)self;
    o.taken = 0;
    o.all = (means_samples){0};
    bool plain = names && take_axes(&o, args, nargs);
    for (Py_ssize_t i = 0; plain && i < PyTuple_Size(names); i++)
        plain = take_named(&o, PyTuple_GetItem(names, i), args[nargs + i]);
    plain = plain && o.all.values.ndim == 1 && fit(&o);
    /* Threads are Python's. */
    if (plain && o.all.n >= 2 * OF_A_THREAD) plain = (o.all.threads ? o.all.threads : histo_threads()) == 1;
    PyObject *filled = plain ? fill_all(&o, o.h->taking == TAKING_EXACT_MEANS) : NULL;
    release(&o);
    return filled;
}

/* _fill_values(samples of each axis, values, weights or None, mask or None, threads, exact): arrays of NumPy of one
 * length in native byte order, of doubles, and of bools for the mask. */
PyObject *hist_fill_values(PyObject *self, PyObject *args)
{
    PyObject *arrays, *values, *weights, *mask;
    means_operands o;
    int exact;
    o.h = (hist *)self;
    o.taken = 0;
    o.all = (means_samples){0};
    if (!PyArg_ParseTuple(args, "O!OOOip", &PyTuple_Type, &arrays, &values, &weights, &mask, &o.all.threads, &exact))
        return NULL;
    PyObject *each[HISTO_MAX_AXES];
    const Py_ssize_t naxes = PyTuple_Size(arrays);
    for (Py_ssize_t a = 0; a < naxes && a < HISTO_MAX_AXES; a++)
        each[a] = PyTuple_GetItem(arrays, a);
    const bool plain = take_axes(&o, each, naxes) && take_doubles(&o, values, &o.all.values) &&
                       (weights == Py_None || take_doubles(&o, weights, &o.all.weights)) &&
                       (mask == Py_None || take_mask(&o, mask)) && fit(&o);
    if (!plain && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "these are not arrays of one length");
    PyObject *filled = plain ? fill_all(&o, exact) : NULL;
    release(&o);
    return filled;
}

/* _absorb(other): add what another histogram with these axes, which no other thread uses, has. It keeps it. */
PyObject *hist_absorb(PyObject *self, PyObject *other)
{
    hist *const h = (hist *)self, *const from = (hist *)other;
    if (PyObject_IsInstance(other, (PyObject *)state_of_module(h->base.module)->hist_type) != 1)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "this is not a histogram");
    if (!hist_lock_form(self)) return NULL;
    histo_tally tally;
    histo_status status = histo_hist_tally(from->hist, &tally);
    if (status == HISTO_OK && tally.samples) status = histo_hist_merge(h->hist, from->hist);
    if (status == HISTO_OK) status = means_merge(&h->means, h->hist, from->means);
    hist_unlock(h);
    if (status == HISTO_OK) return Py_NewRef(Py_None);
    return raise_status(status);
}
