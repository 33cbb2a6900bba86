/* The state of the extension module, and errors: what all rooms of it need. */
#ifndef PYTHON_STATE_H
#define PYTHON_STATE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <histo/histo.h>
#include <stdatomic.h>

/* Attributes that are looked for in every unknown object. Their names are made once: Python caches lookups by the
 * address of the name, and keeps it. */
typedef enum attribute_name {
    CUDA_ARRAY_INTERFACE,
    DLPACK_DEVICE,
    DLPACK_EXCHANGE_API,
    IS_CUDA,
    ATTRIBUTES
} attribute_name;

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

bool has_attribute(PyObject *module, PyObject *object, attribute_name which);

/* The module, borrowed, that defines a type or the first of its bases that has one. */
PyObject *module_of_type(PyTypeObject *type);

/* The module histo.functions or, for samples in the memory of a GPU, histo.devices, borrowed; imported by the first
 * call. NULL with an exception. */
PyObject *python_module(PyObject *module, bool on_gpu);

/* Raise the Python exception for the last failure of the library on this thread: HISTO_INVALID becomes ValueError,
 * HISTO_NO_MEMORY MemoryError, HISTO_IO OSError, HISTO_CORRUPT ValueError, HISTO_UNSUPPORTED NotImplementedError, all
 * else RuntimeError; of HISTO_CANCELLED there is an exception. Returns NULL. */
PyObject *raise_status(histo_status status);

/* None, or the exception for a status. */
PyObject *none_if_ok(histo_status status);

#endif
