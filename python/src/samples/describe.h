/* What all protocols that describe arrays say: a type by its kind and size, a shape, strides, a place. */
#ifndef PYTHON_DESCRIBE_H
#define PYTHON_DESCRIBE_H

#include "samples/samples.h"

enum { MAX_DIMENSIONS = 64 }; /* of arrays, NumPy's number */

/* The dtype of a kind ('i' int, 'u' unsigned, 'f' float, 'b' boolean) with this many bytes; false if there is none. */
bool describe_dtype(char kind, int64_t bytes, histo_dtype *dtype);

/* Set out->view. strides are in bytes; NULL: C order. ValueError, beginning with the name of the protocol, for what no
 * array can be. */
int describe_view(python_samples *out, const char *protocol, const void *data, histo_dtype dtype, int64_t ndim,
                  const int64_t *shape, const int64_t *strides);

/* Mark samples, of which describe_view has set the view, as in the memory of a GPU, ready on this stream. BufferError
 * if they are not, or if this build or machine has no GPU to count them. home: that GPU, if its library can be trusted
 * to know; else HISTO_DEVICE_AUTO. */
int describe_gpu(python_samples *out, const char *protocol, histo_device home, void *stream);

/* The cudaStream_t on which the library of an array works; the default stream, and out->unordered, if that cannot be
 * known. -1 with an exception. */
int describe_stream(PyObject *array, void **stream, python_samples *out);

/* After a failed attribute: 0 if the object just does not have it, -1 for any other exception. */
int describe_missing(void);

#endif
