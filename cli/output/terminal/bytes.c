/* Bars of the bytes or letters that occur, labelled by characters, in as many columns as necessary to fit the window.
 */
#include <string.h>

#include "output/scale.h"
#include "output/terminal/terminal.h"

enum { LABEL = 5, NARROWEST_COLUMN = 20, GAP = 2 };

void terminal_bytes(const screen *to, const table *t, int rows, count_scale kind)
{
    enum { BYTES = 256 };
    int bytes[BYTES], count = 0, value_width = 1;
    uint64_t values[BYTES];
    char text[TEXT_NUMBER_BYTES];
    scale s = {.kind = kind};
    int64_t slot;
    for (int64_t cell = -1; table_next(t, &cell, &slot);) {
        uint64_t value = t->counts[cell];
        if (!value || !table_is_bin(t, &slot)) continue;
        bytes[count] = (int)histo_axis_edge(&t->axes[0], slot - 1);
        values[count++] = value;
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
            int i = x * height + y;
            if (x) fprintf(to->out, "%*s", GAP, "");
            screen_text(to, label_of_byte(bytes[i], text), -LABEL);
            putc(' ', to->out);
            screen_style(to, "36");
            screen_bar(to, scale_of(&s, (double)values[i]), bar > 1 ? bar : 1);
            screen_plain(to);
            screen_text(to, text_count(values[i], text), -value_width - 1);
        }
        putc('\n', to->out);
    }
    if (count < t->bins[0])
        fprintf(to->out, "%lld of the %lld %s do not occur%s", (long long)(t->bins[0] - count), (long long)t->bins[0],
                t->axes[0].lo == 'A' && t->axes[0].hi == 'Z' + 1 ? "letters" : "bytes",
                *scale_name(kind) ? "; " : "\n");
    if (*scale_name(kind)) fprintf(to->out, "%s bars\n", scale_name(kind));
}
