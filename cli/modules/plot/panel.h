/* A panel of a plot: two axes and their contents, and the functions that draw them. */
#ifndef CLI_PLOT_PANEL_H
#define CLI_PLOT_PANEL_H

#include <cairo.h>
#include <stdbool.h>

#include "output/ticks.h"
#include "output/writers/plot.h"

/* The colours of everything but the data. */
typedef struct plot_theme {
    plot_color paper, ink, soft_ink, axis, grid;
    double lighten; /* how far the colours of series are shifted towards white */
} plot_theme;

extern const plot_theme plot_light, plot_dark;

typedef struct plot_panel {
    const plot_theme *theme;
    cairo_t *cr;          /* its user space is pixels */
    double width, height; /* of the picture */
    double unit;          /* pixels per unit of length in a picture of 1200 x 800 */
    bool vector;          /* scalable: embedded images need a higher resolution */
    plot_scale x, y;      /* their ends are the panel's borders: pixel boundaries, at least 16 apart */
} plot_panel;

/* The colour of a series on the panel's background. */
plot_color plot_tint(const plot_panel *panel, plot_color c);

/* What a kind of plot shows besides its axes. */
typedef struct plot_content {
    bool empty;       /* nothing was counted */
    bool whole;       /* all values are integers */
    plot_scale color; /* of a heat map; its positions are on the colour bar */
} plot_content;

/* The opacity of bars: lower if more series overlap. */
double plot_fill(int nseries);

/* Compute the ranges of the panel's axes. */
plot_content plot_bars_scales(plot_panel *panel, const plot *p);
void plot_bars_paint(const plot_panel *panel, const plot *p);

plot_content plot_heat_scales(plot_panel *panel, const plot *p);
cairo_status_t plot_heat_paint(const plot_panel *panel, const plot *p, const plot_scale *color);
/* Paint the colour bar next to the panel. */
void plot_heat_paint_key(const plot_panel *panel, double left, double width);
/* The colour for t in 0 … 1 in a map: more is darker. */
plot_color plot_shade(double t);

/* Paint a grid between these heights of the picture. */
void plot_grid_paint(const plot_panel *panel, const plot_grid *grid, double top, double bottom);

plot_content plot_tiles_scales(plot_panel *panel, const plot *p);
void plot_tiles_paint(const plot_panel *panel, const plot *p);

plot_content plot_dots_scales(plot_panel *panel, const plot *p);
void plot_dots_paint(const plot_panel *panel, const plot *p);
/* Paint a line of this length from (x, y), in the style of lines between dots of the series, with a dot at its
 * middle. */
void plot_dots_paint_key(const plot_panel *panel, const plot *p, int series, double x, double y, double length);

#endif
