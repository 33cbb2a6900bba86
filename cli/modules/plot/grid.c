/* Tables of numbers on colours: row names on the left, column names on top, slanted if wider than the columns. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "modules/plot/panel.h"
#include "modules/plot/text.h"

static const double margin = 32, name_size = 14, number_size = 13, lean = M_PI / 3;
static const plot_color dark = {0.13, 0.14, 0.16}, light = {1, 1, 1}, alarm = {0.85, 0.15, 0.1};

static void use(cairo_t *cr, plot_color c)
{
    cairo_set_source_rgb(cr, c.r, c.g, c.b);
}

typedef struct layout {
    double left, top, width, height; /* of all cells; of one cell: */
    double cell_width, cell_height;
    bool leaning; /* slanted column names */
} layout;

static double widest_name(const plot_panel *panel, const char *const *names, int count, double most)
{
    double widest = 0;
    char name[PLOT_TEXT_BYTES];
    for (int i = 0; i < count; i++) {
        plot_text_fit(panel->cr, names[i], strlen(names[i]), most, name);
        widest = fmax(widest, plot_text_width(panel->cr, name));
    }
    return widest;
}

static layout lay_out(const plot_panel *panel, const plot_grid *grid, double top, double bottom)
{
    double edge = margin * panel->unit, size = name_size * panel->unit, most = panel->width / 3;
    plot_font(panel->cr, size, false);
    layout l = {.left = edge + widest_name(panel, grid->row_names, grid->rows, most) + size};
    l.width = panel->width - edge - l.left;
    l.cell_width = l.width / fmax(grid->columns, 1);
    double widest = widest_name(panel, grid->column_names, grid->columns, most);
    l.leaning = widest > 0.98 * l.cell_width;
    l.top = top + 2 * size + (l.leaning ? widest * sin(lean) : 0);
    l.height = bottom - l.top;
    l.cell_height = l.height / fmax(grid->rows, 1);
    return l;
}

static void paint_names(const plot_panel *panel, const plot_grid *grid, const layout *l)
{
    char name[PLOT_TEXT_BYTES];
    double size = name_size * panel->unit;
    plot_font(panel->cr, size, false);
    use(panel->cr, panel->theme->ink);
    for (int r = 0; r < grid->rows; r++) {
        double baseline = l->top + (r + 0.5) * l->cell_height + size * 0.36;
        plot_text_fit(panel->cr, grid->row_names[r], strlen(grid->row_names[r]), panel->width / 3, name);
        plot_text_show(panel->cr, name, l->left - size / 2, baseline, PLOT_RIGHT);
    }
    for (int c = 0; c < grid->columns; c++) {
        double middle = l->left + (c + 0.5) * l->cell_width;
        double room = fmin(panel->width / 3, (panel->width - middle - size) / cos(lean));
        plot_text_fit(panel->cr, grid->column_names[c], strlen(grid->column_names[c]), room, name);
        cairo_save(panel->cr);
        cairo_translate(panel->cr, middle, l->top - size / 2);
        if (l->leaning) cairo_rotate(panel->cr, -lean);
        plot_text_show(panel->cr, name, 0, 0, l->leaning ? PLOT_LEFT : PLOT_CENTER);
        cairo_restore(panel->cr);
    }
}

static void paint_cell(const plot_panel *panel, const plot_grid *grid, const layout *l, int row, int column)
{
    cairo_t *cr = panel->cr;
    double value = grid->values[row * grid->columns + column];
    int marks = grid->marks[row * grid->columns + column];
    double left = l->left + column * l->cell_width, top = l->top + row * l->cell_height, gap = panel->unit;
    double width = l->cell_width - gap, height = l->cell_height - gap, size = number_size * panel->unit;
    double shade = fmin(fmax(value / grid->most, 0), 1);
    char number[32];
    if (isnan(value)) return;
    cairo_rectangle(cr, left, top, width, height);
    use(cr, plot_shade(shade));
    cairo_fill(cr);
    if (marks & PLOT_FRAME) {
        cairo_rectangle(cr, left + gap, top + gap, width - 2 * gap, height - 2 * gap);
        cairo_set_line_width(cr, 2 * gap);
        use(cr, alarm);
        cairo_stroke(cr);
    }
    if (marks & PLOT_DOT) {
        cairo_arc(cr, left + width - height * 0.3, top + height * 0.5, height * 0.12, 0, 2 * M_PI);
        use(cr, alarm);
        cairo_fill(cr);
    }
    snprintf(number, sizeof number, "%.*f", value < 10 ? 1 : 0, value);
    use(cr, shade > 0.45 ? light : dark);
    plot_text_show(cr, number, left + width / 2, top + height / 2 + size * 0.36, PLOT_CENTER);
}

void plot_grid_paint(const plot_panel *panel, const plot_grid *grid, double top, double bottom)
{
    layout l = lay_out(panel, grid, top, bottom);
    paint_names(panel, grid, &l);
    plot_font(panel->cr, number_size * panel->unit, false);
    for (int r = 0; r < grid->rows; r++)
        for (int c = 0; c < grid->columns; c++)
            paint_cell(panel, grid, &l, r, c);
}
