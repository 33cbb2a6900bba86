/* Bins that shards agree on: each surveys its part of the samples; their findings are merged, and the next pass, or
 * counting, starts from there. survey_file.h describes the files. */
#ifndef CLI_SURVEYS_H
#define CLI_SURVEYS_H

#include "count/run.h"

/* Survey the shard of s, in the pass after that of s->agreed, and write the findings. */
int surveys_make(const settings *s, FILE *out, fault *f);

/* Merge the surveys of all shards. *again: another pass is needed; otherwise the bins are printed, one line per
 * axis. */
int surveys_merge(const char *const *files, int count, FILE *out, FILE *bins, bool *again, fault *f);

/* Take the axes that all shards agree on into the searches of r. */
int surveys_load(run *r, fault *f);

#endif
