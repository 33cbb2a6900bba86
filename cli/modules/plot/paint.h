/* Painting a plot on any cairo surface: panels and the text around them. */
#ifndef CLI_PLOT_PAINT_H
#define CLI_PLOT_PAINT_H

#include "modules/plot/panel.h"

/* Paint p. The caller sets cr, width, height and vector; the rest is set here. */
cairo_status_t plot_paint(plot_panel *panel, const plot *p);

#endif
