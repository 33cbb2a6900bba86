#include "samples/describe.h"

#include "samples/gpu.h"

bool describe_dtype(char kind, int64_t bytes, histo_dtype *dtype)
{
    static const histo_dtype ints[] = {HISTO_I8, HISTO_I16, HISTO_I32, HISTO_I64};
    static const histo_dtype uints[] = {HISTO_U8, HISTO_U16, HISTO_U32, HISTO_U64};
    static const histo_dtype floats[] = {HISTO_F16, HISTO_F32, HISTO_F64};
    const int size = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : -1;
    if (size < 0) return false;
    if (kind == 'i')
        *dtype = ints[size];
    else if (kind == 'u' || (kind == 'b' && size == 0))
        *dtype = uints[size];
    else if (kind == 'f' && size > 0)
        *dtype = floats[size - 1];
    else
        return false;
    return true;
}

static int refuse(const char *protocol, const char *what)
{
    PyErr_Format(PyExc_ValueError, "%s: %s", protocol, what);
    return -1;
}

int describe_view(python_samples *out, const char *protocol, const void *data, histo_dtype dtype, int64_t ndim,
                  const int64_t *shape, const int64_t *strides)
{
    int64_t packed[MAX_DIMENSIONS], size = (int64_t)histo_dtype_size(dtype);
    bool empty = false;
    if (ndim < 0 || ndim > MAX_DIMENSIONS) return refuse(protocol, "the number of dimensions is out of range");
    for (int64_t d = ndim - 1; d >= 0; d--) {
        packed[d] = size;
        if (shape[d] < 0) return refuse(protocol, "a dimension is negative");
        empty = empty || shape[d] == 0;
        if (!empty && __builtin_mul_overflow(size, shape[d], &size))
            return refuse(protocol, "the array is larger than memory");
    }
    if (!data && !empty) return refuse(protocol, "there is no memory");
    histo_view *v = &out->view;
    v->data = data;
    v->dtype = dtype;
    if (!strides) strides = packed;
    if (ndim > HISTO_MAX_DIMS) {
        const histo_status status = histo_view_coalesce(1, v, (int)ndim, 0, shape, &strides);
        if (status != HISTO_OK) raise_status(status);
        return status == HISTO_OK ? 0 : -1;
    }
    v->ndim = (int)ndim;
    for (int d = 0; d < v->ndim; d++) {
        v->shape[d] = shape[d];
        v->strides[d] = strides[d];
    }
    return 0;
}

int describe_gpu(python_samples *out, const char *protocol, histo_device home, void *stream)
{
    static atomic_bool works; /* the backend has found memory of a GPU */
    if (!works && gpu_load() < 0) return -1;
    const bool empty = histo_view_size(&out->view) == 0;
    if (!empty && (home == HISTO_DEVICE_AUTO || !works)) home = histo_memory_device(out->view.data);
    if (empty && home == HISTO_DEVICE_AUTO) home = HISTO_DEVICE_CUDA(0);
    if (home == HISTO_DEVICE_CPU) {
        PyErr_Format(PyExc_BufferError,
                     "%s: the samples are said to be in the memory of a GPU, and histo finds no such memory: copy them "
                     "to the host, or install libhisto-cuda13",
                     protocol);
        return -1;
    }
    if (!empty) works = true;
    out->on_gpu = true;
    out->home = home;
    out->stream = stream;
    return 0;
}

int describe_stream(PyObject *array, void **stream, python_samples *out)
{
    PyObject *devices = PyImport_ImportModule("histo.devices");
    PyObject *number = devices ? PyObject_CallMethod(devices, "current_stream", "O", array) : NULL;
    Py_XDECREF(devices);
    if (!number) return -1;
    out->unordered = number == Py_None;
    *stream = out->unordered ? NULL : PyLong_AsVoidPtr(number);
    Py_DECREF(number);
    return PyErr_Occurred() ? -1 : 0;
}

int describe_missing(void)
{
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
    PyErr_Clear();
    return 0;
}
