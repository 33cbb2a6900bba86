/* Shared by the terminal drawings. */
#include "output/terminal/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int number_in_environment(const char *name, int otherwise)
{
    const char *text = getenv(name);
    int64_t number;
    return text && text_to_i64(text, &number) && number > 0 && number < 10000 ? (int)number : otherwise;
}

screen screen_of(FILE *out)
{
    enum { MIN_COLUMNS = 40, MIN_ROWS = 12 };
    struct winsize size;
    screen to = {
        .out = out, .columns = number_in_environment("COLUMNS", 80), .rows = number_in_environment("LINES", 24)};
    bool terminal = isatty(fileno(out));
    if (terminal && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
        to.columns = size.ws_col;
        to.rows = size.ws_row;
    }
    if (to.columns < MIN_COLUMNS) to.columns = MIN_COLUMNS;
    if (to.rows < MIN_ROWS) to.rows = MIN_ROWS;
    const char *no_color = getenv("NO_COLOR"), *kind = getenv("TERM");
    to.colors = terminal && !(no_color && *no_color) && !(kind && strcmp(kind, "dumb") == 0);
    return to;
}

void screen_style(const screen *to, const char *style)
{
    if (to->colors) fprintf(to->out, "\033[%sm", style);
}

void screen_plain(const screen *to)
{
    screen_style(to, "0");
}

const char *style_of_tone(tone t)
{
    static const char *const styles[] = {
        [TONE_NONE] = "36", [TONE_RED] = "91", [TONE_GREEN] = "92", [TONE_BLUE] = "94", [TONE_GRAY] = "37"};
    return styles[t];
}

int text_columns(const char *text)
{
    int columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

void screen_text(const screen *to, const char *text, int width)
{
    int room = abs(width), columns = text_columns(text), fill = room > columns ? room - columns : 0;
    if (width < 0) fprintf(to->out, "%*s", fill, "");
    int shown = 0;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool starts = (c & 0xc0) != 0x80;
        if (starts && columns > room && shown == room - 1) {
            fputs("…", to->out);
            break;
        }
        shown += starts;
        putc(c < ' ' || c == 0x7f ? '?' : c, to->out);
    }
    if (width > 0) fprintf(to->out, "%*s", fill, "");
}

void screen_phrases(const screen *to, const char *text)
{
    static const char divider[] = " · ";
    int used = 0;
    while (*text) {
        const char *end = strstr(text, divider);
        char phrase[256];
        snprintf(phrase, sizeof phrase, "%.*s", end ? (int)(end - text) : (int)strlen(text), text);
        int width = text_columns(phrase), between = used ? text_columns(divider) : 0;
        bool breaks = used && used + between + width >= to->columns;
        fprintf(to->out, "%s%s", breaks ? "\n" : used ? divider : "", phrase);
        used = breaks ? width : used + between + width;
        text = end ? end + strlen(divider) : text + strlen(text);
    }
    putc('\n', to->out);
}

void screen_bar(const screen *to, double length, int width)
{
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int eighths = (int)lround(length * width * 8);
    if (length > 0 && eighths == 0) eighths = 1; /* nonzero values are visible */
    for (int i = 0; i < eighths / 8; i++)
        fputs("█", to->out);
    fputs(parts[eighths % 8], to->out);
    fprintf(to->out, "%*s", width - (eighths + 7) / 8, "");
}

void scale_add(scale *s, double value)
{
    if (!(value > 0) || isinf(value)) return;
    if (s->most == 0 || value < s->least) s->least = value;
    if (value > s->most) s->most = value;
}

double scale_of(const scale *s, double value)
{
    if (!(value > 0)) return 0;
    double part = s->log ? log1p(value / s->least) / log1p(s->most / s->least) : value / s->most;
    return part < 1 ? part : 1;
}

int64_t bins_in_a_row(int64_t bins, int64_t most)
{
    int64_t least = (bins + most - 1) / most;
    for (int64_t factor = least; factor <= least + least / 3; factor++)
        if (bins % factor == 0) return factor; /* all rows alike */
    static const int round[] = {1, 2, 4, 5, 8, 10};
    for (int64_t ten = 1;; ten *= 10)
        for (int i = 0; i < 6; i++)
            if (round[i] * ten >= least) return round[i] * ten;
}

/* Significant digits, without an exponent if that is short. */
static void put_digits(int digits, double value, char text[TEXT_NUMBER_BYTES])
{
    snprintf(text, TEXT_NUMBER_BYTES, "%.*g", digits, value);
    if (fabs(value) >= 1 && fabs(value) < 1e7 && strchr(text, 'e')) snprintf(text, TEXT_NUMBER_BYTES, "%.0f", value);
}

/* Are the edges as text within a fiftieth of the step? And, for integer samples, on the same side of each integer? */
static bool form_is_exact_enough(const edge_form *form, const histo_axis *axis, int64_t step)
{
    char text[TEXT_NUMBER_BYTES];
    for (int64_t i = 0; i <= axis->bins; i += step) {
        int64_t next = i + step < axis->bins ? i + step : axis->bins, before = i >= step ? i - step : 0;
        double edge = histo_axis_edge(axis, i);
        double gap = i < next ? histo_axis_edge(axis, next) - edge : edge - histo_axis_edge(axis, before);
        double shown = strtod(edge_text(form, edge, text), NULL), rounding = gap * 1e-9;
        if (fabs(shown - edge) > gap / 50) return false;
        bool plain = form->decimals >= 0 && gap >= 1;
        if (plain && ceil(shown - rounding) != ceil(edge - rounding)) return false;
    }
    return true;
}

/* Bins so different, as on a logarithmic axis, that no number of decimals suits all edges. */
static bool are_uneven(const histo_axis *axis)
{
    double first = histo_axis_edge(axis, 1) - axis->lo, last = axis->hi - histo_axis_edge(axis, axis->bins - 1);
    return fmax(first, last) > 100 * fmin(first, last);
}

edge_form edge_form_of(const histo_axis *axis, int64_t step)
{
    enum { MAX_DECIMALS = 6 };
    const double largest_plain = 1e7;
    edge_form form = {.decimals = 0, .digits = 3};
    if (fabs(axis->lo) >= largest_plain || fabs(axis->hi) >= largest_plain || are_uneven(axis))
        form.decimals = MAX_DECIMALS + 1;
    while (form.decimals <= MAX_DECIMALS && !form_is_exact_enough(&form, axis, step))
        form.decimals++;
    if (form.decimals > MAX_DECIMALS) {
        form.decimals = -1;
        while (form.digits < 17 && !form_is_exact_enough(&form, axis, step))
            form.digits++;
    }
    char text[TEXT_NUMBER_BYTES];
    for (int64_t i = 0; i < axis->bins + step; i += step) {
        double edge = histo_axis_edge(axis, i < axis->bins ? i : axis->bins);
        int width = (int)strlen(edge_text(&form, edge, text));
        if (width > form.width) form.width = width;
    }
    return form;
}

char *edge_text(const edge_form *form, double edge, char text[TEXT_NUMBER_BYTES])
{
    if (form->decimals < 0)
        put_digits(form->digits, edge, text);
    else
        snprintf(text, TEXT_NUMBER_BYTES, "%.*f", form->decimals, edge);
    bool negative_zero = text[0] == '-' && strspn(text, "-0.") == strlen(text);
    if (negative_zero) memmove(text, text + 1, strlen(text));
    return text;
}
