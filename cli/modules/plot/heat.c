/* Two-dimensional histograms as heat maps. The map is one image with the panel's pixels. A pixel shows the largest of
 * the bins whose centres it contains (so that the colour bar stays true and single spikes are visible), or else the bin
 * around its own centre. Empty bins are blank. */
#include <math.h>
#include <stdlib.h>

#include "modules/plot/panel.h"

/* Lightness falls evenly (CIELAB 94 to 14) while the hue goes from yellow through green and blue to violet: more is
 * darker, in print and for colour-blind readers too. */
static const unsigned char shades[][3] = {
    {253, 239, 169}, {220, 230, 156}, {185, 221, 149}, {149, 211, 146}, {111, 200, 147}, {72, 187, 152},
    {33, 174, 156},  {2, 158, 157},   {0, 143, 153},   {3, 128, 148},   {3, 113, 141},   {0, 99, 134},
    {1, 85, 126},    {2, 71, 120},    {23, 56, 110},   {38, 40, 94},    {46, 24, 75},
};
enum { SHADES = sizeof shades / sizeof *shades };
plot_color plot_shade(double t)
{
    double at = t * (SHADES - 1), mixed[3];
    int i = (int)fmin(at, SHADES - 2);
    for (int c = 0; c < 3; c++)
        mixed[c] = (shades[i][c] + (at - i) * (shades[i + 1][c] - shades[i][c])) / 255;
    return (plot_color){mixed[0], mixed[1], mixed[2]};
}

/* The colour for t in 0 … 1 on this background: larger values contrast more. */
static plot_color shade_on(const plot_theme *theme, double t)
{
    return plot_shade(theme == &plot_dark ? 1 - t : t);
}

static uint32_t pixel_of(plot_color c)
{
    return (uint32_t)lround(c.r * 255) << 16 | (uint32_t)lround(c.g * 255) << 8 | (uint32_t)lround(c.b * 255);
}

static void axis_scale(plot_scale *s, const double *edges, int64_t n, bool log)
{
    *s = (plot_scale){.lo = n ? edges[0] : 0, .hi = n ? edges[n] : 1};
    int64_t i = 0;
    while (log && i < n && edges[i] <= 0)
        i++;
    if (log && i < n) *s = (plot_scale){.lo = edges[i], .hi = s->hi, .log = true};
}

plot_content plot_heat_scales(plot_panel *panel, const plot *p)
{
    const plot_heat *h = p->heat;
    plot_extent colors = PLOT_NO_VALUES;
    for (int64_t i = 0; i < h->nx * h->ny; i++)
        plot_extent_add(&colors, h->values[i]);
    axis_scale(&panel->x, h->x_edges, h->nx, p->log_x);
    axis_scale(&panel->y, h->y_edges, h->ny, p->log_y);
    panel->x.times = p->times_x;
    panel->y.times = p->times_y;
    return (plot_content){.empty = colors.lo == 0 && colors.hi == 0,
                          .whole = colors.whole,
                          .color = plot_scale_of_colors(&colors, h->scale)};
}

/* The bins [begin, end) of an image's column (or row). */
typedef struct span {
    int64_t begin, end;
} span;

static span *spans(plot_scale s, const double *edges, int64_t n, int pixels)
{
    span *found = calloc((size_t)pixels, sizeof *found);
    if (!found) return NULL;
    s.from = 0, s.to = pixels;
    for (int64_t i = 0; i < n; i++) {
        double left = plot_scale_at(&s, edges[i]), right = plot_scale_at(&s, edges[i + 1]);
        if (right <= 0 || right - left >= 1) continue;
        span *column = &found[(int)fmin((left + right) / 2, pixels - 1)];
        if (column->end == 0) column->begin = i;
        column->end = i + 1;
    }
    int64_t i = 0;
    for (int c = 0; c < pixels; c++) {
        while (i < n && plot_scale_at(&s, edges[i + 1]) <= c + 0.5)
            i++;
        if (i < n && found[c].end == 0) found[c] = (span){i, i + 1};
    }
    return found;
}

static double largest(const plot_heat *h, span x, span y)
{
    double best = 0;
    for (int64_t i = x.begin; i < x.end; i++) {
        for (int64_t j = y.begin; j < y.end; j++) {
            double v = h->values[i * h->ny + j];
            if (isfinite(v) && fabs(v) > fabs(best)) best = v;
        }
    }
    return best;
}

/* Draw an image over a box, pixel by pixel. */
static void place(cairo_t *cr, cairo_surface_t *image, double left, double top, double width, double height)
{
    cairo_save(cr);
    cairo_translate(cr, left, top);
    cairo_scale(cr, width / cairo_image_surface_get_width(image), height / cairo_image_surface_get_height(image));
    cairo_set_source_surface(cr, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
    cairo_paint(cr);
    cairo_restore(cr);
}

cairo_status_t plot_heat_paint(const plot_panel *panel, const plot *p, const plot_scale *color)
{
    const plot_heat *h = p->heat;
    double width = panel->x.to - panel->x.from, height = panel->y.from - panel->y.to;
    int fine = panel->vector && panel->unit < 2 ? 2 : 1, columns = (int)width * fine, rows = (int)height * fine;
    plot_scale tone = *color;
    tone.from = 0, tone.to = 1;
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, columns, rows);
    uint32_t *pixels = (uint32_t *)(void *)cairo_image_surface_get_data(image);
    span *across = spans(panel->x, h->x_edges, h->nx, columns), *up = spans(panel->y, h->y_edges, h->ny, rows);
    cairo_status_t status = pixels && across && up ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_NO_MEMORY;
    if (status == CAIRO_STATUS_SUCCESS) {
        size_t pitch = (size_t)cairo_image_surface_get_stride(image) / sizeof *pixels;
        for (int c = 0; c < columns; c++) {
            for (int r = 0; r < rows; r++) {
                double v = largest(h, across[c], up[r]);
                pixels[(size_t)(rows - 1 - r) * pitch + (size_t)c] =
                    pixel_of(v == 0 ? panel->theme->paper : shade_on(panel->theme, plot_scale_at(&tone, v)));
            }
        }
        cairo_surface_mark_dirty(image);
        place(panel->cr, image, panel->x.from, panel->y.to, width, height);
    }
    free(across);
    free(up);
    cairo_surface_destroy(image);
    return status;
}

void plot_heat_paint_key(const plot_panel *panel, double left, double width)
{
    cairo_pattern_t *fade = cairo_pattern_create_linear(0, panel->y.from, 0, panel->y.to);
    for (int i = 0; i < SHADES; i++) {
        const double t = i / (SHADES - 1.0);
        const plot_color c = shade_on(panel->theme, t);
        cairo_pattern_add_color_stop_rgb(fade, t, c.r, c.g, c.b);
    }
    cairo_set_source(panel->cr, fade);
    cairo_rectangle(panel->cr, left, panel->y.to, width, panel->y.from - panel->y.to);
    cairo_fill(panel->cr);
    cairo_pattern_destroy(fade);
}
