/* Edges as NumPy's functions find them. */
#ifndef PYTHON_EDGES_H
#define PYTHON_EDGES_H

#include "state/state.h"

enum { FEW_EDGES = 129 };

/* Not to be copied: the axis may borrow `few`. */
typedef struct edges {
    histo_axis axis;
    PyObject *array;       /* what NumPy returns as the edges */
    double *memory;        /* of the axis' edges as doubles, unless they are few, or borrowed from `array` */
    double few[FEW_EDGES]; /* not cleared, which would take as long as counting a few samples */
} edges;

/* Nothing to release yet. */
static inline void edges_start(edges *e)
{
    e->array = NULL;
    e->memory = NULL;
}

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
void edges_release(edges *e);

#endif
