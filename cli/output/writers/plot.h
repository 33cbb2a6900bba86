/* Plots for reports: filled steps for one axis (channels overlaid in their colours), a heat map for two, tiles for a
 * map of winners, dots. One description, written as PNG, SVG or PDF by cairo. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/module.h"
#include "output/outfile.h"

typedef struct plot_color {
    double r, g, b; /* 0 … 1 */
} plot_color;

/* Colours that stay readable when overlaid on white; on a dark background they are drawn lighter. */
extern const plot_color plot_red, plot_green, plot_blue, plot_gray, plot_cyan, plot_magenta, plot_yellow;
/* The colour of series i if colours have no meaning, one that colour-blind readers can distinguish from the others (the
 * first by Okabe and Ito 2008); after the twelfth, darker and lighter ones; repeats after the sixtieth. */
plot_color plot_palette(int i);

typedef struct plot_series {
    const char *name; /* for the legend, which is drawn for several series */
    plot_color color;
    int64_t bins;
    const double *edges;  /* [bins + 1], increasing, finite */
    const double *values; /* [bins]: heights of bars, not divided by widths */
} plot_series;

typedef struct plot_heat {
    int64_t nx, ny;
    const double *x_edges, *y_edges; /* [nx + 1], [ny + 1], increasing, finite */
    const double *values;            /* [nx * ny], x slowest; zeros are blank */
    count_scale scale;               /* of the colours; not auto */
    const char *label;               /* of the colour bar */
} plot_heat;

typedef enum plot_mark { PLOT_DOT = 1, PLOT_FRAME = 2 } plot_mark;

/* A table of numbers, each on its colour. */
typedef struct plot_grid {
    int rows, columns;
    const char *const *row_names, *const *column_names;
    const double *values; /* [rows * columns], row-major; NaN is blank */
    const int *marks;     /* for each value: flags of plot_mark */
    double most;          /* the value with the darkest colour; 0 has the lightest */
} plot_grid;

/* Tiles in the colours of series, whose names are in the legend. */
typedef struct plot_tiles {
    int nx, ny;
    const double *x_edges, *y_edges; /* [nx + 1], [ny + 1], increasing, finite */
    const int *series;               /* [nx * ny], x slowest: indices of the plot's series; -1: blank */
    const char (*texts)[8];          /* [nx * ny]: shown on tiles that are large enough */
    const double (*border)[2];       /* a line over the tiles through these points */
    int border_points;
} plot_tiles;

/* How the dots of a series are connected. */
typedef enum plot_line { PLOT_NO_LINE, PLOT_SOLID, PLOT_DASHED } plot_line;
typedef enum plot_inside { PLOT_FULL, PLOT_PALE, PLOT_HOLLOW } plot_inside;
typedef struct plot_dot_style {
    plot_line line;
    bool thick; /* the line */
    plot_inside inside;
    int shape; /* 0 is a circle, others are squares, triangles and so on; repeats after the eighth */
} plot_dot_style;

/* Dots in the colours of series, whose names are in the legend. */
typedef struct plot_dots {
    int count;
    const double *x, *y;
    int *series;              /* indices of the plot's series */
    const char *const *names; /* shown below x = 0, 1, …, rotated if they do not fit; NULL: numbers are */
    int names_count;
    const plot_dot_style *styles; /* of each series; NULL: small translucent circles */
} plot_dots;

/* A grey image. */
typedef struct plot_image {
    int width, height;
    const uint8_t *grey; /* height rows of width */
} plot_image;

/* Texts are UTF-8 (invalid bytes become U+FFFD) and may be NULL; long texts end in an ellipsis. */
typedef struct plot {
    const char *title, *x_label, *y_label;
    const char *footer;      /* small lines below, separated by '\n' */
    bool log_x, log_y;       /* a logarithmic axis shows only positive values */
    bool binary_x, binary_y; /* a logarithmic axis of dots or tiles has ticks at powers of two */
    bool root_y;             /* heights are square roots of positive values */
    bool dark;               /* light on dark; for panels, that of the whole plot counts */
    int nseries;
    const plot_series *series;
    bool legend_beside;           /* to the right instead of above; omits unnamed series */
    bool times_x, times_y;        /* values are microseconds since 1970, shown as dates */
    const char *const *bin_names; /* of the first series or the columns of a heat map, shown below the bins if all fit;
                                   * NULL: edges are shown */
    const char *const *y_bin_names; /* of the rows of a heat map */
    bool bins_are_words;   /* bins mean nothing without names, which are rotated, and thinned out, if they do not fit */
    double x_lines[2];     /* dashed, vertical, in a heat map; equal: none */
    double y_lines[2];     /* the same, horizontal */
    const plot_heat *heat; /* drawn instead of series, unless NULL */
    const plot_grid *grid; /* likewise */
    const plot_tiles *tiles;   /* drawn in the colours of the series, which only provide these and names, unless NULL */
    const plot_dots *dots;     /* likewise */
    const plot_image *image;   /* shown above the axes, unless NULL */
    const struct plot *panels; /* drawn below the title instead, each with its own axes, unless NULL */
    int npanels;
    int panel_columns; /* number of panels side by side; 0: as many as look best */
    int width, height; /* pixels, PLOT_MIN_SIZE … PLOT_MAX_SIZE; 0: 1200 x 800. Text and lines scale with them */
} plot;

enum { PLOT_MIN_SIZE = 200, PLOT_MAX_SIZE = 8192 };

/* A good size for this many panels, at most PLOT_MAX_SIZE. */
void plot_suit_panels(int panels, int *width, int *height);

/* Panels in rows. */
typedef struct plot_layout {
    int columns;
    double width, height; /* of a panel */
    bool readable;
} plot_layout;

/* How the panels of p fill a picture of this size. */
plot_layout plot_arrange_panels(const plot *p, double width, double height);

/* Check that everything needed for drawing is available: 0, or -1 and a message in f, which names the picture. */
int plot_prepare(const char *name, fault *f);

/* Draw to the stream of o in format "png", "svg" or "pdf": 0, or -1 and a message in f; the caller commits or abandons
 * o. */
int plot_write(const plot *p, const char *format, outfile *o, fault *f);

/* Draws like plot_write, in this size and without checks; in the module plot. */
typedef int plot_draw_function(const plot *p, int width, int height, const char *format, outfile *o, fault *f);
MODULE_SYMBOL plot_draw_function plot_draw;

#endif
