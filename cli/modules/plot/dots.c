/* Dots in the colours of the legend, and lines that connect them. */
#include <math.h>

#include "modules/plot/panel.h"

/* A scale from 0, or between powers of ten, or around powers of two, that contains all values. */
static plot_scale scale_of(const double *values, int count, bool log, bool binary)
{
    const double room = 1.06, binary_room = 1.25;
    plot_scale s = {.lo = INFINITY, .hi = -INFINITY, .log = log, .binary = log && binary};
    for (int i = 0; i < count; i++) {
        s.lo = fmin(s.lo, values[i]);
        s.hi = fmax(s.hi, values[i]);
    }
    if (!count) s.lo = s.hi = 1;
    if (s.binary) {
        s.lo /= binary_room;
        s.hi *= binary_room;
    } else if (log) {
        s.lo = pow(10, floor(log10(s.lo)));
        s.hi = fmax(pow(10, ceil(log10(s.hi))), 10 * s.lo);
    } else {
        s.lo = fmin(s.lo, 0);
        s.hi = s.hi > s.lo ? s.hi * room : s.lo + 1;
    }
    return s;
}

plot_content plot_dots_scales(plot_panel *panel, const plot *p)
{
    panel->x = scale_of(p->dots->x, p->dots->count, p->log_x, p->binary_x);
    if (p->dots->names) panel->x = (plot_scale){.lo = -0.5, .hi = p->dots->names_count - 0.5};
    panel->y = scale_of(p->dots->y, p->dots->count, p->log_y, p->binary_y);
    return (plot_content){.empty = !p->dots->count};
}

/* Every other group has a shaded background, so that its dots are seen to belong together. */
static void paint_places(const plot_panel *panel, int places)
{
    const plot_color c = panel->theme->grid;
    cairo_set_source_rgba(panel->cr, c.r, c.g, c.b, 0.45);
    for (int i = 0; i < places; i += 2) {
        const double left = plot_scale_at(&panel->x, i - 0.5);
        cairo_rectangle(panel->cr, left, panel->y.to, plot_scale_at(&panel->x, i + 0.5) - left,
                        panel->y.from - panel->y.to);
    }
    cairo_fill(panel->cr);
}

static void stroke_line(const plot_panel *panel, const plot_dot_style *style, plot_color c)
{
    const double dashes[] = {7 * panel->unit, 4 * panel->unit};
    cairo_set_line_width(panel->cr, (style->thick ? 3.6 : 1.8) * panel->unit);
    cairo_set_line_join(panel->cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_dash(panel->cr, dashes, style->line == PLOT_DASHED ? 2 : 0, 0);
    cairo_set_source_rgba(panel->cr, c.r, c.g, c.b, 0.85);
    cairo_stroke(panel->cr);
    cairo_set_dash(panel->cr, dashes, 0, 0);
}

/* Draw lines between dots of the same series, in order. */
static void paint_lines(const plot_panel *panel, const plot *p)
{
    const plot_dots *d = p->dots;
    for (int s = 0; s < p->nseries; s++) {
        if (d->styles[s].line == PLOT_NO_LINE) continue;
        cairo_new_path(panel->cr);
        for (int i = 0; i < d->count; i++)
            if (d->series[i] == s)
                cairo_line_to(panel->cr, plot_scale_at(&panel->x, d->x[i]), plot_scale_at(&panel->y, d->y[i]));
        stroke_line(panel, &d->styles[s], plot_tint(panel, p->series[s].color));
    }
}

/* A circle, or a polygon with this many corners, one of them in a given direction: eighths of a turn, clockwise from
 * the right. */
static void trace_dot(cairo_t *cr, int shape, double x, double y, double radius)
{
    static const struct {
        int corners, direction;
    } shapes[] = {{0, 0}, {4, 1}, {3, -2}, {4, 0}, {3, 2}, {5, -2}, {3, 0}, {3, 4}};
    const int i = shape % (int)(sizeof shapes / sizeof *shapes), corners = shapes[i].corners;
    const double reach = 1.3 * radius; /* of corners, so that all shapes look equally large */
    cairo_new_path(cr);
    if (corners == 0) cairo_arc(cr, x, y, radius, 0, 2 * M_PI);
    for (int k = 0; k < corners; k++) {
        const double angle = shapes[i].direction * M_PI / 4 + k * 2 * M_PI / corners;
        cairo_line_to(cr, x + reach * cos(angle), y + reach * sin(angle));
    }
    cairo_close_path(cr);
}

static void paint_dot(const plot_panel *panel, const plot *p, int series, double x, double y)
{
    static const plot_dot_style small = {0};
    const plot_dot_style *style = p->dots->styles ? &p->dots->styles[series] : &small;
    const plot_color c = plot_tint(panel, p->series[series].color), paper = panel->theme->paper;
    const double radius = !p->dots->styles               ? 3
                          : style->inside == PLOT_HOLLOW ? 6
                                                         : 4.5; /* a filled dot fits inside a hollow one */
    trace_dot(panel->cr, style->shape, x, y, radius * panel->unit);
    if (style->inside == PLOT_PALE) {
        cairo_set_source_rgb(panel->cr, paper.r, paper.g, paper.b);
        cairo_fill_preserve(panel->cr);
        cairo_set_source_rgba(panel->cr, c.r, c.g, c.b, 0.3);
        cairo_fill_preserve(panel->cr);
    }
    if (style->inside != PLOT_FULL) {
        cairo_set_source_rgb(panel->cr, c.r, c.g, c.b);
        cairo_set_line_width(panel->cr, 1.8 * panel->unit);
        cairo_stroke(panel->cr);
    } else {
        cairo_set_source_rgba(panel->cr, c.r, c.g, c.b, p->dots->styles ? 1 : 0.6);
        cairo_fill(panel->cr);
    }
}

void plot_dots_paint(const plot_panel *panel, const plot *p)
{
    const plot_dots *d = p->dots;
    if (d->names) paint_places(panel, d->names_count);
    if (d->styles) paint_lines(panel, p);
    for (int i = 0; i < d->count; i++)
        paint_dot(panel, p, d->series[i], plot_scale_at(&panel->x, d->x[i]), plot_scale_at(&panel->y, d->y[i]));
}

void plot_dots_paint_key(const plot_panel *panel, const plot *p, int series, double x, double y, double length)
{
    const plot_dot_style *style = p->dots->styles ? &p->dots->styles[series] : NULL;
    if (style && style->line != PLOT_NO_LINE) {
        cairo_new_path(panel->cr);
        cairo_move_to(panel->cr, x, y);
        cairo_line_to(panel->cr, x + length, y);
        stroke_line(panel, style, plot_tint(panel, p->series[series].color));
    }
    paint_dot(panel, p, series, x + length / 2, y);
}
