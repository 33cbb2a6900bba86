#include "base/text_builder.h"

#include <stdarg.h>
#include <stdio.h>

void histo_text_add(histo_text *text, const char *format, ...)
{
    size_t used = text->length < text->capacity ? text->length : text->capacity;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text->capacity ? text->out + used : NULL, text->capacity - used, format, args);
    va_end(args);
    if (n > 0) text->length += (size_t)n;
}
