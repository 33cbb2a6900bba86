#define _GNU_SOURCE
#include "base/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/process/process.h"

enum { PATH_ROOM = 2 * PATH_MAX };

/* The directory includes the version: after an upgrade, a running program must not load the modules of another. */
static void find_path(const char *module, char path[PATH_ROOM])
{
    char directory[PATH_MAX];
    if (!process_directory(directory)) directory[0] = '\0';
    snprintf(path, PATH_ROOM, "%s" HISTO_MODULES "/%s.so", directory, module);
}

bool module_is_there(const char *module)
{
    char path[PATH_ROOM];
    find_path(module, path);
    return access(path, R_OK) == 0;
}

void *module_symbol(const char *module, const char *name, const char *what, fault *f)
{
    char path[PATH_ROOM];
    find_path(module, path);
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL); /* never closed: libraries do not expect to be unloaded */
    void *symbol = library ? dlsym(library, name) : NULL;
    if (!symbol)
        fault_set(f, EXIT_DATA, "%s needs histo's module '%s', which cannot be loaded (%s): install histo again", what,
                  module, dlerror());
    return symbol;
}
