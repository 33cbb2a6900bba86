/* A pass in which every thread reads parts of the files by itself, and counts them in histograms of its own. Decoding,
 * parsing and copying are thus done by all threads, and samples are counted while they are in the cache of the thread
 * that read them. The parts are shards of shards (shards/division.h). Rows of text are guessed to begin after a
 * newline; if a quoted newline misleads, the rows of the part before end elsewhere, and one thread counts everything
 * again. */
#ifndef CLI_PARTS_H
#define CLI_PARTS_H

#include "count/run.h"

/* Whether that is possible, and pays off. The run has its series, and the CPU counts. */
bool parts_suit(const run *r);

/* pass->enter and pass->take are called with runs of their own. The first failure in file order is reported, and so is
 * what was left out of the files. */
int parts_visit(run *r, const feed_visitor *pass, fault *f);

#endif
