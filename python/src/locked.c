#include "locked.h"

PyObject *locked_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args;
    (void)kwargs;
    locked *self = (locked *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) return NULL;
    self->module = module_of_type(type);
    self->lock = PyThread_allocate_lock();
    if (self->lock) return (PyObject *)self;
    Py_DECREF(self);
    return PyErr_NoMemory();
}

void locked_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    const locked *o = (locked *)self;
    if (o->lock) PyThread_free_lock(o->lock);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}
