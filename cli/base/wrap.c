/* Every UTF-8 character counts as one column. */
#include "base/wrap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

int wrap_columns(FILE *out)
{
    enum { FEWEST = 40, DEFAULT = 80, MAX = 100 };
    struct winsize size;
    const char *text = getenv("COLUMNS");
    int columns = ioctl(fileno(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : text ? atoi(text) : 0;
    if (columns <= 0) return DEFAULT;
    return columns < FEWEST ? FEWEST : columns > MAX ? MAX : columns;
}

static int width_of(const char *text, size_t bytes)
{
    int width = 0;
    for (size_t i = 0; i < bytes; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

void wrap_print(FILE *out, const char *text, int column, int indent, int columns)
{
    const char *between = ""; /* nothing before a line's first word */
    for (;;) {
        size_t bytes = strcspn(text, " \n");
        int width = width_of(text, bytes);
        if (*between && column + 1 + width > columns) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            between = "";
        }
        fprintf(out, "%s%.*s", between, (int)bytes, text);
        column += (int)strlen(between) + width;
        between = " ";
        text += bytes;
        if (!*text) break;
        if (*text++ == '\n') {
            fprintf(out, "\n%*s", *text ? indent : 0, "");
            if (!*text) return;
            column = indent;
            between = "";
        }
    }
    fputc('\n', out);
}
