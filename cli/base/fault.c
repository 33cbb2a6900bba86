/* Recording the first failure as a message for the user. */
#include "base/fault.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

int fault_set(fault *f, int status, const char *format, ...)
{
    if (f->status != EXIT_OK) return -1;
    f->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->text, sizeof f->text, format, arguments);
    va_end(arguments);
    text_make_printable(f->text);
    return -1;
}
