#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char last_error[2048]; /* long enough for a compiler's messages about the source of a record
                                             * function */

const char *histo_status_name(histo_status status)
{
    static const char *const names[] = {
        [HISTO_OK] = "HISTO_OK",
        [HISTO_INVALID] = "HISTO_INVALID",
        [HISTO_NO_MEMORY] = "HISTO_NO_MEMORY",
        [HISTO_UNSUPPORTED] = "HISTO_UNSUPPORTED",
        [HISTO_IO] = "HISTO_IO",
        [HISTO_CORRUPT] = "HISTO_CORRUPT",
        [HISTO_DEVICE] = "HISTO_DEVICE",
        [HISTO_CANCELLED] = "HISTO_CANCELLED",
    };
    return status < sizeof names / sizeof *names ? names[status] : NULL;
}

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

histo_status histo_set_error(histo_status status, const char *sentence)
{
    return status == HISTO_OK ? HISTO_OK : histo_fail(status, "%s", sentence ? sentence : "");
}

histo_status histo_fail_file(const char *what, const char *path, int error)
{
    return histo_fail(error == ENOMEM ? HISTO_NO_MEMORY : HISTO_IO, "%s %s: %s", what, path, strerror(error));
}

histo_status histo_fail_reserved(const char *name)
{
    return histo_fail(HISTO_INVALID,
                      "reserved bytes of %s are not zero: they were not initialised, or ask for what version %s of the "
                      "library does not know",
                      name, histo_version());
}

enum { BYTES_TEXT = 32 };

/* "17.2 GB" */
static void write_bytes(size_t bytes, char text[BYTES_TEXT])
{
    static const char units[] = "kMGTPE";
    double value = (double)bytes;
    int unit = -1;
    for (; value >= 1000 && unit + 1 < (int)sizeof units - 1; unit++)
        value /= 1000;
    if (unit < 0)
        snprintf(text, BYTES_TEXT, "%zu bytes", bytes);
    else
        snprintf(text, BYTES_TEXT, "%.3g %cB", value, units[unit]);
}

histo_status histo_fail_memory(size_t bytes, const char *what)
{
    char wanted[BYTES_TEXT], left[BYTES_TEXT];
    const size_t available = histo_memory_available();
    write_bytes(bytes, wanted);
    write_bytes(available, left);
    return histo_fail(HISTO_NO_MEMORY, "out of memory: %s for %s%s%s%s: use fewer bins or free memory", wanted, what,
                      available < SIZE_MAX ? ", and " : "", available < SIZE_MAX ? left : "",
                      available < SIZE_MAX ? " available" : "");
}

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

const char *histo_version(void)
{
    return STRING(HISTO_VERSION_MAJOR) "." STRING(HISTO_VERSION_MINOR) "." STRING(HISTO_VERSION_PATCH);
}
