/* What every example does with a status: stop with the library's sentence if the call failed. */
#ifndef MUST_H
#define MUST_H

#include <histo/histo.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must(histo_status status)
{
    if (status == HISTO_OK) return;
    fprintf(stderr, "%s\n", histo_last_error());
    exit(EXIT_FAILURE);
}

#endif
