#include "bench/core/json.h"

#include <string.h>

void json_text(FILE *to, const char *text, size_t length)
{
    fputc('"', to);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < ' ')
            fprintf(to, "\\u%04x", c);
        else
            fprintf(to, c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
    fputc('"', to);
}

void json_member(FILE *to, const char *before, const char *name, const char *text)
{
    fprintf(to, "%s\"%s\": ", before, name);
    json_text(to, text, strlen(text));
}
