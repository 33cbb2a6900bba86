#include "functions/arguments.h"

const python_signature signatures[SIGNATURES] = {
    [OF_HISTOGRAM] = {"histogram",
                      0,
                      5,
                      13,
                      {"a", "bins", "range", "density", "weights", "axis", "mask", "out", "threads", "flow", "device",
                       "dtype", "missing"}},
    [OF_BIN_EDGES] =
        {"histogram_bin_edges", 0, 4, 8, {"a", "bins", "range", "weights", "mask", "threads", "device", "missing"}},
    [OF_HISTOGRAMDD] = {"histogramdd",
                        0,
                        5,
                        12,
                        {"sample", "bins", "range", "density", "weights", "mask", "out", "threads", "flow", "device",
                         "dtype", "missing"}},
    [OF_HISTOGRAM2D] = {"histogram2d",
                        0,
                        6,
                        13,
                        {"x", "y", "bins", "range", "density", "weights", "mask", "out", "threads", "flow", "device",
                         "dtype", "missing"}},
    [OF_BINCOUNT] = {"bincount",
                     1,
                     3,
                     10,
                     {"x", "weights", "minlength", "axis", "mask", "out", "threads", "device", "dtype", "missing"},
                     2},
};

int arguments_intern(module_state *state)
{
    for (int s = 0; s < SIGNATURES; s++) {
        for (int i = 0; i < signatures[s].count; i++) {
            state->names[s][i] = PyUnicode_InternFromString(signatures[s].names[i]);
            if (!state->names[s][i]) return -1;
        }
    }
    return 0;
}

bool arguments_of(const module_state *state, int which, PyObject *const *args, Py_ssize_t n, PyObject *kwnames,
                  PyObject **values)
{
    const python_signature *s = &signatures[which];
    if (n < s->positional_only || n > s->positional) return false;
    for (int i = 0; i < s->count; i++)
        values[i] = i < n && args[i] != Py_None ? args[i] : NULL;
    const Py_ssize_t keywords = kwnames ? PyTuple_Size(kwnames) : 0;
    for (Py_ssize_t k = 0; k < keywords; k++) {
        PyObject *name = PyTuple_GetItem(kwnames, k);
        int i = (int)n; /* a name of an argument that has been given by position is not found */
        while (i < s->count && state->names[which][i] != name)
            i++;
        if (i == s->count) return false;
        values[i] = args[n + k] != Py_None ? args[n + k] : NULL;
        if (i == s->never_none && !values[i]) return false;
    }
    return !s->never_none || s->never_none >= n || values[s->never_none];
}

PyObject *call_python(PyObject *module, int which, bool on_gpu, PyObject *const *args, Py_ssize_t n, PyObject *kwnames)
{
    const Py_ssize_t keywords = kwnames ? PyTuple_Size(kwnames) : 0;
    PyObject *functions = python_module(module, on_gpu);
    PyObject *function = functions ? PyObject_GetAttrString(functions, signatures[which].function) : NULL,
             *positions = PyTuple_New(n), *dict = PyDict_New();
    PyObject *result = NULL;
    if (!function || !positions || !dict) goto done;
    for (Py_ssize_t i = 0; i < n; i++)
        if (PyTuple_SetItem(positions, i, Py_NewRef(args[i])) < 0) goto done;
    for (Py_ssize_t k = 0; k < keywords; k++)
        if (PyDict_SetItem(dict, PyTuple_GetItem(kwnames, k), args[n + k]) < 0) goto done;
    result = PyObject_Call(function, positions, dict);
done:
    Py_XDECREF(function);
    Py_XDECREF(positions);
    Py_XDECREF(dict);
    return result;
}
