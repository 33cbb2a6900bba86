/* Arguments of functions that are called often. */
#ifndef PYTHON_ARGUMENTS_H
#define PYTHON_ARGUMENTS_H

#include "state/state.h"

enum { MAX_ARGUMENTS = 16 };

/* The parameters of a function; the first `positional` ones may be given by position, the first `positional_only` ones
 * must be. */
typedef struct python_signature {
    const char *function;
    int positional_only, positional, count;
    const char *names[MAX_ARGUMENTS];
    int never_none; /* a parameter whose default is not None; or 0 */
} python_signature;

/* The functions whose signatures are known: their places in `signatures`. */
enum { OF_HISTOGRAM, OF_BIN_EDGES, OF_HISTOGRAMDD, OF_HISTOGRAM2D, OF_BINCOUNT, SIGNATURES };
extern const python_signature signatures[SIGNATURES];

/* Intern the names of all parameters; -1 with an exception. */
int arguments_intern(module_state *state);

/* Distribute what METH_FASTCALL | METH_KEYWORDS gives to values[count], borrowed references; NULL where nothing is
 * given, or None. False if it does not fit the signature, or None is none of the parameter's values. */
bool arguments_of(const module_state *state, int which, PyObject *const *args, Py_ssize_t n, PyObject *kwnames,
                  PyObject **values);

/* Call the Python function of the same name, which handles all arguments: that of histo.functions or, for samples in
 * the memory of a GPU, of histo.devices. */
PyObject *call_python(PyObject *module, int which, bool on_gpu, PyObject *const *args, Py_ssize_t n, PyObject *kwnames);

#endif
