/* Samples in: any array-like Python object becomes a view, without a copy wherever its memory allows. */
#ifndef PYTHON_SAMPLES_H
#define PYTHON_SAMPLES_H

#include "module.h"

typedef struct samples samples;

struct samples {
    histo_view view;
    void (*release)(samples *); /* lets go of the memory; called with the GIL */
    Py_buffer buffer;           /* of the source that has one */
    PyObject *owner;            /* keeps the memory alive; NULL where `buffer` does */
};

/* Take the samples of an object: a NumPy array, an object with the buffer protocol, or anything that numpy.asarray
 * takes (`__array_interface__`, `__array__`, lists, numbers). Arrays of more than HISTO_MAX_DIMS dimensions become
 * one-dimensional in C order. What views cannot describe is copied. The view is valid until samples_release, also
 * without the GIL. -1 with TypeError (no array, or a dtype that has no order), BufferError or ValueError (malformed);
 * *out is then zeroed. */
int samples_take(PyObject *module, PyObject *object, samples *out);
/* Does nothing for zeroed samples. */
void samples_release(samples *s);

/* A source of samples takes an object that is of its kind: 1 if it has filled in *out, 0 if the object is of another
 * kind, -1 with an exception. */
int samples_of_array(PyObject *module, PyObject *object, samples *out);
int samples_of_buffer(PyObject *object, samples *out);

#endif
