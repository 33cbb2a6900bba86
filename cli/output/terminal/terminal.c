/* Shared by the terminal drawings. */
#define _GNU_SOURCE
#include "output/terminal/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "options/steps.h"

static int number_in_environment(const char *name, int otherwise)
{
    const char *text = getenv(name);
    int64_t number;
    return text && text_to_i64(text, &number) && number > 0 && number < 10000 ? (int)number : otherwise;
}

static const signs blocks = {.parts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"},
                             .full = "█",
                             .shades = {"░", "▒", "▓", "█"},
                             .to = " … ",
                             .cut = "…",
                             .divider = " · ",
                             .about = "≈ "};
static const signs characters = {.parts = {"", ".", ".", ".", ":", ":", ":", ":"},
                                 .full = "#",
                                 .shades = {".", ":", "*", "#"},
                                 .to = " - ",
                                 .cut = "~",
                                 .divider = "; ",
                                 .about = "~ "};

/* The locale's character set, by its name: locales that are not installed are meant, too. */
static bool locale_is_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int i = 0; i < 3; i++) {
        const char *name = getenv(variables[i]);
        if (name && *name) return strcasestr(name, "utf-8") || strcasestr(name, "utf8");
    }
    return false;
}

void screen_use_ascii(screen *to)
{
    to->ascii = true;
    to->signs = &characters;
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
    to.signs = &blocks;
    const char *ground = getenv("COLORFGBG"); /* 0;15: black on white */
    const char *number = ground ? strrchr(ground, ';') : NULL;
    to.light = number && (strcmp(number, ";7") == 0 || strcmp(number, ";15") == 0);
    if (!locale_is_utf8()) screen_use_ascii(&to);
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

void screen_phrases(const screen *to, const char *text)
{
    static const char divider[] = " · ";
    int used = 0;
    while (*text) {
        const char *end = strstr(text, divider);
        char phrase[256];
        snprintf(phrase, sizeof phrase, "%.*s", end ? (int)(end - text) : (int)strlen(text), text);
        int width = text_columns(phrase), between = used ? text_columns(to->signs->divider) : 0;
        bool breaks = used && used + between + width >= to->columns;
        fputs(breaks ? "\n" : used ? to->signs->divider : "", to->out);
        screen_text(to, phrase, width);
        used = breaks ? width : used + between + width;
        text = end ? end + strlen(divider) : text + strlen(text);
    }
    putc('\n', to->out);
}

void screen_bar(const screen *to, double length, int width)
{
    int eighths = (int)lround(length * width * 8);
    if (length > 0 && eighths == 0) eighths = 1; /* nonzero values are visible */
    for (int i = 0; i < eighths / 8; i++)
        fputs(to->signs->full, to->out);
    fputs(to->signs->parts[eighths % 8], to->out);
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
    double part = s->kind == SCALE_LOG    ? log1p(value / s->least) / log1p(s->most / s->least)
                  : s->kind == SCALE_ROOT ? sqrt(value / s->most)
                                          : value / s->most;
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

/* The number of steps from 0 to the first edge, if all edges are multiples of a step of 1, 2 or 5 times a power of ten.
 */
static bool has_round_edges(const histo_axis *axis, steps *s)
{
    const double width = (axis->hi - axis->lo) / (double)axis->bins;
    if (!(width > 0) || !isfinite(width)) return false;
    *s = steps_round(width);
    bool round = steps_cover(s, axis->lo, axis->lo, false) && steps_at(s, 0) == axis->lo;
    for (int64_t i = 0; i <= axis->bins && round; i++)
        round = fabs(steps_at(s, i) - histo_axis_edge(axis, i)) <= width * 1e-6;
    return round;
}

/* Rows of so many steps, from multiples of that on: whether they are few enough. */
static bool fit_rows(bin_rows *rows, int64_t wide, const steps *s, int64_t most)
{
    const int64_t first = s->first / s->step;
    if (wide % s->step) return false;
    rows->each = wide / s->step;
    rows->lacking = (first % rows->each + rows->each) % rows->each;
    return bin_rows_count(rows) <= most;
}

bin_rows rows_of_axis(const histo_axis *axis, int64_t most, histo_axis *full)
{
    enum { LARGEST = 1 << 20 };
    steps s;
    bin_rows rows = {axis->bins, bins_in_a_row(axis->bins, most), 0};
    *full = (histo_axis){0};
    const bool power = (axis->bins & (axis->bins - 1)) == 0; /* as of bytes: rows are alike */
    if (rows.each == 1 || power || axis->bins > LARGEST || !has_round_edges(axis, &s)) return rows;
    int64_t ten = 1;
    for (int digit = 0; !fit_rows(&rows, (const int64_t[]){1, 2, 5}[digit] * ten, &s, most); digit = (digit + 1) % 3)
        if (digit == 2) ten *= 10;
    bin_rows finer = rows; /* where there are few rows, those of 4 steps may be more */
    const int64_t four = rows.each * s.step == ten ? 4 * ten / 10 : 4 * ten;
    if (bin_rows_count(&rows) <= most / 3 && fit_rows(&finer, four, &s, most) && finer.each < rows.each) rows = finer;
    const int64_t count = bin_rows_count(&rows);
    *full = histo_axis_regular(count, steps_at(&s, -rows.lacking), steps_at(&s, count * rows.each - rows.lacking));
    return rows;
}
