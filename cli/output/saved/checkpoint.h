/* Counting a shard of a run, and resuming runs that were killed. */
#ifndef CLI_CHECKPOINT_H
#define CLI_CHECKPOINT_H

#include "count/count.h"

/* Count what s describes into r, as count_files does: with --shard, one shard; with --checkpoint, starting from the
 * checkpoint, which is rewritten regularly. */
int checkpoint_count(const settings *s, moments_kind moments, result *r, fault *f);

/* The result has been written, so the checkpoint is no longer needed. */
void checkpoint_remove(const settings *s);

#endif
