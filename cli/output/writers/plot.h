/* Drawing for a report: filled steps for one axis (channels laid over each other in their colours), a heat map for two,
 * tiles for a map of what is best where. One description, written as PNG, SVG or PDF with cairo. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "output/outfile.h"

typedef struct plot_color {
    double r, g, b; /* 0 … 1 */
} plot_color;

/* Shades that stay readable when laid over each other on white. */
extern const plot_color plot_red, plot_green, plot_blue, plot_gray;
/* The colour of series i where colours mean nothing; repeats after the eighth. */
plot_color plot_palette(int i);

typedef struct plot_series {
    const char *name; /* for the legend, drawn when there is more than one series */
    plot_color color;
    int64_t bins;
    const double *edges;  /* [bins + 1], increasing, finite */
    const double *values; /* [bins]: the height of each bar, not divided by its width */
} plot_series;

typedef struct plot_heat {
    int64_t nx, ny;
    const double *x_edges, *y_edges; /* [nx + 1], [ny + 1], increasing, finite */
    const double *values;            /* [nx * ny], x slowest; a zero is left blank */
    bool log_color;
    const char *label; /* of the colour bar */
} plot_heat;

typedef enum plot_mark { PLOT_DOT = 1, PLOT_FRAME = 2 } plot_mark;

/* A table of numbers, each on its colour. */
typedef struct plot_grid {
    int rows, columns;
    const char *const *row_names, *const *column_names;
    const double *values; /* [rows * columns], rows one after the other; NaN is left blank */
    const int *marks;     /* of each: plot_mark, added up */
    double most;          /* has the darkest colour; 0 has the lightest */
} plot_grid;

/* Each tile in the colour of a series, whose name the legend tells. */
typedef struct plot_tiles {
    int nx, ny;
    const double *x_edges, *y_edges; /* [nx + 1], [ny + 1], increasing, finite */
    const int *series;               /* [nx * ny], x slowest: of the plot's series; -1: blank */
    const char (*texts)[8];          /* [nx * ny]: written on the tiles that have room for it */
} plot_tiles;

/* Texts are UTF-8 (bytes that are not become U+FFFD) and may be NULL; what is too long ends in an ellipsis. */
typedef struct plot {
    const char *title, *x_label, *y_label;
    const char *footer; /* small lines below, divided by '\n' */
    bool log_x, log_y;  /* a logarithmic axis shows what is above 0 */
    int nseries;
    const plot_series *series;
    const plot_heat *heat; /* drawn instead of series, if not NULL */
    const plot_grid *grid; /* and so is this */
    const plot_tiles
        *tiles; /* drawn in the colours of the series, of which only these and the names count, if not NULL */
    const struct plot *panels; /* drawn below the title instead, each with its own axes, if not NULL */
    int npanels;
    int width, height; /* pixels, PLOT_MIN_SIZE … PLOT_MAX_SIZE; 0: 1200 x 800. Text and lines grow with them */
} plot;

enum { PLOT_MIN_SIZE = 200, PLOT_MAX_SIZE = 8192 };

/* The size that suits so many panels, of at most PLOT_MAX_SIZE. */
void plot_suit_panels(int panels, int *width, int *height);

/* Draw to the stream of o in format "png", "svg" or "pdf": 0, or -1 and a sentence in f; the caller commits o, or
 * abandons it. */
int plot_write(const plot *p, const char *format, outfile *o, fault *f);

#endif
