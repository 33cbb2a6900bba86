/* The module histo._histo. */
#include "boosting/boosting.h"
#include "functions/arguments.h"
#include "functions/functions.h"
#include "hist/hist.h"
#include "maps/map.h"
#include "state/unlocked.h"

static struct PyModuleDef definition;

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

/* The library's constants, by their names without HISTO_, and those of Hist._read. */
static int constants_add(PyObject *module)
{
    static const struct {
        const char *name;
        long long value;
    } constants[] = {
        {"INTEGER", HISTO_INTEGER},
        {"REGULAR", HISTO_REGULAR},
        {"VARIABLE", HISTO_VARIABLE},
        {"LOG", HISTO_LOG},
        {"SQRT", HISTO_SQRT},
        {"POWER", HISTO_POWER},
        {"UNWEIGHTED", HISTO_UNWEIGHTED},
        {"WEIGHT_FAST", HISTO_WEIGHT_FAST},
        {"WEIGHT_REPRODUCIBLE", HISTO_WEIGHT_REPRODUCIBLE},
        {"WEIGHT_FAST_SUM", HISTO_WEIGHT_FAST_SUM},
        {"WEIGHT_REPRODUCIBLE_SUM", HISTO_WEIGHT_REPRODUCIBLE_SUM},
        {"DENSE", HISTO_DENSE},
        {"SPARSE", HISTO_SPARSE},
        {"JSON", HISTO_JSON},
        {"BINARY", HISTO_BINARY},
        {"MAP_STEP", HISTO_MAP_STEP},
        {"MAP_LINEAR", HISTO_MAP_LINEAR},
        {"DEVICE_AUTO", HISTO_DEVICE_AUTO},
        {"DEVICE_CPU", HISTO_DEVICE_CPU},
        {"DEVICE_CUDA", HISTO_DEVICE_CUDA(0)},
        {"DEVICE_CUDA_ALL", HISTO_DEVICE_CUDA_ALL},
        {"MAX_BINS", HISTO_MAX_BINS},
        {"MAX_DIMS", HISTO_MAX_DIMS},
        {"NOWHERE", HISTO_NOWHERE},
        {"TAKING_NUMBERS", TAKING_NUMBERS},
        {"TAKING_BY_PYTHON", TAKING_BY_PYTHON},
        {"TAKING_MEANS", TAKING_MEANS},
        {"TAKING_EXACT_MEANS", TAKING_EXACT_MEANS},
        {"COUNTS", COUNTS},
        {"SUM_W", SUM_W},
        {"SUM_W2", SUM_W2},
    };
    int added = 0;
    for (size_t i = 0; i < sizeof constants / sizeof *constants && added == 0; i++) {
        PyObject *value = PyLong_FromLongLong(constants[i].value);
        added = value ? PyModule_AddObjectRef(module, constants[i].name, value) : -1;
        Py_XDECREF(value);
    }
    return added;
}

static int exec(PyObject *module)
{
    return unlocked_init() == 0 && constants_add(module) == 0 && arguments_intern(state_of_module(module)) == 0 &&
                   attributes_intern(state_of_module(module)) == 0 && hist_add(module) == 0 && map_add(module) == 0 &&
                   remap_add(module) == 0 && quantiles_add(module) == 0 && thresholds_add(module) == 0 &&
                   groups_add(module) == 0 && surveys_add(module) == 0 && primitives_add(module) == 0 &&
                   functions_add(module) == 0 && boosting_add(module) == 0
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
