/* Text on a drawing: any bytes in, clean UTF-8 out. */
#ifndef CLI_PLOT_TEXT_H
#define CLI_PLOT_TEXT_H

#include <cairo.h>
#include <stdbool.h>
#include <stddef.h>

#include "output/ticks.h"

enum { PLOT_TEXT_BYTES = 512 };

typedef enum plot_align { PLOT_LEFT, PLOT_CENTER, PLOT_RIGHT } plot_align;

void plot_font(cairo_t *cr, double size, bool bold);

/* The first `bytes` bytes of text as clean UTF-8, at most `width` pixels wide in the current font; truncated with an
 * ellipsis if wider. */
void plot_text_fit(cairo_t *cr, const char *text, size_t bytes, double width, char fitted[PLOT_TEXT_BYTES]);

/* The width of clean text. */
double plot_text_width(cairo_t *cr, const char *text);
void plot_text_show(cairo_t *cr, const char *text, double x, double baseline, plot_align align);

/* size: of the current font; the exponent is smaller. */
double plot_label_width(cairo_t *cr, const plot_label *label, double size);
void plot_label_show(cairo_t *cr, const plot_label *label, double size, double x, double baseline, plot_align align);

#endif
