/* Shared by the terminal drawings. */
#define _GNU_SOURCE
#include "output/terminal/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

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

/* The locale's character set, by its name, which also works for locales that are not installed. */
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
    if (length > 0 && eighths == 0) eighths = 1; /* make nonzero values visible */
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
