/* Determines the kind of a text's columns from its first rows. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "input/readers/text/number.h"
#include "input/readers/text/text_reader.h"

enum { ROWS_LOOKED_AT = 32 };

/* The kind of cells in a column. */
typedef struct column_look {
    bool numbers;
    int written; /* cells that are numbers in some notation */
    int words, times;
    notation_evidence notation;
    date_evidence dates;
    bool real;    /* some have a point or an exponent */
    bool found;   /* what --number looks for was found */
    bool settled; /* more rows would not reveal more */
} column_look;

static void look_at(const text_reader *r, column_look *look, const text_cell *cell, const read_options *options)
{
    double value;
    time_span span;
    const time_style style = {.pattern = options->date_pattern};
    const notation within = {.within = r->within};
    const char *begin = cell->begin, *end = cell->end;
    if (text_cell_number(cell, &value)) {
        look->numbers = true;
        look->real = look->real || number_is_real(begin, end);
        notation_look(&look->notation, options->decimal, begin, end);
    } else if (r->within && notation_find(&within, &begin, &end)) {
        look->found = true;
        look->written += notation_look(&look->notation, options->decimal, begin, end);
    } else if (notation_look(&look->notation, options->decimal, begin, end)) {
        look->written++;
    } else if (text_cell_has_comma(cell)) {
        look->numbers = true;
    } else if (style.pattern ? time_read(cell->begin, cell->end, &style, &span) == TIME_READ
                             : date_evidence_add(&look->dates, cell->begin, cell->end)) {
        look->times++;
    } else if (!text_cell_missing(cell)) {
        look->words++;
    }
}

/* Whether more rows would not help: the column has values, and the order of its dates is known. */
static bool is_settled(const column_look *look, const read_options *options)
{
    if (look->written && notation_is_open(&look->notation, options->decimal)) return false;
    if (look->numbers || look->written || look->words) return true;
    return look->times && (options->date_order || options->date_pattern || date_evidence_order(&look->dates));
}

/* Examine the first rows, and the others in the window for what these leave open. */
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
            look_at(r, &looks[c], &cells[c], options);
            looks[c].settled = is_settled(&looks[c], options);
            open += !looks[c].settled;
        }
    }
}

/* How the numbers of a column are written; NULL: as number_parse reads them. */
static const notation *notation_of(text_reader *r, const column_look *look, const read_options *options,
                                   const char **note)
{
    notation found;
    const bool known = notation_decide(&look->notation, options->decimal, &found);
    if (look->found) found.within = r->within;
    if (!known || (!look->written && !options->decimal && !look->found)) return NULL;
    notation *kept = arena_take(&r->base.memory, 1, sizeof *kept);
    if (kept) *kept = found;
    if (found.unit && look->notation.binary)
        *note = "K, M, G, T and P are powers of 1024 bytes, as ls -h writes them, and kB, MB, GB of 1000";
    return kept;
}

/* When the file was last modified, or now; plus a day, as clocks differ. */
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
    const char **notes = arena_take(&r->base.memory, columns, sizeof *notes);
    bool *reals = arena_take(&r->base.memory, columns, sizeof *reals);
    const notation **notations = arena_take(&r->base.memory, columns, sizeof *notations);
    const char **unit_names = arena_take(&r->base.memory, columns, sizeof *unit_names);
    column_look *looks = calloc(columns, sizeof *looks);
    if (!numeric || !blank || !kinds || !styles || !notes || !reals || !notations || !unit_names || !looks) {
        free(looks);
        return false;
    }
    look_at_rows(r, options, looks, cells);
    if (r->within && r->form.delimiter == '\n') looks->found = true; /* in lines; other cells are left out */
    for (size_t c = 0; c < columns; c++) {
        const column_look *look = &looks[c];
        const bool unlike = look->dates.day_first && look->dates.month_first && !options->date_order;
        const bool written = look->written && !look->words && !look->times && !look->notation.units_differ;
        if (unlike && !look->words)
            notes[c] = "dates with the day and with the month first are strings: --date-format dmy or mdy says which";
        if (look->written && look->notation.units_differ && !look->words)
            notes[c] = "numbers in different units are strings: write them in one unit";
        blank[c] = !look->numbers && !look->written && !look->words && !look->times;
        numeric[c] = look->numbers || written || look->found || blank[c];
        const int words = look->words + (numeric[c] ? 0 : look->written);
        kinds[c] = numeric[c] ? VALUES_NUMBERS : words > look->times || unlike ? VALUES_WORDS : VALUES_TIMES;
        reals[c] = look->real;
        notations[c] = numeric[c] ? notation_of(r, look, options, &notes[c]) : NULL;
        unit_names[c] = notations[c] ? notations[c]->unit : NULL;
        styles[c] = (time_style){.order = options->date_order, .pattern = options->date_pattern};
        if (!options->date_order) styles[c].order = date_evidence_order(&look->dates);
        if (kinds[c] == VALUES_TIMES && look->dates.yearless) {
            styles[c].before = time_after(r->base.in);
            notes[c] = "dates without a year are the last such days before the file was changed";
        }
    }
    free(looks);
    r->base.numeric = numeric;
    r->base.blank = blank;
    r->base.kinds = kinds;
    r->base.styles = styles;
    r->base.reals = reals;
    r->base.column_notes = notes;
    r->base.unit_of = unit_names;
    r->notations = notations;
    return true;
}

bool text_find_number_column(text_reader *r, const read_options *options)
{
    time_style *style = arena_take(&r->base.memory, 1, sizeof *style);
    bool *real = arena_take(&r->base.memory, 1, sizeof *real);
    const char *p = r->window.data + r->window.at, *end = r->window.data + r->window.size;
    if (!style || !real) return false;
    *style = (time_style){.order = options->date_order, .pattern = options->date_pattern};
    for (int word = 0; word < ROWS_LOOKED_AT && p < end; word++) {
        while (p < end && text_is_space(*p))
            p++;
        const char *begin = p;
        while (p < end && !text_is_space(*p))
            p++;
        *real = *real || number_is_real(begin, p);
    }
    r->base.styles = style;
    r->base.reals = real;
    return true;
}
