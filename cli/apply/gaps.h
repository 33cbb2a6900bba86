/* Pixels without a value in a job's result: they keep what is stored, the result marks them as missing, and other
 * pixels do not become the nodata value. */
#ifndef CLI_GAPS_H
#define CLI_GAPS_H

#include "apply/job.h"

/* The nodata value in a result of another dtype: false if there is none, or that dtype cannot represent it. */
bool gaps_nodata(const metadata *about, histo_dtype from, histo_dtype to, unsigned char nodata[8]);

/* Call after the tones of a band are mapped to j->rows. */
int gaps_keep(job *j, const band *b, fault *f);

/* Print a note of missing values that the result's format cannot mark. */
void gaps_remark(const job *j, const char *format);

#endif
