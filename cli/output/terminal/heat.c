/* A heat map in a terminal: the first axis to the right, the second upwards. A cell is a coloured blank or, without
 * colours, a shade; empty cells are blank. */
#include <stdlib.h>
#include <string.h>

#include "output/terminal/terminal.h"

static const char *const shades[] = {"░", "▒", "▓", "█"};
/* From dark blue through green to yellow, in the 256 terminal colours. */
static const int ramp[] = {18, 19, 25, 31, 37, 36, 35, 41, 77, 113, 149, 185, 227};

enum { SHADES = sizeof shades / sizeof *shades, COLORS = sizeof ramp / sizeof *ramp };

typedef struct grid {
    int64_t nx, ny;         /* cells */
    int64_t each_x, each_y; /* bins in a cell */
    double *values;         /* [nx * ny], x slowest */
    scale scale;
} grid;

static bool make_grid(grid *g, const table *t, int64_t max_x, int64_t max_y)
{
    g->each_x = bins_in_a_row(t->bins[0], max_x);
    g->each_y = bins_in_a_row(t->bins[1], max_y);
    g->nx = (t->bins[0] + g->each_x - 1) / g->each_x;
    g->ny = (t->bins[1] + g->each_y - 1) / g->each_y;
    g->values = calloc((size_t)(g->nx * g->ny), sizeof *g->values);
    if (!g->values) return false;
    int64_t slots[2];
    for (int64_t cell = -1; table_next(t, &cell, slots);)
        if (table_is_bin(t, slots))
            g->values[(slots[0] - 1) / g->each_x * g->ny + (slots[1] - 1) / g->each_y] += table_value(t, cell);
    for (int64_t i = 0; i < g->nx * g->ny; i++)
        scale_add(&g->scale, g->values[i]);
    return true;
}

static int level_of(const grid *g, double value, int levels)
{
    int level = (int)(scale_of(&g->scale, value) * levels);
    return level < levels ? level : levels - 1;
}

static void put_cell(const screen *to, const grid *g, double value, int width)
{
    char style[32];
    bool empty = !(value > 0);
    if (!empty && to->colors) {
        snprintf(style, sizeof style, "48;5;%d", ramp[level_of(g, value, COLORS)]);
        screen_style(to, style);
    }
    for (int i = 0; i < width; i++)
        fputs(empty || to->colors ? " " : shades[level_of(g, value, SHADES)], to->out);
    if (!empty) screen_plain(to);
}

/* The ends of the x axis, below it. */
static void put_x_ends(const screen *to, const table *t, const char *name, int margin, int width)
{
    char lo[TEXT_NUMBER_BYTES], hi[TEXT_NUMBER_BYTES];
    const double ends[] = {t->axes[0].lo, t->axes[0].hi};
    const histo_axis whole = histo_axis_variable(1, ends);
    edge_form form = edge_form_of(&whole, 1);
    edge_text(&form, ends[0], lo);
    edge_text(&form, ends[1], hi);
    int middle = width - (int)strlen(lo) - (int)strlen(hi);
    if (middle < 0) middle = 0;
    int name_width = text_columns(name) < middle - 2 ? text_columns(name) : middle > 2 ? middle - 2 : 0;
    fprintf(to->out, "%*s%s%*s", margin, "", lo, (middle - name_width) / 2, "");
    if (name_width) screen_text(to, name, name_width);
    fprintf(to->out, "%*s%s\n", middle - name_width - (middle - name_width) / 2, "", hi);
}

/* The legend of shades or colours. */
static void put_legend(const screen *to, const result *r, const grid *g)
{
    char number[TEXT_NUMBER_BYTES];
    fprintf(to->out, "%s ", label_of_values(r));
    for (int i = 0; i < (to->colors ? COLORS : SHADES); i++)
        put_cell(to, &(grid){.scale = {.least = 1, .most = 1}}, (i + 0.5) / (to->colors ? COLORS : SHADES), 1);
    if (result_is_weighted(r))
        text_short(g->scale.most, number);
    else
        text_count((uint64_t)g->scale.most, number);
    fprintf(to->out, " up to %s%s", number, g->scale.log ? ", logarithmic" : "");
    if (g->each_x * g->each_y > 1)
        fprintf(to->out, "; %lld x %lld bins to a cell", (long long)g->each_x, (long long)g->each_y);
    putc('\n', to->out);
}

bool terminal_heat(const screen *to, const result *r, const table *t, int rows, bool log)
{
    enum { BELOW = 2, TALLEST = 3 };
    char text[TEXT_NUMBER_BYTES], name[320];
    grid g = {.scale.log = log};
    edge_form form = edge_form_of(&t->axes[1], t->bins[1] > 8 ? t->bins[1] / 8 : 1);
    label_of_axis(r, 1, name, sizeof name);
    int margin = form.width + 1, room = to->columns - 1 - margin;
    int height = rows > BELOW + 4 ? rows - BELOW - 1 : 4;
    if (!make_grid(&g, t, room, height)) return false;
    height = (int)(height / g.ny) < TALLEST ? (int)(height / g.ny) : TALLEST;
    int width = (int)(room / g.nx) < 4 * height ? (int)(room / g.nx) : 4 * height;
    fprintf(to->out, "%*s%s\n", margin, "", name);
    for (int64_t line = g.ny * height; line-- > 0;) {
        int64_t y = line / height;
        bool labelled = line % height == 0 && (line % 4 == 0 || height > 1);
        screen_text(to, labelled ? edge_text(&form, histo_axis_edge(&t->axes[1], y * g.each_y), text) : "",
                    -form.width);
        putc(' ', to->out);
        for (int64_t x = 0; x < g.nx; x++)
            put_cell(to, &g, g.values[x * g.ny + y], width);
        putc('\n', to->out);
    }
    put_x_ends(to, t, label_of_axis(r, 0, name, sizeof name), margin, (int)g.nx * width);
    put_legend(to, r, &g);
    free(g.values);
    return true;
}
