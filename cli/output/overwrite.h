/* An output file must not take the place of what is read to make it. */
#ifndef CLI_OVERWRITE_H
#define CLI_OVERWRITE_H

#include "options/settings.h"

/* Refuse -o where it is the same file as an input, the mask, a file of edges or the wisdom. 0 or -1. */
int overwrite_refuse(const settings *s, fault *f);

#endif
