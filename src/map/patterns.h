/* All bit patterns of samples of one or two bytes. */
#ifndef MAP_PATTERNS_H
#define MAP_PATTERNS_H

#include "map/lookup.h"

/* The number of bit patterns, as unsigned numbers, that need an entry: all further ones equal the last. 0 unless there
 * is one axis with samples of one or two bytes. */
int histo_map_patterns(const histo_map_lookup *lookup);

/* The slots of n <= HISTO_BLOCK patterns from `first` on. */
void histo_map_find_patterns(const histo_map_lookup *lookup, int first, int n, histo_map_slots *slots);

#endif
