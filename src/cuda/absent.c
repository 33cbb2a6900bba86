/* The CUDA backend of a build without CUDA: its strategies are listed, and it says why it cannot run them. */
#include "plan/strategy.h"

static const char *unavailable(void)
{
    return "this build has no CUDA, because nvcc was not found or HISTO_CUDA was OFF";
}

const histo_backend histo_backend_cuda = {.name = "cuda", .unavailable = unavailable};
