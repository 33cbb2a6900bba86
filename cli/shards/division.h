/* Files divided into shards: every sample is in exactly one of N shards, which can be counted by processes that know
 * nothing of each other.
 *
 * The concatenation of the files is cut into N parts of equally many bytes. In a file that can be read in parts, such
 * as the pixels of an array, unit u of `units` is taken to begin at byte u / units of its size, and belongs to the part
 * with that byte. Other files belong to the part with their first byte. */
#ifndef CLI_DIVISION_H
#define CLI_DIVISION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

typedef struct division {
    int64_t shards; /* 0: undivided */
    int files;
    int64_t *begins; /* [files + 1] in bytes, the last one the total */
} division;

/* Get the sizes of the files, which must be regular. Call division_free afterwards, also on failure. */
int division_make(division *d, const char *const *files, int count, int64_t shards, fault *f);
void division_free(division *d);

typedef struct unit_range {
    int64_t first, end;
} unit_range;

/* The files that have bytes in the shard, from 0: first … end - 1. */
unit_range division_files(const division *d, int64_t shard);
/* The units of the file that are in the shard. */
unit_range division_units(const division *d, int64_t shard, int file, int64_t units);

#endif
