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

/* Take the samples of an object. The view is valid until samples_release, also without the GIL. -1 with TypeError (no
 * array, or a dtype that has no order), BufferError or ValueError (malformed). */
int samples_take(PyObject *module, PyObject *object, samples *out);
/* Does nothing for zeroed samples. */
void samples_release(samples *s);

#endif
