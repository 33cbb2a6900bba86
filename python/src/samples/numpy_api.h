/* NumPy's C API, whose table is read when NumPy is first seen or needed. */
#ifndef PYTHON_NUMPY_API_H
#define PYTHON_NUMPY_API_H

#include "state/state.h"

#define PY_ARRAY_UNIQUE_SYMBOL histo_numpy_api
#ifndef PYTHON_NUMPY_API_IS_HERE
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

/* Whether this interpreter has imported NumPy, so that its arrays may come in. */
bool numpy_seen(PyObject *module);
/* Import NumPy; -1 with an exception. Afterwards the interpreter may make arrays. */
int numpy_import(PyObject *module);

/* The dtype of arrays whose elements are numbers with an order; bool is HISTO_U8. False for all other arrays: complex
 * numbers, long double, objects, records, text, and dates and time spans, which are numbers only in a unit. */
bool numpy_dtype(PyArray_Descr *descr, histo_dtype *dtype);

#endif
