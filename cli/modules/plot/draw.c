/* Plot files: cairo draws, this file writes, so that failures report the system's reason. */
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "modules/plot/paint.h"

/* A PDF's unit is the point, 3/4 of a pixel. */
static const double points = 0.75;

typedef struct sink {
    FILE *file;
    int error; /* errno of the first failed write */
} sink;

static cairo_status_t sink_write(void *closure, const unsigned char *data, unsigned size)
{
    sink *s = closure;
    if (fwrite(data, 1, size, s->file) == size) return CAIRO_STATUS_SUCCESS;
    s->error = errno ? errno : EIO;
    return CAIRO_STATUS_WRITE_ERROR;
}

static cairo_status_t draw(const plot *p, cairo_surface_t *surface, int width, int height, bool vector, double scale)
{
    cairo_t *cr = cairo_create(surface);
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(cr, options);
    cairo_font_options_destroy(options);
    cairo_scale(cr, scale, scale);
    plot_panel panel = {.cr = cr, .width = width, .height = height, .vector = vector};
    cairo_status_t status = plot_paint(&panel, p);
    cairo_destroy(cr);
    return status;
}

static cairo_status_t write_png(const plot *p, int width, int height, sink *s)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    cairo_status_t status = draw(p, surface, width, height, false, 1);
    if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_write_to_png_stream(surface, sink_write, s);
    cairo_surface_destroy(surface);
    return status;
}

/* Write the pixels, three bytes each. */
static cairo_status_t write_rgb(const plot *p, int width, int height, sink *s)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    cairo_status_t status = draw(p, surface, width, height, false, 1);
    cairo_surface_flush(surface);
    for (int y = 0; y < height && status == CAIRO_STATUS_SUCCESS; y++) {
        const uint32_t *row = (const uint32_t *)(const void *)(cairo_image_surface_get_data(surface) +
                                                               (ptrdiff_t)y * cairo_image_surface_get_stride(surface));
        for (int x = 0; x < width; x++) {
            const unsigned char pixel[] = {(unsigned char)(row[x] >> 16), (unsigned char)(row[x] >> 8),
                                           (unsigned char)row[x]};
            fwrite(pixel, 1, sizeof pixel, s->file);
        }
    }
    cairo_surface_destroy(surface);
    return status;
}

static cairo_status_t write_vector(const plot *p, int width, int height, double scale, cairo_surface_t *surface)
{
    cairo_status_t status = draw(p, surface, width, height, true, scale);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return status;
}

static cairo_status_t write_svg(const plot *p, int width, int height, sink *s)
{
    cairo_surface_t *surface = cairo_svg_surface_create_for_stream(sink_write, s, width, height);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
    return write_vector(p, width, height, 1, surface);
}

static cairo_status_t write_pdf(const plot *p, int width, int height, sink *s)
{
    return write_vector(p, width, height, points,
                        cairo_pdf_surface_create_for_stream(sink_write, s, width * points, height * points));
}

typedef struct plot_format {
    const char *name;
    cairo_status_t (*write)(const plot *p, int width, int height, sink *s);
} plot_format;

static const plot_format formats[] = {{"png", write_png}, {"rgb", write_rgb}, {"svg", write_svg}, {"pdf", write_pdf}};

int plot_draw(const plot *p, int width, int height, const char *format, outfile *o, fault *f)
{
    const plot_format *chosen = NULL;
    const char *name = outfile_name(o);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, format) == 0) chosen = &formats[i];
    if (!chosen)
        return fault_set(f, EXIT_USAGE, "%s: a picture cannot be written as '%s'; use png, svg or pdf", name, format);
    sink s = {.file = outfile_stream(o)};
    cairo_status_t status = chosen->write(p, width, height, &s);
    if (s.error) return outfile_fail(o, s.error, f);
    if (status != CAIRO_STATUS_SUCCESS)
        return fault_set(f, EXIT_DATA, "%s: cannot draw a picture of %d x %d pixels (%s); use a smaller one", name,
                         width, height, cairo_status_to_string(status));
    return 0;
}
