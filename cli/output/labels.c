/* Names of axes, series and bins. */
#include "output/labels.h"

#include <stdio.h>
#include <string.h>

/* Axis a's part of a joint histogram's name, which joins the names of all axes with commas. */
static bool part_of_name(const char *name, int a, int naxes, char *text, size_t size)
{
    int parts = 1;
    for (const char *c = name; *c; c++)
        parts += *c == ',';
    if (naxes > 1 && parts != naxes) return false;
    for (int i = 0; i < a; i++)
        name = strchr(name, ',') + 1;
    snprintf(text, size, "%.*s", (int)(naxes > 1 ? strcspn(name, ",") : strlen(name)), name);
    return true;
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

const char *label_of_values(const result *r)
{
    return result_is_weighted(r) ? "sum of weights" : "count";
}

tone tone_of_series(const result *r, int i)
{
    static const struct {
        const char *name;
        tone tone;
    } tones[] = {{"r", TONE_RED},     {"red", TONE_RED}, {"g", TONE_GREEN},    {"green", TONE_GREEN}, {"b", TONE_BLUE},
                 {"blue", TONE_BLUE}, {"a", TONE_GRAY},  {"alpha", TONE_GRAY}, {"gray", TONE_GRAY}};
    const char *name = r->series[i].name ? r->series[i].name : "";
    for (size_t k = 0; k < sizeof tones / sizeof *tones; k++)
        if (strcmp(name, tones[k].name) == 0) return tones[k].tone;
    return TONE_NONE;
}
