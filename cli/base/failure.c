/* Failures as sentences. */
#include "base/failure.h"

#include <histo/histo.h>
#include <stdio.h>

#include "output/terminal/progress.h"

int fault_of_library(fault *f, int status, const char *subject)
{
    return fault_set(f, status, "%s: %s", subject, histo_last_error());
}

int fault_of_wisdom(fault *f)
{
    return fault_set(f, EXIT_DATA, "%s (choose another file with --wisdom)", histo_last_error());
}

int fault_report(const fault *f)
{
    progress_end();
    fprintf(stderr, "histo: %s\n", f->text);
    return f->status;
}
