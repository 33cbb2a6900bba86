#include "results.h"

#include "numpy_api.h"

static const int numbers[HISTO_DTYPE_COUNT] = {
    [HISTO_U8] = NPY_UINT8,    [HISTO_I8] = NPY_INT8,     [HISTO_U16] = NPY_UINT16,  [HISTO_I16] = NPY_INT16,
    [HISTO_U32] = NPY_UINT32,  [HISTO_I32] = NPY_INT32,   [HISTO_U64] = NPY_UINT64,  [HISTO_I64] = NPY_INT64,
    [HISTO_F16] = NPY_FLOAT16, [HISTO_BF16] = NPY_UINT16, [HISTO_F32] = NPY_FLOAT32, [HISTO_F64] = NPY_FLOAT64,
};

PyObject *result_new(PyObject *module, histo_dtype dtype, int ndim, const int64_t *shape, void **data)
{
    if (numpy_import(module) < 0) return NULL;
    npy_intp dims[2 * HISTO_MAX_DIMS];
    for (int d = 0; d < ndim; d++)
        dims[d] = (npy_intp)shape[d];
    PyObject *array = PyArray_SimpleNew(ndim, dims, numbers[dtype]);
    if (array) *data = PyArray_DATA((PyArrayObject *)array);
    return array;
}
