#include "bench/core/json.h"

#include <stdarg.h>

static void put_quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ')
            fprintf(to, "\\u%04x", c);
        else
            fprintf(to, c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
    fputc('"', to);
}

/* What separates a value from the one before it, and its name. */
static void begin(json_writer *json, const char *name, const char *space)
{
    if (json->comma) fputc(',', json->to);
    if (json->comma || *space == '\n') fputs(space, json->to);
    if (name) put_quoted(json->to, name);
    if (name) fputs(": ", json->to);
    json->comma = true;
}

void json_open(json_writer *json, const char *name, char bracket)
{
    if (!json) return;
    begin(json, name, !name && bracket == '{' && json->depth > 0 ? "\n" : " ");
    json->depth++;
    fputc(bracket, json->to);
    json->comma = false;
}

void json_close(json_writer *json, char bracket)
{
    if (!json) return;
    fputc(bracket, json->to);
    if (--json->depth == 0) fputc('\n', json->to);
    json->comma = true;
}

void json_text(json_writer *json, const char *name, const char *text)
{
    if (!json) return;
    begin(json, name, " ");
    put_quoted(json->to, text);
}

void json_print(json_writer *json, const char *format, ...)
{
    if (!json) return;
    begin(json, NULL, " ");
    va_list arguments;
    va_start(arguments, format);
    vfprintf(json->to, format, arguments);
    va_end(arguments);
}
