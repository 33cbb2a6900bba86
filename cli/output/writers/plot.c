/* Plots: what is needed without cairo, with which the module plot draws. */
#include "output/writers/plot.h"

#include <math.h>
#include <string.h>

#include "base/module.h"

const plot_color plot_red = {0.84, 0.15, 0.16}, plot_green = {0.13, 0.60, 0.22}, plot_blue = {0.12, 0.38, 0.85},
                 plot_gray = {0.36, 0.38, 0.41}, plot_cyan = {0.00, 0.60, 0.74}, plot_magenta = {0.80, 0.10, 0.55},
                 plot_yellow = {0.78, 0.65, 0.00};

plot_color plot_palette(int i)
{
    static const plot_color palette[] = {
        {0.00, 0.45, 0.70}, {0.84, 0.37, 0.00}, {0.00, 0.62, 0.45}, {0.80, 0.47, 0.65},
        {0.90, 0.62, 0.00}, {0.34, 0.71, 0.91}, {0.36, 0.38, 0.41}, {0.80, 0.74, 0.10},
        {0.53, 0.13, 0.33}, {0.27, 0.67, 0.60}, {0.60, 0.38, 0.09}, {0.36, 0.27, 0.70},
    };
    const unsigned colors = sizeof palette / sizeof *palette, times = (unsigned)i / colors;
    const plot_color c = palette[(unsigned)i % colors];
    const double part = 0.35 * (double)((times + 1) / 2 % 3), to = times % 2 ? 0 : 1; /* darker, lighter, … */
    return (plot_color){c.r + part * (to - c.r), c.g + part * (to - c.g), c.b + part * (to - c.b)};
}

void plot_suit_panels(int panels, int *width, int *height)
{
    enum { WIDTH = 1200, HEIGHT = 800, ACROSS = 3, PANEL_HEIGHT = 280 };
    int times = 1, rows; /* the default width */
    do
        rows = (panels + ACROSS * times - 1) / (ACROSS * times);
    while (rows * PANEL_HEIGHT > PLOT_MAX_SIZE && ++times * WIDTH <= PLOT_MAX_SIZE);
    *width = times * WIDTH < PLOT_MAX_SIZE ? times * WIDTH : PLOT_MAX_SIZE;
    *height = rows * PANEL_HEIGHT < HEIGHT ? HEIGHT : rows * PANEL_HEIGHT;
    if (*height > PLOT_MAX_SIZE) *height = PLOT_MAX_SIZE;
}

plot_layout plot_arrange_panels(const plot *p, double width, double height)
{
    const double best_shape = 1.5, least_width = 180, least_height = 130;
    const int first = p->panel_columns ? p->panel_columns : 1, last = p->panel_columns ? first : p->npanels;
    plot_layout best = {0};
    for (int c = first; c <= last; c++) {
        double w = width / c, h = height / ((p->npanels + c - 1) / c);
        if (c == first || fabs(log(w / h / best_shape)) < fabs(log(best.width / best.height / best_shape)))
            best = (plot_layout){.columns = c, .width = w, .height = h};
    }
    best.readable = best.width >= least_width && best.height >= least_height;
    return best;
}

static plot_draw_function *find_draw(const char *name, fault *f)
{
    return plot_draw ? plot_draw : (plot_draw_function *)module_symbol("plot", "plot_draw", name, f);
}

int plot_prepare(const char *name, fault *f)
{
    return find_draw(name, f) ? 0 : -1;
}

int plot_write(const plot *p, const char *format, outfile *o, fault *f)
{
    const char *name = outfile_name(o);
    const int width = p->width ? p->width : 1200, height = p->height ? p->height : 800;
    if (width < PLOT_MIN_SIZE || width > PLOT_MAX_SIZE || height < PLOT_MIN_SIZE || height > PLOT_MAX_SIZE)
        return fault_set(f, EXIT_USAGE, "%s: a picture of %d x %d pixels cannot be drawn; use %d to %d each way", name,
                         width, height, PLOT_MIN_SIZE, PLOT_MAX_SIZE);
    if (p->panels && !plot_arrange_panels(p, width, height).readable)
        return fault_set(f, EXIT_USAGE,
                         "%s: %d histograms on separate axes do not fit into a picture of %d x %d "
                         "pixels: draw fewer, or a larger one with --size",
                         name, p->npanels, width, height);
    plot_draw_function *draw = find_draw(name, f);
    return draw ? draw(p, width, height, format, o, f) : -1;
}
