/* What this room adds to the module; -1 with an exception. */
#ifndef PYTHON_BOOSTING_H
#define PYTHON_BOOSTING_H

#include "state/state.h"

int boosting_add(PyObject *module);

#endif
