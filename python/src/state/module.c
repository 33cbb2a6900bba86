/* The module histo._histo. */
#include "state/module.h"

#include "state/arguments.h"

static struct PyModuleDef definition;

module_state *state_of_module(PyObject *module)
{
    return PyModule_GetState(module);
}

static int attributes_intern(module_state *state)
{
    static const char *const names[] = {
        [CUDA_ARRAY_INTERFACE] = "__cuda_array_interface__",
        [DLPACK_DEVICE] = "__dlpack_device__",
        [DLPACK_EXCHANGE_API] = "__dlpack_c_exchange_api__",
        [IS_CUDA] = "is_cuda",
    };
    for (int i = 0; i < ATTRIBUTES; i++) {
        state->attributes[i] = PyUnicode_InternFromString(names[i]);
        if (!state->attributes[i]) return -1;
    }
    return 0;
}

bool has_attribute(PyObject *module, PyObject *object, attribute which)
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

PyObject *raise_status(histo_status status)
{
    PyObject *exception = status == HISTO_NO_MEMORY                            ? PyExc_MemoryError
                          : status == HISTO_IO                                 ? PyExc_OSError
                          : status == HISTO_INVALID || status == HISTO_CORRUPT ? PyExc_ValueError
                          : status == HISTO_UNSUPPORTED                        ? PyExc_NotImplementedError
                                                                               : PyExc_RuntimeError;
    PyErr_SetString(exception, histo_last_error());
    return NULL;
}

static int exec(PyObject *module)
{
    return arguments_intern(state_of_module(module)) == 0 && attributes_intern(state_of_module(module)) == 0 &&
                   hist_add(module) == 0 && map_add(module) == 0 && quantiles_add(module) == 0 &&
                   counting_add(module) == 0 && functions_add(module) == 0
               ? 0
               : -1;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    Py_VISIT(state_of_module(module)->hist_type);
    Py_VISIT(state_of_module(module)->functions);
    Py_VISIT(state_of_module(module)->devices);
    return 0;
}

static int clear(PyObject *module)
{
    module_state *state = state_of_module(module);
    Py_CLEAR(state->hist_type);
    Py_XDECREF(atomic_exchange(&state->functions, NULL));
    Py_XDECREF(atomic_exchange(&state->devices, NULL));
    for (int i = 0; i < ATTRIBUTES; i++)
        Py_CLEAR(state->attributes[i]);
    for (int s = 0; s < SIGNATURES; s++)
        for (int i = 0; i < MAX_ARGUMENTS; i++)
            Py_CLEAR(state->names[s][i]);
    return 0;
}

static void drop(void *module)
{
    clear(module);
}

/* Slots that Python 3.12 and 3.13 have added, of which 3.11, whose limited API this is, would refuse to know: the
 * module may be imported by interpreters that have a GIL of their own, or none. */
enum { MULTIPLE_INTERPRETERS = 3, GIL = 4, SINCE_3_12 = 0x030C0000, SINCE_3_13 = 0x030D0000 };
static void *const per_interpreter_gil = (void *)2, *const gil_not_used = (void *)1;

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)exec}, {0}, {0}, {0}};

static void add_slots_of_version(unsigned long version)
{
    if (version >= SINCE_3_12) slots[1] = (PyModuleDef_Slot){MULTIPLE_INTERPRETERS, per_interpreter_gil};
    if (version >= SINCE_3_13) slots[2] = (PyModuleDef_Slot){GIL, gil_not_used};
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "histo._histo", .m_size = sizeof(module_state),
    .m_slots = slots,      .m_traverse = traverse,   .m_clear = clear,
    .m_free = drop,
};

PyMODINIT_FUNC PyInit__histo(void);
PyMODINIT_FUNC PyInit__histo(void)
{
    add_slots_of_version(Py_Version);
    return PyModuleDef_Init(&definition);
}
