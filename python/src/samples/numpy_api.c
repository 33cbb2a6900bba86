#define PYTHON_NUMPY_API_IS_HERE
#include "samples/numpy_api.h"

#include "samples/describe.h"

int numpy_import(PyObject *module)
{
    module_state *state = state_of_module(module);
    if (state->has_numpy) return 0;
    if (_import_array() < 0) return -1;
    state->has_numpy = true;
    return 0;
}

bool numpy_seen(PyObject *module)
{
    if (state_of_module(module)->has_numpy) return true;
    PyObject *name = PyUnicode_FromString("numpy");
    PyObject *numpy = name ? PyImport_GetModule(name) : NULL;
    Py_XDECREF(name);
    const bool seen = numpy && numpy_import(module) == 0;
    Py_XDECREF(numpy);
    if (!seen) PyErr_Clear();
    return seen;
}

/* Types that other packages define: bfloat16 of ml_dtypes, which JAX and TensorFlow use, too. */
static bool user_dtype(PyArray_Descr *descr, histo_dtype *dtype)
{
    PyObject *name = PyType_GetName(descr->typeobj);
    const bool known = name && PyDataType_ELSIZE(descr) == 2 && PyUnicode_CompareWithASCIIString(name, "bfloat16") == 0;
    if (!name) PyErr_Clear();
    Py_XDECREF(name);
    *dtype = HISTO_BF16;
    return known;
}

bool numpy_dtype(PyArray_Descr *descr, histo_dtype *dtype)
{
    const int type = descr->type_num;
    switch (type) {
    case NPY_FLOAT64:
        *dtype = HISTO_F64;
        return true;
    case NPY_FLOAT32:
        *dtype = HISTO_F32;
        return true;
    case NPY_HALF:
        *dtype = HISTO_F16;
        return true;
    case NPY_BOOL:
        *dtype = HISTO_U8;
        return true;
    default:
        break;
    }
    if (PyTypeNum_ISUSERDEF(type)) return user_dtype(descr, dtype);
    if (!PyTypeNum_ISINTEGER(type)) return false;
    return describe_dtype(PyTypeNum_ISUNSIGNED(type) ? 'u' : 'i', PyDataType_ELSIZE(descr), dtype);
}
