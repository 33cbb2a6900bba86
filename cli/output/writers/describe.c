#include "output/writers/describe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "output/labels.h"

plot_color describe_color(const result *r, int i)
{
    switch (tone_of_series(r, i)) {
    case TONE_RED:
        return plot_red;
    case TONE_GREEN:
        return plot_green;
    case TONE_BLUE:
        return plot_blue;
    case TONE_GRAY:
        return plot_gray;
    case TONE_CYAN:
        return plot_cyan;
    case TONE_MAGENTA:
        return plot_magenta;
    case TONE_YELLOW:
        return plot_yellow;
    case TONE_NONE:
        break;
    }
    return plot_palette(r->count == 1 ? 0 : i);
}

/* "314 928 samples · underflow 3 · NaN 1 · mean 93.2 · std 61.1", omitting zeros. */
static void describe_one(const result *r, int i, const table *t, char *text, size_t size)
{
    char number[TEXT_NUMBER_BYTES], name[320] = "";
    size_t length = 0;
    if (r->count > 1) label_of_series(r, i, name, sizeof name);
#define ADD(...) length += length < size ? (size_t)snprintf(text + length, size - length, __VA_ARGS__) : 0
    ADD("%.60s%s%s samples", name, *name ? ": " : "", text_count(t->samples, number));
    for (int a = 0; a < t->naxes; a++) {
        char axis[320] = "";
        if (t->naxes > 1) snprintf(axis, sizeof axis, "%.60s ", label_of_axis(r, a, name, sizeof name));
        if (t->under[a]) ADD(" · %sunderflow %s", axis, text_count(t->under[a], number));
        if (t->over[a]) ADD(" · %soverflow %s", axis, text_count(t->over[a], number));
        if (t->nan[a]) ADD(" · %sNaN %s", axis, text_count(t->nan[a], number));
    }
    if (t->masked) ADD(" · masked %s", text_count(t->masked, number));
    const histo_stats *s = t->naxes == 1 && !result_bin_names(r, i, 0) ? r->series[i].stats : NULL;
    const axis_form *form = &r->series[i].forms[0];
    uint64_t finite = s ? s->samples - s->nan - s->infinite : 0;
    if (finite) {
        ADD(" · min %s", label_of_value(form, s->min, s->min, s->max, number));
        ADD(" · max %s", label_of_value(form, s->max, s->min, s->max, number));
        ADD(" · mean %s", label_of_value(form, s->mean, s->min, s->max, number));
        ADD(" · std %s", label_of_difference(form, sqrt(s->m2 / (double)finite), number));
    }
#undef ADD
}

char *describe_series(const result *r, const table *tables)
{
    enum { LINE = 600, MAX_LINES = 4 };
    int lines = r->count <= MAX_LINES ? r->count : 0;
    char *footer = calloc(MAX_LINES, LINE);
    for (int i = 0; footer && i < lines; i++) {
        size_t length = strlen(footer);
        if (i) footer[length++] = '\n';
        describe_one(r, i, &tables[i], footer + length, LINE - 1);
    }
    return footer;
}

void describe_axis(const result *group, const settings *s, char label[400])
{
    const titles names = titles_of(group, s);
    const char *const plain = !result_has_characters(group)                            ? "value"
                              : group->series[0].name && *group->series[0].name == 'l' ? "letter"
                                                                                       : "byte";
    if (!*names.axis[0])
        strcpy(label, plain);
    else if (!s->x_label && *names.axis[0] == '(')
        snprintf(label, 400, "%s %.380s", plain, names.axis[0]);
    else
        strcpy(label, names.axis[0]);
}

int describe_check(const histo_axis *axis, fault *f)
{
    if (isfinite(axis->lo) && isfinite(axis->hi)) return 0;
    return fault_set(f, EXIT_DATA,
                     "a picture has no room for a bin with an infinite edge: give finite edges, or write a table to "
                     "FILE.csv");
}
