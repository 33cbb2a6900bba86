/* JSON lines, and arrays of objects: each object is a row, and its keys are columns; keys of nested objects are joined
 * by dots. Or an array of numbers, words or booleans: an unnamed column. Rows are parsed in a sliding window, so that
 * the file may be larger than memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/readers/arrays/keys.h"
#include "input/readers/readers.h"
#include "input/readers/text/number.h"
#include "input/readers/text/row_table.h"
#include "input/readers/text/text_form.h"
#include "input/readers/text/text_scan.h"
#include "modules/json/parse.h"

/* Columns are those of the rows in the first MiB; the rest is searched if a column is requested that is not among
 * them. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { BYTES_LOOKED_AT = 256 };
#else
enum { BYTES_LOOKED_AT = 1 << 20 };
#endif
enum { MOST_COLUMNS = 1 << 16, DEEPEST = 64, NOWHERE = -1 };

typedef struct json_reader {
    row_table table;
    text_window window;
    keys keys;         /* the paths of columns */
    int64_t first_row; /* the byte where it begins */
    int64_t stop;      /* rows that begin here or later are not read */
    bool ended;
    bool in_array; /* of rows, separated by commas */
    bool between;  /* a row has been read */
    bool known;    /* the first row has been found */
    bool values;   /* rows are not objects but the values of a single column */
    bool closed;   /* the array of values has ended */
    uint64_t line; /* 1-based, of the window's `at` */

    /* The row that is parsed. */
    bool learning; /* its keys become columns */
    bool skipping; /* it belongs to another shard: none of its values is read */
    int depth;
    int path[DEEPEST]; /* for each open object, its key; NOWHERE in arrays */
    int key;           /* of the next value */
    fault *fault;
} json_reader;

/* ---- Messages ------------------------------------------------------------------------------------------- */

static uint64_t line_of(const json_reader *r, const char *at)
{
    uint64_t line = r->line;
    for (const char *p = r->window.data + r->window.at; (p = memchr(p, '\n', (size_t)(at - p))); p++)
        line++;
    return text_window_line(&r->window, line);
}

static int fault_syntax(const json_reader *r, const char *at, const char *why, fault *f)
{
    const int size = (int)strcspn(why, "."); /* of a sentence */
    return fault_set(f, EXIT_DATA,
                     "%s, line %" PRIu64 ": this is not JSON (%.*s): correct it, or read it as text with "
                     "--format text",
                     input_name(r->table.base.in), line_of(r, at), size, why);
}

static int fault_cut(const json_reader *r, fault *f)
{
    return fault_set(f, EXIT_DATA,
                     "%s, line %" PRIu64 ": what begins here has no end: the file is cut, or lacks a bracket or quote",
                     input_name(r->table.base.in), text_window_line(&r->window, r->line));
}

/* ---- A row ---------------------------------------------------------------------------------------------- */

/* The column of this key, added if necessary; NOWHERE if out of memory, or if there are too many. */
static int column_of(json_reader *r, int key)
{
    int *column = keys_value(&r->keys, key);
    if (*column != NOWHERE) return *column;
    if (r->table.base.channels == MOST_COLUMNS) return NOWHERE;
    return *column = row_table_add_column(&r->table, r->values ? strdup("values") : keys_path(&r->keys, key));
}

/* The column of the next value, if it is selected; else NOWHERE. While columns are learned, it is added. */
static int column_of_value(json_reader *r, cell_kind kind)
{
    if (r->key == NOWHERE || r->skipping) return NOWHERE;
    if (r->learning) {
        const int column = column_of(r, r->key);
        if (column != NOWHERE && (kind == CELL_INTEGER || kind == CELL_REAL)) r->table.numeric[column] = true;
        return NOWHERE;
    }
    const int column = *keys_value(&r->keys, r->key);
    return row_table_is_selected(&r->table, column) ? column : NOWHERE;
}

static int fault_shape(const json_reader *r, const char *at, fault *f)
{
    return fault_set(f, EXIT_DATA,
                     "%s, line %" PRIu64 ": this JSON is neither objects, one a row and perhaps in an array, nor one "
                     "array of numbers, strings or booleans: take what you need out of it, with jq",
                     input_name(r->table.base.in), line_of(r, at));
}

static bool put(json_reader *r, int column, const row_table_cell *cell, const char *at)
{
    char what[96];
    switch (row_table_put(&r->table, column, cell, r->fault)) {
    case PUT_GOOD:
        return true;
    case PUT_FAILED:
        return false;
    case PUT_BAD:
        break;
    }
    row_table_describe(&r->table, column, cell, "an array or object", what, sizeof what);
    fault_set(r->fault, EXIT_DATA,
              "%s, line %" PRIu64 "%s%.80s: %s; correct it, or leave such values out with --skip-bad",
              input_name(r->table.base.in), line_of(r, at), r->values ? "" : ", key ",
              r->values ? "" : r->table.names[column], what);
    return false;
}

static bool open_value(void *self, const char *at, bool object)
{
    json_reader *r = self;
    if (r->depth == DEEPEST) {
        fault_set(r->fault, EXIT_DATA,
                  "%s, line %" PRIu64 ": objects and arrays lie in each other more than %d deep: "
                  "take what you need out of them, with jq",
                  input_name(r->table.base.in), line_of(r, at), DEEPEST);
        return false;
    }
    const int column = object && r->learning ? NOWHERE : column_of_value(r, CELL_OTHER);
    if (column != NOWHERE && !put(r, column, &(row_table_cell){.kind = CELL_OTHER}, at)) return false;
    r->path[r->depth++] = object ? r->key : NOWHERE;
    r->key = NOWHERE;
    return true;
}

static bool close_value(void *self)
{
    json_reader *r = self;
    r->depth--;
    r->key = NOWHERE;
    return true;
}

static bool enter_key(void *self, const char *key, size_t size)
{
    json_reader *r = self;
    const int in = r->path[r->depth - 1];
    r->key = in == NOWHERE ? NOWHERE
             : r->learning ? keys_add(&r->keys, in, key, size)
                           : keys_find(&r->keys, in, key, size);
    return true;
}

/* Parse a number as an integer; false if it is not one, or has more than 64 bits. */
static bool is_integer(const char *text, const char *end, int64_t *value)
{
    const bool negative = *text == '-';
    int64_t sum = 0;
    for (text += negative; text < end; text++) {
        const int digit = *text - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, negative ? -digit : digit, &sum))
            return false;
    }
    *value = sum;
    return true;
}

static bool put_number(void *self, const char *at, const char *text)
{
    json_reader *r = self;
    const int column = column_of_value(r, CELL_REAL);
    if (r->learning && r->key != NOWHERE) {
        const int learned = *keys_value(&r->keys, r->key);
        if (learned != NOWHERE) r->table.reals[learned] = r->table.reals[learned] || number_is_real(text, at);
    }
    if (column == NOWHERE) return true;
    row_table_cell cell = {.kind = CELL_REAL, .text = text, .size = (size_t)(at - text)};
    number_parse(text, &cell.real);
    if (is_integer(text, at, &cell.integer)) cell.kind = CELL_INTEGER;
    return put(r, column, &cell, at);
}

static bool put_truth(void *self, bool value)
{
    json_reader *r = self;
    const char *text = value ? "true" : "false";
    const int learned = r->learning && r->key != NOWHERE ? column_of(r, r->key) : NOWHERE;
    const int column = column_of_value(r, CELL_OTHER);
    if (learned != NOWHERE) r->table.booleans[learned] = true;
    const row_table_cell cell = {CELL_INTEGER, value, value, text, strlen(text)};
    return column == NOWHERE || put(r, column, &cell, r->window.data + r->window.at);
}

static bool put_null(void *self)
{
    json_reader *r = self;
    const int column = column_of_value(r, CELL_NULL);
    return column == NOWHERE || put(r, column, &(row_table_cell){.kind = CELL_NULL}, NULL);
}

static bool put_string(void *self, const char *at, const char *text, size_t size)
{
    json_reader *r = self;
    if (r->learning && r->key != NOWHERE) {
        const int learned = column_of(r, r->key);
        if (learned != NOWHERE) row_table_look_at_word(&r->table, &r->table.words[learned], text, size);
        return true;
    }
    const int column = column_of_value(r, CELL_WORD);
    return column == NOWHERE || put(r, column, &(row_table_cell){.kind = CELL_WORD, .text = text, .size = size}, at);
}

/* Parse the row that begins at *at. */
static json_result parse_row(json_reader *r, const char **at, const char **why, fault *f)
{
    const json_handler handler = {open_value, close_value, enter_key, put_number, put_truth, put_null, put_string, r};
    r->depth = 0;
    r->key = KEYS_ROOT;
    r->fault = f;
    const char *end = r->window.data + r->window.size;
    const json_result result = json_parse(at, end, &handler, why);
    return result == JSON_INVALID && *at + 1 >= end ? JSON_CUT : result; /* a newline ends the window */
}

/* ---- Rows ----------------------------------------------------------------------------------------------- */

/* A record separator may precede rows (RFC 7464). */
static bool is_white(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == 0x1e;
}

/* A number, a string, null, true or false. */
static bool begins_value(char c)
{
    return c && strchr("-0123456789\"ntfNI", c);
}

/* Move to the next row from *at on: 1; 0 if the window ends before it; -1 if there is anything else. */
static int skip_to_row(json_reader *r, const char **at, const char *end, fault *f)
{
    const char *p = *at;
    for (; p < end; p++) {
        if (!r->known && r->in_array) r->values = begins_value(*p);
        const bool row = r->values ? r->in_array && begins_value(*p) : *p == '{';
        if (row && !(r->in_array && r->between)) break;
        if (is_white(*p)) continue;
        const bool ends = r->in_array && *p == ']', begins = *p == '[' || *p == '{' || begins_value(*p);
        if (r->closed || (begins && r->in_array && !r->between)) {
            *at = p;
            return fault_shape(r, p, f);
        }
        if (ends || (!r->in_array && *p == '[')) {
            r->in_array = !ends;
            r->closed = ends && r->values;
        } else if (!r->in_array || !r->between || *p != ',') {
            *at = p;
            return fault_syntax(r, p,
                                !r->in_array ? "an object is expected here"
                                : r->values  ? "a comma or the end of the array is expected here"
                                             : "an object or the end of the array is expected here",
                                f);
        }
        r->between = false;
    }
    *at = p;
    r->known = r->known || p < end;
    return p < end;
}

/* Move `at` of the window, and count the lines before it. */
static void move_to(json_reader *r, const char *to)
{
    const char *p = r->window.data + r->window.at;
    for (; (p = memchr(p, '\n', (size_t)(to - p))); p++)
        r->line++;
    r->window.at = (size_t)(to - r->window.data);
}

static int64_t json_unit(const reader *base)
{
    const json_reader *r = (const json_reader *)base;
    return r->window.offset + (int64_t)r->window.at;
}

/* Move to the next row: 1, 0 if there is none, -1. */
static int find_row(json_reader *r, fault *f)
{
    for (int more = 1; more > 0;) {
        const char *p = r->window.data + r->window.at, *end = r->window.data + r->window.size;
        const int found = skip_to_row(r, &p, end, f);
        if (found < 0) return -1;
        move_to(r, p);
        if (found) return 1;
        more = text_window_more(&r->window, r->line, f);
        if (more < 0) return -1;
    }
    return r->in_array ? fault_cut(r, f) : 0;
}

/* Read the next row: 1, 0 if there is none, -1. */
static int read_row(json_reader *r, fault *f)
{
    const int found = find_row(r, f);
    if (found < 1) return found;
    if (json_unit(&r->table.base) >= r->stop) return 0;
    for (;;) {
        const char *p = r->window.data + r->window.at, *why = "";
        row_table_begin_row(&r->table);
        switch (parse_row(r, &p, &why, f)) {
        case JSON_VALUE:
            if (r->values && p == r->window.data + r->window.size) break; /* digits may follow */
            row_table_end_row(&r->table);
            move_to(r, p);
            r->between = true;
            return 1;
        case JSON_CUT:
            break;
        case JSON_INVALID:
            return fault_syntax(r, p, why, f);
        case JSON_STOPPED:
            return -1;
        }
        const int more = text_window_more(&r->window, r->line, f);
        if (more < 0) return -1;
        if (more == 0) return fault_cut(r, f);
    }
}

static int json_next(reader *base, band *b, fault *f)
{
    json_reader *r = (json_reader *)base;
    row_table_begin_band(&r->table);
    while (!r->ended && !row_table_full(&r->table)) {
        const int got = read_row(r, f);
        if (got < 0) return -1;
        r->ended = got == 0;
    }
    return row_table_band(&r->table, b);
}

/* ---- The reader ----------------------------------------------------------------------------------------- */

/* Move to the first row, from the beginning of the text. */
static int begin(json_reader *r, fault *f)
{
    text_window *w = &r->window;
    row_table_reset(&r->table);
    r->line = 1;
    r->stop = INT64_MAX;
    r->ended = r->between = r->in_array = r->closed = false;
    if (text_window_more(w, 1, f) < 0) return -1;
    if (w->size >= 3 && memcmp(w->data, "\xef\xbb\xbf", 3) == 0) w->at = 3;
    return find_row(r, f);
}

static int json_rewind(reader *base, fault *f)
{
    json_reader *r = (json_reader *)base;
    if (input_rewind(base->in, f) != 0) return -1;
    text_window_reset(&r->window);
    return begin(r, f) < 0 ? -1 : 0;
}

/* Skip all rows before byte `first`, without reading their values. */
static int skip_rows(json_reader *r, int64_t first, fault *f)
{
    int more = json_rewind(&r->table.base, f) == 0 ? 1 : -1;
    r->skipping = true;
    while (more > 0 && json_unit(&r->table.base) < first) {
        row_table_begin_band(&r->table);
        more = read_row(r, f);
        if (more > 0) more = find_row(r, f);
    }
    r->skipping = false;
    row_table_begin_band(&r->table);
    return more < 0 ? -1 : 0;
}

/* A row belongs to the unit of its first byte. In parts, which are compared, each row is taken to be a line. */
static int json_take(reader *base, int64_t first, int64_t end, fault *f)
{
    json_reader *r = (json_reader *)base;
    if (first <= r->first_row || !r->table.in_parts) {
        if (skip_rows(r, first, f) != 0) return -1;
    } else {
        fault later = {0}; /* it may not be a row: reading reports that */
        if (text_window_to_line(&r->window, first, f) != 0) return -1;
        r->line = 1;
        r->between = r->in_array = false;
        find_row(r, &later);
    }
    row_table_reset(&r->table);
    r->stop = end;
    r->ended = json_unit(base) >= end;
    return 0;
}

static void json_close(reader *base)
{
    json_reader *r = (json_reader *)base;
    keys_free(&r->keys);
    text_window_free(&r->window);
    row_table_free(&r->table);
}

/* Columns found earlier stay as they are. */
static bool find_more(reader *base)
{
    json_reader *r = (json_reader *)base;
    row_table *t = &r->table;
    const size_t before = (size_t)base->channels;
    bool *numeric = malloc(before * sizeof *numeric), *booleans = malloc(before * sizeof *booleans);
    values_kind *kinds = malloc(before * sizeof *kinds);
    fault ignored = {0}; /* reading reports it again */
    base->find_more = NULL;
    if (numeric && booleans && kinds && json_rewind(base, &ignored) == 0) {
        memcpy(numeric, t->numeric, before * sizeof *numeric);
        memcpy(booleans, t->booleans, before * sizeof *booleans);
        memcpy(kinds, t->kinds, before * sizeof *kinds);
        r->learning = true;
        do
            row_table_begin_band(t);
        while (read_row(r, &ignored) > 0);
        r->learning = false;
        row_table_end_columns(t);
        memcpy(t->numeric, numeric, before * sizeof *numeric);
        memcpy(t->booleans, booleans, before * sizeof *booleans);
        memcpy(t->kinds, kinds, before * sizeof *kinds);
        row_table_begin_band(t);
        json_rewind(base, &(fault){0});
    }
    free(numeric);
    free(booleans);
    free(kinds);
    return base->channels > (int)before;
}

/* Find the columns in the first rows, which stay in the window. */
static int find_columns(json_reader *r, fault *f)
{
    const char *name = input_name(r->table.base.in);
    int more = 1;
    while (r->window.size < BYTES_LOOKED_AT && more > 0)
        if ((more = text_window_more(&r->window, r->line, f)) < 0) return -1;
    r->learning = true;
    const char *end = r->window.data + r->window.size;
    const json_reader here = *r;
    json_result result = JSON_VALUE;
    while (result == JSON_VALUE) {
        const char *p = r->window.data + r->window.at, *why = "";
        fault ignored = {0};
        if (skip_to_row(r, &p, end, &ignored) < 1) break;
        result = parse_row(r, &p, &why, f);
        if (result == JSON_STOPPED) return -1;
        if (result == JSON_INVALID) break; /* reported when it is read */
        if (result == JSON_VALUE && !(r->values && p == end)) {
            move_to(r, p);
            r->between = true;
        }
    }
    r->window = here.window;
    r->line = here.line;
    r->between = here.between;
    r->in_array = here.in_array;
    r->closed = here.closed;
    r->learning = false;
    if (r->table.base.channels == 0 && result == JSON_CUT && more > 0)
        return fault_set(f, EXIT_DATA, "%s: the first object has more than %d KiB: it must have less", name,
                         BYTES_LOOKED_AT >> 10);
    if (r->table.base.channels == 0 && result != JSON_VALUE) { /* report why there is none */
        if (read_row(r, f) < 0) return -1;
    }
    if (r->table.base.channels == 0) return fault_set(f, EXIT_DATA, "%s holds no values: its objects are empty", name);
    row_table_end_columns(&r->table);
    if (r->values) r->table.base.names = NULL;
    if (more > 0 && !r->values) r->table.base.find_more = find_more;
    return 0;
}

static int prepare(json_reader *r, fault *f)
{
    input *in = r->table.base.in;
    const int found =
        keys_make(&r->keys) ? begin(r, f) : fault_set(f, EXIT_DATA, "no memory to read %s", input_name(in));
    if (found < 0) return -1;
    if (!found) return fault_set(f, EXIT_DATA, "%s holds no objects", input_name(in));
    if (find_columns(r, f) != 0) return -1;
    r->first_row = json_unit(&r->table.base);
    if (input_data_size(in) > 0 && !r->in_array) {
        r->table.base.units = input_data_size(in);
        r->table.base.take = json_take;
        r->table.base.unit = json_unit;
        r->table.base.rows = true;
        r->table.base.guesses = r->table.in_parts;
    }
    return 0;
}

reader *json_open(input *in, const read_options *options, fault *f)
{
    const reader_functions functions = {
        .select = row_table_select, .next = json_next, .rewind = json_rewind, .close = json_close};
    json_reader *r = row_table_create(sizeof *r, in, options, functions, f);
    if (!r) return NULL;
    r->window.in = in;
    if (prepare(r, f) == 0) return &r->table.base;
    reader_destroy(&r->table.base);
    return NULL;
}
