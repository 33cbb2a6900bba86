/* Counting a shard of a run, and runs that go on after they were killed. */
#ifndef CLI_CHECKPOINT_H
#define CLI_CHECKPOINT_H

#include "count/count.h"

/* Count what s describes into r, as count_files does: with --shard, as a shard, and with --checkpoint from where the
 * checkpoint is on, which is written again and again. */
int checkpoint_count(const settings *s, moments_kind moments, result *r, fault *f);

/* The result is written: the checkpoint is not needed any more. */
void checkpoint_remove(const settings *s);

#endif
