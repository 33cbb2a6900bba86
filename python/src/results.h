/* Results out: NumPy arrays. */
#ifndef PYTHON_RESULTS_H
#define PYTHON_RESULTS_H

#include "module.h"

/* A new C-contiguous array of u64 as int64, which NumPy's histograms have, f32, f64, u32 …, and its memory in *data.
 * NumPy is imported by the first. NULL with an exception. */
PyObject *result_new(histo_dtype dtype, int ndim, const int64_t *shape, void **data);

#endif
