#include "samples.h"
#include "numpy_api.h"

/* By numpy.asarray, which knows `__array_interface__`, `__array_struct__`, `__array__`, sequences and numbers, and
 * checks what it is given. */
static int take_by_asarray(PyObject *module, PyObject *object, samples *out)
{
    if (numpy_import(module) < 0) return -1;
    PyObject *array = PyArray_FromAny(object, NULL, 0, 0, 0, NULL);
    if (!array) return -1;
    const int taken = samples_of_array(module, array, out);
    Py_DECREF(array);
    return taken;
}

/* Is its dtype one of NumPy's, as that of most pandas columns? NumPy takes these without a copy, and NaN as NaN, where
 * pandas gives Arrow nulls. */
static bool is_of_numpy(PyObject *module, PyObject *object)
{
    if (!numpy_seen(module)) return false;
    PyObject *dtype = PyObject_GetAttrString(object, "dtype");
    const bool is = dtype && PyArray_DescrCheck(dtype);
    if (!dtype) PyErr_Clear();
    Py_XDECREF(dtype);
    return is;
}

static int take_by_protocol(PyObject *module, PyObject *object, samples *out)
{
    int taken = samples_of_cuda_array(object, out);
    if (taken == 0 && is_of_numpy(module, object)) return 0;
    if (taken == 0) taken = samples_of_arrow(object, out);
    return taken == 0 ? samples_of_dlpack(object, out) : taken;
}

int samples_take(PyObject *module, PyObject *object, samples *out)
{
    if (samples_take_with_nulls(module, object, out) < 0) return -1;
    if (!out->has_nulls) return 0;
    samples_release(out);
    PyErr_SetString(PyExc_ValueError, "there are nulls: drop or fill them, or use Histogram.fill, which masks them");
    return -1;
}

int samples_take_with_nulls(PyObject *module, PyObject *object, samples *out)
{
    *out = (samples){0};
    int taken = samples_of_array(module, object, out);
    if (taken == 0) taken = samples_of_buffer(object, out);
    if (taken == 0) taken = take_by_protocol(module, object, out);
    if (taken == 0) taken = take_by_asarray(module, object, out);
    if (taken == 1) return 0;
    samples_release(out);
    return -1;
}

void samples_release(samples *s)
{
    if (s->release) {
        PyObject *type, *value, *traceback; /* what lets go may run Python, which wants no exception pending */
        PyErr_Fetch(&type, &value, &traceback);
        s->release(s);
        PyErr_Restore(type, value, traceback);
    }
    *s = (samples){0};
}
