/* Widths of text in terminal columns: wide characters take two, combining ones none. */
#define _GNU_SOURCE
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"
#include "output/terminal/terminal.h"

/* A character of text: its size and columns. A byte that is not UTF-8 takes one column. */
typedef struct glyph {
    int bytes, columns;
    bool shown; /* printable as it is: neither a control character nor broken, and without effect on the direction */
} glyph;

/* Widths are those of UTF-8, whatever the locale. */
static locale_t utf8_locale(void)
{
    static locale_t made;
    if (!made) made = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    return made;
}

/* `left`: remaining bytes of text. */
static glyph decode(const char *text, size_t left)
{
    const unsigned char first = (unsigned char)*text;
    if (first < 0x80) return (glyph){1, 1, first >= ' ' && first != 0x7f};
    if (text_turns(text)) return (glyph){(int)text_character_bytes(text), 1, false};
    const locale_t utf8 = utf8_locale();
    if (!utf8) return (glyph){1, (first & 0xc0) != 0x80, true};
    mbstate_t state = {0};
    wchar_t wide = 0;
    const locale_t before = uselocale(utf8);
    const size_t bytes = mbrtowc(&wide, text, left, &state);
    const int columns = bytes && bytes <= left ? wcwidth(wide) : -1;
    uselocale(before);
    if (!bytes || bytes > left) return (glyph){1, 1, false};
    return columns < 0 ? (glyph){(int)bytes, 1, false} : (glyph){(int)bytes, columns, true};
}

int text_columns(const char *text)
{
    int columns = 0;
    for (size_t left = strlen(text); left;) {
        const glyph next = decode(text, left);
        columns += next.columns;
        text += next.bytes;
        left -= (size_t)next.bytes;
    }
    return columns;
}

void screen_text(const screen *to, const char *text, int width)
{
    const int room = abs(width), columns = text_columns(text);
    const bool cut = columns > room;
    if (width < 0 && !cut) fprintf(to->out, "%*s", room - columns, "");
    int shown = 0;
    for (size_t left = strlen(text); left && shown < room;) {
        const glyph next = decode(text, left);
        if (cut && shown + next.columns > room - 1) break;
        if (next.shown && (next.bytes == 1 || !to->ascii))
            fwrite(text, 1, (size_t)next.bytes, to->out);
        else
            fprintf(to->out, "%.*s", next.columns, "??");
        shown += next.columns;
        text += next.bytes;
        left -= (size_t)next.bytes;
    }
    if (cut && room) {
        fputs(to->signs->cut, to->out);
        shown++;
    }
    if (width > 0 || cut) fprintf(to->out, "%*s", room - shown, "");
}
