/* SQLite: a table, a view, or the result of a query. It is read in one transaction, so that all passes see the same
 * rows. Columns of integer type are read as i64, and others as f64. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/text.h"
#include "input/readers/names.h"
#include "input/readers/readers.h"
#include "input/readers/text/row_table.h"
#include "input/readers/text/text_form.h"

enum { ROWS_LOOKED_AT = 1000, LONGEST_VALUE = 64 << 20, MOST_MEMORY = 128 << 20 };

/* Beyond this, not every integer is a double. */
static const int64_t largest_exact = INT64_C(1) << 53;

typedef struct sqlite_reader {
    row_table table;
    sqlite3 *database;
    sqlite3_stmt *rows;
    char *source;   /* in messages: "data.db, table prices" */
    char *from;     /* the quoted name of the table; NULL: a query */
    int *column_of; /* [columns of the statement]: the column of the reader */
    int64_t row;    /* of the statement, from 1 */
    bool ended;
} sqlite_reader;

static int fault_sqlite(const sqlite_reader *r, fault *f)
{
    const int code = sqlite3_errcode(r->database);
    const char *what = code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? "; it is damaged: restore it, or try sqlite3 "
                                                                         "with .recover"
                                                                       : "";
    return fault_set(f, EXIT_DATA, "%s cannot be read (SQLite: %s)%s", r->source, sqlite3_errmsg(r->database), what);
}

static int fault_memory(const sqlite_reader *r, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory to read %s", input_name(r->table.base.in));
}

/* ---- The database --------------------------------------------------------------------------------------- */

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
static int stop(void *ignored)
{
    (void)ignored;
    return 1;
}
#endif

/* A copy has no name, only a link in /proc, whose target is not a path: SQLite must open the link itself. */
static int open_link(const char *path, int flags, int mode)
{
    return open(path, flags & ~O_NOFOLLOW, mode);
}

static int open_database(sqlite_reader *r, fault *f)
{
    input *in = r->table.base.in;
    const char *path = input_path(in, f);
    char *uri = path ? sqlite3_mprintf("file:%s?immutable=1", path) : NULL;
    if (!path) return -1;
    if (!uri) return fault_memory(r, f);
    const bool copied = input_was_spooled(in); /* no other process writes to it */
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    if (copied && system && system->xSetSystemCall) {
        system->xSetSystemCall(system, "lstat", (sqlite3_syscall_ptr)stat);
        system->xSetSystemCall(system, "open", (sqlite3_syscall_ptr)open_link);
    }
    const int opened =
        sqlite3_open_v2(copied ? uri : path, &r->database, SQLITE_OPEN_READONLY | (copied ? SQLITE_OPEN_URI : 0), NULL);
    sqlite3_free(uri);
    if (opened != SQLITE_OK) return r->database ? fault_sqlite(r, f) : fault_memory(r, f);
    /* The file may be hostile. */
    sqlite3_hard_heap_limit64(MOST_MEMORY);
    sqlite3_limit(r->database, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
    sqlite3_db_config(r->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(r->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    sqlite3_progress_handler(r->database, 100000, stop, NULL);
#endif
    if (sqlite3_exec(r->database, "PRAGMA cell_size_check = on; PRAGMA temp_store = file; BEGIN", NULL, NULL, NULL) !=
        SQLITE_OK)
        return fault_sqlite(r, f);
    return 0;
}

static int prepare(sqlite_reader *r, const char *sql, sqlite3_stmt **statement, const char **rest, fault *f)
{
    if (!sql) return fault_memory(r, f);
    return sqlite3_prepare_v2(r->database, sql, -1, statement, rest) == SQLITE_OK ? 0 : fault_sqlite(r, f);
}

/* Find the requested table or view, or the only one: its quoted name, in r->from. */
static int choose(sqlite_reader *r, const char *wanted, fault *f)
{
    static const char all[] = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND "
                              "name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    sqlite3_stmt *listing;
    name_list names = {0};
    char *found = NULL;
    int step;
    if (prepare(r, all, &listing, NULL, f) != 0) return -1;
    while ((step = sqlite3_step(listing)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(listing, 0);
        if (!name) continue;
        name_list_add(&names, name);
        if (wanted && strcasecmp(wanted, name) != 0) continue;
        sqlite3_free(found);
        found = sqlite3_mprintf("%s", name);
    }
    int failed = step == SQLITE_DONE ? 0 : fault_sqlite(r, f);
    sqlite3_finalize(listing);
    if (!failed && wanted && !found)
        failed = fault_set(f, EXIT_DATA, "%s has no table '%.80s': its tables are %s; choose one with --dataset",
                           r->source, wanted, name_list_text(&names));
    if (!failed && names.count == 0) failed = fault_set(f, EXIT_DATA, "%s holds no tables", r->source);
    if (!failed && !wanted && names.count > 1)
        failed = fault_set(f, EXIT_DATA, "%s holds %d tables: choose one with --dataset: %s", r->source, names.count,
                           name_list_text(&names));
    if (!failed) {
        char *source = sqlite3_mprintf("%s, table %s", r->source, found);
        r->from = sqlite3_mprintf("\"%w\"", found);
        failed = source && r->from ? 0 : fault_memory(r, f);
        if (source) sqlite3_free(r->source);
        if (source) r->source = source;
    }
    sqlite3_free(found);
    return failed;
}

/* Prepare what is read: the query, or the columns of the table, "*" for all. */
static int prepare_rows(sqlite_reader *r, const char *query, const char *columns, fault *f)
{
    const char *rest = "";
    char *sql = query ? NULL : sqlite3_mprintf("SELECT %s FROM %s", columns, r->from);
    sqlite3_finalize(r->rows);
    r->rows = NULL;
    int failed = prepare(r, query ? query : sql, &r->rows, &rest, f);
    if (!failed && query && (!r->rows || !sqlite3_stmt_readonly(r->rows) || rest[strspn(rest, " \t\r\n;")]))
        failed = fault_set(f, EXIT_USAGE, "--query takes one SELECT, and '%.60s' is something else", query);
    sqlite3_free(sql);
    return failed;
}

/* ---- Columns -------------------------------------------------------------------------------------------- */

/* What the first rows hold in a column. */
typedef struct census {
    bool integers, large, reals, others;
    row_table_words words;
} census;

static bool contains(const char *type, const char *part)
{
    for (; *type; type++)
        if (strncasecmp(type, part, strlen(part)) == 0) return true;
    return false;
}

/* A declared type with the affinity INTEGER. */
static bool is_integer_type(const char *type)
{
    return type && contains(type, "INT");
}

/* Other types whose values are numbers, as far as possible. */
static bool is_number_type(const char *type)
{
    return type && !contains(type, "CHAR") && !contains(type, "CLOB") && !contains(type, "TEXT") &&
           !contains(type, "BLOB") && *type;
}

static void look_at(const sqlite_reader *r, census *c, sqlite3_stmt *row, int column)
{
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER: {
        const int64_t value = sqlite3_column_int64(row, column);
        c->integers = true;
        c->large = c->large || value > largest_exact || value < -largest_exact;
        break;
    }
    case SQLITE_FLOAT:
        c->reals = true;
        break;
    case SQLITE_TEXT:
        if (sqlite3_column_text(row, column))
            row_table_look_at_word(&r->table, &c->words, (const char *)sqlite3_column_text(row, column),
                                   (size_t)sqlite3_column_bytes(row, column));
        break;
    case SQLITE_BLOB:
        c->others = true;
        break;
    default:
        break;
    }
}

static int look_at_rows(sqlite_reader *r, census *of, int columns, fault *f)
{
    int step = SQLITE_DONE;
    for (int row = 0; row < ROWS_LOOKED_AT && (step = sqlite3_step(r->rows)) == SQLITE_ROW; row++)
        for (int c = 0; c < columns; c++)
            look_at(r, &of[c], r->rows, c);
    if (step != SQLITE_ROW && step != SQLITE_DONE) return fault_sqlite(r, f);
    sqlite3_reset(r->rows);
    return 0;
}

static int find_columns(sqlite_reader *r, fault *f)
{
    const int columns = sqlite3_column_count(r->rows);
    const size_t n = (size_t)columns;
    if (columns == 0) return fault_set(f, EXIT_DATA, "%s has no columns", r->source);
    census *of = calloc(n, sizeof *of);
    r->column_of = arena_take(&r->table.base.memory, n, sizeof *r->column_of);
    if (!of || !r->column_of) {
        free(of);
        return fault_memory(r, f);
    }
    int failed = look_at_rows(r, of, columns, f);
    for (int c = 0; c < columns && !failed; c++) {
        const char *type = sqlite3_column_decltype(r->rows, c);
        const bool seen = of[c].integers || of[c].reals || of[c].words.words || of[c].words.times || of[c].others;
        const bool whole = is_integer_type(type) || (of[c].integers && of[c].large);
        r->column_of[c] = row_table_add_column(&r->table, strdup(sqlite3_column_name(r->rows, c)));
        if (r->column_of[c] < 0) {
            failed = fault_memory(r, f);
            break;
        }
        r->table.dtypes[c] = whole && !of[c].reals ? HISTO_I64 : HISTO_F64;
        r->table.numeric[c] =
            of[c].integers || of[c].reals || (!seen && (is_integer_type(type) || is_number_type(type)));
        r->table.reals[c] = of[c].reals;
        r->table.words[c] = of[c].words;
    }
    free(of);
    row_table_end_columns(&r->table);
    return failed;
}

/* ---- Rows ----------------------------------------------------------------------------------------------- */

static int fault_cell(const sqlite_reader *r, int column, const row_table_cell *cell, fault *f)
{
    char what[112];
    row_table_describe(&r->table, column, cell, "a BLOB", what, sizeof what);
    if (cell->kind == CELL_REAL && r->table.dtypes[column] != HISTO_F64)
        snprintf(what, sizeof what, "%.17g is not an integer, as the others are: make all real, by --query and CAST",
                 cell->real);
    return fault_set(f, EXIT_DATA,
                     "%s, row %" PRId64 ", column %.80s: %s; correct it, or leave such values out with "
                     "--skip-bad",
                     r->source, r->row, r->table.names[column], what);
}

static int put_cell(sqlite_reader *r, int at, fault *f)
{
    const int column = r->column_of[at];
    row_table_cell cell = {.kind = CELL_OTHER};
    if (!row_table_is_selected(&r->table, column)) return 0;
    switch (sqlite3_column_type(r->rows, at)) {
    case SQLITE_NULL:
        cell.kind = CELL_NULL;
        break;
    case SQLITE_INTEGER:
        cell.kind = CELL_INTEGER;
        cell.integer = sqlite3_column_int64(r->rows, at);
        cell.real = (double)cell.integer;
        break;
    case SQLITE_FLOAT:
        cell.kind = CELL_REAL;
        cell.real = sqlite3_column_double(r->rows, at);
        break;
    case SQLITE_TEXT:
        cell.kind = CELL_WORD;
        break;
    default:
        break;
    }
    char number[TEXT_NUMBER_BYTES]; /* SQLite's own text for a real has 15 digits */
    if (cell.kind == CELL_REAL && row_table_has_words(&r->table, column)) {
        cell.text = text_exact(cell.real, number);
        cell.size = strlen(number);
    } else if (cell.kind == CELL_WORD ||
               (cell.kind != CELL_NULL && cell.kind != CELL_OTHER && row_table_has_words(&r->table, column))) {
        cell.text = (const char *)sqlite3_column_text(r->rows, at);
        cell.size = (size_t)sqlite3_column_bytes(r->rows, at);
        if (!cell.text) return fault_sqlite(r, f);
    }
    const put_result put = row_table_put(&r->table, column, &cell, f);
    if (put == PUT_GOOD) return 0;
    return put == PUT_FAILED ? -1 : fault_cell(r, column, &cell, f);
}

static int sqlite_next(reader *base, band *b, fault *f)
{
    sqlite_reader *r = (sqlite_reader *)base;
    row_table_begin_band(&r->table);
    while (!r->ended && !row_table_full(&r->table)) {
        const int step = sqlite3_step(r->rows);
        if (step != SQLITE_ROW && step != SQLITE_DONE) return fault_sqlite(r, f);
        r->ended = step == SQLITE_DONE;
        if (r->ended) break;
        r->row++;
        row_table_begin_row(&r->table);
        for (int i = 0; i < sqlite3_column_count(r->rows); i++)
            if (put_cell(r, i, f) != 0) return -1;
        row_table_end_row(&r->table);
    }
    return row_table_band(&r->table, b);
}

static int sqlite_rewind(reader *base, fault *f)
{
    (void)f;
    sqlite_reader *r = (sqlite_reader *)base;
    sqlite3_reset(r->rows);
    row_table_reset(&r->table);
    r->row = 0;
    r->ended = false;
    return 0;
}

/* From now on, read only the selected columns of a table. */
static int sqlite_select(reader *base, fault *f)
{
    sqlite_reader *r = (sqlite_reader *)base;
    if (row_table_select(base, f) != 0) return -1;
    if (!r->from) return 0;
    sqlite3_str *columns = sqlite3_str_new(r->database);
    int selected = 0;
    for (int c = 0; c < base->channels; c++) {
        if (!row_table_is_selected(&r->table, c)) continue;
        sqlite3_str_appendf(columns, "%s\"%w\"", selected ? ", " : "", r->table.names[c]);
        r->column_of[selected++] = c;
    }
    char *list = sqlite3_str_finish(columns);
    const int failed = list ? prepare_rows(r, NULL, list, f) : fault_memory(r, f);
    sqlite3_free(list);
    return failed;
}

static void sqlite_close(reader *base)
{
    sqlite_reader *r = (sqlite_reader *)base;
    sqlite3_finalize(r->rows);
    sqlite3_close(r->database);
    sqlite3_free(r->source);
    sqlite3_free(r->from);
    row_table_free(&r->table);
}

reader *sqlite_open(input *in, const read_options *options, fault *f)
{
    const reader_functions functions = {
        .select = sqlite_select, .next = sqlite_next, .rewind = sqlite_rewind, .close = sqlite_close};
    sqlite_reader *r = row_table_create(sizeof *r, in, options, functions, f);
    if (!r) return NULL;
    r->source = sqlite3_mprintf("%s", input_name(in));
    if (options->query && options->dataset)
        fault_set(f, EXIT_USAGE, "--query already says which table is read: leave --dataset out");
    else if (!r->source)
        fault_memory(r, f);
    else if (open_database(r, f) == 0 && (options->query || choose(r, options->dataset, f) == 0) &&
             prepare_rows(r, options->query, "*", f) == 0 && find_columns(r, f) == 0)
        return &r->table.base;
    reader_destroy(&r->table.base);
    return NULL;
}
