/* Edges of bins as text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/terminal/terminal.h"

/* Prefixes of powers of a thousand. */
static const char *const prefixes[] = {"", " k", " M", " G", " T", " P", " E"};
enum { LARGEST_POWER = 18 };
static const double longest_plain = 1e7;

/* The power of a thousand, as an exponent of ten, in whose unit a large number is shown. */
static int power_of(double size)
{
    if (!(size >= longest_plain / 10) || isinf(size)) return 0;
    const int power = (int)floor(log10(size) + 1e-9) / 3 * 3;
    return power <= LARGEST_POWER ? power : 0;
}

/* Significant digits, without an exponent if that is short. */
static void put_digits(int digits, double value, char text[TEXT_NUMBER_BYTES])
{
    const int power = digits <= 6 ? power_of(fabs(value)) : 0;
    snprintf(text, TEXT_NUMBER_BYTES, "%.*g", digits, value / pow(10, power));
    if (fabs(value) >= 1 && fabs(value) < longest_plain && strchr(text, 'e'))
        snprintf(text, TEXT_NUMBER_BYTES, "%.0f", value);
    else if (!strchr(text, 'e'))
        strcat(text, prefixes[power / 3]);
}

static double value_of(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    for (size_t i = 1; *end && i < sizeof prefixes / sizeof *prefixes; i++)
        if (strcmp(end, prefixes[i]) == 0) value *= pow(1000, (double)i);
    return value;
}

/* The edge that row i begins at. */
static double edge_of_row(const histo_axis *axis, const bin_rows *rows, int64_t i)
{
    return histo_axis_edge(axis, bin_rows_begin(rows, i));
}

/* Whether the edges as text are within a fiftieth of the step and, for integer samples, on the same side of each
 * integer. */
static bool form_is_exact_enough(const edge_form *form, const histo_axis *axis, const bin_rows *rows)
{
    char text[TEXT_NUMBER_BYTES];
    const int64_t n = bin_rows_count(rows);
    for (int64_t i = 0; i <= n; i++) {
        const double edge = edge_of_row(axis, rows, i);
        const double gap = i < n ? edge_of_row(axis, rows, i + 1) - edge : edge - edge_of_row(axis, rows, i - 1);
        double shown = value_of(edge_text(form, edge, text)), rounding = gap * 1e-9;
        if (fabs(shown - edge) > gap / 50) return false;
        bool plain = form->decimals >= 0 && !form->power && gap >= 1;
        if (plain && ceil(shown - rounding) != ceil(edge - rounding)) return false;
    }
    return true;
}

/* Whether bins differ so much, as on a logarithmic axis, that no number of decimals suits all edges. */
static bool are_uneven(const histo_axis *axis)
{
    double first = histo_axis_edge(axis, 1) - axis->lo, last = axis->hi - histo_axis_edge(axis, axis->bins - 1);
    return fmax(first, last) > 100 * fmin(first, last);
}

static edge_form number_form_of(const histo_axis *axis, const bin_rows *rows)
{
    enum { MAX_DECIMALS = 6, MAX_DECIMALS_OF_POWER = 4 };
    const double largest = fmax(fabs(axis->lo), fabs(axis->hi));
    edge_form form = {.digits = 3, .power = largest >= longest_plain ? power_of(largest) : 0};
    int most = form.power ? MAX_DECIMALS_OF_POWER : MAX_DECIMALS;
    if ((largest >= longest_plain && !form.power) || are_uneven(axis)) form.decimals = most + 1;
    while (form.decimals <= most && !form_is_exact_enough(&form, axis, rows))
        form.decimals++;
    if (form.decimals > most) {
        form.decimals = -1;
        while (form.digits < 17 && !form_is_exact_enough(&form, axis, rows))
            form.digits++;
    }
    char text[TEXT_NUMBER_BYTES];
    for (int64_t i = 0; i <= bin_rows_count(rows); i++) {
        const int width = (int)strlen(edge_text(&form, edge_of_row(axis, rows, i), text));
        if (width > form.width) form.width = width;
    }
    return form;
}

edge_form edge_form_of(const axis_form *of, const histo_axis *axis, const bin_rows *rows)
{
    char text[TEXT_NUMBER_BYTES];
    edge_form form = {.times = label_digits(of, axis, rows->each)};
    if (!form.times) return number_form_of(axis, rows);
    form.width = text_columns(edge_text(&form, axis->lo, text));
    return form;
}

char *edge_text(const edge_form *form, double edge, char text[TEXT_NUMBER_BYTES])
{
    if (form->times) {
        char date[TIME_TEXT_BYTES];
        snprintf(text, TEXT_NUMBER_BYTES, "%.31s", time_text((int64_t)edge, form->times, date));
        return text;
    }
    if (form->decimals < 0 || !isfinite(edge)) {
        put_digits(form->digits, edge, text);
    } else {
        snprintf(text, TEXT_NUMBER_BYTES, "%.*f", form->decimals, edge / pow(10, form->power));
        if (edge != 0) strcat(text, prefixes[form->power / 3]);
    }
    const size_t zeros = strspn(text, "-0.");
    if (text[0] == '-' && (!text[zeros] || text[zeros] == ' ')) memmove(text, text + 1, strlen(text));
    return text;
}
