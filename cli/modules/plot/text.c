/* Text by cairo's "toy" interface: one font, no shaping, no other library. */
#include "modules/plot/text.h"

#include <string.h>

#define ELLIPSIS "\u2026"
#define REPLACEMENT "\ufffd"

static const double raised_size = 0.72, raised_by = 0.38;

void plot_font(cairo_t *cr, double size, bool bold)
{
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, size);
}

/* The length of the UTF-8 character at s, with `left` bytes available; 0 if invalid. */
static size_t character(const unsigned char *s, size_t left)
{
    size_t size = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    if (size == 0 || size > left) return 0;
    for (size_t i = 1; i < size; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool outside = (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf4 && s[1] >= 0x90);
    return overlong || outside ? 0 : size;
}

/* Copy text with control characters as spaces; false if it was truncated. */
static bool clean(const char *text, size_t bytes, char out[PLOT_TEXT_BYTES])
{
    const unsigned char *s = (const unsigned char *)text;
    size_t used = 0, size;
    for (size_t i = 0; i < bytes; i += size ? size : 1) {
        size = character(s + i, bytes - i);
        const char *from = size == 0 ? REPLACEMENT : s[i] < 0x20 || s[i] == 0x7f ? " " : text + i;
        size_t length = size ? size : strlen(REPLACEMENT);
        if (used + length + sizeof ELLIPSIS > PLOT_TEXT_BYTES) {
            out[used] = '\0';
            return false;
        }
        memcpy(out + used, from, length);
        used += length;
    }
    out[used] = '\0';
    return true;
}

double plot_text_width(cairo_t *cr, const char *text)
{
    cairo_text_extents_t extents;
    cairo_text_extents(cr, text, &extents);
    return extents.x_advance;
}

void plot_text_fit(cairo_t *cr, const char *text, size_t bytes, double width, char fitted[PLOT_TEXT_BYTES])
{
    if (clean(text, bytes, fitted) && plot_text_width(cr, fitted) <= width) return;
    size_t length = strlen(fitted);
    do {
        while (length > 0 && ((unsigned char)fitted[--length] & 0xc0) == 0x80)
            ;
        strcpy(fitted + length, ELLIPSIS);
    } while (length > 0 && plot_text_width(cr, fitted) > width);
}

static double aligned(double x, double width, plot_align align)
{
    return align == PLOT_LEFT ? x : align == PLOT_CENTER ? x - width / 2 : x - width;
}

void plot_text_show(cairo_t *cr, const char *text, double x, double baseline, plot_align align)
{
    cairo_move_to(cr, aligned(x, plot_text_width(cr, text), align), baseline);
    cairo_show_text(cr, text);
}

double plot_label_width(cairo_t *cr, const plot_label *label, double size)
{
    double width = plot_text_width(cr, label->text);
    if (label->exponent[0] == '\0') return width;
    cairo_set_font_size(cr, size * raised_size);
    width += plot_text_width(cr, label->exponent);
    cairo_set_font_size(cr, size);
    return width;
}

void plot_label_show(cairo_t *cr, const plot_label *label, double size, double x, double baseline, plot_align align)
{
    cairo_move_to(cr, aligned(x, plot_label_width(cr, label, size), align), baseline);
    cairo_show_text(cr, label->text);
    if (label->exponent[0] == '\0') return;
    cairo_rel_move_to(cr, 0, -size * raised_by);
    cairo_set_font_size(cr, size * raised_size);
    cairo_show_text(cr, label->exponent);
    cairo_set_font_size(cr, size);
}
