/* Merging shards of a run with --by; each shard has only its own samples' groups. */
#ifndef CLI_MERGE_GROUPS_H
#define CLI_MERGE_GROUPS_H

#include "count/result.h"

/* Whether the result is one or more shards of such a run. */
bool result_has_groups(const result *r);
/* Move the groups that only `more` has into the sum. */
int merge_groups_take(result *sum, result *more, fault *f);
/* Once all are merged: drop groups without samples, and order the others as counting does. */
int merge_groups_order(result *r, fault *f);

#endif
