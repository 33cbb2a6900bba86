#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char last_error[512];

const char *histo_last_error(void)
{
    return last_error;
}

histo_status histo_fail(histo_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last_error, sizeof last_error, format, args);
    va_end(args);
    return status;
}

histo_status histo_fail_memory(size_t bytes, const char *what)
{
    return histo_fail(HISTO_NO_MEMORY, "out of memory: %zu bytes for %s", bytes, what);
}

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

const char *histo_version(void)
{
    return STRING(HISTO_VERSION_MAJOR) "." STRING(HISTO_VERSION_MINOR) "." STRING(HISTO_VERSION_PATCH);
}

void histo_free(void *memory)
{
    free(memory);
}
