/* Detects the form of a text from its first rows.
 *
 * The delimiter is whichever of comma, tab, ; and | splits the first row, and splits most of the following rows into
 * the same number of cells; if there are several, the one whose cells are numbers. Numbers that contain commas count as
 * numbers here, so that their parser can report the problem. Without a delimiter: if the first row has only numbers,
 * the text is plain numbers, unless columns are requested. Else, if the second row has as many words as the first,
 * blanks separate columns. Else, if the text begins with a number, it is plain numbers with errors. Else each row is
 * one cell. The first row is a header if none of its cells is a number; a single cell must also look like a name. */
#include "input/readers/text_form.h"

#include <string.h>
#include <strings.h>

#include "input/readers/number.h"

enum { ROWS_LOOKED_AT = 32 };

bool text_cell_number(const text_cell *cell, double *value)
{
    return cell->begin < cell->end && number_parse(cell->begin, value) == cell->end;
}

bool text_cell_has_comma(const text_cell *cell)
{
    const char *p = cell->begin;
    bool comma = false, digit = false;
    if (p < cell->end && (*p == '-' || *p == '+')) p++;
    for (; p < cell->end && ((*p >= '0' && *p <= '9') || *p == ',' || *p == '.'); p++) {
        comma = comma || (*p == ',' && digit);
        digit = *p >= '0' && *p <= '9';
    }
    return p == cell->end && comma && digit;
}

static bool is_meant_as_number(const text_cell *cell)
{
    double value;
    return text_cell_number(cell, &value) || text_cell_has_comma(cell);
}

/* Could the only cell of the first line be a name? Damaged numbers and markers of missing values could not. */
static bool is_name(const text_cell *cell)
{
    static const char *const missing[] = {"na", "n/a", "null", "none", "nil", "missing"};
    size_t length = (size_t)(cell->end - cell->begin);
    unsigned char c = length ? (unsigned char)*cell->begin : 0;
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        if (length == strlen(missing[i]) && strncasecmp(cell->begin, missing[i], length) == 0) return false;
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

/* How well a delimiter fits the first rows. */
typedef struct fit {
    bool cut;             /* the window ends within the first row */
    int64_t cells;        /* in the first row */
    int rows;             /* examined */
    int alike;            /* of these, rows with as many cells */
    int64_t all, numbers; /* cells of these rows, and those that are numbers */
} fit;

/* The maximum number of cells of a row to examine. */
enum { CELLS_LOOKED_AT = 256 };

static fit fit_of(const text_window *w, text_delimiter delimiter)
{
    const char *p = w->data + w->at, *end = w->data + w->size;
    uint64_t line = 0;
    fit result = {0};
    for (int row = 0; row < ROWS_LOOKED_AT && text_skip_to_row(&p, end, delimiter, &line); row++) {
        text_cell cell[CELLS_LOOKED_AT];
        int64_t cells = text_scan_row(&p, end, delimiter, cell, CELLS_LOOKED_AT, &line);
        if (cells == 0) break;
        for (int64_t c = 0; c < cells && c < CELLS_LOOKED_AT; c++) {
            result.all++;
            result.numbers += is_meant_as_number(&cell[c]);
        }
        if (row == 0) result.cells = cells;
        result.rows++;
        result.alike += cells == result.cells;
    }
    result.cut = result.cells == 0 && !w->ended;
    return result;
}

/* The kinds of cells in the first row. */
typedef struct census {
    int64_t cells, numbers, words; /* words: neither numbers nor empty */
    bool number_first;
    bool named; /* its first cell could be a name */
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
        follow = text_scan_cell(&p, end, delimiter, &cell);
        if (follow == TEXT_CUT || (delimiter == ' ' && *cell.begin == '#')) break;
        double value;
        bool number = delimiter == ' ' ? text_cell_number(&cell, &value) : is_meant_as_number(&cell);
        result.cells++;
        if (result.numbers + result.words == 0) {
            result.number_first = number;
            result.named = is_name(&cell);
        }
        result.numbers += number;
        result.words += !number && cell.begin < cell.end;
    } while (follow == TEXT_CELL);
    return result;
}

/* Compare equal rows first, then the fraction of numbers, then the number of cells. */
static bool is_better(const fit *a, const fit *b)
{
    if (a->alike != b->alike) return a->alike > b->alike;
    int64_t part_a = a->numbers * b->all, part_b = b->numbers * a->all;
    return part_a != part_b ? part_a > part_b : a->cells > b->cells;
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
        if (best.cells == 0 || is_better(&of, &best)) {
            best = of;
            form->delimiter = candidates[i];
        }
    }
    census blanks = census_of(w, ' ');
    bool only_numbers = blanks.numbers && !blanks.words && may_be_numbers;
    /* If only some of the blanks between plain numbers are tabs, these do not separate columns. */
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
    bool names = !form->numbers && !first.numbers && first.words && (first.cells > 1 || first.named);
    form->header = options->header == 1 || (options->header == -1 && names);
    return true;
}
