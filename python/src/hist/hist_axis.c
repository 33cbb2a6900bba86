/* Axes, which the classes of axes.py describe by tuples. */
#include "hist/hist.h"
#include "samples/results.h"

int axis_take(PyObject *tuple, histo_axis *axis, Py_buffer *edges)
{
    int kind, closed;
    long long bins;
    PyObject *object;
    *axis = (histo_axis){0};
    if (!PyArg_ParseTuple(tuple, "ipLdddO", &kind, &closed, &bins, &axis->lo, &axis->hi, &axis->power, &object))
        return -1;
    axis->kind = (histo_axis_kind)kind;
    axis->closed = closed != 0;
    axis->bins = bins;
    if (object == Py_None) return 0;
    if (PyObject_GetBuffer(object, edges, PyBUF_SIMPLE) != 0) return -1;
    axis->edges = edges->buf;
    if (bins >= 0 && bins <= HISTO_MAX_BINS && edges->len == (bins + 1) * (Py_ssize_t)sizeof(double)) return 0;
    PyErr_SetString(PyExc_ValueError, "an axis has one edge more than bins");
    return -1;
}

PyObject *axis_tuple(const histo_axis *a)
{
    PyObject *edges = a->edges ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(a->bins + 1) * (Py_ssize_t)sizeof(double))
                               : Py_NewRef(Py_None);
    if (!edges) return NULL;
    if (a->edges) histo_axis_edges(a, (double *)(void *)PyBytes_AsString(edges));
    return Py_BuildValue("iOLdddN", (int)a->kind, a->closed ? Py_True : Py_False, (long long)a->bins, a->lo, a->hi,
                         a->power, edges);
}

static PyObject *axis_edges(PyObject *module, PyObject *tuple)
{
    histo_axis axis;
    Py_buffer buffer = {0};
    PyObject *edges = NULL;
    if (axis_take(tuple, &axis, &buffer) == 0) {
        histo_status status = histo_axis_check(&axis);
        if (status == HISTO_OK) {
            const int64_t size = axis.bins + 1;
            void *data;
            edges = result_new(module, HISTO_F64, 1, &size, &data);
            if (edges) status = histo_axis_edges(&axis, data);
        }
        if (status != HISTO_OK) {
            Py_CLEAR(edges);
            raise_status(status);
        }
    }
    PyBuffer_Release(&buffer);
    return edges;
}

static PyObject *axis_check(PyObject *module, PyObject *tuple)
{
    (void)module;
    histo_axis axis;
    Py_buffer buffer = {0};
    const int taken = axis_take(tuple, &axis, &buffer);
    const histo_status status = taken == 0 ? histo_axis_check(&axis) : HISTO_OK;
    PyBuffer_Release(&buffer);
    if (taken != 0) return NULL;
    return none_if_ok(status);
}

static PyObject *axis_equal(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *tuples[2];
    histo_axis axes[2];
    Py_buffer buffers[2] = {{0}, {0}};
    if (!PyArg_ParseTuple(args, "OO", &tuples[0], &tuples[1])) return NULL;
    const bool taken =
        axis_take(tuples[0], &axes[0], &buffers[0]) == 0 && axis_take(tuples[1], &axes[1], &buffers[1]) == 0;
    const bool equal = taken && histo_axis_equal(&axes[0], &axes[1]);
    PyBuffer_Release(&buffers[0]);
    PyBuffer_Release(&buffers[1]);
    return taken ? PyBool_FromLong(equal) : NULL;
}

static PyMethodDef functions[] = {
    {"axis_edges", axis_edges, METH_O, "The edges of an axis as an array of float64."},
    {"axis_equal", axis_equal, METH_VARARGS, "Whether two axes have the same bins."},
    {"axis_check", axis_check, METH_O, "Raise ValueError if an axis cannot be used."},
    {0},
};

int axis_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
