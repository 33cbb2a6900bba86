/* A pass in which every thread reads parts of the files by itself, and counts them in histograms of its own. So what
 * one thread would do for all, decoding, parsing and copying, is done by all of them, and samples are counted while
 * they are in the cache of the thread that read them. The parts are shards of shards (shards/division.h). Rows of text
 * are guessed to begin after a newline; where a quoted one misleads, the rows before end elsewhere, and one thread
 * counts all again. */
#ifndef CLI_PARTS_H
#define CLI_PARTS_H

#include "count/run.h"

/* Whether it is possible, and worth it. The run has its series, and the CPU counts. */
bool parts_suit(const run *r);

/* pass->enter and pass->take get runs of their own. The first failure in the order of the files is reported, and what
 * was left out of them is said. */
int parts_visit(run *r, const feed_visitor *pass, fault *f);

#endif
