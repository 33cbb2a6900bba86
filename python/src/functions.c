/* Functions of the module. */
#include "module.h"

static PyObject *version(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(histo_version());
}

static PyMethodDef functions[] = {
    {"version", version, METH_NOARGS, "version()\n--\n\nThe version of libhisto."},
    {0},
};

int functions_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
