/* What the objects of the types Hist and Map begin with. */
#ifndef PYTHON_LOCKED_H
#define PYTHON_LOCKED_H

#include "state/state.h"

typedef struct locked {
    PyObject_HEAD PyThread_type_lock lock; /* held while the object is used, so that threads can share it */
    atomic_ulong holder;                   /* the thread that holds it for several calls; or 0 */
    unsigned depth;                        /* how often that thread has taken the lock again */
    atomic_ulong taker;                    /* the thread that took the lock; or 0 */
    unsigned handlers;                     /* unlocked_handlers() when it did */
    atomic_uint forks;                     /* forks_seen when the lock was taken last */
    PyObject *module;                      /* borrowed from the type */
} locked;

/* Take the lock. Waits without the GIL, which the thread that has it may need to release it. -1 with an exception if
 * that thread is in the process that this one was forked from. */
int locked_take(locked *o);
void locked_drop(locked *o);

/* function(*args, **kwargs), of a method that gets (function, *args) and kwargs, with the lock held throughout. */
PyObject *locked_call(PyObject *self, PyObject *args, PyObject *kwargs);

/* tp_new: the lock and the module are there, all else is zero. */
PyObject *locked_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);

/* The end of tp_dealloc. */
void locked_free(PyObject *self);

/* Add a type of such objects, from which Python classes derive, to the module; a new reference, or NULL with an
 * exception. */
PyTypeObject *locked_add_type(PyObject *module, const char *name, size_t size, destructor dealloc,
                              PyMethodDef *methods);

#endif
