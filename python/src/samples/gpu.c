#include "samples/gpu.h"

#include <dlfcn.h>
#include <stdbool.h>

#include "state/state.h"

/* A function of NVIDIA's driver, if something has loaded that. */
static void *of_driver(const char *name)
{
#ifdef RTLD_NOLOAD
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *function = driver ? dlsym(driver, name) : NULL;
    if (driver) dlclose(driver);
    return function;
#else
    (void)name;
    return NULL;
#endif
}

typedef int stream_is_capturing(void *stream, int *is);
typedef int stream_synchronize(void *stream);
typedef int pointer_get_attribute(void *out, int attribute, uintptr_t address);
typedef int context_push(void *context);
typedef int context_pop(void **context);

bool gpu_captures(void *stream)
{
    static stream_is_capturing *_Atomic function;
    if (!stream) return false; /* the default stream cannot be captured */
    if (!function) function = (stream_is_capturing *)of_driver("cuStreamIsCapturing");
    int is = 0;
    return function && function(stream, &is) == 0 && is;
}

/* 0, or what the driver says. */
static int synchronize(const void *address, void *stream)
{
    enum { CONTEXT = 1, NOT_INITIALIZED = 3 };
    pointer_get_attribute *const get = (pointer_get_attribute *)of_driver("cuPointerGetAttribute");
    context_push *const push = (context_push *)of_driver("cuCtxPushCurrent_v2");
    context_pop *const pop = (context_pop *)of_driver("cuCtxPopCurrent_v2");
    stream_synchronize *const wait = (stream_synchronize *)of_driver("cuStreamSynchronize");
    void *context = NULL;
    if (!get || !push || !pop || !wait) return NOT_INITIALIZED;
    int error = get(&context, CONTEXT, (uintptr_t)address);
    if (error) return error;
    if (context) error = push(context); /* memory of a pool has none: that of the thread serves */
    if (error) return error;
    error = wait(stream);
    if (context) pop(&context);
    return error;
}

int gpu_wait(const void *address, void *stream)
{
    int error;
    Py_BEGIN_ALLOW_THREADS error = synchronize(address, stream);
    Py_END_ALLOW_THREADS if (!error) return 0;
    PyErr_Format(PyExc_RuntimeError, "waiting for a stream failed: error %d of the NVIDIA driver", error);
    return -1;
}

static PyObject *path_of_package(void)
{
    PyObject *package = PyImport_ImportModule("histo_cuda");
    PyObject *path = package ? PyObject_GetAttrString(package, "path") : NULL;
    Py_XDECREF(package);
    return path;
}

/* Kernels are compiled by the NVRTC of PyTorch's or CuPy's packages, which the dynamic linker does not find. */
static int load_nvrtc(void)
{
    static bool is_done;
    if (is_done) return 0;
    is_done = true;
    PyObject *devices = PyImport_ImportModule("histo.devices");
    PyObject *none = devices ? PyObject_CallMethod(devices, "_load_nvrtc", NULL) : NULL;
    Py_XDECREF(devices);
    Py_XDECREF(none);
    return none ? 0 : -1;
}

int gpu_load(void)
{
    if (load_nvrtc() < 0) return -1;
    PyObject *path = path_of_package(), *bytes = NULL;
    if (!path && PyErr_ExceptionMatches(PyExc_ModuleNotFoundError)) {
        PyErr_Clear();
        return 0;
    }
    const int converted = path && PyUnicode_FSConverter(path, &bytes);
    Py_XDECREF(path);
    if (!converted) return -1;
    const char *file = PyBytes_AsString(bytes);
    histo_status status;
    Py_BEGIN_ALLOW_THREADS status = histo_backend_load(file);
    Py_END_ALLOW_THREADS Py_DECREF(bytes);
    return status == HISTO_OK ? 0 : (raise_status(status), -1);
}
