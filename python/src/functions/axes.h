/* Axes in: what Python code describes them by. */
#ifndef PYTHON_AXES_H
#define PYTHON_AXES_H

#include "state/state.h"

/* The axis with these edges, whose last bin is closed: a regular one, where bins are found by a multiplication, if the
 * edges are its. It borrows them. */
histo_axis axis_through(int64_t bins, const double *edges);

/* An axis whose last bin is closed, as in NumPy, from a tuple (bins, lo, hi), which has equal steps, (bins, lo), which
 * has the integers from lo on, or an array of edges; 64-bit integers are compared by value. *edges is memory that the
 * caller frees with PyMem_Free when it has made its histogram. -1 with an exception. */
int axis_of(PyObject *module, PyObject *object, histo_axis *axis, void **edges);

#endif
