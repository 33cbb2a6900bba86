/* What a saved result is of: the run, which is files with their sizes and times and the options that say what is
 * counted; into how many shards it is divided; and which of them are in the result. Results whose runs differ must not
 * be added up, nor those that have a shard in common.
 *
 * In a file it is text:
 *
 *     shards 1-3,7 of 8
 *     at 2 4096 0 0             of a checkpoint: where counting goes on; what follows is up to
 * output/saved/checkpoint.c
 *     --column price            options …
 *     file 1234 1700000000.123456789 prices.csv */
#ifndef CLI_MANIFEST_H
#define CLI_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/fault.h"
#include "options/settings.h"

typedef struct shard_range {
    int64_t first, last; /* from 1 */
} shard_range;

typedef struct manifest {
    char *run;            /* lines of options and files */
    int64_t shards;       /* 1: undivided */
    shard_range *counted; /* [ranges], in order, not adjacent */
    int64_t ranges;
    char *place; /* for a checkpoint, after "at "; NULL: its shards are complete */
} manifest;

/* The manifest of the run that the settings describe, with its shard, for the files as they are now. NULL on
 * failure. */
manifest *manifest_make(const settings *s, fault *f);
void manifest_free(manifest *m);

void manifest_write(const manifest *m, FILE *out);
/* NULL on failure; path is for messages. */
manifest *manifest_read(const char *text, size_t size, const char *path, fault *f);

/* -1 with the first difference if the runs or their numbers of shards differ. Names are for the message. */
int manifest_compare(const manifest *m, const char *name, const manifest *other, const char *other_name, fault *f);
/* As manifest_compare, but the numbers of shards may differ. */
int manifest_compare_runs(const manifest *m, const char *name, const manifest *other, const char *other_name, fault *f);
/* The first shard that both have; 0: none. */
int64_t manifest_common(const manifest *m, const manifest *other);
/* Merge the shards of `other`, which must be disjoint. */
int manifest_merge(manifest *m, const manifest *other, fault *f);

/* Whether an option such as "--by" is one of the run's. */
bool manifest_has_option(const manifest *m, const char *option);
bool manifest_is_complete(const manifest *m);
/* "shard 2 of 8 is missing", "shards 2, 5-7 of 8 are missing". Returns text. */
char *manifest_missing(const manifest *m, char *text, size_t size);

#endif
