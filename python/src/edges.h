/* Edges as NumPy's functions find them. */
#ifndef PYTHON_EDGES_H
#define PYTHON_EDGES_H

#include "module.h"

/* A dtype without its byte order. */
static inline histo_dtype native(histo_dtype dtype)
{
    return dtype & ~(histo_dtype)HISTO_SWAPPED;
}

typedef struct edges {
    histo_axis axis;
    PyObject *array; /* what NumPy returns as the edges */
    double *memory;  /* of the axis, which is borrowed from `array` without it; freed by edges_release */
} edges;

/* Which function's rules: numpy.histogramdd computes edges in another type than numpy.histogram. */
typedef enum edges_rule { LIKE_HISTOGRAM, LIKE_HISTOGRAMDD } edges_rule;

/* The edges for samples by the arguments `bins` and `range`, which may be NULL for 10 and None. reading: the threads,
 * and the stream of samples in the memory of a GPU. 1; 0 if histo.functions has to find them or to say what is wrong
 * with the arguments; -1 with an exception. */
int edges_find(PyObject *module, const histo_view *samples, PyObject *bins, PyObject *range, edges_rule rule,
               const histo_fill_options *reading, edges *out);
/* A tuple itself, or the items that a list has now, which other threads may change; NULL, without an exception, for
 * anything else. A new reference. */
PyObject *tuple_of(PyObject *object);

/* histo_find_extremes for all batch entries together, as a fill that Ctrl-C interrupts; -1 with an exception. */
int extremes_find(const histo_view *samples, const histo_fill_options *options, histo_extremes *found);
/* Does nothing for zeroed edges. */
void edges_release(edges *e);

#endif
