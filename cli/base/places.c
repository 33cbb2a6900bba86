#include "base/places.h"

#include <stdio.h>
#include <stdlib.h>

bool places_find(const char *variable, const char *fallback, const char *name, char path[PATH_MAX])
{
    const char *base = getenv(variable), *home = getenv("HOME");
    int length = 0;
    if (base && *base == '/')
        length = snprintf(path, PATH_MAX, "%s/%s", base, name);
    else if (home && *home)
        length = snprintf(path, PATH_MAX, "%s/%s/%s", home, fallback, name);
    return length > 0 && length < PATH_MAX;
}
