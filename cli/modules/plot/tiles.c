/* Maps of winners: tiles in the colours of the legend, with a short text if it fits. */
#include <math.h>
#include <string.h>

#include "modules/plot/panel.h"
#include "modules/plot/text.h"

static plot_scale axis_of(const double *edges, int n, bool log, bool binary)
{
    return (plot_scale){.lo = edges[0], .hi = edges[n], .log = log, .binary = log && binary};
}

plot_content plot_tiles_scales(plot_panel *panel, const plot *p)
{
    const plot_tiles *t = p->tiles;
    plot_content found = {.empty = true};
    panel->x = axis_of(t->x_edges, t->nx, p->log_x, p->binary_x);
    panel->y = axis_of(t->y_edges, t->ny, p->log_y, p->binary_y);
    for (int i = 0; i < t->nx * t->ny; i++)
        found.empty = found.empty && t->series[i] < 0;
    return found;
}

/* Black or white, whichever contrasts more. */
static double ink_on(plot_color c, double opacity)
{
    double light = 0.30 * c.r + 0.59 * c.g + 0.11 * c.b;
    return light * opacity + 1 - opacity > 0.55 ? 0 : 1;
}

void plot_tiles_paint(const plot_panel *panel, const plot *p)
{
    const plot_tiles *t = p->tiles;
    const double opacity = plot_fill(1), gap = fmax(1, panel->unit), size = 13 * panel->unit;
    cairo_t *cr = panel->cr;
    for (int x = 0; x < t->nx; x++) {
        double left = round(plot_scale_at(&panel->x, t->x_edges[x]));
        double width = round(plot_scale_at(&panel->x, t->x_edges[x + 1])) - left;
        for (int y = 0; y < t->ny; y++) {
            int at = x * t->ny + y;
            if (t->series[at] < 0) continue;
            double bottom = round(plot_scale_at(&panel->y, t->y_edges[y]));
            double top = round(plot_scale_at(&panel->y, t->y_edges[y + 1]));
            plot_color c = plot_tint(panel, p->series[t->series[at]].color);
            cairo_rectangle(cr, left, top, fmax(width - gap, 1), fmax(bottom - top - gap, 1));
            cairo_set_source_rgba(cr, c.r, c.g, c.b, opacity);
            cairo_fill(cr);
            if (!t->texts || !t->texts[at][0]) continue;
            plot_font(cr, size, false);
            if (plot_text_width(cr, t->texts[at]) > width - 4 * gap || bottom - top < 1.3 * size) continue;
            double shade = ink_on(c, opacity);
            cairo_set_source_rgb(cr, shade, shade, shade);
            plot_text_show(cr, t->texts[at], left + width / 2, (top + bottom) / 2 + size * 0.36, PLOT_CENTER);
        }
    }
    cairo_new_path(cr);
    for (int i = 0; i < t->border_points; i++)
        cairo_line_to(cr, plot_scale_at(&panel->x, t->border[i][0]), plot_scale_at(&panel->y, t->border[i][1]));
    cairo_set_source_rgb(cr, panel->theme->ink.r, panel->theme->ink.g, panel->theme->ink.b);
    cairo_set_line_width(cr, 3 * panel->unit);
    cairo_stroke(cr);
}
