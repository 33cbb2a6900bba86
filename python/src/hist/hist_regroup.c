/* Histograms on other axes, with other weights, and some slots with other values. */

#include <stdlib.h>

#include "functions/fill.h"
#include "hist/hist.h"
#include "state/unlocked.h"

/* A buffer of `size` values of 8 bytes, or no buffer for None. */
static int take_values(PyObject *object, int64_t size, Py_buffer *buffer)
{
    if (object == Py_None) return 0;
    if (PyObject_GetBuffer(object, buffer, PyBUF_SIMPLE) != 0) return -1;
    if (buffer->len == size * 8) return 0;
    PyErr_SetString(PyExc_ValueError, "an array to write has another number of values than the histogram");
    return -1;
}

/* Axes given as tuples, whose edges are in buffers to be released. */
typedef struct taken_axes {
    int n;
    histo_axis axes[HISTO_MAX_AXES];
    Py_buffer edges[HISTO_MAX_AXES];
} taken_axes;

static int take_axes(PyObject *tuple, taken_axes *to)
{
    *to = (taken_axes){0};
    const Py_ssize_t n = PyTuple_Size(tuple);
    if (n < 0) return -1;
    if (n > HISTO_MAX_AXES) {
        PyErr_Format(PyExc_ValueError, "a histogram has at most %d axes", HISTO_MAX_AXES);
        return -1;
    }
    to->n = (int)n;
    for (int a = 0; a < n; a++)
        if (axis_take(PyTuple_GetItem(tuple, a), &to->axes[a], &to->edges[a]) != 0) return -1;
    return 0;
}

static void release_axes(taken_axes *axes)
{
    for (int a = 0; a < axes->n; a++)
        PyBuffer_Release(&axes->edges[a]);
}

/* ---- Other axes ---- */

typedef struct maps {
    int n;
    Py_buffer buffers[HISTO_MAX_AXES];
} maps;

/* A number and None or a buffer of 32-bit slots for each axis of the histogram. */
static int take_maps(const hist *h, PyObject *targets, PyObject *given, histo_regrouping *by, maps *to)
{
    bool fits = PyTuple_Size(targets) == h->naxes && PyTuple_Size(given) == h->naxes;
    for (int a = 0; fits && a < h->naxes; a++) {
        PyObject *map = PyTuple_GetItem(given, a);
        by->targets[a] = (int)PyLong_AsLong(PyTuple_GetItem(targets, a));
        if (map == Py_None) continue;
        if (PyObject_GetBuffer(map, &to->buffers[a], PyBUF_SIMPLE) != 0) return -1;
        to->n = a + 1;
        by->maps[a] = to->buffers[a].buf;
        fits = to->buffers[a].len == (histo_hist_axis(h->hist, a).bins + 3) * (int64_t)sizeof(uint32_t);
    }
    if (!fits && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "these are not maps of the histogram's axes");
    return PyErr_Occurred() ? -1 : 0;
}

/* _regroup(axes, targets, maps, entry): see histo_regrouping. */
PyObject *hist_regroup(PyObject *self, PyObject *args)
{
    PyObject *tuples, *targets, *given;
    long long entry;
    if (!PyArg_ParseTuple(args, "O!O!O!L", &PyTuple_Type, &tuples, &PyTuple_Type, &targets, &PyTuple_Type, &given,
                          &entry))
        return NULL;
    hist *h = hist_lock(self);
    if (!h) return NULL;
    taken_axes axes;
    maps m = {0};
    histo_hist *made = NULL;
    histo_status status = HISTO_OK;
    int taken = take_axes(tuples, &axes);
    histo_regrouping by = {.naxes = axes.n, .axes = axes.axes, .entry = entry};
    if (taken == 0) taken = take_maps(h, targets, given, &by, &m);
    if (taken == 0) UNLOCKED_IF(hist_takes_long(h), status, histo_hist_regroup(h->hist, &by, &made));
    for (int a = 0; a < m.n; a++)
        PyBuffer_Release(&m.buffers[a]);
    release_axes(&axes);
    hist_unlock(h);
    if (taken != 0) return NULL;
    if (status != HISTO_OK) return raise_status(status);
    hist form = *h;
    if (entry >= 0) form.nbatch = 0;
    return hist_like(&form, Py_TYPE(self), made);
}

/* What was counted gets a weight of 1. */
static histo_status weigh(const histo_hist *from, histo_weighting weighting, histo_hist **to)
{
    histo_axis axes[HISTO_MAX_AXES];
    const int naxes = histo_hist_naxes(from);
    const int64_t size = histo_hist_size(from, HISTO_FLOW), batch = histo_hist_batch(from);
    const histo_hist_options options = {.batch = batch, .weighting = weighting};
    for (int a = 0; a < naxes; a++)
        axes[a] = histo_hist_axis(from, a);
    uint64_t *counts = calloc((size_t)size, sizeof *counts), *masked = calloc((size_t)batch, sizeof *masked);
    histo_status status = counts && masked ? histo_hist_create(to, naxes, axes, &options) : HISTO_NO_MEMORY;
    if (status == HISTO_OK) status = histo_hist_read_counts(from, HISTO_FLOW, counts, size, NULL);
    if (status == HISTO_OK) status = histo_hist_read_masked(from, masked, batch);
    if (status == HISTO_OK) status = histo_hist_write(*to, HISTO_FLOW, counts, NULL, NULL, size, masked);
    free(counts);
    free(masked);
    return status;
}

/* *made = what is to replace it, which the caller destroys after a failure, too; NULL: nothing. Without the GIL. */
static histo_status regrow(const histo_hist *from, bool wider, const taken_axes *axes, histo_weighting weighting,
                           histo_hist **made)
{
    histo_regrouping by = {.naxes = axes->n, .axes = axes->axes, .entry = -1};
    for (int a = 0; a < axes->n; a++)
        by.targets[a] = a;
    histo_status status = wider ? histo_hist_regroup(from, &by, made) : HISTO_OK;
    if (status != HISTO_OK || weighting == histo_hist_weighting(from)) return status;
    histo_hist *const wide = *made;
    *made = NULL;
    status = weigh(wide ? wide : from, weighting, made);
    histo_hist_destroy(wide);
    return status;
}

/* _regrow(axes, weighting): let these axes, which are as they were or have more bins, and this weighting replace the
 * histogram's. */
PyObject *hist_regrow(PyObject *self, PyObject *args)
{
    PyObject *tuple;
    int weighting;
    if (!PyArg_ParseTuple(args, "O!i", &PyTuple_Type, &tuple, &weighting)) return NULL;
    taken_axes axes;
    hist *h = hist_lock(self);
    if (!h) return NULL;
    const int taken = take_axes(tuple, &axes);
    bool wider = false, fits = axes.n == h->naxes;
    for (int a = 0; taken == 0 && fits && a < h->naxes; a++)
        wider = wider || axes.axes[a].bins != histo_hist_axis(h->hist, a).bins;
    histo_hist *made = NULL, *old = NULL;
    histo_status status = HISTO_OK;
    if (taken == 0 && fits)
        UNLOCKED_IF(hist_takes_long(h), status, regrow(h->hist, wider, &axes, (histo_weighting)weighting, &made));
    if (made && status == HISTO_OK) {
        old = h->hist;
        hist_give(h, made);
        made = NULL;
    }
    hist_unlock(h);
    histo_hist_destroy(old);
    histo_hist_destroy(made);
    release_axes(&axes);
    if (taken != 0) return NULL;
    if (!fits) return PyErr_Format(PyExc_ValueError, "these are not as many axes");
    if (status == HISTO_NO_MEMORY) return PyErr_NoMemory();
    return none_if_ok(status);
}

/* ---- Other values ---- */

/* Set the counts, sums of weights and of their squares of all slots, and the masked samples: contiguous arrays or None.
 */
PyObject *hist_write(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 4) return PyErr_Format(PyExc_TypeError, "_write takes 4 arguments");
    hist *h = hist_lock(self);
    if (!h) return NULL;
    const int64_t size = histo_hist_size(h->hist, HISTO_FLOW);
    Py_buffer values[4] = {{0}};
    int taken = 0;
    for (int i = 0; i < 4 && taken == 0; i++)
        taken = take_values(args[i], i < 3 ? size : histo_hist_batch(h->hist), &values[i]);
    histo_status status = HISTO_OK;
    if (taken == 0)
        UNLOCKED_IF(
            hist_takes_long(h), status,
            histo_hist_write(h->hist, HISTO_FLOW, values[0].buf, values[1].buf, values[2].buf, size, values[3].buf));
    hist_unlock(h);
    for (int i = 0; i < 4; i++)
        PyBuffer_Release(&values[i]);
    if (taken != 0) return NULL;
    return none_if_ok(status);
}

/* _put(index, counts, sums of weights or None, of their squares or None): set the slots of the index alone. */
PyObject *hist_put(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 4) return PyErr_Format(PyExc_TypeError, "_put takes 4 arguments");
    Py_buffer values[4] = {{0}};
    int taken = PyObject_GetBuffer(args[0], &values[0], PyBUF_SIMPLE);
    const int64_t n = taken == 0 ? values[0].len / 8 : 0;
    for (int i = 1; i < 4 && taken == 0; i++)
        taken = take_values(args[i], n, &values[i]);
    hist *h = taken == 0 ? hist_lock(self) : NULL;
    histo_status status = HISTO_OK;
    if (h) {
        UNLOCKED_IF(releases_gil(n), status,
                    histo_hist_put(h->hist, n, values[0].buf, values[1].buf, values[2].buf, values[3].buf));
        hist_unlock(h);
    }
    for (int i = 0; i < 4; i++)
        PyBuffer_Release(&values[i]);
    if (!h) return NULL;
    return none_if_ok(status);
}
