/* Painting a plot on any cairo surface: one panel (two axes and what lies between) with its texts around it. */
#ifndef CLI_PLOT_PAINT_H
#define CLI_PLOT_PAINT_H

#include <cairo.h>
#include <stdbool.h>

#include "output/writers/plot.h"
#include "output/writers/plot_axis.h"

typedef struct plot_panel {
    cairo_t *cr;          /* its user space is pixels */
    double width, height; /* of the whole picture */
    double unit;          /* pixels for a length of 1 in a picture of 1200 x 800 */
    bool vector;          /* may be shown at any size: what has to be an image is a finer one */
    plot_scale x, y;      /* their positions are the panel's borders: whole pixels, at least 16 apart */
} plot_panel;

/* Paint p. The caller sets cr, width, height and vector; the rest is found. */
cairo_status_t plot_paint(plot_panel *panel, const plot *p);

/* Panels in rows. */
typedef struct plot_layout {
    int columns;
    double width, height; /* of a panel */
    bool readable;
} plot_layout;

/* The columns of panels that fill a picture best. */
plot_layout plot_arrange_panels(int panels, double width, double height);

/* What a kind of plot shows beside its axes. */
typedef struct plot_content {
    bool empty;       /* nothing was counted */
    bool whole;       /* all values are whole numbers */
    plot_scale color; /* of a heat map; its positions are the colour bar's */
} plot_content;

/* Opacity of bars: lower where more series overlap. */
double plot_fill(int nseries);

/* The ranges of the panel's axes. */
plot_content plot_bars_scales(plot_panel *panel, const plot *p);
void plot_bars_paint(const plot_panel *panel, const plot *p);

plot_content plot_heat_scales(plot_panel *panel, const plot *p);
cairo_status_t plot_heat_paint(const plot_panel *panel, const plot *p, const plot_scale *color);
/* The colour bar beside the panel. */
void plot_heat_paint_key(const plot_panel *panel, double left, double width);
/* The colour of t, 0 … 1, in a map: more is darker. */
plot_color plot_shade(double t);

/* A grid between these heights of the picture. */
void plot_grid_paint(const plot_panel *panel, const plot_grid *grid, double top, double bottom);

plot_content plot_tiles_scales(plot_panel *panel, const plot *p);
void plot_tiles_paint(const plot_panel *panel, const plot *p);

#endif
