/* NumPy arrays, by NumPy's C API. */
#include "samples/numpy_api.h"
#include "samples/samples.h"

static void release_owner(python_samples *s)
{
    Py_DECREF(s->owner);
}

static int of_array(PyArrayObject *array, python_samples *out)
{
    PyArray_Descr *descr = PyArray_DESCR(array);
    histo_view *v = &out->view;
    if (!numpy_dtype(descr, &v->dtype)) return 0;
    if (PyArray_ISBYTESWAPPED(array)) v->dtype |= HISTO_SWAPPED;
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

/* The elements in C order, in one dimension. */
static PyArrayObject *line_of(PyArrayObject *array)
{
    npy_intp size = PyArray_SIZE(array);
    PyArray_Dims flat = {&size, 1};
    return (PyArrayObject *)PyArray_Newshape(array, &flat, NPY_CORDER);
}

int samples_of_array(PyObject *object, python_samples *out)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_CheckExact(object) && PyObject_HasAttrString(object, "mask")) return 0;
    if (PyArray_NDIM(array) <= HISTO_MAX_DIMS) return of_array(array, out);
    PyArrayObject *line = line_of(array);
    if (!line) return -1;
    const int taken = of_array(line, out);
    Py_DECREF(line);
    return taken;
}
