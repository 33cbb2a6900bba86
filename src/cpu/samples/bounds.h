/* Converts a range of doubles to a range of a dtype's values. */
#ifndef CPU_BOUNDS_H
#define CPU_BOUNDS_H

#include "cpu/kernels/filters.h"

histo_bounds histo_bounds_of(histo_dtype dtype, double lo, double hi);

#endif
