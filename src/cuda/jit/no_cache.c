/* The kernel cache of a build that compiles no kernels: nothing is kept. */
#include <histo/histo.h>

#include "base/error.h"

histo_status histo_kernel_cache(const char *path)
{
    if (path && !*path) return histo_fail(HISTO_INVALID, "the directory of the kernel cache is empty: name one");
    return HISTO_OK;
}
