/* Names of axes, series and bins. */
#include "output/labels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Axis a's part of a joint histogram's name, which lists the names of all axes. */
static bool part_of_name(const char *name, int a, int naxes, char *text, size_t size)
{
    if (naxes > 1 && text_list_count(name) != naxes) return false;
    char *copy = strdup(name), *rest = copy, *part = copy;
    for (int i = 0; i <= a && naxes > 1 && part; i++)
        part = text_list_item(&rest);
    if (part) snprintf(text, size, "%s", part);
    free(copy);
    return part;
}

char *label_of_axis(const result *r, int a, char *text, size_t size)
{
    const char *name = r->count == 1 || result_naxes(r) > 1 ? r->series[0].name : NULL;
    if (r->axis_names[a])
        snprintf(text, size, "%s", r->axis_names[a]);
    else if (!name || !part_of_name(name, a, result_naxes(r), text, size))
        snprintf(text, size, "axis %d", a);
    return text;
}

titles titles_of(const result *r, const settings *s)
{
    const int naxes = result_naxes(r);
    const char *const given[2] = {s->x_label, naxes > 1 ? s->y_label : NULL};
    titles t = {0};
    for (int a = 0; a < naxes; a++) {
        const bool named = r->axis_names[a] || naxes > 1 || (r->count == 1 && r->series[0].name);
        char *title = t.axis[a];
        if (a < 2 && given[a])
            snprintf(title, sizeof t.axis[0], "%.300s", given[a]);
        else if (named && !result_has_characters(r))
            label_of_axis(r, a, title, sizeof t.axis[0]);
        const size_t length = strlen(title);
        const char *unit = s->unit ? s->unit : r->count ? r->series[0].forms[a].unit : NULL;
        if (unit) snprintf(title + length, sizeof t.axis[0] - length, "%s(%.60s)", length ? " " : "", unit);
    }
    const view v = naxes == 1 ? view_drawn(s, &r->series[0]) : view_asked(s, &r->series[0]);
    if (naxes == 1 && s->y_label)
        snprintf(t.values, sizeof t.values, "%s", s->y_label);
    else
        label_of_values(r, &v, s, t.values, sizeof t.values);
    return t;
}

char *label_of_series(const result *r, int i, char *text, size_t size)
{
    if (r->series[i].name)
        snprintf(text, size, "%s", r->series[i].name);
    else
        snprintf(text, size, "%d", i);
    return text;
}

char *label_of_byte(int byte, char text[TEXT_NUMBER_BYTES])
{
    static const char *const named[128] = {
        ['\a'] = "\\a", ['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n",
        ['\v'] = "\\v", ['\f'] = "\\f", ['\r'] = "\\r", [' '] = "space",
    };
    if (byte >= 0 && byte < 128 && named[byte])
        snprintf(text, TEXT_NUMBER_BYTES, "%s", named[byte]);
    else
        snprintf(text, TEXT_NUMBER_BYTES, byte > ' ' && byte < 127 ? "%c" : "0x%02x", byte);
    return text;
}

char *label_of_name(const bin_names *names, int64_t b, char *text, size_t size)
{
    char number[TEXT_NUMBER_BYTES];
    if (names->others && b == names->count - 1)
        snprintf(text, size, "%s (%s value%s)", names->text[b], text_count((uint64_t)names->others, number),
                 names->others == 1 ? "" : "s");
    else
        snprintf(text, size, "%s", names->text[b]);
    return text;
}

bool label_of_time(const axis_form *form, double value, char text[TIME_TEXT_BYTES])
{
    if (form->kind != VALUES_TIMES || !(fabs(value) < 0x1p62)) return false;
    time_text(llround(value), time_digits_of(llround(value), TIME_DAYS), text);
    return true;
}

char *label_of_value(const axis_form *form, double value, double min, double max, char text[TEXT_NUMBER_BYTES])
{
    const int64_t second = 1000000;
    char date[TIME_TEXT_BYTES];
    if (form->kind != VALUES_TIMES || !(fabs(value) < 0x1p62)) return text_readable(value, min, max, text);
    const int64_t us = ((int64_t)value + (value < 0 ? 0 : second / 2)) / second * second; /* round to seconds */
    snprintf(text, TEXT_NUMBER_BYTES, "%.31s", time_text(us, time_digits_of(us, TIME_DAYS), date));
    return text;
}

char *label_of_difference(const axis_form *form, double value, char text[TEXT_NUMBER_BYTES])
{
    char span[TIME_TEXT_BYTES];
    if (form->kind != VALUES_TIMES) return text_readable(value, 0, 0, text);
    snprintf(text, TEXT_NUMBER_BYTES, "%.31s", time_span_text(value, span));
    return text;
}

time_digits label_digits(const axis_form *form, const histo_axis *axis, int64_t step)
{
    time_digits digits = TIME_MONTHS;
    if (form->kind != VALUES_TIMES) return 0;
    for (int64_t i = 0; i <= axis->bins && digits < TIME_FRACTIONS; i += step) {
        const double edge = histo_axis_edge(axis, i);
        if (fabs(edge) < 0x1p62) digits = time_digits_of((int64_t)edge, digits);
    }
    return digits;
}

char *label_of_values(const result *r, const view *v, const settings *s, char *text, size_t size)
{
    const char *what = v->kind == VIEW_FRACTIONS   ? "fraction"
                       : v->kind == VIEW_DENSITIES ? (v->cumulative ? "fraction" : "density")
                       : result_is_weighted(r)     ? "sum of weights"
                                                   : "count";
    const char *unit = s->unit ? s->unit : "unit";
    int length = snprintf(text, size, "%s%s", v->cumulative ? "cumulative " : "", what);
    if (v->cumulative || (v->kind != VIEW_PER_UNIT && v->kind != VIEW_DENSITIES)) return text;
    for (int a = 0; a < result_naxes(r) && length < (int)size; a++)
        if (v->units[a] || v->kind == VIEW_PER_UNIT)
            length +=
                snprintf(text + length, size - (size_t)length, " per %.60s", v->units[a] ? v->units[a]->name : unit);
    return text;
}

/* Whether there is a series with this name. If so, y is an ink, not the luma. */
static bool has_series(const result *r, const char *name)
{
    bool any = false;
    for (int i = 0; i < r->count; i++)
        any = any || (r->series[i].name && strcmp(r->series[i].name, name) == 0);
    return any;
}

series_tone tone_of_series(const result *r, int i)
{
    static const struct {
        const char *name;
        series_tone tone;
    } tones[] = {{"r", TONE_RED},     {"red", TONE_RED},       {"g", TONE_GREEN},   {"green", TONE_GREEN},
                 {"b", TONE_BLUE},    {"blue", TONE_BLUE},     {"a", TONE_GRAY},    {"alpha", TONE_GRAY},
                 {"gray", TONE_GRAY}, {"k", TONE_GRAY},        {"u", TONE_BLUE},    {"v", TONE_RED},
                 {"c", TONE_CYAN},    {"m", TONE_MAGENTA},     {"cyan", TONE_CYAN}, {"magenta", TONE_MAGENTA},
                 {"y", TONE_GRAY},    {"yellow", TONE_YELLOW}, {"luma", TONE_GRAY}};
    const char *name = r->series[i].name ? r->series[i].name : "";
    if (strcmp(name, "y") == 0 && has_series(r, "k")) return TONE_YELLOW;
    for (size_t k = 0; k < sizeof tones / sizeof *tones; k++)
        if (strcmp(name, tones[k].name) == 0) return tones[k].tone;
    return TONE_NONE;
}
