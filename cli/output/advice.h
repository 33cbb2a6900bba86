/* What a result suggests to do next. */
#ifndef CLI_ADVICE_H
#define CLI_ADVICE_H

#include "count/result.h"
#include "options/settings.h"

/* A note if nearly all samples are in one of the bins that were found. */
void advise_on_bins(const settings *s, const result *r);

#endif
