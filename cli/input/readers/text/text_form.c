/* Detects the form of a text from its first rows.
 *
 * The delimiter is whichever of comma, tab, ; and | splits the first row, and splits most of the following rows into
 * the same number of cells; if there are several, the one whose cells are numbers. Numbers that contain commas count as
 * numbers here, so that their parser can report the problem. Without a delimiter: if the first row has only numbers,
 * the text is plain numbers, unless columns are requested. Else, if the second row has as many words as the first,
 * blanks separate columns. Else, if the text begins with a number, it is plain numbers with errors. Else each row is
 * one cell. The first row is a header if none of its cells is a number; a single cell must also look like a name, and
 * be followed by numbers. */
#include "input/readers/text/text_form.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/times.h"
#include "input/readers/text/number.h"

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

bool text_cell_missing(const text_cell *cell)
{
    static const char *const markers[] = {"", "na", "n/a", "null", "none", "nil", "missing", "-", "."};
    size_t length = (size_t)(cell->end - cell->begin);
    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++)
        if (length == strlen(markers[i]) && strncasecmp(cell->begin, markers[i], length) == 0) return true;
    return false;
}

bool text_cell_is(const text_cell *cell, const char *word)
{
    const size_t size = strlen(word);
    return (size_t)(cell->end - cell->begin) == size && strncasecmp(cell->begin, word, size) == 0;
}

void text_cell_describe(const char *begin, const char *end, const char *kind, char *text, size_t size)
{
    enum { MAX_SHOWN = 40 };
    char shown[MAX_SHOWN + 1];
    int length = end - begin < MAX_SHOWN ? (int)(end - begin) : MAX_SHOWN;
    bool shortened = end - begin > MAX_SHOWN;
    while (shortened && length > 0 && ((unsigned char)begin[length] & 0xc0) == 0x80)
        length--; /* do not split a UTF-8 character */
    for (int i = 0; i < length; i++)
        shown[i] = (unsigned char)begin[i] < ' ' || begin[i] == 0x7f ? '?' : begin[i];
    snprintf(text, size, "'%.*s%s' is not a %s", length, shown, shortened ? "…" : "", kind);
}

/* Could the only cell of the first line be a name? Damaged numbers could not. */
static bool is_name(const text_cell *cell)
{
    if (text_cell_missing(cell)) return false;
    unsigned char c = (unsigned char)*cell->begin;
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

/* How well a delimiter fits the first rows. */
typedef struct fit {
    bool cut;             /* the window ends within the first row */
    int64_t cells;        /* in the first row */
    int rows;             /* examined */
    int alike;            /* of these, rows with as many cells */
    int64_t all, numbers; /* cells of these rows, and those that are numbers */
    bool cuts_quotes;     /* of the first row: the delimiter stands in quotes that begin within a cell */
} fit;

/* The maximum number of cells of a row to examine. */
enum { CELLS_LOOKED_AT = 256 };

static bool has_half_quote(const text_cell *cell)
{
    int quotes = 0;
    for (const char *p = cell->begin; p < cell->end && !cell->quoted; p++)
        quotes += *p == '"';
    return quotes % 2;
}

static fit fit_of(const text_window *w, text_delimiter delimiter)
{
    const char *p = w->data + w->at, *end = w->data + w->size;
    uint64_t line = 0;
    fit result = {0};
    for (int row = 0; row < ROWS_LOOKED_AT && text_skip_to_row(&p, end, delimiter, w->comment, &line); row++) {
        text_cell cell[CELLS_LOOKED_AT];
        int64_t cells = text_scan_row(&p, end, delimiter, 0, cell, CELLS_LOOKED_AT, &line);
        int halves = 0;
        if (cells == 0) break;
        for (int64_t c = 0; c < cells && c < CELLS_LOOKED_AT; c++) {
            result.all++;
            result.numbers += is_meant_as_number(&cell[c]);
            halves += row == 0 && has_half_quote(&cell[c]);
        }
        if (row == 0) {
            result.cells = cells;
            result.cuts_quotes = halves > 1;
        }
        result.rows++;
        result.alike += cells == result.cells;
    }
    result.cut = result.cells == 0 && !w->ended;
    return result;
}

/* A number, perhaps with a unit: 35% or 17G. */
static bool is_quantity(const text_cell *cell)
{
    double value;
    const char *q = number_parse(cell->begin, &value);
    return q && q > cell->begin && cell->end - q <= 1 && cell->end >= q;
}

static bool is_time(const text_cell *cell)
{
    time_span span;
    return time_parse(cell->begin, cell->end, false, &span);
}

/* The words of the row at *at, of which the first CELLS_LOOKED_AT are stored; 0 if the window ends first. */
static int64_t words_of(const char **at, const char *end, text_cell *words, uint64_t *line)
{
    const char *q = memchr(*at, '\n', (size_t)(end + 1 - *at));
    int64_t count = 0;
    if (q == end) return 0;
    for (const char *p = *at; p < q; count++) {
        const char *begin = p;
        while (!is_blank(*p, ' ') && *p != '\n')
            p++;
        if (count < CELLS_LOOKED_AT) words[count] = (text_cell){.begin = begin, .end = p};
        while (is_blank(*p, ' '))
            p++;
    }
    *at = q + 1;
    ++*line;
    return count;
}

/* A table that blanks align, in which the last cell of a row may have several words: as of ps, ls -l, or df, whose
 * header has such a name, and of logs. A column of it has only numbers, or times, so that prose is not one. */
static bool find_table(const text_window *w, text_form *form)
{
    const char *p = w->data + w->at, *end = w->data + w->size;
    uint64_t line = 0;
    bool numbers[CELLS_LOOKED_AT], words = true; /* of the columns, with times; and in the first row */
    bool total = false;                          /* is the first row one such as "total 64" */
    int64_t first = 0, fewest = 0;
    int rows = 0;
    for (; rows < ROWS_LOOKED_AT && text_skip_to_row(&p, end, ' ', w->comment, &line); rows++) {
        text_cell cell[CELLS_LOOKED_AT];
        double value;
        int64_t cells = words_of(&p, end, cell, &line);
        if (cells == 0) break;
        if (cells > CELLS_LOOKED_AT) return false;
        for (int64_t c = 0; rows == 0 && c < cells; c++)
            words = words && !text_cell_number(&cell[c], &value) && !is_time(&cell[c]);
        for (int64_t c = 0; rows > 0 && c < cells; c++)
            numbers[c] = (is_quantity(&cell[c]) || is_time(&cell[c])) && (rows == 1 || (c < fewest && numbers[c]));
        if (rows == 0) {
            first = cells;
            total = cells == 2 && !text_cell_number(&cell[0], &value) && text_cell_number(&cell[1], &value);
        }
        if (rows == 1 || (rows > 1 && cells < fewest)) fewest = cells;
    }
    total = total && first < fewest;
    const int64_t columns = first < fewest && !total ? first : fewest;
    bool any_numbers = false;
    for (int64_t c = 0; c < columns; c++)
        any_numbers = any_numbers || numbers[c];
    if (rows < 2 || columns < 2 || (words && first > fewest + 1) || !any_numbers) return false;
    form->title = total;
    form->columns = columns;
    return true;
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
    if (!text_skip_to_row(&p, end, delimiter, w->comment, &line)) return result;
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
        fit one = fit_of(w, candidates[i]);
        if (one.cut) return false;
        if (one.cells < 2) continue;
        if (best.cells == 0 || is_better(&one, &best)) {
            best = one;
            form->delimiter = candidates[i];
        }
    }
    census blanks = census_of(w, ' ');
    bool only_numbers = blanks.numbers && !blanks.words && may_be_numbers;
    /* If only some of the blanks between plain numbers are tabs, these do not separate columns. */
    bool columns = best.cells && !(only_numbers && (best.alike < best.rows || blanks.numbers > best.cells));
    fit by_blanks = fit_of(w, ' ');
    /* As in logs of web servers, whose last cells are quoted sentences. */
    const bool quoted =
        best.cuts_quotes && by_blanks.cells > 2 && by_blanks.alike == by_blanks.rows && by_blanks.alike >= best.alike;
    if (columns && !quoted) return true;

    bool alike = by_blanks.cells > 1 && (by_blanks.alike > 1 || (blanks.numbers && !blanks.words));
    bool aligned = !only_numbers && (find_table(w, form) || alike);
    form->numbers = only_numbers || (blanks.number_first && may_be_numbers && !aligned);
    form->delimiter = aligned ? ' ' : '\n';
    return true;
}

/* Has the second row a time where the first one has one, or, if not `first`, has not? */
static bool has_times(const text_window *w, text_delimiter delimiter, bool first)
{
    const char *p = w->data + w->at, *end = w->data + w->size;
    uint64_t line = 0;
    text_cell rows[2][CELLS_LOOKED_AT];
    int64_t cells = CELLS_LOOKED_AT;
    for (int row = 0; row < 2; row++) {
        if (!text_skip_to_row(&p, end, delimiter, w->comment, &line)) return false;
        const int64_t of_row = text_scan_row(&p, end, delimiter, 0, rows[row], CELLS_LOOKED_AT, &line);
        if (of_row < cells) cells = of_row;
    }
    bool found = false;
    for (int64_t c = 0; c < cells && !found; c++)
        found = is_time(&rows[1][c]) && is_time(&rows[0][c]) == first;
    return found;
}

/* Whole numbers that grow in equal steps, at least two, with a step that is not 0: as years, or numbers of columns. */
typedef struct progression {
    int64_t numbers;
    double last, step;
    bool holds;
} progression;

static void progression_add(progression *p, const text_cell *cell)
{
    double value;
    if (!text_cell_number(cell, &value)) return;
    const double step = value - p->last;
    p->holds = p->holds && value == floor(value) && (p->numbers < 1 || step > 0) && (p->numbers < 2 || step == p->step);
    p->step = step;
    p->last = value;
    p->numbers++;
}

/* Do the numbers of the first row look like names of columns, and those of no other row? */
static bool has_numbers_as_names(const text_window *w, text_delimiter delimiter)
{
    const char *p = w->data + w->at, *end = w->data + w->size;
    uint64_t line = 0;
    for (int row = 0; row < ROWS_LOOKED_AT; row++) {
        text_cell cell[CELLS_LOOKED_AT];
        progression row_numbers = {.holds = true};
        if (!text_skip_to_row(&p, end, delimiter, w->comment, &line)) return row > 1;
        const int64_t cells = text_scan_row(&p, end, delimiter, 0, cell, CELLS_LOOKED_AT, &line);
        if (cells < 2 || cells > CELLS_LOOKED_AT) return cells == 0 && row > 1;
        for (int64_t c = 0; c < cells; c++)
            progression_add(&row_numbers, &cell[c]);
        row_numbers.holds = row_numbers.holds && row_numbers.numbers > 2;
        if (row_numbers.holds != (row == 0)) return false;
    }
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
    bool names = !form->numbers && !form->title && !first.numbers && first.words;
    if (first.cells == 1 && names) {
        const fit rows = fit_of(w, form->delimiter);
        names = first.named && (rows.numbers > 0 || rows.rows == 1 || has_times(w, form->delimiter, false));
    }
    names = names && !has_times(w, form->delimiter, true);
    form->header = options->header == 1 || (options->header == -1 && names);
    form->may_be_header =
        !form->header && !form->numbers && options->header == -1 && has_numbers_as_names(w, form->delimiter);
    return true;
}
