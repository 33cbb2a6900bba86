/* Filling from Python: without the GIL, and so that Ctrl-C interrupts it. */
#ifndef PYTHON_FILL_H
#define PYTHON_FILL_H

#include "state/locked.h"

/* Fill as histo_plan_fill, with a plan by the options `plan` (NULL: as histo_hist_fill). Many samples are counted in
 * pieces, between which signals are handled; pieces of the same samples are always the same, so that sums are, too.
 * Releases the GIL where that pays. The lock of `owner`, if not NULL, is held while *hist is used, and free while
 * signals are handled. -1 with an exception, that of a signal handler for one; the histogram may then have counted some
 * of the samples. */
int fill(locked *owner, histo_hist *const *hist, int naxes, const histo_view *views, const histo_fill_options *options,
         const histo_plan_options *plan);

/* Likewise, as histo_hist_fill_chunks. */
int fill_chunks(locked *owner, histo_hist *const *hist, int naxes, int64_t count, const histo_fill_chunk *chunks,
                const histo_fill_options *options);

/* What is done with a part of the samples, without the GIL. */
typedef histo_status piece_work(void *state, const histo_view *views, const histo_fill_options *options);

/* Do so with all samples, in the pieces and with the lock of a fill; options may be NULL. -1 with an exception. */
int in_pieces(locked *owner, int naxes, const histo_view *views, const histo_fill_options *options, piece_work *work,
              void *state);

/* Whether work on so many samples takes long enough to let other threads run. */
bool releases_gil(int64_t samples);
/* Whether it takes so long that it is done in pieces. */
bool fills_in_pieces(int64_t samples);

#endif
