#include "input/readers/text/row_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dates/reading.h"
#include "base/text.h"
#include "input/readers/arrays/array.h"
#include "input/readers/text/number.h"
#include "input/readers/text/text_form.h"
#include "input/samples/filter.h"

/* The slot of a column read in this form, created if necessary. */
static int find_slot(row_table *t, int column, const channel_form *as)
{
    int *link = &t->slot_of[column];
    for (; *link >= 0; link = &t->slot[*link].next) {
        const channel_form *has = &t->slot[*link].as;
        if (has->kind == as->kind && has->dtype == as->dtype && has->words == as->words &&
            has->condition == as->condition)
            return *link;
    }
    t->slot[t->slots] = (row_table_slot){.as = *as, .next = -1};
    return *link = t->slots++;
}

int row_table_select(reader *base, fault *f)
{
    row_table *t = (row_table *)base;
    selection *s = &base->selected;
    const int count = s->count;
    t->slots = 0;
    t->slot_of = arena_take(&s->memory, (size_t)base->channels, sizeof *t->slot_of);
    t->slot_of_view = arena_take(&s->memory, (size_t)count, sizeof *t->slot_of_view);
    t->slot = arena_take(&s->memory, (size_t)count, sizeof *t->slot);
    bool complete = t->slot_of && t->slot_of_view && t->slot;
    for (int c = 0; complete && c < base->channels; c++)
        t->slot_of[c] = -1;
    for (int i = 0; complete && i < count; i++) {
        channel_form as = s->forms ? s->forms[i] : (channel_form){0};
        if (as.kind == VALUES_NUMBERS) as.dtype = base->dtypes[s->wanted[i]];
        t->slot_of_view[i] = find_slot(t, s->wanted[i], &as);
    }
    t->capacity = (t->in_parts ? CACHED_BAND_BYTES : BAND_BYTES) / (int64_t)sizeof(double) / (t->slots + !t->slots);
    if (t->capacity < 1) t->capacity = 1;
    for (int i = 0; complete && i < t->slots; i++)
        complete = (t->slot[i].values = arena_take(&s->memory, (size_t)t->capacity, sizeof(double)));
    return complete ? 0 : fault_set(f, EXIT_DATA, "no memory to read %d columns of %s", count, input_name(base->in));
}

void *row_table_create(size_t size, input *in, const read_options *options, reader_functions functions, fault *f)
{
    row_table *t = reader_create(size, in, functions, f);
    if (!t) return NULL;
    t->base.takes_forms = true;
    t->base.height = -1;
    t->base.width = 1;
    t->skip_bad = options->skip_bad;
    t->given = (time_style){.order = options->date_order, .pattern = options->date_pattern};
    t->paired = options->paired;
    t->in_parts = options->in_parts;
    return t;
}

int row_table_add_column(row_table *t, char *name)
{
    const int column = t->base.channels;
    if (name && column == t->room) {
        const size_t room = t->room ? 2 * (size_t)t->room : 16;
        char **names = realloc(t->names, room * sizeof *names);
        if (names) t->base.names = (const char *const *)(t->names = names);
        histo_dtype *dtypes = realloc(t->dtypes, room * sizeof *dtypes);
        if (dtypes) t->base.dtypes = t->dtypes = dtypes;
        bool *numeric = realloc(t->numeric, room * sizeof *numeric);
        if (numeric) t->base.numeric = t->numeric = numeric;
        bool *booleans = realloc(t->booleans, room * sizeof *booleans);
        if (booleans) t->base.booleans = t->booleans = booleans;
        bool *blank = realloc(t->blank, room * sizeof *blank);
        if (blank) t->base.blank = t->blank = blank;
        bool *reals = realloc(t->reals, room * sizeof *reals);
        if (reals) t->base.reals = t->reals = reals;
        time_style *styles = realloc(t->styles, room * sizeof *styles);
        if (styles) t->base.styles = t->styles = styles;
        values_kind *kinds = realloc(t->kinds, room * sizeof *kinds);
        if (kinds) t->base.kinds = t->kinds = kinds;
        row_table_words *words = realloc(t->words, room * sizeof *words);
        if (words) t->words = words;
        if (names && dtypes && numeric && booleans && blank && reals && styles && kinds && words) t->room = (int)room;
    }
    if (!name || column == t->room) {
        free(name);
        return -1;
    }
    t->names[column] = name;
    t->dtypes[column] = HISTO_F64;
    t->numeric[column] = t->booleans[column] = t->blank[column] = t->reals[column] = false;
    t->styles[column] = t->given;
    t->kinds[column] = VALUES_NUMBERS;
    t->words[column] = (row_table_words){0};
    return t->base.channels++;
}

void row_table_end_columns(row_table *t)
{
    for (int c = 0; c < t->base.channels; c++) {
        const row_table_words *words = &t->words[c];
        const bool unlike = words->dates.day_first && words->dates.month_first && !t->given.order;
        const bool truths = t->booleans[c];
        t->booleans[c] = truths && !t->numeric[c] && !words->words && !words->times;
        t->numeric[c] = t->numeric[c] || truths;
        t->blank[c] = !t->numeric[c] && !words->words && !words->times;
        if (!t->given.order) t->styles[c].order = date_evidence_order(&words->dates);
        if (!t->numeric[c])
            t->kinds[c] = words->times > words->words && !unlike ? VALUES_TIMES
                          : words->words || words->times         ? VALUES_WORDS
                                                                 : VALUES_NUMBERS;
    }
}

void row_table_reset(row_table *t)
{
    t->row = t->rows = 0;
    t->base.bad = t->base.missing = 0;
}

void row_table_free(row_table *t)
{
    for (int c = 0; c < t->base.channels; c++)
        free(t->names[c]);
    free(t->names);
    free(t->dtypes);
    free(t->numeric);
    free(t->booleans);
    free(t->blank);
    free(t->reals);
    free(t->styles);
    free(t->kinds);
    free(t->words);
}

int row_table_band(row_table *t, band *b)
{
    if (t->rows == 0) return 0;
    *b = (band){.y = t->row, .rows = t->rows, .cols = 1, .views = t->base.selected.views};
    for (int i = 0; i < t->base.selected.count; i++) {
        const row_table_slot *s = &t->slot[t->slot_of_view[i]];
        const int64_t shape[] = {s->filled, 1};
        b->views[i] = histo_view_nd(s->values, s->as.dtype, 2, shape);
    }
    t->row += t->rows;
    return 1;
}

void row_table_begin_band(row_table *t)
{
    for (int s = 0; s < t->slots; s++)
        t->slot[s].filled = 0;
    t->rows = 0;
}

void row_table_begin_row(row_table *t)
{
    for (int s = 0; s < t->slots; s++)
        t->slot[s].state = CELL_MISSING;
}

void row_table_end_row(row_table *t)
{
    int bad = 0, missing = 0;
    for (int s = 0; s < t->slots; s++) {
        bad += t->slot[s].state == CELL_BAD;
        missing += t->slot[s].state == CELL_MISSING;
    }
    t->base.bad += t->paired ? bad > 0 : (uint64_t)bad;
    t->base.missing += t->paired ? !bad && missing > 0 : (uint64_t)missing;
    const int left_out = bad + missing;
    if (left_out && (t->paired || left_out == t->slots)) return;
    for (int s = 0; s < t->slots; s++)
        t->slot[s].filled += t->slot[s].state == CELL_GOOD;
    t->rows++;
}

bool row_table_has_words(const row_table *t, int column)
{
    for (int s = t->slot_of[column]; s >= 0; s = t->slot[s].next)
        if (t->slot[s].as.kind == VALUES_WORDS) return true;
    return false;
}

static bool is_missing(const row_table_cell *cell)
{
    return cell->kind == CELL_NULL ||
           (cell->kind == CELL_WORD &&
            text_cell_missing(&(text_cell){.begin = cell->text, .end = cell->text + cell->size}));
}

/* Whether it is "NaN" or "Infinity", which formats write as words. */
static bool is_not_finite(const row_table_cell *cell, double *value)
{
    return cell->kind == CELL_WORD && number_parse(cell->text, value) == cell->text + cell->size && !isfinite(*value);
}

/* Put an integer in a slot of integers: as it is written, if that is known. */
static bool put_integer(row_table_slot *s, const row_table_cell *cell)
{
    int64_t *to = (int64_t *)s->values + s->filled;
    if (cell->text) return integer_parse(cell->text, cell->text + cell->size, s->as.dtype, to);
    const bool is_whole = fabs(cell->real) < 0x1p63 && trunc(cell->real) == cell->real;
    if (cell->kind == CELL_REAL && !is_whole) return false;
    *to = cell->kind == CELL_REAL ? (int64_t)cell->real : cell->integer;
    return s->as.dtype == HISTO_I64 || *to >= 0;
}

/* Put a number in a slot of this dtype: false if the dtype cannot represent it. */
static bool put_number(row_table_slot *s, const row_table_cell *cell)
{
    if (s->as.dtype == HISTO_F64 && is_not_finite(cell, (double *)s->values + s->filled)) return true;
    if (cell->kind != CELL_INTEGER && cell->kind != CELL_REAL) return false;
    switch (s->as.dtype) {
    case HISTO_F64:
        ((double *)s->values)[s->filled] = cell->real;
        return true;
    case HISTO_I64:
    case HISTO_U64:
        return put_integer(s, cell);
    default:
        return false;
    }
}

static bool put_truth(row_table_slot *s, const row_table_cell *cell)
{
    double value;
    unsigned char *to = (unsigned char *)s->values + s->filled;
    const bool is_real = cell->kind == CELL_REAL || is_not_finite(cell, &value);
    if (cell->kind == CELL_INTEGER)
        *to = condition_has(s->as.condition, (long double)cell->integer);
    else if (is_real)
        *to = cell->text ? condition_has_written(s->as.condition, cell->text)
                         : condition_has_double(s->as.condition, cell->real);
    return cell->kind == CELL_INTEGER || is_real;
}

static bool put_time(row_table_slot *s, const row_table_cell *cell, const time_style *style)
{
    time_span span;
    if (cell->kind != CELL_WORD || time_read(cell->text, cell->text + cell->size, style, &span) != TIME_READ)
        return false;
    ((int64_t *)s->values)[s->filled] = span.begin;
    return true;
}

void row_table_look_at_word(const row_table *t, row_table_words *words, const char *text, size_t size)
{
    time_span span;
    if (t->given.pattern ? time_read(text, text + size, &t->given, &span) == TIME_READ
                         : date_evidence_add(&words->dates, text, text + size))
        words->times++;
    else if (!text_cell_missing(&(text_cell){.begin = text, .end = text + size}))
        words->words++;
}

put_result row_table_put(row_table *t, int column, const row_table_cell *cell, fault *f)
{
    bool bad = false;
    for (int i = t->slot_of[column]; i >= 0; i = t->slot[i].next) {
        row_table_slot *s = &t->slot[i];
        s->state = CELL_MISSING;
        if (is_missing(cell)) continue;
        if (s->as.kind == VALUES_WORDS && cell->kind != CELL_OTHER) {
            if (dictionary_code(s->as.words, cell->text, cell->size, (uint32_t *)s->values + s->filled) != 0) {
                char name[320];
                snprintf(name, sizeof name, "%.150s, %.150s", input_name(t->base.in), t->names[column]);
                dictionary_fault(s->as.words, name, f);
                return PUT_FAILED;
            }
            s->state = CELL_GOOD;
            continue;
        }
        const bool good = s->as.kind == VALUES_TIMES    ? put_time(s, cell, &t->styles[column])
                          : s->as.kind == VALUES_TRUTHS ? put_truth(s, cell)
                                                        : put_number(s, cell);
        if (!good && s->as.kind == VALUES_INTEGERS && (cell->kind == CELL_INTEGER || cell->kind == CELL_REAL)) {
            fault_set(f, EXIT_DATA, "%s, %.80s: %.17g is not a 64-bit integer", input_name(t->base.in),
                      t->names[column], cell->real);
            return PUT_FAILED;
        }
        s->state = good ? CELL_GOOD : CELL_BAD;
        bad = bad || s->state == CELL_BAD;
    }
    return bad && !t->skip_bad ? PUT_BAD : PUT_GOOD;
}

void row_table_describe(const row_table *t, int column, const row_table_cell *cell, const char *other, char *text,
                        size_t size)
{
    bool times = false;
    for (int s = t->slot_of[column]; s >= 0; s = t->slot[s].next)
        times = times || (t->slot[s].as.kind == VALUES_TIMES && t->slot[s].state == CELL_BAD);
    const char *kind = times ? "date" : "number";
    char number[TEXT_NUMBER_BYTES];
    time_span span;
    if (times && cell->kind == CELL_WORD &&
        time_read(cell->text, cell->text + cell->size, &t->styles[column], &span) == TIME_EITHER)
        snprintf(text, size, "'%.*s' begins with a day or a month: --date-format says which", (int)cell->size,
                 cell->text);
    else if (cell->text)
        text_cell_describe(cell->text, cell->text + cell->size, kind, text, size);
    else
        snprintf(text, size, "%s is not a %s", cell->kind == CELL_OTHER ? other : text_exact(cell->real, number), kind);
}
