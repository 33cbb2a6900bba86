/* Samples by `__cuda_array_interface__` ("CUDA Array Interface", version 3, in Numba's documentation): Numba, CuPy,
 * RAPIDS and PyTorch arrays in the memory of a GPU. */
#include <string.h>

#include "samples/describe.h"

static const char protocol[] = "__cuda_array_interface__";

static int refuse(const char *what)
{
    PyErr_Format(PyExc_ValueError, "%s: %s", protocol, what);
    return -1;
}

/* An item of the dictionary; NULL without an exception if it is missing or None. */
static PyObject *item(PyObject *interface, const char *key)
{
    PyObject *value = PyDict_GetItemString(interface, key);
    return value == Py_None ? NULL : value;
}

/* The dtype of a typestr such as "<f4". */
static int dtype_of(PyObject *typestr, histo_dtype *dtype)
{
    const char *text = typestr && PyUnicode_Check(typestr) ? PyUnicode_AsUTF8AndSize(typestr, NULL) : NULL;
    if (!text) return PyErr_Occurred() ? -1 : refuse("there is no typestr");
    const bool native = text[0] == '<' || text[0] == '=' || text[0] == '|';
    if (native && text[1] && text[2] && !text[3] && describe_dtype(text[1], text[2] - '0', dtype)) return 0;
    PyErr_Format(PyExc_TypeError, "%s: samples of type '%s' cannot be counted", protocol, text);
    return -1;
}

/* A tuple of integers, at most MAX_DIMENSIONS; returns how many, -1 with an exception. */
static Py_ssize_t integers(PyObject *tuple, int64_t *values)
{
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) > MAX_DIMENSIONS)
        return refuse("shape and strides must be tuples of integers");
    const Py_ssize_t n = PyTuple_Size(tuple);
    for (Py_ssize_t i = 0; i < n; i++) {
        values[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
        if (values[i] == -1 && PyErr_Occurred()) return -1;
    }
    return n;
}

/* The item `data`, a tuple (address, read-only). */
static int address_of(PyObject *data, void **address, bool *read_only)
{
    if (!data || !PyTuple_Check(data) || PyTuple_Size(data) != 2) return refuse("data must be (address, read_only)");
    *address = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
    if (!*address && PyErr_Occurred()) return -1;
    const int is = PyObject_IsTrue(PyTuple_GetItem(data, 1));
    *read_only = is == 1;
    return is < 0 ? -1 : 0;
}

/* 1: the legacy default stream, NULL in CUDA, 2: that of the thread, else a handle; None: the samples are ready. */
static int stream_of(PyObject *number, void **stream)
{
    const void *legacy = (void *)1;
    *stream = number ? PyLong_AsVoidPtr(number) : NULL;
    if (PyErr_Occurred()) return -1;
    if (number && !*stream) return refuse("stream 0 is ambiguous");
    if (*stream == legacy) *stream = NULL;
    return 0;
}

static int take(PyObject *array, PyObject *interface, python_samples *out)
{
    histo_dtype dtype;
    void *data, *stream;
    int64_t shape[MAX_DIMENSIONS], strides[MAX_DIMENSIONS];
    PyObject *sizes = item(interface, "shape"), *steps = item(interface, "strides");
    if (item(interface, "mask")) return refuse("masked arrays cannot be counted: pass the mask as mask=");
    if (!sizes) return refuse("there is no shape");
    if (dtype_of(item(interface, "typestr"), &dtype) < 0 ||
        address_of(item(interface, "data"), &data, &out->read_only) < 0 ||
        stream_of(item(interface, "stream"), &stream) < 0)
        return -1;
    out->is_bool = dtype == HISTO_U8 && strchr(PyUnicode_AsUTF8AndSize(item(interface, "typestr"), NULL), 'b');
    const Py_ssize_t ndim = integers(sizes, shape);
    if (ndim < 0) return -1;
    if (steps) {
        const Py_ssize_t n = integers(steps, strides);
        if (n < 0) return -1;
        if (n != ndim) return refuse("shape and strides have different lengths");
    }
    if (describe_view(out, protocol, data, dtype, ndim, shape, steps ? strides : NULL) < 0) return -1;
    if (!item(interface, "stream") && describe_stream(array, &stream, out) < 0) return -1;
    return describe_gpu(out, protocol, HISTO_DEVICE_AUTO, stream);
}

static void release_owner(python_samples *s)
{
    Py_DECREF(s->owner);
}

int samples_of_cuda_array(PyObject *module, PyObject *object, python_samples *out)
{
    PyObject *interface = PyObject_GetAttr(object, state_of_module(module)->attributes[CUDA_ARRAY_INTERFACE]);
    if (!interface) return describe_missing();
    const int failed = PyDict_Check(interface) ? take(object, interface, out) : refuse("it must be a dictionary");
    Py_DECREF(interface);
    if (failed < 0) return -1;
    out->owner = Py_NewRef(object);
    out->release = release_owner;
    return 1;
}
