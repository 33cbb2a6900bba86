/* Thresholds and ranks of samples. */
#include "functions/functions.h"
#include "samples/results.h"
#include "samples/samples.h"
#include "state/unlocked.h"

enum { MOST_CLASSES = 256 };

static histo_status find_thresholds(const python_samples *s, const histo_fill_options *options,
                                    histo_split_method method, int classes, int64_t bins, histo_number *numbers)
{
    histo_thresholds *t;
    histo_status status = histo_thresholds_create(&t, s->view.dtype, method, classes, bins);
    if (status != HISTO_OK) return status;
    for (bool more; (status = histo_thresholds_next_pass(t, &more)) == HISTO_OK && more;)
        if ((status = histo_thresholds_add(t, &s->view, options)) != HISTO_OK) break;
    if (status == HISTO_OK) status = histo_thresholds_read(t, numbers);
    histo_thresholds_destroy(t);
    return status;
}

static PyObject *number_of(histo_dtype dtype, histo_number number)
{
    dtype = (histo_dtype)(dtype & ~(unsigned)HISTO_SWAPPED);
    if (dtype >= HISTO_F16) return PyFloat_FromDouble(number.f64);
    const bool is_signed = dtype == HISTO_I8 || dtype == HISTO_I16 || dtype == HISTO_I32 || dtype == HISTO_I64;
    return is_signed ? PyLong_FromLongLong(number.i64) : PyLong_FromUnsignedLongLong(number.u64);
}

static PyObject *list_of(histo_dtype dtype, const histo_number *numbers, int n)
{
    PyObject *list = PyList_New(n);
    for (int i = 0; i < n && list; i++) {
        PyObject *number = number_of(dtype, numbers[i]);
        if (!number || PyList_SetItem(list, i, number) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *thresholds(PyObject *module, PyObject *args)
{
    PyObject *array, *mask_of, *result = NULL;
    const char *name;
    int classes, threads;
    long long bins;
    python_samples s, mask = {0};
    histo_split_method method;
    histo_number numbers[MOST_CLASSES];
    if (!PyArg_ParseTuple(args, "OsiLOi", &array, &name, &classes, &bins, &mask_of, &threads)) return NULL;
    histo_status status = histo_split_method_parse(name, &method);
    if (status != HISTO_OK) return raise_status(status);
    if (samples_take_here(module, array, &s) != 0) return NULL;
    if (mask_of == Py_None || samples_take_here(module, mask_of, &mask) == 0) {
        const histo_fill_options options = {.mask = mask.release ? &mask.view : NULL, .threads = threads};
        UNLOCKED(status, find_thresholds(&s, &options, method, classes, bins, numbers));
        result = status == HISTO_OK ? list_of(s.view.dtype, numbers, classes - 1) : raise_status(status);
    }
    samples_release(&mask);
    samples_release(&s);
    return result;
}

static histo_status find_ranks(const python_samples *s, const histo_fill_options *options, histo_ranks **ranks)
{
    histo_status status = histo_ranks_create(ranks, s->view.dtype);
    if (status != HISTO_OK) return status;
    for (bool more; (status = histo_ranks_next_pass(*ranks, &more)) == HISTO_OK && more;)
        if ((status = histo_ranks_add(*ranks, &s->view, options)) != HISTO_OK) break;
    return status;
}

/* The arrays that the ranks are read into, and how much of them is. */
static PyObject *read_ranks(PyObject *module, const histo_ranks *ranks)
{
    int64_t size;
    void *values, *upto;
    histo_status status = histo_ranks_size(ranks, &size);
    if (status != HISTO_OK) return raise_status(status);
    PyObject *of_values = result_new(module, HISTO_F64, 1, &size, &values);
    PyObject *of_upto = of_values ? result_new(module, HISTO_I64, 1, &size, &upto) : NULL;
    PyObject *result = NULL;
    if (of_upto) {
        status = histo_ranks_read(ranks, values, upto, &size);
        result = status == HISTO_OK ? Py_BuildValue("OOL", of_values, of_upto, (long long)size) : raise_status(status);
    }
    Py_XDECREF(of_upto);
    Py_XDECREF(of_values);
    return result;
}

static PyObject *ranks(PyObject *module, PyObject *args)
{
    PyObject *array, *mask_of, *result = NULL;
    int threads;
    python_samples s, mask = {0};
    if (!PyArg_ParseTuple(args, "OOi", &array, &mask_of, &threads) || samples_take_here(module, array, &s) != 0)
        return NULL;
    if (mask_of == Py_None || samples_take_here(module, mask_of, &mask) == 0) {
        const histo_fill_options options = {.mask = mask.release ? &mask.view : NULL, .threads = threads};
        histo_ranks *found = NULL;
        histo_status status;
        UNLOCKED(status, find_ranks(&s, &options, &found));
        result = status == HISTO_OK ? read_ranks(module, found) : raise_status(status);
        histo_ranks_destroy(found);
    }
    samples_release(&mask);
    samples_release(&s);
    return result;
}

static PyMethodDef functions[] = {
    {"thresholds", thresholds, METH_VARARGS,
     "thresholds(array, method, classes, bins, mask, threads)\n--\n\nThe thresholds between the classes of samples."},
    {"ranks", ranks, METH_VARARGS,
     "ranks(array, mask, threads)\n--\n\n(values, number of samples up to each, size): the distinct finite samples, or "
     "many of them, in the first `size` elements."},
    {0},
};

int thresholds_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
