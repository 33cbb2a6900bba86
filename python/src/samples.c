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

int samples_take(PyObject *module, PyObject *object, samples *out)
{
    *out = (samples){0};
    int taken = samples_of_array(module, object, out);
    if (taken == 0) taken = samples_of_buffer(object, out);
    if (taken == 0) taken = take_by_asarray(module, object, out);
    if (taken == 1) return 0;
    samples_release(out);
    return -1;
}

void samples_release(samples *s)
{
    if (s->release) s->release(s);
    *s = (samples){0};
}
