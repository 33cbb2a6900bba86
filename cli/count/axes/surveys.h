/* Bins that shards agree on: each surveys its part of the samples, what all have found is merged, and that is where the
 * next pass begins, or counting. survey_file.h describes the files. */
#ifndef CLI_SURVEYS_H
#define CLI_SURVEYS_H

#include "count/run.h"

/* Survey the shard of s, in the pass after that of s->agreed, and write what was found. */
int surveys_make(const settings *s, FILE *out, fault *f);

/* Merge the surveys of all shards. *again: another pass is needed; else the bins are printed, a line for each axis. */
int surveys_merge(const char *const *files, int count, FILE *out, FILE *bins, bool *again, fault *f);

/* Take the axes that all shards agree on into the searches of r. */
int surveys_load(run *r, fault *f);

#endif
