/* What the files of this room add to the module; -1 with an exception. */
#ifndef PYTHON_FUNCTIONS_H
#define PYTHON_FUNCTIONS_H

#include "state/state.h"

int functions_add(PyObject *module);
int primitives_add(PyObject *module);
int quantiles_add(PyObject *module);
int thresholds_add(PyObject *module);
int groups_add(PyObject *module);
int surveys_add(PyObject *module);

#endif
