/* Histograms as filled steps. Bins are drawn between their true edges. If several share a pixel, its column shows the
 * largest (a single spike must not vanish), so a path has at most as many steps as the picture has columns. Bins with
 * names are separate bars; those of several series are side by side. */
#include <math.h>

#include "modules/plot/panel.h"

plot_content plot_bars_scales(plot_panel *panel, const plot *p)
{
    plot_extent heights = PLOT_NO_VALUES;
    double lo = INFINITY, hi = -INFINITY, positive = INFINITY; /* over all edges; the smallest above 0 */
    for (int k = 0; k < p->nseries; k++) {
        const plot_series *s = &p->series[k];
        if (s->bins == 0) continue;
        lo = fmin(lo, s->edges[0]);
        hi = fmax(hi, s->edges[s->bins]);
        for (int64_t i = 0; i <= s->bins && s->edges[i] < positive; i++)
            if (s->edges[i] > 0) positive = s->edges[i];
        for (int64_t i = 0; i < s->bins; i++)
            plot_extent_add(&heights, s->values[i]);
    }
    const bool any = lo < hi, log = p->log_x && any && positive < hi;
    panel->x = (plot_scale){.lo = log ? positive : any ? lo : 0, .hi = any ? hi : 1, .log = log, .times = p->times_x};
    panel->y = plot_scale_of_heights(&heights, p->log_y ? SCALE_LOG : p->root_y ? SCALE_ROOT : SCALE_LINEAR);
    return (plot_content){.empty = heights.lo == 0 && heights.hi == 0, .whole = heights.whole};
}

/* A bar in pixels. */
typedef struct bar {
    double left, right, value;
} bar;

/* The next bar of s from bin *i on: one bin, or as many as fill a pixel. Bins before the start of a logarithmic axis
 * are skipped. */
static bar next_bar(const plot_panel *panel, const plot_series *s, int64_t *i)
{
    bar b = {.left = plot_scale_at(&panel->x, s->edges[*i])};
    do {
        double v = s->values[*i];
        bool shown = isfinite(v) && s->edges[*i + 1] > panel->x.lo;
        if (shown && fabs(v) > fabs(b.value)) b.value = v;
        b.right = plot_scale_at(&panel->x, s->edges[++*i]);
    } while (*i < s->bins && b.right - b.left < 1);
    return b;
}

static bool separate(const plot *p, bar b)
{
    const double least_width = 4; /* of a series' bar */
    return p->bin_names && b.right - b.left >= least_width * p->nseries;
}

/* The bar of series k, next to those of the others in the bin that b spans. */
static bar place(const plot *p, int k, bar b)
{
    const double width = b.right - b.left, share = 0.8;
    if (!separate(p, b)) return b;
    b.left += width * ((1 - share) / 2 + share * k / p->nseries);
    b.right = b.left + width * share / p->nseries;
    return b;
}

static double height_at(const plot_panel *panel, double value)
{
    return round(plot_scale_at(&panel->y, value) * 4) / 4;
}

/* Trace the outline of all bars, along the zero line between them. */
static int64_t trace(const plot_panel *panel, const plot *p, int k)
{
    const plot_series *s = &p->series[k];
    cairo_t *cr = panel->cr;
    double zero = height_at(panel, 0), level = zero, right = round(plot_scale_at(&panel->x, s->edges[0]));
    int64_t bars = 0;
    cairo_new_path(cr);
    cairo_move_to(cr, right, zero);
    for (int64_t i = 0; i < s->bins; bars++) {
        bar b = place(p, k, next_bar(panel, s, &i));
        double y = height_at(panel, b.value), left = round(b.left);
        if (left > right) {
            cairo_line_to(cr, right, level);
            cairo_line_to(cr, right, zero);
            level = zero;
        }
        if (y != level) {
            cairo_line_to(cr, left, level);
            cairo_line_to(cr, left, y);
        }
        right = round(b.right);
        level = y;
    }
    cairo_line_to(cr, right, level);
    cairo_line_to(cr, right, zero);
    cairo_close_path(cr);
    return bars;
}

/* Draw lines between neighbours, if bars are wide enough. */
static void divide(const plot_panel *panel, const plot_series *s)
{
    cairo_t *cr = panel->cr;
    double zero = height_at(panel, 0), before = zero;
    for (int64_t i = 0; i < s->bins;) {
        bar b = next_bar(panel, s, &i);
        double y = height_at(panel, b.value);
        if ((y - zero) * (before - zero) > 0) {
            cairo_move_to(cr, round(b.left), zero);
            cairo_line_to(cr, round(b.left), y < zero ? fmax(y, before) : fmin(y, before));
        }
        before = y;
    }
    cairo_stroke(cr);
}

void plot_bars_paint(const plot_panel *panel, const plot *p)
{
    cairo_t *cr = panel->cr;
    const plot_scale *x = &panel->x;
    const double fill = plot_fill(p->bin_names ? 1 : p->nseries);
    cairo_save(cr);
    cairo_rectangle(cr, x->from, panel->y.to, x->to - x->from, panel->y.from - panel->y.to);
    cairo_clip(cr);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_BEVEL);
    for (int k = 0; k < p->nseries; k++) {
        const plot_series *s = &p->series[k];
        const plot_color c = plot_tint(panel, s->color);
        if (s->bins == 0) continue;
        int64_t bars = trace(panel, p, k);
        double mean_width = (x->to - x->from) / (double)bars / panel->unit;
        cairo_set_source_rgba(cr, c.r, c.g, c.b, fill);
        cairo_fill_preserve(cr);
        cairo_set_source_rgba(cr, c.r, c.g, c.b, mean_width < 2.5 ? 0.7 : 0.95);
        cairo_set_line_width(cr, panel->unit * (mean_width < 2.5 ? 0.9 : fill > 0 ? 1.4 : 2));
        cairo_stroke(cr);
        if (p->nseries > 1 || p->bin_names || mean_width < 8) continue;
        cairo_set_source_rgba(cr, c.r, c.g, c.b, 0.35);
        cairo_set_line_width(cr, panel->unit);
        divide(panel, s);
    }
    cairo_restore(cr);
}
