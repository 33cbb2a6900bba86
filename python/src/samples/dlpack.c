/* Samples by DLPack: PyTorch, CuPy, JAX and others, in host memory and in the memory of NVIDIA GPUs. */
#include "samples/dlpack.h"

#include "samples/describe.h"

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

/* 0; OF_OTHERS for types that only their library knows, such as float8, in host memory; -1 with an exception. */
static int view_of(const dl_tensor *t, python_samples *out)
{
    histo_dtype dtype;
    int64_t strides[MAX_DIMENSIONS];
    if (dtype_of(t->dtype, &dtype) < 0) {
        if (t->device.type == DL_CPU) PyErr_Clear();
        return t->device.type == DL_CPU ? OF_OTHERS : -1;
    }
    out->is_bool = t->dtype.code == DL_BOOL;
    if (!is_of_gpu(&t->device) && t->device.type != DL_CPU && t->device.type != DL_CUDA_HOST)
        return refuse("histo counts in host memory and in that of NVIDIA GPUs: copy the samples to the host");
    if (t->ndim < 0 || t->ndim > MAX_DIMENSIONS) return refuse("the number of dimensions is out of range");
    if (t->ndim > 0 && !t->shape) return refuse("there is no shape");
    for (int d = 0; t->strides && d < t->ndim; d++)
        if (__builtin_mul_overflow(t->strides[d], (int64_t)histo_dtype_size(dtype), &strides[d]))
            return refuse("a stride is out of range");
    const char *data = t->data ? (const char *)t->data + t->byte_offset : NULL;
    if (describe_view(out, protocol, data, dtype, t->ndim, t->shape, t->strides ? strides : NULL) < 0) return -1;
    return 0;
}

static int mark_gpu(const dl_tensor *t, histo_device home, void *stream, python_samples *out)
{
    return t->device.type == DL_CUDA ? describe_gpu(out, protocol, home, stream) : 0;
}

static void release_owner(python_samples *s)
{
    Py_XDECREF(s->owner);
}

static void release_managed(python_samples *s)
{
    dl_managed *m = s->memory;
    if (m->deleter) m->deleter(m);
    release_owner(s);
}

static void release_versioned(python_samples *s)
{
    dl_versioned *m = s->memory;
    if (m->deleter) m->deleter(m);
    release_owner(s);
}

/* ---- By the exchange API ---- */

/* The exchange API of an object's type; NULL, without an exception, if the type has none. */
static const dl_exchange *exchange_of(PyObject *module, PyObject *object)
{
    PyObject *const name = state_of_module(module)->attributes[DLPACK_EXCHANGE_API];
    PyObject *capsule = PyObject_GetAttr((PyObject *)Py_TYPE(object), name);
    const dl_exchange *api = capsule ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
    Py_XDECREF(capsule); /* the type keeps it */
    if (!api) PyErr_Clear();
    while (api && api->major != DLPACK_MAJOR)
        api = api->older;
    return api;
}

static int fail_exchange(void)
{
    if (!PyErr_Occurred()) PyErr_Format(PyExc_BufferError, "%s: the array cannot be exported", protocol);
    return -1;
}

static int take_borrowed(const dl_exchange *api, PyObject *object, dl_tensor *t, python_samples *out)
{
    out->owner = Py_NewRef(object);
    if (api->tensor_of) {
        out->release = release_owner;
        return api->tensor_of(object, t) == 0 ? 0 : fail_exchange();
    }
    dl_versioned *m;
    if (api->managed_of(object, &m) != 0) return fail_exchange();
    out->memory = m;
    out->release = release_versioned;
    out->read_only = m->flags & DLPACK_READ_ONLY;
    *t = m->tensor;
    return 0;
}

int exchanged_on_gpu(PyObject *module, PyObject *object)
{
    dl_tensor t;
    const dl_exchange *api = exchange_of(module, object);
    if (!api || !api->tensor_of) return -1;
    if (api->tensor_of(object, &t) == 0) return t.device.type == DL_CUDA;
    PyErr_Clear();
    return 0;
}

int samples_of_exchange(PyObject *module, PyObject *object, python_samples *out)
{
    dl_tensor t;
    void *stream = NULL;
    const dl_exchange *api = exchange_of(module, object);
    if (!api) return 0;
    if (take_borrowed(api, object, &t, out) < 0) return -1;
    const int viewed = view_of(&t, out);
    if (viewed == OF_OTHERS) samples_release(out);
    if (viewed != 0) return viewed;
    out->exchange = api;
    if (t.device.type == DL_CUDA && api->stream_of(t.device.type, t.device.id, &stream) != 0) return fail_exchange();
    return mark_gpu(&t, HISTO_DEVICE_CUDA(t.device.id), stream, out) < 0 ? -1 : 1;
}

int samples_stream(PyObject *module, const dl_exchange *exchange, histo_device home, void **stream)
{
    const int ordinal = home - HISTO_DEVICE_CUDA(0);
    if (exchange) return exchange->stream_of(DL_CUDA, ordinal, stream) == 0 ? 0 : fail_exchange();
    PyObject *devices = python_module(module, true);
    PyObject *number = devices ? PyObject_CallMethod(devices, "stream_on", "i", ordinal) : NULL;
    *stream = number ? PyLong_AsVoidPtr(number) : NULL;
    Py_XDECREF(number);
    return PyErr_Occurred() ? -1 : 0;
}

static void raise_error(void *context, const char *kind, const char *message)
{
    (void)context;
    if (!PyErr_Occurred()) PyErr_Format(PyExc_RuntimeError, "%s: %s: %s", protocol, kind, message);
}

PyObject *dlpack_new(const python_samples *like, histo_dtype dtype, int ndim, int64_t *shape, void **data)
{
    static const dl_dtype types[HISTO_DTYPE_COUNT] = {
        [HISTO_U32] = {DL_UINT, 32, 1}, [HISTO_I32] = {DL_INT, 32, 1},   [HISTO_U64] = {DL_UINT, 64, 1},
        [HISTO_I64] = {DL_INT, 64, 1},  [HISTO_F32] = {DL_FLOAT, 32, 1}, [HISTO_F64] = {DL_FLOAT, 64, 1},
    };
    dl_tensor wanted = {.ndim = ndim, .dtype = types[dtype], .shape = shape};
    wanted.device = like->on_gpu ? (dl_device){DL_CUDA, like->home - HISTO_DEVICE_CUDA(0)} : (dl_device){DL_CPU, 0};
    dl_versioned *m = NULL;
    void *object = NULL;
    if (like->exchange->allocate(&wanted, &m, NULL, raise_error) != 0) return fail_exchange(), NULL;
    *data = (char *)m->tensor.data + m->tensor.byte_offset;
    if (like->exchange->object_of(m, &object) != 0) return fail_exchange(), NULL;
    return object;
}

/* ---- By capsules ---- */

static int view_managed(const dl_tensor *t, void *stream, python_samples *out)
{
    const int viewed = view_of(t, out);
    return viewed == 0 ? mark_gpu(t, HISTO_DEVICE_AUTO, stream, out) : viewed;
}

/* Whoever renames a capsule owns its tensor. */
static int take_capsule(PyObject *capsule, void *stream, python_samples *out)
{
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        dl_versioned *m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (m->major != DLPACK_MAJOR) return refuse("the tensor is of a version that histo does not know");
        if (PyCapsule_SetName(capsule, "used_dltensor_versioned") < 0) return -1;
        out->memory = m;
        out->release = release_versioned;
        out->read_only = m->flags & DLPACK_READ_ONLY;
        return view_managed(&m->tensor, stream, out);
    }
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        dl_managed *m = PyCapsule_GetPointer(capsule, "dltensor");
        if (PyCapsule_SetName(capsule, "used_dltensor") < 0) return -1;
        out->memory = m;
        out->release = release_managed;
        return view_managed(&m->tensor, stream, out);
    }
    return refuse("__dlpack__ returned no unused tensor");
}

static int device_of(PyObject *object, dl_device *device)
{
    PyObject *method = PyObject_GetAttrString(object, "__dlpack_device__");
    if (!method) return PyErr_ExceptionMatches(PyExc_AttributeError) ? refuse("there is no __dlpack_device__") : -1;
    PyObject *pair = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    int type = 0, id = 0;
    if (!pair) return -1;
    PyObject *numbers = PySequence_Tuple(pair); /* of enums, perhaps */
    Py_DECREF(pair);
    const int parsed = numbers ? PyArg_ParseTuple(numbers, "ii;__dlpack_device__", &type, &id) : 0;
    Py_XDECREF(numbers);
    *device = (dl_device){type, id};
    return parsed ? 0 : -1;
}

static bool is_on(PyObject *object, int type)
{
    dl_device device;
    if (device_of(object, &device) == 0) return (int)device.type == type;
    PyErr_Clear();
    return false;
}

bool dlpack_on_gpu(PyObject *object)
{
    return is_on(object, DL_CUDA);
}

bool dlpack_on_host(PyObject *object)
{
    return is_on(object, DL_CPU);
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

/* The samples become ready on this stream, on which they are counted. */
static PyObject *ask(PyObject *method, const dl_device *device, void *on)
{
    const void *legacy = (void *)1; /* the default stream, by DLPack's number */
    PyObject *stream = is_of_gpu(device) ? PyLong_FromVoidPtr(on ? on : (void *)legacy) : Py_NewRef(Py_None);
    if (!stream) return NULL;
    PyObject *capsule = call(method, Py_BuildValue("{sOs(ii)}", "stream", stream, "max_version", DLPACK_MAJOR, 0));
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) { /* from before version 1 */
        PyErr_Clear();
        capsule = call(method, Py_BuildValue("{sO}", "stream", stream));
    }
    Py_DECREF(stream);
    return capsule;
}

int samples_of_dlpack(PyObject *object, python_samples *out)
{
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__");
    if (!method) return describe_missing();
    dl_device device;
    void *stream = NULL;
    PyObject *capsule = NULL;
    if (device_of(object, &device) == 0 && (!is_of_gpu(&device) || describe_stream(object, &stream, out) == 0))
        capsule = ask(method, &device, stream);
    Py_DECREF(method);
    if (!capsule) return -1;
    const int taken = take_capsule(capsule, stream, out);
    Py_DECREF(capsule);
    if (taken == OF_OTHERS) samples_release(out);
    if (taken != 0) return taken;
    out->owner = Py_NewRef(object);
    return 1;
}
