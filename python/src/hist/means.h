/* What fills add to a histogram of means: at once to its exact sums, or first to moments in double. */
#ifndef PYTHON_MEANS_H
#define PYTHON_MEANS_H

#include "state/state.h"

/* The moments of each slot that are not in the exact sums yet, and the memory that fills need. */
typedef struct means means;

/* Values of samples, of which there are fewer than 2^31. All memory is the caller's, on the host. */
typedef struct means_samples {
    int64_t n;
    const histo_view *views; /* of the histogram's axes, with one dimension of n */
    histo_view values;       /* HISTO_F64, likewise */
    histo_view weights;      /* HISTO_F64, likewise; data NULL: ones */
    histo_view mask;         /* HISTO_U8, likewise; data NULL: none */
    int threads;             /* that add to exact sums; 0: the default number */
} means_samples;

/* The samples from `begin` on, whose views of axes are views[naxes]. */
means_samples means_part(const means_samples *s, int naxes, int64_t begin, int64_t n, histo_view *views);

/* Add values to the batch of exact sums that a histogram of means is (see histo.statistics.means). exact: add the terms
 * of each sample. Else *kept, NULL at first, may get the moments of slots. */
histo_status means_fill(means **kept, histo_hist *h, const means_samples *s, bool exact);

/* Add the moments to the histogram's sums, and keep none. NULL has none. */
histo_status means_settle(means *kept, histo_hist *h);

/* Add the moments of other, which may be NULL, to *kept, which may be NULL, too. HISTO_INVALID if they have other
 * slots. */
histo_status means_merge(means **kept, const histo_hist *h, const means *other);

void means_destroy(means *kept);

#endif
