/* NumPy arrays, by NumPy's C API. */
#include "numpy_api.h"
#include "samples.h"

static void release_owner(samples *s)
{
    Py_DECREF(s->owner);
}

static int refuse(PyArray_Descr *descr)
{
    PyErr_Format(PyExc_TypeError, "samples of dtype %S cannot be counted", (PyObject *)descr);
    return -1;
}

static int of_array(PyArrayObject *array, samples *out)
{
    PyArray_Descr *descr = PyArray_DESCR(array);
    histo_view *v = &out->view;
    if (!numpy_dtype(descr, &v->dtype)) return refuse(descr);
    out->owner = Py_NewRef((PyObject *)array);
    out->release = release_owner;
    const int ndim = PyArray_NDIM(array);
    v->data = PyArray_DATA(array);
    v->ndim = ndim;
    for (int d = 0; d < ndim; d++) {
        v->shape[d] = PyArray_DIM(array, d);
        v->strides[d] = PyArray_STRIDE(array, d);
    }
    return 1;
}

/* The same values in a layout that views describe: in this machine's byte order, and of few dimensions. */
static PyArrayObject *describable(PyArrayObject *array)
{
    PyArray_Descr *native = PyArray_DescrNewByteorder(PyArray_DESCR(array), NPY_NATIVE);
    if (!native) return NULL;
    const bool many = PyArray_NDIM(array) > HISTO_MAX_DIMS;
    PyObject *copy = PyArray_FromArray(array, native, many ? NPY_ARRAY_C_CONTIGUOUS : 0);
    if (!copy || !many) return (PyArrayObject *)copy;
    npy_intp size = PyArray_SIZE((PyArrayObject *)copy);
    PyArray_Dims flat = {&size, 1};
    PyObject *line = PyArray_Newshape((PyArrayObject *)copy, &flat, NPY_CORDER);
    Py_DECREF(copy);
    return (PyArrayObject *)line;
}

int samples_of_array(PyObject *module, PyObject *object, samples *out)
{
    if (!numpy_seen(module) || !PyArray_Check(object)) return 0;
    PyArrayObject *array = (PyArrayObject *)object;
    histo_dtype dtype;
    if (!numpy_dtype(PyArray_DESCR(array), &dtype)) return refuse(PyArray_DESCR(array));
    if (PyArray_ISNOTSWAPPED(array) && PyArray_NDIM(array) <= HISTO_MAX_DIMS) return of_array(array, out);
    PyArrayObject *copy = describable(array);
    if (!copy) return -1;
    const int taken = of_array(copy, out);
    Py_DECREF(copy);
    return taken;
}
