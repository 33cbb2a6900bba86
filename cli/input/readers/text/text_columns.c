/* What the columns of a text hold, by its first rows. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "input/readers/text/text_reader.h"

enum { ROWS_LOOKED_AT = 32 };

/* What the cells of a column are. */
typedef struct column_look {
    bool numbers;
    int words, times;
    date_evidence dates;
    bool settled; /* more rows tell no more */
} column_look;

static void look_at(column_look *look, const text_cell *cell, const read_options *options)
{
    double value;
    time_span span;
    const time_style style = {.pattern = options->date_pattern};
    if (text_cell_number(cell, &value) || text_cell_has_comma(cell))
        look->numbers = true;
    else if (style.pattern ? time_read(cell->begin, cell->end, &style, &span) == TIME_READ
                           : date_evidence_add(&look->dates, cell->begin, cell->end))
        look->times++;
    else if (!text_cell_missing(cell))
        look->words++;
}

/* Do more rows tell more: of a column without a value, or of dates whose order is not known? */
static bool is_settled(const column_look *look, const read_options *options)
{
    if (look->numbers || look->words) return true;
    return look->times && (options->date_order || options->date_pattern || date_evidence_order(&look->dates));
}

/* Look at the first rows, and at the others in the window for what these leave open. */
static void look_at_rows(const text_reader *r, const read_options *options, column_look *looks, text_cell *cells)
{
    const int columns = r->base.channels;
    const char *p = r->window.data + r->window.at, *end = r->window.data + r->window.size;
    uint64_t line = 0;
    int open = columns;
    for (int64_t row = 0; open && text_skip_to_row(&p, end, r->form.delimiter, r->window.comment, &line); row++) {
        const int64_t count = text_scan_row(&p, end, r->form.delimiter, r->form.columns, cells, columns, &line);
        if (count == 0 || (count != columns && !r->skip_bad)) return;
        if (count != columns) continue;
        open = row < ROWS_LOOKED_AT;
        for (int c = 0; c < columns; c++) {
            if (row >= ROWS_LOOKED_AT && looks[c].settled) continue;
            look_at(&looks[c], &cells[c], options);
            looks[c].settled = is_settled(&looks[c], options);
            open += !looks[c].settled;
        }
    }
}

/* When the file was changed last, or now; a day later, as clocks differ. */
static int64_t time_after(const input *in)
{
    struct stat about;
    const time_t changed = stat(input_name(in), &about) == 0 ? about.st_mtime : time(NULL);
    return ((int64_t)changed + 86400) * 1000000;
}

bool text_find_columns(text_reader *r, const read_options *options, text_cell *cells)
{
    const size_t columns = (size_t)r->base.channels;
    bool *numeric = arena_take(&r->base.memory, columns, sizeof *numeric);
    bool *blank = arena_take(&r->base.memory, columns, sizeof *blank);
    values_kind *kinds = arena_take(&r->base.memory, columns, sizeof *kinds);
    time_style *styles = arena_take(&r->base.memory, columns, sizeof *styles);
    column_look *looks = calloc(columns, sizeof *looks);
    if (!numeric || !blank || !kinds || !styles || !looks) {
        free(looks);
        return false;
    }
    look_at_rows(r, options, looks, cells);
    for (size_t c = 0; c < columns; c++) {
        const column_look *look = &looks[c];
        const bool unlike = look->dates.day_first && look->dates.month_first && !options->date_order;
        blank[c] = !look->numbers && !look->words && !look->times;
        numeric[c] = look->numbers || blank[c];
        kinds[c] = numeric[c] ? VALUES_NUMBERS : look->words > look->times || unlike ? VALUES_WORDS : VALUES_TIMES;
        styles[c] = (time_style){.order = options->date_order, .pattern = options->date_pattern};
        if (!options->date_order) styles[c].order = date_evidence_order(&look->dates);
        if (kinds[c] == VALUES_TIMES && look->dates.yearless) {
            styles[c].before = time_after(r->base.in);
            r->base.note = "dates without a year are the last such days before the file was changed";
        }
    }
    free(looks);
    r->base.numeric = numeric;
    r->base.blank = blank;
    r->base.kinds = kinds;
    r->base.styles = styles;
    return true;
}
