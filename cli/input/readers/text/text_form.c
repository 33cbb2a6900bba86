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

#include "base/dates/reading.h"
#include "input/readers/text/notation.h"
#include "input/readers/text/number.h"
#include "input/readers/text/text_encoding.h"

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

/* Whether it is a number in some notation, such as with a unit. */
static bool is_written_number(const text_cell *cell)
{
    notation_evidence ignored = {0};
    return notation_look(&ignored, '\0', cell->begin, cell->end);
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
    char shown[MAX_SHOWN + 1], control[8], with[24] = "";
    int length = end - begin < MAX_SHOWN ? (int)(end - begin) : MAX_SHOWN;
    bool shortened = end - begin > MAX_SHOWN;
    while (shortened && length > 0 && ((unsigned char)begin[length] & 0xc0) == 0x80)
        length--; /* do not split a UTF-8 character */
    for (int i = 0; i < length; i++) {
        const bool unprintable = (unsigned char)begin[i] < ' ' || begin[i] == 0x7f;
        shown[i] = unprintable ? '?' : begin[i];
        if (unprintable && !*with) snprintf(with, sizeof with, " (? is %s)", text_control_name(begin[i], control));
    }
    snprintf(text, size, "'%.*s%s'%s is not a %s", length, shown, shortened ? "…" : "", with, kind);
}

/* Whether the only cell of the first line could be a name; a damaged number could not. */
static bool is_name(const text_cell *cell)
{
    bool letter = false, digit = false;
    if (text_cell_missing(cell)) return false;
    for (const char *p = cell->begin; p < cell->end; p++) {
        const unsigned char c = (unsigned char)*p;
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
        if (p == cell->begin && is_letter) return true;
        letter = letter || is_letter;
        digit = digit || (c >= '0' && c <= '9');
    }
    return letter && !digit;
}

/* How well a delimiter fits the first rows. */
typedef struct fit {
    bool cut;             /* the window ends within the first row */
    int64_t cells;        /* in the first row */
    int rows;             /* examined */
    int alike;            /* of these, rows with as many cells */
    int64_t all, numbers; /* cells of these rows, and those that are numbers */
    int times_first;      /* rows that begin with a date */
    bool cuts_quotes;     /* in the first row, the delimiter is inside quotes that begin within a cell */
} fit;

/* The maximum number of cells of a row to examine. */
enum { CELLS_LOOKED_AT = 256 };

static bool is_time(const text_cell *cell)
{
    date_evidence ignored = {0};
    return date_evidence_add(&ignored, cell->begin, cell->end);
}

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
            result.numbers += is_meant_as_number(&cell[c]) || is_written_number(&cell[c]);
            halves += row == 0 && has_half_quote(&cell[c]);
        }
        result.times_first += is_time(&cell[0]);
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

/* The words of the row at *at, of which the first CELLS_LOOKED_AT are stored; 0 if the window ends first. A quote that
 * is not closed on its line is part of a word. */
static int64_t words_of(const char **at, const char *end, text_delimiter delimiter, text_cell *words, uint64_t *line)
{
    const char *q = memchr(*at, '\n', (size_t)(end + 1 - *at));
    int64_t count = 0;
    if (q == end) return 0;
    for (const char *p = *at; p < q; count++) {
        text_cell cell;
        const char *next = p;
        if (text_scan_cell(&next, end, delimiter, &cell) == TEXT_CUT || cell.newlines) {
            cell = (text_cell){.begin = p};
            for (next = p; !is_blank(*next, ' ') && *next != '\n';)
                next++;
            cell.end = next;
            while (is_blank(*next, ' '))
                next++;
        }
        if (count < CELLS_LOOKED_AT) words[count] = cell;
        p = next;
    }
    *at = q + 1;
    ++*line;
    return count;
}

/* The first rows, split at blanks. */
typedef struct words_census {
    int rows;
    int64_t first, fewest;         /* words in the first row, and the minimum over the others */
    bool first_words;              /* none of the first row's words is a number or a date */
    bool total;                    /* the first row may be a title such as "total 64" */
    bool numbers[CELLS_LOOKED_AT]; /* for each column, without the first row: all are numbers, or dates */
    bool too_many;
} words_census;

static words_census words_census_of(const text_window *w, text_delimiter delimiter)
{
    const char *p = w->data + w->at, *end = w->data + w->size;
    uint64_t line = 0;
    words_census has = {.first_words = true};
    for (; has.rows < ROWS_LOOKED_AT && text_skip_to_row(&p, end, delimiter, w->comment, &line); has.rows++) {
        text_cell cell[CELLS_LOOKED_AT];
        double value;
        const int64_t cells = words_of(&p, end, delimiter, cell, &line);
        if (cells == 0) break;
        has.too_many = has.too_many || cells > CELLS_LOOKED_AT;
        if (has.too_many) break;
        for (int64_t c = 0; has.rows == 0 && c < cells; c++)
            has.first_words = has.first_words && !text_cell_number(&cell[c], &value) && !is_time(&cell[c]);
        for (int64_t c = 0; has.rows > 0 && c < cells; c++)
            has.numbers[c] =
                (is_quantity(&cell[c]) || is_time(&cell[c])) && (has.rows == 1 || (c < has.fewest && has.numbers[c]));
        if (has.rows == 0) {
            has.first = cells;
            has.total = cells == 2 && !is_quantity(&cell[0]) && is_quantity(&cell[1]);
        }
        if (has.rows == 1 || (has.rows > 1 && cells < has.fewest)) has.fewest = cells;
    }
    has.total = has.total && has.first < has.fewest;
    return has;
}

/* A table aligned by blanks, in which the last cell of a row may have several words: ps, ls -l, df, whose header has
 * such a name, and logs. Some column must have only numbers, or times, so that prose is not taken for one. */
static bool find_table(const text_window *w, text_delimiter delimiter, text_form *form)
{
    const words_census has = words_census_of(w, delimiter);
    const int64_t columns = has.first < has.fewest && !has.total ? has.first : has.fewest;
    bool any_numbers = false;
    for (int64_t c = 0; c < columns && !has.too_many; c++)
        any_numbers = any_numbers || has.numbers[c];
    if (has.rows < 2 || columns < 2 || (has.first_words && has.first > has.fewest + 1) || !any_numbers) return false;
    form->title = has.total;
    form->columns = columns;
    return true;
}

/* Whether a header has separate names for a date and the time after it. */
static bool names_times_apart(const text_window *w)
{
    const char *p = w->data + w->at, *end = w->data + w->size;
    uint64_t line = 0;
    text_cell cell[CELLS_LOOKED_AT];
    if (!text_skip_to_row(&p, end, ' ', w->comment, &line)) return false;
    const int64_t cells = words_of(&p, end, ' ', cell, &line);
    for (int64_t c = 1; c < cells && c < CELLS_LOOKED_AT; c++)
        if (text_cell_is(&cell[c], "time") && (text_cell_is(&cell[c - 1], "date") || text_cell_is(&cell[c - 1], "day")))
            return true;
    return false;
}

/* The value of a cell with digits only; -1: it is not one. */
static int digits_of(const text_cell *cell)
{
    int number = 0;
    if (cell->begin == cell->end || cell->end - cell->begin > 4) return -1;
    for (const char *p = cell->begin; p < cell->end; p++) {
        if (*p < '0' || *p > '9') return -1;
        number = 10 * number + (*p - '0');
    }
    return number;
}

/* What the rows reveal about words such as 28 Feb 17: a date, or a number and a day. */
typedef struct days_census {
    int rows;           /* rows that have them */
    int64_t at;         /* index of the word with the first number */
    int year;           /* the last number in the first row */
    bool numbers, days; /* some first number is not a day; some last number can only be a day */
    bool long_years;    /* all years have four digits */
    bool years;         /* some last number can only be a year */
    bool years_differ, shifted;
    bool full; /* a time or a year follows, which completes a month and a day */
} days_census;

static void add_days(days_census *has, const text_cell *words, int64_t count)
{
    int64_t c = 0;
    while (c + 2 < count && (!time_is_month(words[c + 1].begin, words[c + 1].end) || digits_of(&words[c + 2]) < 0))
        c++;
    if (c + 2 >= count) return;
    const int64_t digits = words[c + 2].end - words[c + 2].begin;
    const int day = words[c].end - words[c].begin < 3 ? digits_of(&words[c]) : -1, year = digits_of(&words[c + 2]);
    const text_cell *next = &words[c + 3];
    if (has->rows == 0) *has = (days_census){.at = c, .year = year, .long_years = true};
    has->rows++;
    has->numbers = has->numbers || day < 1 || day > 31;
    has->days = has->days || digits == 1;
    has->long_years = has->long_years && digits == 4;
    has->years = has->years || year == 0 || year > 31;
    has->years_differ = has->years_differ || year != has->year;
    has->shifted = has->shifted || c != has->at;
    if (c + 3 < count)
        has->full = has->full || memchr(next->begin, ':', (size_t)(next->end - next->begin)) || digits_of(next) > 999;
}

/* Whether the numbers before month names are not days, but sizes, as in ls -l, or counts, as in uniq -c. Days must be
 * possible in all rows. If years have two digits, they must be impossible as days, or the same in all rows. */
static bool has_numbers_before_months(const text_window *w)
{
    const char *p = w->data + w->at, *end = w->data + w->size;
    uint64_t line = 0;
    days_census has = {0};
    for (int row = 0; (row < ROWS_LOOKED_AT || has.rows) && text_skip_to_row(&p, end, ' ', w->comment, &line); row++) {
        text_cell words[CELLS_LOOKED_AT];
        const int64_t count = words_of(&p, end, ' ', words, &line);
        if (count == 0) break;
        add_days(&has, words, count < CELLS_LOOKED_AT ? count : CELLS_LOOKED_AT);
    }
    if (has.rows == 0) return false;
    if (has.numbers || has.days) return true;
    if (has.long_years || has.years) return false;
    return has.full || has.shifted || has.years_differ || has.rows < 2;
}

/* How blanks separate cells. A date and its time are one cell if rows have nothing else, or if the header has one name
 * for both. */
static text_delimiter find_blanks(const text_window *w)
{
    const char *p = w->data + w->at, *end = w->data + w->size;
    const text_delimiter days = has_numbers_before_months(w) ? NUMBERS_BEFORE_MONTHS : 0;
    uint64_t line = 0;
    bool dates = false, alone = true;
    for (int row = 0; row < ROWS_LOOKED_AT && text_skip_to_row(&p, end, ' ', w->comment, &line); row++) {
        text_cell cell[CELLS_LOOKED_AT];
        const int64_t cells = words_of(&p, end, BLANKS_BUT_IN_DATES | days, cell, &line);
        if (cells == 0) break;
        for (int64_t c = 0; c < cells && c < CELLS_LOOKED_AT && !dates; c++)
            dates = !cell[c].quoted && memchr(cell[c].begin, ' ', (size_t)(cell[c].end - cell[c].begin));
        alone = alone && cells == 1;
    }
    if (!dates || alone) return dates ? BLANKS_BUT_IN_DATES | days : ' ';
    const words_census joined = words_census_of(w, BLANKS_BUT_IN_DATES | days);
    const bool named = joined.rows > 1 && joined.first_words && joined.fewest >= joined.first && !names_times_apart(w);
    return (named ? BLANKS_BUT_IN_DATES : BLANKS_AND_DATES) | days;
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
        if (follow == TEXT_CUT || (is_by_blanks(delimiter) && *cell.begin == '#')) break;
        double value;
        bool number = is_by_blanks(delimiter) ? text_cell_number(&cell, &value) : is_meant_as_number(&cell);
        result.cells++;
        if (result.numbers + result.words == 0) {
            result.number_first = number;
            result.named = (is_name(&cell) || (cell.quoted && !number)) && !is_time(&cell);
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

/* Whether these are row names, as R writes them: in quotes, the numbers from 1 on, or distinct words before numbers. */
static bool are_row_names(const text_cell *first, const text_cell *last, int rows)
{
    bool quoted = true, counted = true, words = true;
    double begin = 0, value;
    for (int row = 0; row < rows; row++) {
        const bool number = text_cell_number(&first[row], &value);
        if (row == 0) begin = value;
        quoted = quoted && first[row].quoted;
        counted = counted && number && (begin == 0 || begin == 1) && value == begin + row;
        words = words && !number && (text_cell_number(&last[row], &value) || text_cell_missing(&last[row])) &&
                last[row].end > last[row].begin;
        for (int other = 0; other < row && words; other++)
            words = first[other].end - first[other].begin != first[row].end - first[row].begin ||
                    memcmp(first[other].begin, first[row].begin, (size_t)(first[row].end - first[row].begin)) != 0;
    }
    return quoted || counted || words;
}

/* Whether all rows but the first have one more cell, which is their name. */
static bool has_row_names(const text_window *w, text_delimiter delimiter)
{
    const char *p = w->data + w->at, *end = w->data + w->size;
    uint64_t line = 0;
    text_cell first[ROWS_LOOKED_AT], last[ROWS_LOOKED_AT];
    int64_t names = 0;
    int rows = 0;
    for (; rows <= ROWS_LOOKED_AT && text_skip_to_row(&p, end, delimiter, w->comment, &line); rows++) {
        text_cell cell[CELLS_LOOKED_AT];
        double value;
        const int64_t cells = text_scan_row(&p, end, delimiter, 0, cell, CELLS_LOOKED_AT, &line);
        if (cells == 0) break;
        if (cells > CELLS_LOOKED_AT || (rows > 0 && cells != names + 1)) return false;
        for (int64_t c = 0; rows == 0 && c < cells; c++)
            if (!cell[c].quoted && (text_cell_number(&cell[c], &value) || cell[c].begin == cell[c].end)) return false;
        if (rows == 0) {
            names = cells;
        } else {
            first[rows - 1] = cell[0];
            last[rows - 1] = cell[cells - 1];
        }
    }
    return rows > 1 && are_row_names(first, last, rows - 1);
}

/* Whether the numbers of each row are the groups of one number, as in 1 000; surely if a group begins with 0. *named:
 * they share one name in the header. */
static text_groups find_groups(const text_window *w, bool *named)
{
    const char *p = w->data + w->at, *end = w->data + w->size;
    uint64_t line = 0;
    bool zero = false, several = false, shorter = false;
    for (int row = 0; row < ROWS_LOOKED_AT && text_skip_to_row(&p, end, ' ', w->comment, &line); row++) {
        text_cell cell[CELLS_LOOKED_AT];
        const int64_t cells = words_of(&p, end, ' ', cell, &line);
        if (cells == 0) break;
        if (cells > 6) return GROUPS_NONE;
        if (row == 0) *named = cells == 1 && is_name(&cell[0]);
        for (int64_t c = row == 0 && *named; c < cells; c++) {
            const char *digit = cell[c].begin + (c == 0 && (*cell[c].begin == '-' || *cell[c].begin == '+'));
            int digits = 0;
            while (digits < 4 && digit[digits] >= '0' && digit[digits] <= '9')
                digits++;
            const bool whole = digit + digits == cell[c].end;
            if ((c > 0 ? digits != 3 : digits < 1 || digits > 3) || (c + 1 < cells && !whole)) return GROUPS_NONE;
            if (!whole && digit[digits] != '.' && digit[digits] != ',') return GROUPS_NONE;
            if (c == 0 && cells > 1 && *digit == '0') return GROUPS_NONE;
            zero = zero || (c > 0 && *digit == '0');
            shorter = shorter || (c == 0 && cells > 1 && digits < 3);
        }
        several = several || cells > 1;
    }
    return !several ? GROUPS_NONE : zero ? GROUPS_SURE : shorter ? GROUPS_LIKELY : GROUPS_NONE;
}

/* False if more text is needed. */
static bool find_delimiter(const text_window *w, const read_options *options, text_form *form)
{
    const bool may_be_numbers = options->header != 1 && !options->columns;
    static const text_delimiter candidates[] = {',', '\t', ';', '|'};
    fit best = {0};
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        if (candidates[i] == options->decimal) continue;
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
    bool named = false;
    form->grouped = find_groups(w, &named);
    if (form->grouped == GROUPS_SURE || (form->grouped && (options->decimal || (named && !has_row_names(w, ' '))))) {
        form->delimiter = '\n';
        return true;
    }
    const text_delimiter blank = find_blanks(w);
    const fit by_blanks = fit_of(w, blank);
    /* Logs of web servers, whose last cells are quoted sentences. */
    const bool quoted =
        best.cuts_quotes && by_blanks.cells > 2 && by_blanks.alike == by_blanks.rows && by_blanks.alike >= best.alike;
    /* Commas in a header, or in the sentences of a log, whose rows begin with a time. */
    const bool by_chance = by_blanks.cells > 1 && by_blanks.alike > best.alike && 2 * best.alike <= best.rows;
    const bool log = has_dates(blank) && form->delimiter != '\t' && best.numbers == 0 &&
                     by_blanks.times_first == by_blanks.rows && best.times_first < best.rows;
    /* Commas within words, one per row, while blanks separate the rest into numbers or dates. */
    const bool in_words = form->delimiter == ',' && by_blanks.alike == by_blanks.rows && by_blanks.rows > 1 &&
                          by_blanks.cells > best.cells && best.numbers + best.times_first == 0 &&
                          by_blanks.numbers + by_blanks.times_first > 0;
    const bool agreed = best.cells && best.alike == best.rows && best.rows > 1;
    form->row_names = !agreed && has_row_names(w, blank);
    if (form->row_names) form->delimiter = blank;
    if (form->row_names || (columns && !quoted && !by_chance && !log && !in_words)) return true;

    bool alike = by_blanks.cells > 1 && (by_blanks.alike > 1 || (blanks.numbers && !blanks.words));
    bool aligned = !only_numbers && (find_table(w, blank, form) || alike);
    const bool only_dates = by_blanks.cells == 1 && by_blanks.times_first == by_blanks.rows; /* 5 Jan 2015 */
    form->numbers = only_numbers || (blanks.number_first && may_be_numbers && !aligned && !only_dates);
    form->delimiter = aligned ? blank : '\n';
    return true;
}

/* The kind of a cell that is not a plain number. */
typedef enum cell_look { LOOKS_ELSE, LOOKS_AS_DATE, LOOKS_AS_UNIT } cell_look;

static cell_look look_of(const text_cell *cell)
{
    double value;
    if (is_time(cell)) return LOOKS_AS_DATE;
    return !text_cell_number(cell, &value) && is_written_number(cell) ? LOOKS_AS_UNIT : LOOKS_ELSE;
}

/* Whether the second row has a date, or a number with a unit, where the first one has one or, if not `first`, where it
 * has none. */
static bool has_values(const text_window *w, text_delimiter delimiter, bool first)
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
    bool found = false, named = false;
    for (int64_t c = 0; c < cells; c++) {
        double value;
        const cell_look above = look_of(&rows[0][c]), below = look_of(&rows[1][c]);
        found = found || (below && (above == below) == first);
        named =
            named || (above == LOOKS_ELSE && is_name(&rows[0][c]) && (below || text_cell_number(&rows[1][c], &value)));
    }
    return found && !(first && named); /* a name above a number makes the row a header */
}

/* The appearance of a cell's text: its punctuation, and whether it has digits. */
static unsigned signs_of(const text_cell *cell)
{
    static const char signs[] = "@.-/:_+ ";
    unsigned has = 0;
    for (const char *p = cell->begin; p < cell->end; p++) {
        const char *sign = memchr(signs, *p, sizeof signs - 1);
        has |= sign ? 1u << (sign - signs) : *p >= '0' && *p <= '9' ? 1u << (sizeof signs - 1) : 0;
    }
    return has;
}

/* Whether the single cells of all other rows are alike, with some punctuation that the first one lacks: addresses below
 * a name. */
static bool has_others_alike(const text_window *w, text_delimiter delimiter)
{
    const char *p = w->data + w->at, *end = w->data + w->size;
    uint64_t line = 0;
    unsigned first = 0, others = ~0u;
    int rows = 0;
    for (; rows < ROWS_LOOKED_AT && text_skip_to_row(&p, end, delimiter, w->comment, &line); rows++) {
        text_cell cell;
        if (text_scan_row(&p, end, delimiter, 0, &cell, 1, &line) != 1) break;
        if (rows == 0) first = signs_of(&cell);
        if (rows > 0) others &= signs_of(&cell);
    }
    return rows > 2 && (others & ~first);
}

/* What a single cell above words may be: certainly a name above true and false, or perhaps one, if it differs from the
 * few words below, which repeat. */
typedef enum over_words { OVER_ELSE = 0, OVER_REPEATED, OVER_TRUTHS } over_words;

static bool are_same(const text_cell *a, const text_cell *b)
{
    const size_t size = (size_t)(a->end - a->begin);
    return size == (size_t)(b->end - b->begin) && memcmp(a->begin, b->begin, size) == 0;
}

static bool is_truth(const text_cell *cell)
{
    return text_cell_is(cell, "true") || text_cell_is(cell, "false");
}

static over_words first_over_words(const text_window *w, text_delimiter delimiter)
{
    const char *p = w->data + w->at, *end = w->data + w->size;
    uint64_t line = 0;
    text_cell cell[ROWS_LOOKED_AT];
    int rows = 0, truths = 0, missing = 0, different = 0;
    for (; rows < ROWS_LOOKED_AT && text_skip_to_row(&p, end, delimiter, w->comment, &line); rows++) {
        if (text_scan_row(&p, end, delimiter, 0, &cell[rows], 1, &line) != 1) break;
        bool known = false;
        for (int other = 0; other < rows && !known; other++) {
            known = are_same(&cell[other], &cell[rows]);
            if (known && other == 0) return OVER_ELSE;
        }
        different += rows > 0 && !known;
        missing += rows > 0 && text_cell_missing(&cell[rows]);
        truths += is_truth(&cell[rows]);
    }
    if (truths && truths + missing == rows - 1 && !is_truth(&cell[0])) return OVER_TRUTHS;
    return rows > 2 && 2 * different <= rows ? OVER_REPEATED : OVER_ELSE;
}

/* Integers that increase in equal nonzero steps, at least two of them: years, or numbers of columns. */
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

/* Whether the numbers of the first row look like column names, and those of no other row do. */
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
    const bool lines = options->number && !options->columns && !options->delimiter;
    *form = (text_form){.delimiter = lines ? '\n' : options->delimiter};
    if (!form->delimiter) {
        if (!find_delimiter(w, options, form)) return false;
    } else if (fit_of(w, form->delimiter).cut) {
        return false;
    }
    census first = census_of(w, form->delimiter);
    form->row_names = options->header != 0 && !form->numbers && has_row_names(w, form->delimiter);
    bool names = !form->numbers && !form->title && !first.numbers && first.words;
    over_words over = OVER_ELSE;
    if (first.cells == 1 && names) {
        if (first.named && !lines) over = first_over_words(w, form->delimiter);
        const fit rows = fit_of(w, form->delimiter);
        names = first.named && (rows.numbers > 0 || rows.rows == 1 || over == OVER_TRUTHS ||
                                has_values(w, form->delimiter, false) || has_others_alike(w, form->delimiter));
    }
    names = names && !has_values(w, form->delimiter, true) && !lines;
    form->header = options->header == 1 || form->row_names || (options->header == -1 && names);
    form->may_be_header = !form->header && !form->numbers && options->header == -1 &&
                          (over == OVER_REPEATED || has_numbers_as_names(w, form->delimiter));
    return true;
}
