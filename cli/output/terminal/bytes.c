/* Bars of the bytes that occur, called by their characters, in as many columns as it takes to fit the window. */
#include <string.h>

#include "output/terminal/terminal.h"

enum { LABEL = 5, NARROWEST_COLUMN = 20, GAP = 2 };

void terminal_bytes(const screen *to, const table *t, int rows, bool log)
{
    int bytes[256], count = 0, value_width = 1;
    char text[TEXT_NUMBER_BYTES];
    scale s = {.log = log};
    for (int64_t b = 0; b < t->bins[0]; b++) {
        uint64_t value = t->counts[b + 1];
        if (!value) continue;
        bytes[count++] = (int)b;
        scale_add(&s, (double)value);
        int width = (int)strlen(text_count(value, text));
        if (width > value_width) value_width = width;
    }
    int most = (to->columns - 1) / (NARROWEST_COLUMN + value_width - 4), columns = 1;
    if (rows < 1) rows = 1;
    while (columns < most && (count + columns - 1) / columns > rows)
        columns++;
    int height = (count + columns - 1) / columns;
    int bar = (to->columns - 1 + GAP) / columns - GAP - LABEL - 2 - value_width;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < columns && x * height + y < count; x++) {
            int64_t bin = bytes[x * height + y];
            uint64_t value = t->counts[bin + 1];
            if (x) fprintf(to->out, "%*s", GAP, "");
            screen_text(to, label_of_byte((int)t->edges[0][bin], text), -LABEL);
            putc(' ', to->out);
            screen_style(to, style_of_tone(TONE_NONE));
            screen_bar(to, scale_of(&s, (double)value), bar > 1 ? bar : 1);
            screen_plain(to);
            screen_text(to, text_count(value, text), -value_width - 1);
        }
        putc('\n', to->out);
    }
    if (count < t->bins[0])
        fprintf(to->out, "%lld of the %lld bytes do not occur%s", (long long)(t->bins[0] - count),
                (long long)t->bins[0], log ? "; " : "\n");
    if (log) fputs("bars are logarithmic\n", to->out);
}
