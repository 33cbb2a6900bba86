/* Samples by DLPack: PyTorch, CuPy, JAX and others, in host memory and in the memory of NVIDIA GPUs. */
#include "dlpack.h"

#include "describe.h"

static const char protocol[] = "DLPack";

static int refuse(const char *what)
{
    PyErr_Format(PyExc_BufferError, "%s: %s", protocol, what);
    return -1;
}

static int dtype_of(dl_dtype t, histo_dtype *dtype)
{
    static const char kinds[] = {[DL_INT] = 'i', [DL_UINT] = 'u', [DL_FLOAT] = 'f', [DL_BOOL] = 'b'};
    const bool whole = t.lanes == 1 && t.bits % 8 == 0;
    if (whole && t.code == DL_BFLOAT && t.bits == 16) {
        *dtype = HISTO_BF16;
        return 0;
    }
    if (whole && t.code < sizeof kinds && kinds[t.code] && describe_dtype(kinds[t.code], t.bits / 8, dtype)) return 0;
    PyErr_Format(PyExc_TypeError, "%s: samples of type code %d, %d bits and %d lanes cannot be counted", protocol,
                 t.code, t.bits, t.lanes);
    return -1;
}

static bool is_of_gpu(const dl_device *device)
{
    return device->type == DL_CUDA || device->type == DL_CUDA_MANAGED;
}

static int view_of(const dl_tensor *t, samples *out)
{
    histo_dtype dtype;
    int64_t strides[MAX_DIMENSIONS];
    if (dtype_of(t->dtype, &dtype) < 0) return -1;
    if (!is_of_gpu(&t->device) && t->device.type != DL_CPU && t->device.type != DL_CUDA_HOST)
        return refuse("histo counts in host memory and in that of NVIDIA GPUs: copy the samples to the host");
    if (t->ndim < 0 || t->ndim > MAX_DIMENSIONS) return refuse("the number of dimensions is out of range");
    if (t->ndim > 0 && !t->shape) return refuse("there is no shape");
    for (int d = 0; t->strides && d < t->ndim; d++)
        if (__builtin_mul_overflow(t->strides[d], (int64_t)histo_dtype_size(dtype), &strides[d]))
            return refuse("a stride is out of range");
    const char *data = t->data ? (const char *)t->data + t->byte_offset : NULL;
    if (describe_view(out, protocol, data, dtype, t->ndim, t->shape, t->strides ? strides : NULL) < 0) return -1;
    return t->device.type == DL_CUDA ? describe_gpu(out, protocol, NULL) : 0;
}

static void release_managed(samples *s)
{
    dl_managed *m = s->memory;
    if (m->deleter) m->deleter(m);
}

static void release_versioned(samples *s)
{
    dl_versioned *m = s->memory;
    if (m->deleter) m->deleter(m);
}

/* Whoever renames a capsule owns its tensor. */
static int take_capsule(PyObject *capsule, samples *out)
{
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        dl_versioned *m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (m->major != DLPACK_MAJOR) return refuse("the tensor is of a version that histo does not know");
        if (PyCapsule_SetName(capsule, "used_dltensor_versioned") < 0) return -1;
        out->memory = m;
        out->release = release_versioned;
        return view_of(&m->tensor, out);
    }
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        dl_managed *m = PyCapsule_GetPointer(capsule, "dltensor");
        if (PyCapsule_SetName(capsule, "used_dltensor") < 0) return -1;
        out->memory = m;
        out->release = release_managed;
        return view_of(&m->tensor, out);
    }
    return refuse("__dlpack__ returned no unused tensor");
}

static int device_of(PyObject *object, dl_device *device)
{
    PyObject *pair = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    int type = 0, id = 0;
    if (!pair) return -1;
    PyObject *numbers = PySequence_Tuple(pair); /* of enums, perhaps */
    Py_DECREF(pair);
    const int parsed = numbers ? PyArg_ParseTuple(numbers, "ii;__dlpack_device__", &type, &id) : 0;
    Py_XDECREF(numbers);
    *device = (dl_device){type, id};
    return parsed ? 0 : -1;
}

/* Steals `keywords`. */
static PyObject *call(PyObject *method, PyObject *keywords)
{
    PyObject *none = keywords ? PyTuple_New(0) : NULL;
    PyObject *result = none ? PyObject_Call(method, none, keywords) : NULL;
    Py_XDECREF(none);
    Py_XDECREF(keywords);
    return result;
}

/* The samples become ready on the legacy default stream, on which they are counted. */
static PyObject *ask(PyObject *method, const dl_device *device)
{
    PyObject *stream = is_of_gpu(device) ? PyLong_FromLong(1) : Py_NewRef(Py_None);
    if (!stream) return NULL;
    PyObject *capsule = call(method, Py_BuildValue("{sOs(ii)}", "stream", stream, "max_version", DLPACK_MAJOR, 0));
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) { /* from before version 1 */
        PyErr_Clear();
        capsule = call(method, Py_BuildValue("{sO}", "stream", stream));
    }
    Py_DECREF(stream);
    return capsule;
}

int samples_of_dlpack(PyObject *object, samples *out)
{
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__");
    if (!method) return describe_missing();
    dl_device device;
    PyObject *capsule = device_of(object, &device) == 0 ? ask(method, &device) : NULL;
    Py_DECREF(method);
    if (!capsule) return -1;
    const int failed = take_capsule(capsule, out);
    Py_DECREF(capsule);
    return failed < 0 ? -1 : 1;
}
