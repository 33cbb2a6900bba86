#include "state/state.h"

module_state *state_of_module(PyObject *module)
{
    return PyModule_GetState(module);
}

bool has_attribute(PyObject *module, PyObject *object, attribute_name which)
{
    return PyObject_HasAttr(object, state_of_module(module)->attributes[which]);
}

PyObject *module_of_type(PyTypeObject *type)
{
    PyObject *module = NULL;
    for (; type && !module; type = PyType_GetSlot(type, Py_tp_base)) {
        module = PyType_GetModule(type);
        if (!module) PyErr_Clear();
    }
    return module;
}

PyObject *python_module(PyObject *module, bool on_gpu)
{
    module_state *state = state_of_module(module);
    _Atomic(PyObject *) *place = on_gpu ? &state->devices : &state->functions;
    PyObject *functions = *place;
    if (!functions) {
        PyObject *imported = PyImport_ImportModule(on_gpu ? "histo.devices" : "histo.functions");
        if (!imported) return NULL;
        if (atomic_compare_exchange_strong(place, &functions, imported))
            functions = imported;
        else
            Py_DECREF(imported); /* another thread has imported it meanwhile */
    }
    return functions;
}

PyObject *raise_status(histo_status status)
{
    PyObject *exception = status == HISTO_NO_MEMORY                            ? PyExc_MemoryError
                          : status == HISTO_IO                                 ? PyExc_OSError
                          : status == HISTO_INVALID || status == HISTO_CORRUPT ? PyExc_ValueError
                          : status == HISTO_UNSUPPORTED                        ? PyExc_NotImplementedError
                                                                               : PyExc_RuntimeError;
    if (status == HISTO_CANCELLED && PyErr_Occurred()) return NULL; /* what the handler of a signal raised */
    PyErr_SetString(exception, histo_last_error());
    return NULL;
}

PyObject *none_if_ok(histo_status status)
{
    return status == HISTO_OK ? Py_NewRef(Py_None) : raise_status(status);
}
