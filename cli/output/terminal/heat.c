/* A heat map in a terminal: the first axis to the right, the second upwards. A cell is a coloured blank or, without
 * colours, a shade; empty cells are blank. If cells are narrow, a coloured character shows two, one above the other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/scale.h"
#include "output/terminal/terminal.h"

/* From dark blue through green to yellow, in the 256 terminal colours. */
static const int ramp[] = {18, 19, 25, 31, 37, 36, 35, 41, 77, 113, 149, 185, 227};

enum { SHADES = 4, COLORS = sizeof ramp / sizeof *ramp };

typedef struct grid {
    int64_t nx, ny;         /* number of cells */
    int64_t each_x, each_y; /* bins per cell */
    int x, y;               /* axes: names of bins are on the left, unless both have names */
    double *values;         /* [nx * ny], x slowest */
    scale scale;
} grid;

/* Cells at the end with fewer bins are scaled up, so that they do not look like a drop. */
static double whole_cell(const grid *g, const table *t, int64_t x, int64_t y)
{
    const int64_t left_x = t->bins[g->x] - x * g->each_x, left_y = t->bins[g->y] - y * g->each_y;
    return fmax(1, (double)g->each_x / (double)left_x) * fmax(1, (double)g->each_y / (double)left_y);
}

static bool make_grid(grid *g, const result *r, const table *t, int64_t max_x, int64_t max_y, const settings *s)
{
    const view v = view_asked(s, &r->series[0]);
    g->each_x = bins_in_a_row(t->bins[g->x], max_x);
    g->each_y = bins_in_a_row(t->bins[g->y], max_y);
    g->nx = (t->bins[g->x] + g->each_x - 1) / g->each_x;
    g->ny = (t->bins[g->y] + g->each_y - 1) / g->each_y;
    g->values = calloc((size_t)(g->nx * g->ny), sizeof *g->values);
    if (!g->values) return false;
    int64_t slots[2];
    for (int64_t cell = -1; table_next(t, &cell, slots);)
        if (table_is_bin(t, slots))
            g->values[(slots[g->x] - 1) / g->each_x * g->ny + (slots[g->y] - 1) / g->each_y] += table_value(t, cell);
    for (int64_t x = 0; x < g->nx; x++)
        for (int64_t y = 0; y < g->ny; y++)
            if (view_adds_up(&v)) g->values[x * g->ny + y] *= whole_cell(g, t, x, y);
    if (!view_is_plain(&v)) {
        const histo_axis axes[] = {t->axes[g->x], t->axes[g->y]};
        view_apply_cells(&v, axes, (const int64_t[]){g->each_x, g->each_y}, g->values, (const int64_t[]){g->nx, g->ny});
    }
    for (int64_t i = 0; i < g->nx * g->ny; i++)
        scale_add(&g->scale, g->values[i]);
    g->scale.kind = scale_suited(s->scale, g->values, g->nx * g->ny);
    return true;
}

static int level_of(const grid *g, double value, int levels)
{
    int level = (int)(scale_of(&g->scale, value) * levels);
    return level < levels ? level : levels - 1;
}

/* A terminal colour: larger values contrast more with the background. */
static int color_of(const screen *to, const grid *g, double value)
{
    const int level = level_of(g, value, COLORS);
    return ramp[to->light ? COLORS - 1 - level : level];
}

/* Whether half-block characters can be coloured. */
static bool has_halves(const screen *to)
{
    return to->colors && !to->ascii;
}

/* Two cells, one above the other, in one character. */
static void put_halves(const screen *to, const grid *g, double upper, double lower, int width)
{
    char style[32];
    const bool over = upper > 0, under = lower > 0;
    if (over && under)
        snprintf(style, sizeof style, "38;5;%d;48;5;%d", color_of(to, g, upper), color_of(to, g, lower));
    else if (over || under)
        snprintf(style, sizeof style, "38;5;%d", color_of(to, g, over ? upper : lower));
    if (over || under) screen_style(to, style);
    for (int i = 0; i < width; i++)
        fputs(over ? "▀" : under ? "▄" : " ", to->out);
    if (over || under) screen_plain(to);
}

static void put_cell(const screen *to, const grid *g, double value, int width)
{
    char style[32];
    bool empty = !(value > 0);
    if (!empty && to->colors) {
        snprintf(style, sizeof style, "48;5;%d", color_of(to, g, value));
        screen_style(to, style);
    }
    for (int i = 0; i < width; i++)
        fputs(empty || to->colors ? " " : to->signs->shades[level_of(g, value, SHADES)], to->out);
    if (!empty) screen_plain(to);
}

/* The names of the x axis's bins, and its own, below them. */
static void put_x_names(const screen *to, const bin_names *bins, const char *name, int margin, int64_t cells, int width)
{
    fprintf(to->out, "%*s", margin, "");
    for (int64_t x = 0; x < cells && x < bins->count; x++) {
        screen_text(to, bins->text[x], width > 1 ? width - 1 : 1);
        if (width > 1) putc(' ', to->out);
    }
    fprintf(to->out, "\n%*s", margin, "");
    screen_text(to, name, text_columns(name));
    putc('\n', to->out);
}

/* The ends of the x axis, below it. */
static void put_x_ends(const screen *to, const axis_form *of, const histo_axis *axis, const char *name, int margin,
                       int width)
{
    char lo[TEXT_NUMBER_BYTES], hi[TEXT_NUMBER_BYTES];
    const double ends[] = {axis->lo, axis->hi};
    const histo_axis whole = histo_axis_variable(1, ends);
    edge_form form = edge_form_of(of, &whole, &(bin_rows){whole.bins, 1, 0});
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
static void put_legend(const screen *to, const result *r, const grid *g, const char *values, const settings *s)
{
    const view v = view_asked(s, NULL);
    char number[TEXT_NUMBER_BYTES], said[160];
    const int levels = to->colors ? COLORS : SHADES;
    if (result_is_weighted(r) || !view_is_plain(&v))
        text_readable(g->scale.most, 0, 0, number);
    else
        text_count((uint64_t)g->scale.most, number);
    const char *kind = scale_name(g->scale.kind);
    int length = snprintf(said, sizeof said, "up to %s%s%s", number, *kind ? ", " : "", kind);
    if (g->each_x * g->each_y > 1)
        snprintf(said + length, sizeof said - (size_t)length, "; %lld x %lld bins to a cell", (long long)g->each_x,
                 (long long)g->each_y);
    fprintf(to->out, "%s ", values);
    for (int i = 0; i < levels; i++)
        put_cell(to, &(grid){.scale = {.least = 1, .most = 1, .kind = SCALE_LINEAR}}, (i + 0.5) / levels, 1);
    const bool fits = text_columns(values) + levels + 2 + (int)strlen(said) < to->columns;
    fprintf(to->out, "%s%s\n", fits ? " " : "\n", said);
}

/* The longest name, but at most a third of the screen. */
static int width_of_names(const screen *to, const bin_names *names)
{
    int width = 1;
    for (int64_t b = 0; b < names->count; b++)
        if (text_columns(names->text[b]) > width) width = text_columns(names->text[b]);
    return width < to->columns / 3 ? width : to->columns / 3;
}

bool terminal_heat(const screen *to, const result *r, const table *t, const titles *names, int rows, const settings *s)
{
    enum { BELOW = 2, TALLEST = 3 };
    char text[TEXT_NUMBER_BYTES];
    const bool turned = result_bin_names(r, 0, 0) && !result_bin_names(r, 0, 1);
    grid g = {.x = turned, .y = !turned};
    const histo_axis *x_axis = &t->axes[g.x], *y_axis = &t->axes[g.y];
    const bin_names *x_names = result_bin_names(r, 0, g.x), *y_names = result_bin_names(r, 0, g.y);
    const char *name = names->axis[g.y];
    edge_form form = {0};
    if (y_names)
        form.width = width_of_names(to, y_names);
    else
        form = edge_form_of(&r->series[0].forms[g.y], y_axis,
                            &(bin_rows){y_axis->bins, y_axis->bins > 8 ? y_axis->bins / 8 : 1, 0});
    const int halves = has_halves(to) && !y_names ? 2 : 1;
    const int margin = form.width + 1, room = to->columns - 1 - margin;
    int height = rows > BELOW + 4 ? rows - BELOW - 1 : 4;
    if (y_names && height < y_names->count) height = (int)y_names->count;
    if (!make_grid(&g, r, t, room, height * halves, s)) return false;
    /* The size of a cell: its lines, or half lines, and columns. */
    int tall = (int)(height * halves / g.ny) < TALLEST * halves ? (int)(height * halves / g.ny) : TALLEST * halves;
    const int widest = 4 * tall < 4 * TALLEST ? 4 * tall : 4 * TALLEST;
    int width = (int)(room / g.nx) < widest ? (int)(room / g.nx) : widest;
    if (x_names || y_names) width = (int)(room / g.nx) < 16 ? (int)(room / g.nx) : 16;
    fprintf(to->out, "%*s", margin, "");
    screen_text(to, name, text_columns(name) < room ? text_columns(name) : room);
    putc('\n', to->out);
    for (int64_t line = (g.ny * tall + halves - 1) / halves; line-- > 0;) {
        const int64_t at = line * halves, upper = (at + halves - 1) / tall;
        const int64_t y = y_names ? g.ny - 1 - at / tall : at / tall; /* names are read downwards */
        bool labelled = at % tall == 0 && (line % 4 == 0 || tall > halves);
        if (y_names)
            screen_text(to, at % tall == tall / 2 ? y_names->text[y] : "", form.width);
        else
            screen_text(to, labelled ? edge_text(&form, histo_axis_edge(y_axis, y * g.each_y), text) : "", -form.width);
        putc(' ', to->out);
        for (int64_t x = 0; x < g.nx; x++) {
            const double *column = g.values + x * g.ny;
            if (halves == 2)
                put_halves(to, &g, upper < g.ny ? column[upper] : 0, column[y], width);
            else
                put_cell(to, &g, column[y], width);
        }
        putc('\n', to->out);
    }
    if (x_names)
        put_x_names(to, x_names, names->axis[g.x], margin, g.nx, width);
    else
        put_x_ends(to, &r->series[0].forms[g.x], x_axis, names->axis[g.x], margin, (int)g.nx * width);
    put_legend(to, r, &g, names->values, s);
    free(g.values);
    return true;
}
