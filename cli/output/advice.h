/* Suggestions that follow from a result. */
#ifndef CLI_ADVICE_H
#define CLI_ADVICE_H

#include "count/result.h"
#include "options/settings.h"

/* Print a note if nearly all samples are in one of the default bins. */
void advise_on_bins(const settings *s, const result *r);

#endif
