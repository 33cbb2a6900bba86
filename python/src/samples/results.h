/* Results out: NumPy arrays, or those of the samples' library. */
#ifndef PYTHON_RESULTS_H
#define PYTHON_RESULTS_H

#include "state/state.h"

struct python_samples;

/* A new C-contiguous array of at most 2 * HISTO_MAX_DIMS dimensions, and its memory in *data. Counts are read into
 * HISTO_I64, the dtype of NumPy's counts. The first one imports NumPy. NULL with an exception. */
PyObject *result_new(PyObject *module, histo_dtype dtype, int ndim, const int64_t *shape, void **data);

/* Likewise, of zeros: of many, the system clears only the pages that are written. */
PyObject *result_zeros(PyObject *module, histo_dtype dtype, int ndim, const int64_t *shape, void **data);

/* A new array of the library that these samples are of, in their memory. On a GPU it is for work on their stream. */
PyObject *result_beside(PyObject *module, const struct python_samples *like, histo_dtype dtype, int ndim,
                        const int64_t *shape, void **data);

#endif
