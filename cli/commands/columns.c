/* histo columns: list the contents of a file: its columns or channels, and the kind and range of their values. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/text.h"
#include "base/times.h"
#include "input/samples/samples.h"
#include "output/rows.h"

enum { FIRST_VALUES = 3, CELL_BYTES = 160 };

/* A column, or a channel. */
typedef struct listed_column {
    const char *name, *kind;
    char room[16]; /* for the name */
    channel_form form;
    histo_dtype dtype; /* of its views */
    int view;          /* -1: not read */
    uint64_t count, missing;
    uint64_t nan, infinite; /* included in the count, but neither min nor max */
    bool boolean;
    bool whole; /* all numbers in text are integers */
    bool any;   /* some value is finite */
    histo_number min, max;
    char first[CELL_BYTES];
    int firsts;
} listed_column;

typedef struct column_list {
    reader *reader;
    listed_column *of;
    int views;
} column_list;

/* ---- The file's metadata --------------------------------------------------------------------------------- */

static bool is_written(const reader *r, int c)
{
    return r->takes_forms && !r->declares && r->dtypes[c] == HISTO_F64;
}

static int describe(const reader *r, int c, listed_column *to, fault *f)
{
    const values_kind kind = r->takes_forms && r->kinds ? r->kinds[c] : VALUES_NUMBERS;
    const time_epoch epoch = r->epochs ? r->epochs[c] : (time_epoch){0};
    *to = (listed_column){.dtype = r->dtypes[c], .whole = true};
    to->name = choice_channel_name(r, c, to->room);
    to->form = (channel_form){.kind = kind, .epoch = epoch};
    to->boolean = r->booleans && r->booleans[c];
    to->kind = to->boolean   ? "booleans"
               : epoch.span  ? "spans of time"
               : epoch.units ? "dates"
                             : histo_dtype_name(r->dtypes[c]);
    if (kind == VALUES_NUMBERS) return 0;
    to->kind = kind == VALUES_WORDS ? "strings" : "dates";
    to->dtype = to->form.dtype = kind == VALUES_WORDS ? HISTO_U32 : HISTO_I64;
    if (kind == VALUES_WORDS && !(to->form.words = dictionary_make()))
        return fault_set(f, EXIT_DATA, "no memory for the columns of %s", input_name(r->in));
    return 0;
}

/* Read all columns that have values. */
static int select_columns(column_list *l, fault *f)
{
    reader *r = l->reader;
    int *wanted = calloc((size_t)r->channels, sizeof *wanted);
    channel_form *forms = calloc((size_t)r->channels, sizeof *forms);
    int failed = wanted && forms ? 0 : fault_set(f, EXIT_DATA, "no memory for the columns of %s", input_name(r->in));
    l->views = 0;
    for (int c = 0; c < r->channels && !failed; c++) {
        listed_column *to = &l->of[c];
        to->view = -1;
        if (to->form.kind == VALUES_NUMBERS && !to->form.epoch.units && r->numeric && !r->numeric[c]) continue;
        to->view = l->views++;
        wanted[to->view] = c;
        if (to->form.kind != VALUES_NUMBERS) forms[to->view] = to->form;
    }
    if (!failed && l->views) failed = reader_select(r, wanted, r->takes_forms ? forms : NULL, l->views, f);
    free(wanted);
    free(forms);
    return failed;
}

/* ---- Values --------------------------------------------------------------------------------------------- */

static bool is_signed(histo_dtype dtype)
{
    return dtype == HISTO_I8 || dtype == HISTO_I16 || dtype == HISTO_I32 || dtype == HISTO_I64;
}

static double as_double(const listed_column *c, histo_number n)
{
    return c->dtype >= HISTO_F16 ? n.f64 : is_signed(c->dtype) ? (double)n.i64 : (double)n.u64;
}

/* As a time, in microseconds since 1970; false if the values are not times, or the time is out of range. */
static bool as_time(const listed_column *c, histo_number n, int64_t *us)
{
    const time_epoch *e = &c->form.epoch;
    double value = as_double(c, n), beyond;
    const histo_view one = histo_view_nd(&value, HISTO_F64, 2, (const int64_t[]){1, 1});
    if (c->form.kind == VALUES_TIMES && !e->units) {
        *us = n.i64;
        return true;
    }
    if (!e->units || e->span || !epoch_times(&one, NULL, e, &value, &beyond)) return false;
    *us = (int64_t)value;
    return true;
}

/* Floats of fewer than 64 bits as the shortest text that reads back as the same float. */
static void put_value(const listed_column *c, histo_number n, char text[CELL_BYTES])
{
    char number[TEXT_NUMBER_BYTES], date[TIME_TEXT_BYTES];
    int64_t us;
    const double truth = c->dtype >= HISTO_F16 ? n.f64 : (double)n.u64;
    if (c->boolean && (truth == 0 || truth == 1)) {
        snprintf(text, CELL_BYTES, "%s", truth == 1 ? "true" : "false");
    } else if (as_time(c, n, &us)) {
        snprintf(text, CELL_BYTES, "%s", time_text(us, time_digits_of(us, TIME_DAYS), date));
    } else if (c->dtype == HISTO_F64) {
        snprintf(text, CELL_BYTES, "%s", text_exact(n.f64, number));
    } else if (c->dtype >= HISTO_F16) {
        for (int digits = 3; digits <= FLT_DECIMAL_DIG; digits++) {
            snprintf(text, CELL_BYTES, "%.*g", digits, n.f64);
            if (strtof(text, NULL) == (float)n.f64) break;
        }
    } else {
        snprintf(text, CELL_BYTES, is_signed(c->dtype) ? "%" PRId64 : "%" PRIu64, n.i64);
    }
}

static void add_first(listed_column *c, const char *text)
{
    const size_t used = strlen(c->first);
    snprintf(c->first + used, sizeof c->first - used, "%s%.40s", used ? ", " : "", text);
    c->firsts++;
}

static bool is_before(const listed_column *c, histo_number a, histo_number b)
{
    return c->dtype >= HISTO_F16 ? a.f64 < b.f64 : is_signed(c->dtype) ? a.i64 < b.i64 : a.u64 < b.u64;
}

/* Note the first values of a view, as long as more are wanted. */
static void note_first(listed_column *c, const histo_view *v, const unsigned char *valid)
{
    char text[CELL_BYTES];
    for (int64_t y = 0; y < v->shape[0]; y++)
        for (int64_t x = 0; x < v->shape[1]; x++) {
            if (c->firsts == FIRST_VALUES) return;
            if (valid && !valid[y * v->shape[1] + x]) continue;
            histo_view one = *v;
            histo_extremes e;
            one.data = (const char *)v->data + y * v->strides[0] + x * v->strides[1];
            one.shape[0] = one.shape[1] = 1;
            if (c->form.kind == VALUES_WORDS) {
                add_first(c, dictionary_word(c->form.words, *(const uint32_t *)one.data));
            } else if (histo_find_extremes(&one, NULL, &e, 1) == HISTO_OK) {
                put_value(c, e.min, text);
                add_first(c, e.nan ? "nan" : e.below ? "-inf" : e.above ? "inf" : text);
            }
        }
}

static bool holds_integers(const histo_view *v)
{
    const double *values = v->data;
    for (int64_t i = 0; i < v->shape[0]; i++)
        if (isfinite(values[i]) && values[i] != floor(values[i])) return false;
    return true;
}

static int add_view(listed_column *c, const histo_view *v, const histo_view *valid, const char *name, fault *f)
{
    const histo_fill_options options = {.mask = valid};
    histo_extremes e;
    if (v->shape[0] * v->shape[1] == 0) return 0;
    if (c->form.words && !dictionary_is_frozen(c->form.words) && dictionary_freeze_as_is(c->form.words) != 0)
        return fault_set(f, EXIT_DATA, "no memory for the columns of %s", name);
    if (histo_find_extremes(v, valid ? &options : NULL, &e, 1) != HISTO_OK) return fault_of_library(f, EXIT_DATA, name);
    note_first(c, v, valid ? valid->data : NULL);
    c->count += e.samples;
    c->missing += e.masked;
    c->nan += e.nan;
    c->infinite += e.below + e.above;
    c->whole = c->whole && (v->dtype != HISTO_F64 || holds_integers(v));
    if (e.samples == e.nan + e.below + e.above) return 0;
    if (!c->any || is_before(c, e.min, c->min)) c->min = e.min;
    if (!c->any || is_before(c, c->max, e.max)) c->max = e.max;
    c->any = true;
    return 0;
}

/* A pass over all columns. */
static int read_all(column_list *l, fault *f)
{
    reader *r = l->reader;
    const char *name = input_name(r->in);
    band b;
    int more;
    while ((more = r->next(r, &b, f)) > 0)
        for (int c = 0; c < r->channels; c++) {
            const int view = l->of[c].view;
            const histo_view *valid = view >= 0 && b.valid && b.valid[view].data ? &b.valid[view] : NULL;
            if (view >= 0 && add_view(&l->of[c], &b.views[view], valid, name, f) != 0) return -1;
        }
    return more;
}

static int read_again(column_list *l, fault *f)
{
    for (int c = 0; c < l->reader->channels; c++) {
        listed_column *of = &l->of[c];
        of->count = of->missing = of->nan = of->infinite = 0;
        of->any = false;
        of->first[0] = '\0';
        of->firsts = 0;
    }
    return select_columns(l, f) != 0 || l->reader->rewind(l->reader, f) != 0 ? -1 : read_all(l, f);
}

/* Tables leave out missing values: their number in each column follows from the number of rows, which the maximum over
 * all columns shows. */
static void find_missing(column_list *l)
{
    const reader *r = l->reader;
    uint64_t cells = r->missing + r->bad;
    for (int c = 0; c < r->channels; c++)
        if (l->of[c].view >= 0) cells += l->of[c].count + l->of[c].missing;
    for (int c = 0; c < r->channels && cells; c++)
        if (l->of[c].view >= 0 && r->takes_forms) l->of[c].missing = cells / (uint64_t)l->views - l->of[c].count;
}

/* Let a column be read as integers, if doubles cannot represent all of its values and 64-bit integers may: returns
 * whether they may. */
static bool take_integers(const reader *r, int c, listed_column *of)
{
    const double most = 0x1p53;
    const bool wanted = of->form.kind == VALUES_NUMBERS && is_written(r, c) && of->any && of->whole &&
                        (of->min.f64 <= -most || of->max.f64 >= most) && of->min.f64 >= -0x1p63 &&
                        of->max.f64 <= (of->min.f64 < 0 ? 0x1p63 : 0x1p64);
    if (!wanted) return false;
    of->dtype = of->min.f64 < 0 || of->max.f64 < 0x1p63 ? HISTO_I64 : HISTO_U64;
    of->form = (channel_form){.kind = VALUES_INTEGERS, .dtype = of->dtype};
    return true;
}

/* Some column has integers beyond 64 bits after all: try one column after the other. */
static int read_each(column_list *l, const listed_column *before, fault *f)
{
    reader *r = l->reader;
    for (int c = 0; c < r->channels; c++)
        l->of[c] = before[c];
    for (int c = 0; c < r->channels; c++) {
        fault beyond = {0};
        if (!take_integers(r, c, &l->of[c])) continue;
        if (read_again(l, &beyond) != 0) l->of[c] = before[c];
        for (int other = c + 1; other < r->channels; other++)
            l->of[other] = before[other];
    }
    return read_again(l, f);
}

static int read_integers(column_list *l, fault *f)
{
    reader *r = l->reader;
    listed_column *before = calloc((size_t)r->channels, sizeof *before);
    if (!before) return fault_set(f, EXIT_DATA, "no memory for the columns of %s", input_name(r->in));
    memcpy(before, l->of, (size_t)r->channels * sizeof *before);
    bool any = false;
    for (int c = 0; c < r->channels; c++)
        any |= take_integers(r, c, &l->of[c]);
    fault beyond = {0};
    const int failed = any && read_again(l, &beyond) != 0 ? read_each(l, before, f) : 0;
    free(before);
    return failed;
}

/* ---- The table ------------------------------------------------------------------------------------------ */

static void print_column(const reader *r, int c, const listed_column *of, rows *to)
{
    char text[CELL_BYTES];
    const bool numbers = of->view >= 0 && of->form.kind != VALUES_WORDS;
    const char *kind = of->kind;
    if (of->view < 0) kind = "other";
    if (of->view >= 0 && of->count == 0)
        kind = "missing";
    else if (numbers && !of->boolean && is_written(r, c) && !of->form.epoch.units && of->form.kind != VALUES_TIMES)
        kind = of->whole ? "integers" : "numbers";
    rows_count(to, (uint64_t)c);
    rows_text(to, of->name ? of->name : "");
    rows_text(to, kind);
    rows_count(to, of->count);
    rows_count(to, of->missing);
    rows_text(to, of->first);
    for (int end = 0; end < 2; end++) {
        text[0] = '\0';
        if (numbers && of->any) put_value(of, end ? of->max : of->min, text);
        rows_text(to, text);
    }
}

static void remark_not_finite(const column_list *l, int c)
{
    const listed_column *of = &l->of[c];
    char name[600];
    snprintf(name, sizeof name, "%.400s, %.150s", input_name(l->reader->in), of->name ? of->name : "0");
    note_not_finite(l->views > 1 || of->name ? name : input_name(l->reader->in), "min and max leave out", of->nan,
                    of->infinite);
}

static int print_columns(const settings *s, rows *to, fault *f)
{
    static const char *const names[] = {"column", "name", "kind", "count", "missing", "first", "min", "max"};
    column_list l = {0};
    read_options options = s->read;
    options.skip_bad = true;
    l.reader = reader_open(s->files_count ? s->files[0] : "-", &options, true, f);
    int failed = l.reader ? 0 : -1;
    if (!failed && l.reader->find_more) l.reader->find_more(l.reader);
    if (!failed && !(l.of = calloc((size_t)l.reader->channels, sizeof *l.of)))
        failed = fault_set(f, EXIT_DATA, "no memory for the columns of %s", input_name(l.reader->in));
    for (int c = 0; !failed && c < l.reader->channels; c++)
        failed = describe(l.reader, c, &l.of[c], f);
    if (!failed) failed = select_columns(&l, f);
    if (!failed && l.views) failed = read_all(&l, f) != 0 || read_integers(&l, f) != 0 ? -1 : 0;
    if (!failed) find_missing(&l);
    if (!failed && l.reader->bad && !s->quiet)
        note("%s: %" PRIu64 " cell%s, and count%s as missing", input_name(l.reader->in), l.reader->bad,
             l.reader->bad == 1 ? " is not a number" : "s are not numbers", l.reader->bad == 1 ? "s" : "");
    if (!failed) remark_ragged(input_name(l.reader->in), l.reader->ragged, s);
    for (int c = 0; !failed && !s->quiet && c < l.reader->channels; c++)
        remark_not_finite(&l, c);
    if (!failed) rows_begin(to, names, sizeof names / sizeof *names);
    for (int c = 0; !failed && c < l.reader->channels; c++)
        print_column(l.reader, c, &l.of[c], to);
    for (int c = 0; l.of && c < l.reader->channels; c++)
        dictionary_free(l.of[c].form.words);
    free(l.of);
    reader_close(l.reader);
    return failed;
}

int command_columns(const settings *s)
{
    return rows_command(s, print_columns);
}
