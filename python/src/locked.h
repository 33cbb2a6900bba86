/* What the objects of the types Hist and Map begin with. */
#ifndef PYTHON_LOCKED_H
#define PYTHON_LOCKED_H

#include "module.h"

typedef struct locked {
    PyObject_HEAD PyThread_type_lock lock; /* held while the object is used, so that threads can share it */
    PyObject *module;                      /* borrowed from the type */
} locked;

/* tp_new: the lock and the module are there, all else is zero. */
PyObject *locked_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);

/* The end of tp_dealloc. */
void locked_free(PyObject *self);

#endif
