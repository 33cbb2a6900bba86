/* The extension module: its state, and errors. */
#ifndef PYTHON_MODULE_H
#define PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <histo/histo.h>
#include <stdatomic.h>

/* Attributes that are looked for in every unknown object. Their names are made once: Python caches lookups by the
 * address of the name, and keeps it. */
typedef enum attribute { CUDA_ARRAY_INTERFACE, DLPACK_DEVICE, DLPACK_EXCHANGE_API, IS_CUDA, ATTRIBUTES } attribute;

/* One for each interpreter. */
typedef struct module_state {
    PyTypeObject *hist_type;
    atomic_bool has_numpy;                  /* NumPy's API may be used */
    _Atomic(PyObject *) functions, devices; /* the modules histo.functions and histo.devices, once they were needed */
    PyObject *names[5][16];                 /* of arguments: see arguments.h */
    PyObject *attributes[ATTRIBUTES];
} module_state;

/* The state of the module whose method got `module` as self. */
module_state *state_of_module(PyObject *module);

bool has_attribute(PyObject *module, PyObject *object, attribute which);

/* The module, borrowed, that defines a type or the first of its bases that has one. */
PyObject *module_of_type(PyTypeObject *type);

/* Raise the Python exception for the last failure of the library on this thread: HISTO_INVALID becomes ValueError,
 * HISTO_NO_MEMORY MemoryError, HISTO_IO OSError, HISTO_CORRUPT ValueError, HISTO_UNSUPPORTED NotImplementedError, all
 * else RuntimeError. Returns NULL. */
PyObject *raise_status(histo_status status);

/* Add what a file defines to the module; -1 with an exception. */
int hist_add(PyObject *module);
int map_add(PyObject *module);
int quantiles_add(PyObject *module);
int counting_add(PyObject *module);
int functions_add(PyObject *module);

#endif
