/* The type Hist: a histo_hist for Python, under the class Histogram of histogram.py. */
#include "results.h"
#include "samples.h"

typedef struct hist {
    PyObject_HEAD histo_hist *hist;
} hist;

static PyObject *hist_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"bins", "lo", "hi", NULL};
    long long bins;
    double lo, hi;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Ldd", names, &bins, &lo, &hi)) return NULL;
    hist *self = (hist *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) return NULL;
    const histo_axis axis = histo_axis_closed(histo_axis_regular(bins, lo, hi));
    const histo_status status = histo_hist_create(&self->hist, 1, &axis, NULL);
    if (status == HISTO_OK) return (PyObject *)self;
    Py_DECREF(self);
    return raise_status(status);
}

static void hist_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    histo_hist_destroy(((hist *)self)->hist);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *hist_fill(PyObject *self, PyObject *array)
{
    samples s;
    if (samples_take(PyType_GetModule(Py_TYPE(self)), array, &s) != 0) return NULL;
    histo_status status;
    Py_BEGIN_ALLOW_THREADS status = histo_hist_fill(((hist *)self)->hist, &s.view, NULL);
    Py_END_ALLOW_THREADS samples_release(&s);
    return status == HISTO_OK ? Py_NewRef(self) : raise_status(status);
}

static PyObject *hist_counts(PyObject *self, PyObject *unused)
{
    (void)unused;
    histo_hist *h = ((hist *)self)->hist;
    void *data;
    const int64_t size = histo_hist_size(h, HISTO_BINS);
    PyObject *counts = result_new(PyType_GetModule(Py_TYPE(self)), HISTO_I64, 1, &size, &data);
    if (!counts) return NULL;
    const histo_status status = histo_hist_read_counts(h, HISTO_BINS, data, size, NULL);
    if (status == HISTO_OK) return counts;
    Py_DECREF(counts);
    return raise_status(status);
}

static PyMethodDef methods[] = {
    {"fill", hist_fill, METH_O, NULL},
    {"counts", hist_counts, METH_NOARGS, NULL},
    {0},
};

int hist_add(PyObject *module)
{
    PyType_Slot slots[] = {
        {Py_tp_new, (void *)hist_new},
        {Py_tp_dealloc, (void *)hist_dealloc},
        {Py_tp_methods, methods},
        {0},
    };
    PyType_Spec spec = {
        .name = "histo._histo.Hist",
        .basicsize = sizeof(hist),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
        .slots = slots,
    };
    module_state *state = state_of_module(module);
    state->hist_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->hist_type ? PyModule_AddType(module, state->hist_type) : -1;
}
