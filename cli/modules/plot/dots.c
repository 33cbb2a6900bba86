/* Dots in the colours of the legend, and lines that join them. */
#include <math.h>

#include "modules/plot/panel.h"

/* Powers of ten, or of the same sign around zero, that hold all values. */
static plot_scale scale_of(const double *values, int count, bool log)
{
    plot_scale s = {.lo = INFINITY, .hi = -INFINITY, .log = log};
    for (int i = 0; i < count; i++) {
        s.lo = fmin(s.lo, values[i]);
        s.hi = fmax(s.hi, values[i]);
    }
    if (!count) s.lo = s.hi = 1;
    if (log) {
        s.lo = pow(10, floor(log10(s.lo)));
        s.hi = fmax(pow(10, ceil(log10(s.hi))), 10 * s.lo);
    } else if (s.lo == s.hi) {
        s.hi = s.lo + 1;
    }
    return s;
}

plot_content plot_dots_scales(plot_panel *panel, const plot *p)
{
    panel->x = scale_of(p->dots->x, p->dots->count, p->log_x);
    if (p->dots->names) panel->x = (plot_scale){.lo = -0.5, .hi = p->dots->names_count - 0.5};
    panel->y = scale_of(p->dots->y, p->dots->count, p->log_y);
    return (plot_content){.empty = !p->dots->count};
}

/* Lines between dots of the same series, in their order. */
static void paint_lines(const plot_panel *panel, const plot *p)
{
    const plot_dots *d = p->dots;
    const double dashes[] = {5 * panel->unit, 4 * panel->unit};
    cairo_set_line_width(panel->cr, 1.6 * panel->unit);
    for (int s = 0; s < p->nseries; s++) {
        plot_color c = plot_tint(panel, p->series[s].color);
        cairo_new_path(panel->cr);
        for (int i = 0; i < d->count; i++)
            if (d->series[i] == s)
                cairo_line_to(panel->cr, plot_scale_at(&panel->x, d->x[i]), plot_scale_at(&panel->y, d->y[i]));
        cairo_set_source_rgba(panel->cr, c.r, c.g, c.b, 0.85);
        cairo_set_dash(panel->cr, dashes, d->dashed && d->dashed[s] ? 2 : 0, 0);
        cairo_stroke(panel->cr);
    }
    cairo_set_dash(panel->cr, dashes, 0, 0);
}

void plot_dots_paint(const plot_panel *panel, const plot *p)
{
    const double radius = 3 * panel->unit;
    if (p->dots->joined) paint_lines(panel, p);
    for (int i = 0; i < p->dots->count; i++) {
        plot_color c = plot_tint(panel, p->series[p->dots->series[i]].color);
        cairo_new_path(panel->cr);
        cairo_arc(panel->cr, plot_scale_at(&panel->x, p->dots->x[i]), plot_scale_at(&panel->y, p->dots->y[i]), radius,
                  0, 2 * M_PI);
        cairo_set_source_rgba(panel->cr, c.r, c.g, c.b, 0.6);
        cairo_fill(panel->cr);
    }
}
