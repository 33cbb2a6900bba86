/* Tables: TSV and CSV. With --stats, those of statistics. Else the first line names the columns, every other line is a
 * bin:
 *
 *     lo   hi   count                 one histogram
 *     lo   hi   r   g   b             several on one axis: a column of counts for each name
 *     lo   hi   count  sum_w  sum_w2  with weights; of several, r_count r_sum_w r_sum_w2 …; some have no sum_w2
 *     x_lo x_hi y_lo y_hi  count      joint: the axes' names; the last axis varies fastest
 *     lo   hi   count  char           bytes: the character
 *     value  count                    words; in joint histograms they have one column, too, under the axis' name
 *     name lo   hi     count          several on different axes, one after the other
 *
 * With --density and the like, one column of these values stands for each series, and there is no flow.
 *
 * A sparse histogram has lines for its occupied bins only. Nonzero flow has lines too: -inf to the first edge
 * (underflow), the last edge to inf (overflow), and nan to nan. So a column of counts sums to all samples that no mask
 * or filter excluded. Numbers survive a round trip. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "output/labels.h"
#include "output/rows.h"
#include "output/statistics_table.h"
#include "output/writers/writers.h"

typedef struct form {
    char delimiter;
    bool quotes;           /* CSV: cells with a delimiter, a quote or a line end are quoted; TSV: these become blanks */
    const char *name;      /* of the series whose rows follow those of another; NULL: series share rows */
    const char *view;      /* the name of what is written instead of counts; NULL: counts */
    double *const *values; /* values of the view, [cells] for each series */
    time_digits digits[HISTO_MAX_AXES]; /* for axes of times; 0: numbers */
} form;

static void put_named(FILE *out, const form *as, const char *name, const char *what)
{
    char text[1200];
    snprintf(text, sizeof text, "%.1100s%s%s", name, *name && *what ? "_" : "", what);
    rows_put_text(out, as->quotes, text);
}

static void put_header(const result *r, const table *first, FILE *out, const form *as)
{
    int naxes = result_naxes(r);
    if (as->name) fprintf(out, "name%c", as->delimiter);
    for (int a = 0; a < naxes; a++) {
        char name[320] = "";
        if (naxes > 1) label_of_axis(r, a, name, sizeof name);
        if (!as->name && result_bin_names(r, 0, a)) {
            if (a) putc(as->delimiter, out);
            put_named(out, as, *name ? name : "value", "");
            continue;
        }
        for (int end = 0; end < 2; end++) {
            if (a || end) putc(as->delimiter, out);
            put_named(out, as, name, end ? "hi" : "lo");
        }
    }
    for (int i = 0; i < (as->name ? 1 : r->count); i++) {
        char name[320] = "";
        bool several = r->count > 1 && !as->name;
        if (several) label_of_series(r, i, name, sizeof name);
        static const char *const whats[] = {"count", "sum_w", "sum_w2"};
        for (int k = 0; k < (as->view ? 1 : first->sum_w2 ? 3 : first->sum_w ? 2 : 1); k++) {
            putc(as->delimiter, out);
            if (as->view)
                put_named(out, as, name, several ? "" : as->view);
            else
                put_named(out, as, name, several && !result_is_weighted(r) ? "" : whats[k]);
        }
    }
    if (result_has_characters(r) && !as->name) fprintf(out, "%cchar", as->delimiter);
    putc('\n', out);
}

/* Edge i of an axis; -1 is underflow's lower end, bins + 1 overflow's upper end. */
static void put_edge(const histo_axis *axis, int64_t i, time_digits digits, FILE *out)
{
    char text[TEXT_NUMBER_BYTES], date[TIME_TEXT_BYTES];
    if (i < 0 || i > axis->bins)
        fputs(i < 0 ? "-inf" : "inf", out);
    else if (digits)
        fputs(time_text((int64_t)histo_axis_edge(axis, i), digits, date), out);
    else if (axis->edge_type == HISTO_EDGES_I64)
        fprintf(out, "%" PRId64, ((const int64_t *)axis->edges)[i]);
    else if (axis->edge_type == HISTO_EDGES_U64)
        fprintf(out, "%" PRIu64, ((const uint64_t *)axis->edges)[i]);
    else
        fputs(text_exact(histo_axis_edge(axis, i), text), out);
}

static void put_ends(const table *t, int a, int64_t slot, const bin_names *names, FILE *out, const form *as)
{
    if (a) putc(as->delimiter, out);
    if (names) {
        rows_put_text(out, as->quotes, slot >= 1 && slot <= names->count ? names->text[slot - 1] : "");
        if (as->name) putc(as->delimiter, out); /* a word has only one column */
        return;
    }
    if (slot == t->bins[a] + 2) {
        fprintf(out, "nan%cnan", as->delimiter);
        return;
    }
    put_edge(&t->axes[a], slot - 1, as->digits[a], out);
    putc(as->delimiter, out);
    put_edge(&t->axes[a], slot, as->digits[a], out);
}

static void put_row(const result *r, const table *tables, int64_t cell, const int64_t *slots, FILE *out, const form *as)
{
    char text[TEXT_NUMBER_BYTES];
    const table *first = &tables[0];
    bool flow = false, any = false;
    for (int a = 0; a < first->naxes; a++)
        flow = flow || slots[a] == 0 || slots[a] > first->bins[a];
    for (int i = 0; i < r->count; i++)
        any = any || tables[i].counts[cell] || (tables[i].sum_w && tables[i].sum_w[cell] != 0);
    if (flow && (!any || as->view)) return;
    if (as->name) {
        rows_put_text(out, as->quotes, as->name);
        putc(as->delimiter, out);
    }
    for (int a = 0; a < first->naxes; a++)
        put_ends(first, a, slots[a], result_bin_names(r, 0, a), out, as);
    for (int i = 0; i < r->count; i++) {
        if (as->view) {
            fprintf(out, "%c%s", as->delimiter, text_exact(as->values[i][cell], text));
            continue;
        }
        fprintf(out, "%c%" PRIu64, as->delimiter, tables[i].counts[cell]);
        if (!tables[i].sum_w) continue;
        fprintf(out, "%c%s", as->delimiter, text_exact(tables[i].sum_w[cell], text));
        if (tables[i].sum_w2) fprintf(out, "%c%s", as->delimiter, text_exact(tables[i].sum_w2[cell], text));
    }
    if (result_has_characters(r)) {
        putc(as->delimiter, out);
        if (!flow)
            rows_put_text(out, as->quotes, label_of_byte((int)histo_axis_edge(&first->axes[0], slots[0] - 1), text));
    }
    putc('\n', out);
}

/* Write series that share the axes of the first, in adjacent columns. */
static void put_rows(const result *r, const table *tables, FILE *out, form as)
{
    int64_t slots[HISTO_MAX_AXES];
    for (int a = 0; a < tables[0].naxes; a++) {
        as.digits[a] = label_digits(&r->series[0].forms[a], &tables[0].axes[a], 1);
        if (as.digits[a] == TIME_MONTHS) as.digits[a] = TIME_DAYS;
    }
    for (int64_t cell = -1; table_next(&tables[0], &cell, slots);)
        put_row(r, tables, cell, slots, out, &as);
}

static double **values_of(const result *r, const table *tables, const settings *s)
{
    double **values = calloc((size_t)r->count, sizeof *values);
    bool good = values != NULL;
    for (int i = 0; i < r->count && good; i++) {
        const view v = view_asked(s, &r->series[i]);
        good = (values[i] = view_of_table(&v, &tables[i])) != NULL;
    }
    return good ? values : NULL;
}

static int write_table(const result *r, const settings *s, outfile *o, form as, fault *f)
{
    FILE *out = outfile_stream(o);
    if (s->stats || s->quantiles) return statistics_write_table(r, s, as.quotes, out, f);
    table *tables = tables_read(r, TABLE_OF_OCCUPIED, f);
    if (!tables) return -1;
    char name[320] = "";
    const view v = view_asked(s, NULL);
    double **values = view_is_plain(&v) ? NULL : values_of(r, tables, s);
    if (!view_is_plain(&v) && !values) return fault_set(f, EXIT_DATA, "no memory for the %s table", view_name(&v));
    as.view = view_name(&v);
    as.values = values;
    const bool together = result_group_end(r, 0) == r->count;
    if (!together) as.name = name;
    put_header(r, &tables[0], out, &as);
    if (together) put_rows(r, tables, out, as);
    for (int i = 0; i < r->count && !together; i++) {
        const result one = {.count = 1, .series = &r->series[i]};
        label_of_series(r, i, name, sizeof name);
        as.values = values ? &values[i] : NULL;
        put_rows(&one, &tables[i], out, as);
    }
    for (int i = 0; i < r->count && values; i++)
        free(values[i]);
    free(values);
    tables_free(tables, r);
    return 0;
}

static int write_tsv(const result *r, const settings *s, outfile *o, fault *f)
{
    return write_table(r, s, o, (form){.delimiter = '\t'}, f);
}

static int write_csv(const result *r, const settings *s, outfile *o, fault *f)
{
    return write_table(r, s, o, (form){.delimiter = ',', .quotes = true}, f);
}

const writer writer_tsv = {.name = "tsv", .one_sparse = true, .write = write_tsv};
const writer writer_csv = {.name = "csv", .one_sparse = true, .write = write_csv};
