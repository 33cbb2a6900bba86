/* The module's side: what the backend calls of the library is called by the library's table. */
#include <stdarg.h>
#include <stdio.h>

#include "cuda/module/build.h"
#include "cuda/module/module.h"
#include "plan/registry.h"

static const histo_core *core;

static void enter(const histo_core *its)
{
    __atomic_store_n(&core, its, __ATOMIC_RELEASE);
}

extern const histo_module histo_cuda_module;
__attribute__((visibility("default")))
const histo_module histo_cuda_module = {HISTO_BUILD, &histo_backend_cuda, histo_cuda_rows, enter};

static int cpu_threads(int wanted)
{
    return core->cpu->threads(wanted);
}

const histo_backend histo_backend_cpu = {.name = "cpu", .threads = cpu_threads};

#define CORE(result, name, parameters, arguments)                                                                      \
    result histo_##name parameters                                                                                     \
    {                                                                                                                  \
        return core->name arguments;                                                                                   \
    }
#include "cuda/module/core.def"
#undef CORE

histo_status histo_fail(histo_status status, const char *format, ...)
{
    char sentence[512];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return core->fail(status, "%s", sentence);
}
