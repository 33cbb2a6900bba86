/* The type Map, under the class Map of maps.py. */
#ifndef PYTHON_MAP_H
#define PYTHON_MAP_H

#include "state/state.h"

/* Add the type to the module; -1 with an exception. */
int map_add(PyObject *module);

#endif
