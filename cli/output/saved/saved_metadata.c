#define _GNU_SOURCE
#include "output/saved/saved_metadata.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/text.h"
#include "count/view.h"
#include "output/saved/json_members.h"
#include "output/saved/moments.h"
#include "output/statistics_table.h"

/* An object that is being written. */
typedef struct object {
    FILE *out;
    bool has_members;
} object;

static FILE *begin_member(object *o, const char *key)
{
    fprintf(o->out, "%s\"%s\": ", o->has_members ? ",\n      " : "", key);
    o->has_members = true;
    return o->out;
}

/* ---- Ours ----------------------------------------------------------------------------------------------- */

static const char of_statistics[] = "statistics", of_moments[] = "moments", of_missing[] = "missing",
                  of_units[] = "density_per";

static bool is_ours(const char *key)
{
    static const char *const keys[] = {of_statistics, of_moments, of_missing, of_units};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0) return true;
    for (view v = {.kind = VIEW_COUNTS}; v.kind <= VIEW_PER_UNIT; v.kind++)
        for (int cumulative = 0; cumulative < 2; cumulative++) {
            v.cumulative = cumulative;
            if (view_name(&v) && strcmp(key, view_name(&v)) == 0) return true;
        }
    return false;
}

/* The unit of densities on each axis: null if it is the axis's own numbers. */
static void put_units(object *to, const view *v, int naxes)
{
    bool any = false;
    for (int a = 0; a < naxes; a++)
        any = any || v->units[a];
    if (!any || v->cumulative || v->kind != VIEW_DENSITIES) return;
    FILE *out = begin_member(to, of_units);
    for (int a = 0; a < naxes; a++)
        fprintf(out, v->units[a] ? "%s\"%s\"" : "%s%s", a ? ", " : "[", v->units[a] ? v->units[a]->name : "null");
    fputs("]", out);
}

/* What is shown instead of counts, for the bins in the order of the axes, the last one fastest. */
static int put_view(object *to, const series *of, const view *v, fault *f)
{
    series alone = *of;
    const result one = {.count = 1, .series = &alone};
    table *t = tables_read(&one, TABLE_OF_OCCUPIED, f);
    if (!t) return -1;
    double *values = view_of_table(v, t);
    FILE *out = begin_member(to, view_name(v));
    fputs("[", out);
    bool first = true;
    for (int64_t cell = 0; cell < t->cells && values; cell++) {
        char text[TEXT_NUMBER_BYTES];
        if (isnan(values[cell])) continue;
        fprintf(out, "%s%s", first ? "" : ",", isinf(values[cell]) ? "1e999" : text_exact(values[cell], text));
        first = false;
    }
    fputs("]", out);
    put_units(to, v, t->naxes);
    tables_free(t, &one);
    if (!values) return fault_set(f, EXIT_DATA, "no memory for the densities");
    free(values);
    return 0;
}

static int put_moments(object *to, const series *of, fault *f)
{
    size_t size;
    char *text = moments_text(of, &size);
    if (!text) return fault_set(f, EXIT_DATA, "no memory for the moments of a histogram");
    fprintf(begin_member(to, of_moments), "\"%s\"", text);
    free(text);
    return 0;
}

static int put_ours(object *to, const result *r, int i, const settings *s, fault *f)
{
    const view v = view_asked(s, &r->series[i]);
    int failed = 0;
    if (s->stats || s->quantiles) {
        fputs("\n      ", begin_member(to, of_statistics));
        failed = statistics_write_json(r, i, s, to->out, f);
    }
    if (!failed && r->series[i].sums) failed = put_moments(to, &r->series[i], f);
    if (!failed && r->shards && !manifest_is_complete(r->shards)) {
        char text[600];
        fprintf(begin_member(to, of_missing), "\"%s\"", manifest_missing(r->shards, text, sizeof text));
    }
    return !failed && !view_is_plain(&v) ? put_view(to, &r->series[i], &v, f) : failed;
}

/* ---- All ------------------------------------------------------------------------------------------------ */

/* Copy the members written by other programs; false if out of memory. */
static bool put_others(object *to, const char *json)
{
    bool good = true;
    for (saved_member m = {0}; json && good && next_member(json, strlen(json), &m); free(m.name)) {
        good = m.name;
        if (!good || is_ours(m.name)) continue;
        if (to->has_members) fputs(",\n      ", to->out);
        fwrite(json + m.begin, 1, m.end - m.begin, to->out);
        to->has_members = true;
    }
    return good;
}

int saved_metadata_set(const result *r, int i, const settings *s, fault *f)
{
    histo_hist *hist = r->series[i].hist;
    char *json = NULL;
    size_t size;
    object to = {.out = open_memstream(&json, &size)};
    bool good = to.out;
    int failed = 0;
    if (good) {
        fputs("{", to.out);
        good = put_others(&to, histo_hist_metadata(hist));
        if (good && s) failed = put_ours(&to, r, i, s, f);
        fputs("}", to.out);
        good = fclose(to.out) == 0 && good;
    }
    if (!failed && !good) failed = fault_set(f, EXIT_DATA, "no memory for the metadata of a histogram");
    if (!failed && histo_hist_set_metadata(hist, to.has_members ? json : NULL) != HISTO_OK)
        failed = fault_of_library(f, EXIT_DATA, "the metadata cannot be saved");
    free(json);
    return failed;
}

int saved_metadata_give_moments(result *r, const char *path, fault *f)
{
    const char *json = histo_hist_metadata(r->series[r->count - 1].hist), *at = NULL;
    size_t size = 0;
    for (saved_member m = {0}; json && !at && next_member(json, strlen(json), &m); free(m.name)) {
        if (!m.name || strcmp(m.name, of_moments) != 0) continue;
        at = json + m.value;
        size = m.end - m.value;
    }
    while (at && size && strchr(" \t\r\n", at[size - 1]))
        size--;
    if (at && (size < 2 || *at != '"' || !moments_give(r, at + 1, size - 2)))
        return fault_set(f, EXIT_DATA, "%s: the moments in the metadata are damaged: remove them", path);
    return 0;
}
