#include "state/locked.h"

#include "state/unlocked.h"

#ifndef _WIN32
#include <pthread.h>
#endif

static atomic_uint forks_seen; /* by this process, from its first ancestor on */

#ifndef _WIN32
static void see_fork(void)
{
    atomic_fetch_add(&forks_seen, 1);
}

__attribute__((constructor)) static void see_forks(void)
{
    pthread_atfork(NULL, NULL, see_fork);
}
#endif

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

static bool is_of_ancestor(const locked *o)
{
    return atomic_load_explicit(&o->forks, memory_order_relaxed) != atomic_load(&forks_seen);
}

/* A thread that has just taken the lock may not have noted in which process; none has it for long in an ancestor's
 * name.
 */
static bool wait_for_lock(locked *o)
{
    const PY_TIMEOUT_T us_to_note = 100000;
    if (is_of_ancestor(o) && PyThread_acquire_lock_timed(o->lock, us_to_note, 0)) return true;
    return !is_of_ancestor(o) && PyThread_acquire_lock(o->lock, WAIT_LOCK);
}

static int wait_without_gil(locked *o)
{
    bool taken;
    {
        Py_BEGIN_ALLOW_THREADS taken = wait_for_lock(o);
        Py_END_ALLOW_THREADS
    }
    if (taken) return 0;
    PyErr_SetString(PyExc_RuntimeError, "another thread was using this object when the process was forked, and may "
                                        "have left it half changed: make a new one");
    return -1;
}

int locked_take(locked *o)
{
    const unsigned long thread = atomic_load_explicit(&o->holder, memory_order_relaxed),
                        me = PyThread_get_thread_ident();
    if (atomic_load_explicit(&o->taker, memory_order_relaxed) == me && o->handlers != unlocked_handlers()) {
        PyErr_SetString(PyExc_RuntimeError, "the handler of a signal cannot use what the call that it interrupts uses");
        return -1;
    }
    if (thread && thread == me) {
        o->depth++;
        return 0;
    }
    if (!PyThread_acquire_lock(o->lock, NOWAIT_LOCK) && wait_without_gil(o) < 0) return -1;
    atomic_store_explicit(&o->forks, atomic_load_explicit(&forks_seen, memory_order_relaxed), memory_order_relaxed);
    atomic_store_explicit(&o->taker, me, memory_order_relaxed);
    o->handlers = unlocked_handlers();
    return 0;
}

void locked_drop(locked *o)
{
    if (o->depth) {
        o->depth--;
        return;
    }
    atomic_store_explicit(&o->taker, 0, memory_order_relaxed);
    PyThread_release_lock(o->lock);
}

PyObject *locked_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    locked *o = (locked *)self;
    const Py_ssize_t nargs = PyTuple_Size(args);
    PyObject *rest = nargs > 0 ? PyTuple_GetSlice(args, 1, nargs) : NULL;
    if (!rest) return NULL;
    if (locked_take(o) < 0) return Py_DECREF(rest), NULL;
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

PyTypeObject *locked_add_type(PyObject *module, const char *name, size_t size, destructor dealloc, PyMethodDef *methods)
{
    PyType_Slot slots[] = {
        {Py_tp_new, (void *)locked_new},
        {Py_tp_dealloc, (void *)dealloc},
        {Py_tp_methods, methods},
        {0},
    };
    PyType_Spec spec = {
        .name = name,
        .basicsize = (int)size,
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
        .slots = slots,
    };
    PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    if (type && PyModule_AddType(module, type) != 0) Py_CLEAR(type);
    return type;
}
