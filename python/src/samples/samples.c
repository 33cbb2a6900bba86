#include "samples/samples.h"
#include "samples/gpu.h"
#include "samples/numpy_api.h"
#include "samples/results.h"

/* Whether an integer is a double, which numpy.asarray may make of it. */
static bool is_double(PyObject *integer)
{
    int overflow;
    const int64_t value = PyLong_AsLongLongAndOverflow(integer, &overflow);
    return !overflow && value >= -(INT64_C(1) << 53) && value <= INT64_C(1) << 53;
}

static bool are_plain(PyObject *list);

static bool is_plain(PyObject *item)
{
    if (PyFloat_CheckExact(item)) return true;
    if (PyLong_CheckExact(item)) return is_double(item);
    if (PyList_CheckExact(item) || PyTuple_CheckExact(item)) return are_plain(item);
    return PyBool_Check(item) || PyArray_CheckExact(item) || PyArray_IsScalar(item, Generic);
}

static bool are_plain(PyObject *list)
{
    const Py_ssize_t n = PySequence_Size(list);
    bool plain = Py_EnterRecursiveCall(" in a list of samples") == 0;
    for (Py_ssize_t i = 0; plain && i < n; i++) {
        PyObject *item = PySequence_GetItem(list, i); /* another thread may change a list */
        plain = item && is_plain(item);
        Py_XDECREF(item);
    }
    Py_LeaveRecursiveCall();
    if (PyErr_Occurred()) PyErr_Clear(); /* histo.sources says what is wrong */
    return plain;
}

/* An item of a list of numbers that are doubles or, if `whole`, of integers of 64 bits; false if it is another. */
static bool copy_item(PyObject *item, bool whole, void *to)
{
    int overflow = 0;
    if (whole && PyLong_CheckExact(item))
        *(int64_t *)to = PyLong_AsLongLongAndOverflow(item, &overflow);
    else if (!whole && (PyFloat_CheckExact(item) || (PyLong_CheckExact(item) && is_double(item))))
        *(double *)to = PyFloat_AsDouble(item);
    else
        return false;
    return !overflow;
}

/* Whether all of the first n items were copied. */
static bool copy_items(PyObject *list, Py_ssize_t n, bool whole, uint64_t *to)
{
    bool copied = true;
    for (Py_ssize_t i = 0; copied && i < n; i++) {
        PyObject *item = PySequence_GetItem(list, i); /* another thread may change a list */
        copied = item && copy_item(item, whole, &to[i]);
        Py_XDECREF(item);
    }
    PyErr_Clear();
    return copied;
}

PyObject *samples_of_list(PyObject *module, PyObject *list)
{
    if (numpy_import(module) < 0) return NULL;
    for (int whole = 1; whole >= 0; whole--) {
        const int64_t n = PySequence_Size(list);
        uint64_t first;
        void *data;
        if ((n == 0 && whole) || !copy_items(list, n > 0, whole, &first)) continue;
        PyObject *numbers = result_new(module, whole ? HISTO_I64 : HISTO_F64, 1, &n, &data);
        if (!numbers || copy_items(list, (Py_ssize_t)n, whole, data)) return numbers;
        Py_DECREF(numbers);
    }
    PyObject *array = are_plain(list) ? PyArray_FromAny(list, NULL, 0, 0, 0, NULL) : NULL;
    if (!array) PyErr_Clear(); /* histo.sources says what is wrong */
    return array;
}

static int take_list(PyObject *module, PyObject *list, python_samples *out)
{
    PyObject *array = samples_of_list(module, list);
    if (!array) return PyErr_Occurred() ? -1 : 0;
    const int taken = samples_of_array(array, out);
    Py_DECREF(array);
    return taken;
}

/* A column of histo.sources: an array, or a tuple of that and which of its values are present. */
static int take_column(PyObject *column, python_samples *out)
{
    PyObject *array = column, *present = NULL;
    if (PyTuple_Check(column) && !PyArg_ParseTuple(column, "OO", &array, &present)) return -1;
    if (!PyArray_Check(array) || samples_of_array(array, out) != 1) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "these samples cannot be counted");
        return -1;
    }
    if (!present) return 1;
    python_samples mask = {0};
    if (samples_of_array(present, &mask) != 1) return -1;
    out->present = mask.view;
    out->has_nulls = true;
    samples_release(&mask);
    Py_DECREF(out->owner);
    out->owner = Py_NewRef(column);
    return 1;
}

static int take_by_sources(PyObject *module, PyObject *object, python_samples *out)
{
    if (numpy_import(module) < 0) return -1;
    PyObject *sources = PyImport_ImportModule("histo.sources");
    PyObject *column = sources ? PyObject_CallMethod(sources, "numbers", "(O)", object) : NULL;
    Py_XDECREF(sources);
    const int taken = column ? take_column(column, out) : -1;
    Py_XDECREF(column);
    return taken;
}

/* Whether the dtype of an object is NumPy's, as that of most pandas columns, or one by which pandas keeps a NumPy array
 * and a mask. histo.sources takes these without a copy, and NaN as NaN, where pandas gives Arrow copies, and nulls. */
static bool is_of_numpy(PyObject *module, PyObject *object)
{
    if (!numpy_seen(module)) return false;
    PyObject *dtype = PyObject_GetAttrString(object, "dtype");
    const bool is = dtype && (PyArray_DescrCheck(dtype) || (PyObject_HasAttrString(dtype, "numpy_dtype") &&
                                                            !PyObject_HasAttrString(dtype, "pyarrow_dtype")));
    if (!dtype) PyErr_Clear();
    Py_XDECREF(dtype);
    return is;
}

static int take_by_protocol(PyObject *module, PyObject *object, python_samples *out)
{
    if (is_of_numpy(module, object)) return 0;
    const int taken = samples_of_arrow(object, out);
    return taken == 0 ? samples_of_dlpack(object, out) : taken;
}

static int refuse(python_samples *taken, PyObject *error, const char *why)
{
    samples_release(taken);
    PyErr_SetString(error, why);
    return -1;
}

int samples_take(PyObject *module, PyObject *object, python_samples *out)
{
    if (samples_take_with_nulls(module, object, out) < 0) return -1;
    if (!out->has_nulls) return 0;
    return refuse(out, PyExc_ValueError, "there are nulls: drop or fill them, or use Histogram.fill, which masks them");
}

int samples_join(python_samples *s)
{
    return s->chunks ? samples_join_arrow(s) : 0;
}

int samples_take_with_nulls(PyObject *module, PyObject *object, python_samples *out)
{
    if (samples_take_in_chunks(module, object, out) < 0) return -1;
    if (samples_join(out) == 0) return 0;
    samples_release(out);
    return -1;
}

int samples_take_in_chunks(PyObject *module, PyObject *object, python_samples *out)
{
    *out = (python_samples){0};
    int taken = 0;
    if (numpy_seen(module) && PyArray_Check(object)) {
        taken = samples_of_array(object, out);
    } else if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) {
        taken = take_list(module, object, out);
    } else {
        taken = samples_of_exchange(module, object, out);
        if (taken == 0) taken = samples_of_cuda_array(module, object, out);
        if (taken == 0) taken = samples_of_buffer(object, out); /* which CuPy's arrays have, too, and refuse */
        if (taken == 0) taken = take_by_protocol(module, object, out);
    }
    if (taken == 0 || taken == OF_OTHERS) taken = take_by_sources(module, object, out);
    if (taken == 1) return 0;
    samples_release(out);
    return -1;
}

int samples_take_writable(PyObject *module, PyObject *object, python_samples *out)
{
    const bool by_numpy = numpy_seen(module) && PyArray_Check(object);
    if (by_numpy && PyArray_FailUnlessWriteable((PyArrayObject *)object, "out") < 0) return -1;
    if (samples_take(module, object, out) < 0) return -1;
    if (by_numpy || (!out->read_only && (out->exchange || out->on_gpu))) return 0;
    return refuse(out, PyExc_TypeError,
                  "out must be an array that can be written: of NumPy, PyTorch, or in the memory of a GPU");
}

/* Arrays of NumPy and numbers, the most common objects, are quickly told. */
static bool is_exported_from_gpu(PyObject *module, PyObject *object)
{
    PyObject *const type = (PyObject *)Py_TYPE(object);
    if (numpy_seen(module) && PyArray_Check(object)) return false;
    if (PyFloat_Check(object) || PyLong_Check(object) || PyUnicode_Check(object) || PyList_Check(object)) return false;
    const int by_exchange = exchanged_on_gpu(module, object);
    if (by_exchange >= 0) return by_exchange == 1;
    /* Tensors of older PyTorch and arrays of JAX have it in host memory, too, where it raises; elsewhere it takes time
     * to make. */
    if (has_attribute(module, type, CUDA_ARRAY_INTERFACE)) {
        if (has_attribute(module, type, IS_CUDA)) return has_attribute(module, object, CUDA_ARRAY_INTERFACE);
        return !has_attribute(module, type, DLPACK_DEVICE) || !dlpack_on_host(object);
    }
    if (has_attribute(module, object, CUDA_ARRAY_INTERFACE)) return true;
    return has_attribute(module, type, DLPACK_DEVICE) && dlpack_on_gpu(object);
}

bool samples_on_gpu(PyObject *module, PyObject *object)
{
    if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) {
        PyObject *first = PySequence_Size(object) > 0 ? PySequence_GetItem(object, 0) : NULL;
        if (!first) PyErr_Clear(); /* another thread has emptied the list */
        const bool is = first && is_exported_from_gpu(module, first);
        Py_XDECREF(first);
        return is;
    }
    return is_exported_from_gpu(module, object);
}

int samples_take_here(PyObject *module, PyObject *object, python_samples *out)
{
    if (samples_take(module, object, out) < 0) return -1;
    if (!out->on_gpu) return 0;
    return refuse(out, PyExc_ValueError, "these numbers are in the memory of a GPU, and needed on the host: copy them");
}

int samples_meet(int n, const python_samples *const *all, const python_samples **found)
{
    const python_samples *first = *found = NULL;
    for (int i = 0; i < n && !first; i++)
        if (all[i]->on_gpu) first = all[i];
    for (int i = 0; i < n && first; i++) {
        if (!all[i]->release || all[i] == first) continue; /* a number, or nothing */
        if (all[i]->home != first->home) {
            PyErr_Format(
                PyExc_ValueError,
                "samples, weights and masks must be in one memory: some are in that of cuda:%d, others in that "
                "of %s",
                first->home - HISTO_DEVICE_CUDA(0), all[i]->on_gpu ? "another GPU" : "the host");
            return -1;
        }
        if (all[i]->stream != first->stream && gpu_wait(all[i]->view.data, all[i]->stream) < 0) return -1;
    }
    *found = first;
    return 0;
}

int samples_settle(int n, const python_samples *const *all)
{
    const python_samples *first = NULL;
    bool ordered = true;
    for (int i = 0; i < n; i++) {
        if (!all[i]->on_gpu) continue;
        if (!first) first = all[i];
        ordered = ordered && !all[i]->unordered && all[i]->stream == first->stream;
    }
    return ordered ? 0 : gpu_wait(first->view.data, first->stream);
}

void samples_release(python_samples *s)
{
    if (s->release) {
        PyObject *type, *value, *traceback; /* what lets go may run Python, which wants no exception pending */
        PyErr_Fetch(&type, &value, &traceback);
        s->release(s);
        PyErr_Restore(type, value, traceback);
    }
    *s = (python_samples){0};
}
