#include "state/unlocked.h"

static atomic_ulong main_thread;
static _Thread_local unsigned handlers;

int unlocked_init(void)
{
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *thread = threading ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL;
    PyObject *ident = thread ? PyObject_GetAttrString(thread, "ident") : NULL;
    if (ident && ident != Py_None) main_thread = PyLong_AsUnsignedLong(ident);
    Py_XDECREF(ident);
    Py_XDECREF(thread);
    Py_XDECREF(threading);
    return PyErr_Occurred() ? -1 : 0;
}

unsigned unlocked_handlers(void)
{
    return handlers;
}

static bool is_interrupted(void *context, const histo_progress *progress)
{
    unlocked *call = context;
    (void)progress;
    PyEval_RestoreThread(call->thread);
    handlers++;
    call->interrupted = PyErr_CheckSignals() < 0;
    handlers--;
    call->thread = PyEval_SaveThread();
    if (!call->interrupted) histo_set_monitor(is_interrupted, call); /* calls of the handler have had their own */
    return call->interrupted;
}

void unlocked_begin(unlocked *call)
{
    call->interrupted = false;
    call->thread = PyEval_SaveThread();
    if (PyThread_get_thread_ident() == main_thread) histo_set_monitor(is_interrupted, call);
}

histo_status unlocked_end(unlocked *call, histo_status status)
{
    histo_set_monitor(NULL, NULL);
    PyEval_RestoreThread(call->thread);
    return call->interrupted ? HISTO_CANCELLED : status;
}
