/* Dots in the colours of the legend. */
#include <math.h>

#include "output/writers/plot_paint.h"

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
    panel->y = scale_of(p->dots->y, p->dots->count, p->log_y);
    return (plot_content){.empty = !p->dots->count};
}

void plot_dots_paint(const plot_panel *panel, const plot *p)
{
    const double radius = 3 * panel->unit;
    for (int i = 0; i < p->dots->count; i++) {
        plot_color c = p->series[p->dots->series[i]].color;
        cairo_new_path(panel->cr);
        cairo_arc(panel->cr, plot_scale_at(&panel->x, p->dots->x[i]), plot_scale_at(&panel->y, p->dots->y[i]), radius,
                  0, 2 * M_PI);
        cairo_set_source_rgba(panel->cr, c.r, c.g, c.b, 0.6);
        cairo_fill(panel->cr);
    }
}
