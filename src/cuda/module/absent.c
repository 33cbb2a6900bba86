/* The CUDA backend on systems for which there is none: its strategies are listed, and it says why it cannot run them.
 */
#include <stddef.h>

#include "base/error.h"
#include "plan/registry.h"

static const char *unavailable(void)
{
    return "there is no CUDA backend for this system";
}

const histo_backend histo_backend_cuda = {.name = "cuda", .unavailable = unavailable};

const histo_strategy *const *histo_cuda_strategies(void)
{
    return NULL;
}

histo_status histo_backend_load(const char *path)
{
    return histo_fail(HISTO_UNSUPPORTED, "'%s' cannot be loaded: %s", path ? path : "cuda", unavailable());
}
