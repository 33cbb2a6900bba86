/* Samples in: any array-like Python object becomes a view, without a copy wherever its memory allows. */
#ifndef PYTHON_SAMPLES_H
#define PYTHON_SAMPLES_H

#include "module.h"

typedef struct samples samples;

struct samples {
    histo_view view;
    void (*release)(samples *); /* lets go of the memory; called with the GIL */
    Py_buffer buffer;           /* of the source that has one */
    PyObject *owner;            /* keeps the memory alive, if that is Python's */
    void *memory;               /* of the source, which keeps it alive */
    bool on_gpu;                /* in the memory of a GPU, ready on this cudaStream_t */
    void *stream;
    bool has_nulls; /* samples without a value, as a mask; a mask of bits begins at this one */
    histo_view present;
    int64_t present_offset;
};

/* Take the samples of an object: a NumPy array; an object with the buffer protocol, `__cuda_array_interface__`,
 * `__dlpack__`, `__arrow_c_array__` or `__arrow_c_stream__`; or anything that numpy.asarray takes
 * (`__array_interface__`, `__array__`, lists, numbers). Arrays of more than HISTO_MAX_DIMS dimensions become
 * one-dimensional in C order. What views cannot describe is copied. The view is valid until samples_release, also
 * without the GIL. -1 with TypeError (no array, or a dtype that has no order), BufferError or ValueError (malformed);
 * *out is then zeroed. */
int samples_take(PyObject *module, PyObject *object, samples *out);
/* Likewise, for a caller that honours out->has_nulls, where samples_take raises ValueError. */
int samples_take_with_nulls(PyObject *module, PyObject *object, samples *out);
/* Does nothing for zeroed samples. */
void samples_release(samples *s);

/* A source of samples takes an object that is of its kind: 1 if it has filled in *out, 0 if the object is of another
 * kind, -1 with an exception. */
int samples_of_array(PyObject *module, PyObject *object, samples *out);
int samples_of_buffer(PyObject *object, samples *out);
int samples_of_cuda_array(PyObject *object, samples *out);
int samples_of_dlpack(PyObject *object, samples *out);
int samples_of_arrow(PyObject *object, samples *out);

/* A mask of a fill; that of bits begins at this one. */
typedef struct fill_mask {
    histo_view view;
    int64_t offset;
} fill_mask;

/* What all of masks[n], n > 0, keep, whose shapes are equal: one of them, or bytes that the caller frees with
 * PyMem_Free. -1 with ValueError if there are several of more than one dimension. */
int masks_join(int n, const fill_mask *masks, fill_mask *joined, void **bytes);

#endif
