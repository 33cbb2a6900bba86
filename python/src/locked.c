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

void locked_take(locked *o)
{
    const unsigned long thread = atomic_load_explicit(&o->holder, memory_order_relaxed);
    if (thread && thread == PyThread_get_thread_ident()) {
        o->depth++;
    } else if (!PyThread_acquire_lock(o->lock, NOWAIT_LOCK)) {
        Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(o->lock, WAIT_LOCK);
        Py_END_ALLOW_THREADS
    }
}

void locked_drop(locked *o)
{
    if (o->depth)
        o->depth--;
    else
        PyThread_release_lock(o->lock);
}

PyObject *locked_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    locked *o = (locked *)self;
    const Py_ssize_t nargs = PyTuple_Size(args);
    PyObject *rest = nargs > 0 ? PyTuple_GetSlice(args, 1, nargs) : NULL;
    if (!rest) return NULL;
    locked_take(o);
    const unsigned long before = atomic_load_explicit(&o->holder, memory_order_relaxed);
    atomic_store_explicit(&o->holder, PyThread_get_thread_ident(), memory_order_relaxed);
    PyObject *result = PyObject_Call(PyTuple_GetItem(args, 0), rest, kwargs);
    atomic_store_explicit(&o->holder, before, memory_order_relaxed);
    locked_drop(o);
    Py_DECREF(rest);
    return result;
}

void locked_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    const locked *o = (locked *)self;
    if (o->lock) PyThread_free_lock(o->lock);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}
