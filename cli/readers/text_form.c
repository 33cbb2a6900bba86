/* Finding the form of a text from its first rows.
 *
 * The delimiter is the one of , tab ; | that splits the first row, and most of the following rows into as many cells.
 * Without one: a first row of nothing but numbers makes it plain numbers, unless columns are asked for; else a second
 * row of as many words as the first makes columns between blanks; else a number at the beginning makes it plain
 * numbers, with something bad among them; else each row is one cell. The first row is a header if none of its cells is
 * a number. */
#include "text_form.h"

#include <string.h>

#include "number.h"

enum { ROWS_LOOKED_AT = 32 };

bool text_cell_number(const text_cell *cell, double *value)
{
    return cell->begin < cell->end && number_parse(cell->begin, value) == cell->end;
}

/* How well a delimiter explains the first rows. */
typedef struct fit {
    bool cut;      /* the window ends before the first row does */
    int64_t cells; /* in the first row */
    int rows;      /* looked at */
    int alike;     /* of them, those with as many cells */
} fit;

static fit fit_of(const text_window *w, text_delimiter delimiter)
{
    const char *p = w->data + w->at, *end = w->data + w->size;
    uint64_t line = 0;
    fit result = {0};
    for (int row = 0; row < ROWS_LOOKED_AT && text_skip_to_row(&p, end, delimiter, &line); row++) {
        int64_t cells = text_scan_row(&p, end, delimiter, NULL, 0, &line);
        if (cells == 0) break;
        if (row == 0) result.cells = cells;
        result.rows++;
        result.alike += cells == result.cells;
    }
    result.cut = result.cells == 0 && !w->ended;
    return result;
}

/* What the cells of the first row are. */
typedef struct census {
    int64_t numbers, words; /* words: neither numbers nor empty */
    bool number_first;
} census;

static census census_of(const text_window *w, text_delimiter delimiter)
{
    const char *p = w->data + w->at, *end = w->data + w->size;
    uint64_t line = 0;
    census result = {0};
    if (!text_skip_to_row(&p, end, delimiter, &line)) return result;
    text_follow follow;
    do {
        text_cell cell;
        double value;
        follow = text_scan_cell(&p, end, delimiter, &cell);
        if (follow == TEXT_CUT || (delimiter == ' ' && *cell.begin == '#')) break;
        bool number = text_cell_number(&cell, &value);
        if (result.numbers + result.words == 0) result.number_first = number;
        result.numbers += number;
        result.words += !number && cell.begin < cell.end;
    } while (follow == TEXT_CELL);
    return result;
}

/* False if more text is needed. */
static bool find_delimiter(const text_window *w, text_form *form, bool may_be_numbers)
{
    static const text_delimiter candidates[] = {',', '\t', ';', '|'};
    fit best = {0};
    for (size_t i = 0; i < sizeof candidates; i++) {
        fit of = fit_of(w, candidates[i]);
        if (of.cut) return false;
        if (of.cells < 2) continue;
        if (of.alike > best.alike || (of.alike == best.alike && of.cells > best.cells)) {
            best = of;
            form->delimiter = candidates[i];
        }
    }
    census blanks = census_of(w, ' ');
    bool only_numbers = blanks.numbers && !blanks.words && may_be_numbers;
    /* where some of the blanks between plain numbers are tabs, these do not make columns */
    bool columns = best.cells && !(only_numbers && (best.alike < best.rows || blanks.numbers > best.cells));
    if (columns) return true;

    fit of = fit_of(w, ' ');
    bool aligned = !only_numbers && of.cells > 1 && (of.alike > 1 || (blanks.numbers && !blanks.words));
    form->numbers = only_numbers || (blanks.number_first && may_be_numbers && !aligned);
    form->delimiter = aligned ? ' ' : '\n';
    return true;
}

bool text_form_find(const text_window *w, const read_options *options, text_form *form)
{
    *form = (text_form){.delimiter = options->delimiter};
    if (!options->delimiter) {
        if (!find_delimiter(w, form, options->header != 1 && !options->columns)) return false;
    } else if (fit_of(w, options->delimiter).cut) {
        return false;
    }
    census first = census_of(w, form->delimiter);
    bool names = !form->numbers && !first.numbers && first.words;
    form->header = options->header == 1 || (options->header == -1 && names);
    return true;
}
