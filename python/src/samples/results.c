#include "samples/results.h"

#include "samples/numpy_api.h"
#include "samples/samples.h"

static const int numbers[HISTO_DTYPE_COUNT] = {
    [HISTO_U8] = NPY_UINT8,    [HISTO_I8] = NPY_INT8,     [HISTO_U16] = NPY_UINT16,  [HISTO_I16] = NPY_INT16,
    [HISTO_U32] = NPY_UINT32,  [HISTO_I32] = NPY_INT32,   [HISTO_U64] = NPY_UINT64,  [HISTO_I64] = NPY_INT64,
    [HISTO_F16] = NPY_FLOAT16, [HISTO_BF16] = NPY_UINT16, [HISTO_F32] = NPY_FLOAT32, [HISTO_F64] = NPY_FLOAT64,
};

static PyObject *new_array(PyObject *module, histo_dtype dtype, int ndim, const int64_t *shape, bool zeros, void **data)
{
    if (numpy_import(module) < 0) return NULL;
    npy_intp dims[2 * HISTO_MAX_DIMS];
    for (int d = 0; d < ndim; d++)
        dims[d] = (npy_intp)shape[d];
    PyObject *array =
        zeros ? PyArray_ZEROS(ndim, dims, numbers[dtype], 0) : PyArray_SimpleNew(ndim, dims, numbers[dtype]);
    if (array) *data = PyArray_DATA((PyArrayObject *)array);
    return array;
}

PyObject *result_new(PyObject *module, histo_dtype dtype, int ndim, const int64_t *shape, void **data)
{
    return new_array(module, dtype, ndim, shape, false, data);
}

PyObject *result_zeros(PyObject *module, histo_dtype dtype, int ndim, const int64_t *shape, void **data)
{
    return new_array(module, dtype, ndim, shape, true, data);
}

/* A new array beside samples on a GPU, which histo.devices makes. */
static PyObject *new_on_gpu(PyObject *module, const python_samples *like, histo_dtype dtype, int ndim,
                            const int64_t *shape, void **data)
{
    PyObject *devices = python_module(module, true), *sizes = PyTuple_New(ndim), *pair = NULL;
    for (int d = 0; sizes && d < ndim; d++)
        if (PyTuple_SetItem(sizes, d, PyLong_FromLongLong(shape[d])) < 0) Py_CLEAR(sizes);
    if (devices && sizes)
        pair = PyObject_CallMethod(devices, "empty_beside", "OiOs", like->owner, like->home - HISTO_DEVICE_CUDA(0),
                                   sizes, histo_dtype_name(dtype));
    Py_XDECREF(sizes);
    PyObject *array = NULL;
    PyObject *address;
    if (pair && PyArg_ParseTuple(pair, "OO", &array, &address)) {
        Py_INCREF(array);
        *data = PyLong_AsVoidPtr(address);
    }
    Py_XDECREF(pair);
    return array;
}

PyObject *result_beside(PyObject *module, const python_samples *like, histo_dtype dtype, int ndim, const int64_t *shape,
                        void **data)
{
    int64_t sizes[2 * HISTO_MAX_DIMS];
    for (int d = 0; d < ndim; d++)
        sizes[d] = shape[d];
    if (like->exchange) return dlpack_new(like, dtype, ndim, sizes, data);
    return like->on_gpu ? new_on_gpu(module, like, dtype, ndim, shape, data)
                        : result_new(module, dtype, ndim, shape, data);
}
