/* The type Map, under the class Map of maps.py, and images that are mapped by their own histograms. */
#ifndef PYTHON_MAP_H
#define PYTHON_MAP_H

#include "state/state.h"

/* Add the type, or the function, to the module; -1 with an exception. */
int map_add(PyObject *module);
int remap_add(PyObject *module);

/* The tiles of two tuples, of numbers and of sizes; -1 with an exception. */
int map_take_tiles(histo_tiles *tiles, PyObject *counts, PyObject *sizes);

/* -1 with ValueError if results would be written to memory of other samples than the one that each is the result of. */
int map_check_overlap(const histo_view *samples, const histo_view *out);

#endif
