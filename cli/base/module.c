#define _GNU_SOURCE
#include "base/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>

#include "base/process.h"

void *module_symbol(const char *module, const char *name, const char *what, fault *f)
{
    char directory[PATH_MAX], path[2 * PATH_MAX];
    if (!process_directory(directory)) directory[0] = '\0';
    /* A directory of this version: after an upgrade, a running program does not load the modules of another. */
    snprintf(path, sizeof path, "%s" HISTO_MODULES "/%s.so", directory, module);
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL); /* it remains: libraries do not expect to be unloaded */
    void *symbol = library ? dlsym(library, name) : NULL;
    if (!symbol)
        fault_set(f, EXIT_DATA, "%s needs histo's module '%s', which cannot be loaded (%s): install histo again", what,
                  module, dlerror());
    return symbol;
}
