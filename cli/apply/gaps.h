/* Pixels without a value in the result of a job: they keep what is stored, the result says that they have none, and
 * others do not become what stands for none. */
#ifndef CLI_GAPS_H
#define CLI_GAPS_H

#include "apply/job.h"

/* The value that stands for none in a result of another dtype: false if there is none, or that dtype does not have it.
 */
bool gaps_nodata(const metadata *about, histo_dtype from, histo_dtype to, unsigned char nodata[8]);

/* After the tones of a band are mapped to j->rows. */
int gaps_keep(job *j, const band *b, fault *f);

/* Say what the result's format cannot. */
void gaps_remark(const job *j, const char *format);

#endif
