/* The reference of `histo match`: another image or saved histograms. */
#ifndef CLI_REFERENCE_H
#define CLI_REFERENCE_H

#include "apply/ranks.h"
#include "count/result.h"

typedef struct reference {
    const char *path;
    job image;     /* counted, unless the histograms are saved */
    result saved;  /* count 0: an image */
    bool ranked;   /* the samples of both are ranked, without bins */
    curve *curves; /* in that case, the curves of the reference */
} reference;

/* Read and count it for the tables of a job. reference_close frees it, also on failure. */
int reference_open(reference *r, const job *for_job, const char *path, const char *mask_path, fault *f);
void reference_close(reference *r);

/* The histogram for a table: its own, or the only one; and the curve, if samples are ranked. */
const histo_hist *reference_hist(const reference *r, int t);
const curve *reference_curve(const reference *r, int t);

#endif
