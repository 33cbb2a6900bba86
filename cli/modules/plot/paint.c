/* The layout of a plot: title, legend, axes with ticks and labels, and footer around the bars or the map. Sizes are for
 * a picture of 1200 x 800 pixels and scale with it. */
#include "modules/plot/paint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "modules/plot/text.h"

static const double margin = 32, title_size = 21, label_size = 16, tick_size = 14, footer_size = 13.5;
static const double tick_length = 6, tick_gap = 6, key_gap = 26, key_width = 20, sample_width = 36;
enum { MIN_SIDE = 16 }; /* of the panel in pixels, at any picture size */

static void use(cairo_t *cr, plot_color c)
{
    cairo_set_source_rgb(cr, c.r, c.g, c.b);
}

static bool given(const char *text)
{
    return text && text[0];
}

/* Straight lines are on pixel boundaries, so that they are crisp in images. */
static double line_width(const plot_panel *panel)
{
    return fmax(1, round(panel->unit));
}

static double crisp(const plot_panel *panel, double at)
{
    return fmod(line_width(panel), 2) == 1 ? floor(at) + 0.5 : round(at);
}

static void show_line(const plot_panel *panel, const char *text, size_t bytes, double x, double baseline, double room,
                      plot_align align)
{
    char fitted[PLOT_TEXT_BYTES];
    plot_text_fit(panel->cr, text, bytes, room, fitted);
    plot_text_show(panel->cr, fitted, x, baseline, align);
}

/* Vertical text, centred on the panel's height. */
static void show_upward(const plot_panel *panel, const char *text, double baseline)
{
    cairo_save(panel->cr);
    cairo_translate(panel->cr, baseline, (panel->y.from + panel->y.to) / 2);
    cairo_rotate(panel->cr, -M_PI / 2);
    show_line(panel, text, strlen(text), 0, 0, panel->y.from - panel->y.to, PLOT_CENTER);
    cairo_restore(panel->cr);
}

/* How many lines of small text leave enough room for the panel. */
static int room_for_lines(const plot_panel *panel)
{
    return (int)(panel->height / (125 * panel->unit));
}

/* ---- Title, image, legend and footer: each returns its height ---- */

static double paint_title(const plot_panel *panel, const char *title, double top)
{
    double size = title_size * panel->unit, left = margin * panel->unit;
    if (!given(title)) return 0;
    plot_font(panel->cr, size, true);
    use(panel->cr, panel->theme->ink);
    show_line(panel, title, strlen(title), left, top + size * 0.8, panel->width - 2 * left, PLOT_LEFT);
    return size * 1.6;
}

/* The image in the middle, at most half as high as the picture. */
static double paint_image(const plot_panel *panel, const plot_image *image, double top)
{
    const double edge = margin * panel->unit;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, image->width, image->height);
    if (cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS) {
        unsigned char *pixels = cairo_image_surface_get_data(surface);
        const int stride = cairo_image_surface_get_stride(surface);
        for (int y = 0; y < image->height; y++)
            for (int x = 0; x < image->width; x++)
                memset(pixels + (ptrdiff_t)y * stride + 4 * (ptrdiff_t)x, image->grey[y * image->width + x], 4);
        cairo_surface_mark_dirty(surface);
    }
    const double scale = fmin((panel->width - 2 * edge) / image->width, 0.45 * panel->height / image->height);
    cairo_save(panel->cr);
    cairo_translate(panel->cr, (panel->width - scale * image->width) / 2, top);
    cairo_scale(panel->cr, scale, scale);
    cairo_set_source_surface(panel->cr, surface, 0, 0);
    cairo_paint(panel->cr);
    cairo_restore(panel->cr);
    cairo_surface_destroy(surface);
    return scale * image->height + edge / 2;
}

static void paint_swatch(const plot_panel *panel, plot_color color, double opacity, double x, double y, double size)
{
    const plot_color c = plot_tint(panel, color);
    cairo_rectangle(panel->cr, crisp(panel, x), crisp(panel, y), round(size), round(size));
    cairo_set_source_rgba(panel->cr, c.r, c.g, c.b, opacity);
    cairo_fill_preserve(panel->cr);
    use(panel->cr, c);
    cairo_set_line_width(panel->cr, line_width(panel));
    cairo_stroke(panel->cr);
}

/* The width of a series' legend entry, and its name as shown. */
static double legend_entry(const plot_panel *panel, const plot_series *s, double room, char name[PLOT_TEXT_BYTES])
{
    plot_text_fit(panel->cr, s->name ? s->name : "", s->name ? strlen(s->name) : 0, room - 3 * tick_size * panel->unit,
                  name);
    return plot_text_width(panel->cr, name) + 3 * tick_size * panel->unit;
}

/* Draw entries in lines; entries beyond the maximum number of lines are only counted. */
static double paint_legend(const plot_panel *panel, const plot *p, double top)
{
    double size = tick_size * panel->unit, room = panel->width - 2 * margin * panel->unit, y = top;
    char name[PLOT_TEXT_BYTES];
    int most = (int)fmax(1, room_for_lines(panel) / 2);
    if (p->legend_beside || p->heat || (p->nseries < 2 && !p->tiles && !p->dots)) return 0;
    plot_font(panel->cr, size, false);
    for (int k = 0, line = 0; k < p->nseries; line++, y += size * 1.7) {
        double x = margin * panel->unit, end = x + room;
        for (int first = k; k < p->nseries; k++) {
            double width = legend_entry(panel, &p->series[k], room, name);
            bool cut = line + 1 == most && x + (k + 1 < p->nseries ? 1.5 : 1) * width > end;
            if (cut) snprintf(name, sizeof name, "\u2026 and %d more", p->nseries - k);
            if (k > first && !cut && x + width > end) break;
            if (!cut)
                paint_swatch(panel, p->series[k].color, plot_fill(p->tiles || p->bin_names ? 1 : 2), x, y + size * 0.12,
                             size * 0.8);
            use(panel->cr, panel->theme->ink);
            plot_text_show(panel->cr, name, cut ? x : x + size * 1.3, y + size * 0.9, PLOT_LEFT);
            if (cut) return y + size * 1.7 - top;
            x += width;
        }
    }
    return y - top;
}

/* The width of a legend next to the panel, including the gap before it. */
static double legend_width(const plot_panel *panel, const plot *p)
{
    const double around = (key_gap + sample_width + tick_gap) * panel->unit, most = 0.3 * panel->width;
    char name[PLOT_TEXT_BYTES];
    double width = 0;
    if (!p->legend_beside) return 0;
    plot_font(panel->cr, tick_size * panel->unit, false);
    for (int k = 0; k < p->nseries; k++) {
        if (!given(p->series[k].name)) continue;
        plot_text_fit(panel->cr, p->series[k].name, strlen(p->series[k].name), most - around, name);
        width = fmax(width, around + plot_text_width(panel->cr, name));
    }
    return width;
}

/* Entries below each other, in a column of this width at the right. */
static void paint_legend_beside(const plot_panel *panel, const plot *p, double width)
{
    const double size = tick_size * panel->unit, sample = sample_width * panel->unit;
    const double left = panel->x.to + key_gap * panel->unit, room = width - (key_gap + sample_width) * panel->unit;
    double y = panel->y.to + size;
    plot_font(panel->cr, size, false);
    for (int k = 0; k < p->nseries && y < panel->y.from; k++) {
        const char *name = p->series[k].name;
        if (!given(name)) continue;
        if (p->dots)
            plot_dots_paint_key(panel, p, k, left, y, sample);
        else
            paint_swatch(panel, p->series[k].color, plot_fill(1), left + sample / 2 - size / 2, y - size / 2, size);
        use(panel->cr, panel->theme->ink);
        show_line(panel, name, strlen(name), left + sample + tick_gap * panel->unit, y + size * 0.36, room, PLOT_LEFT);
        y += size * 1.7;
    }
}

/* One line of the footer in the picture. */
typedef struct footer_line {
    const char *text;
    size_t length;
} footer_line;

/* Phrases from text on, separated by " · ", that fit in `width`; at least one. */
static footer_line phrases(const plot_panel *panel, const char *text, double width)
{
    static const char divider[] = " \u00b7 ";
    const size_t whole = strcspn(text, "\n");
    char fitted[PLOT_TEXT_BYTES];
    footer_line line = {.text = text, .length = 0};
    for (const char *end = text; end < text + whole;) {
        const char *next = strstr(end == text ? end + 1 : end + strlen(divider), divider);
        end = next && next < text + whole ? next : text + whole;
        plot_text_fit(panel->cr, text, (size_t)(end - text), INFINITY, fitted);
        if (line.length && plot_text_width(panel->cr, fitted) > width) break;
        line.length = (size_t)(end - text);
    }
    return line;
}

/* Draw the lines of the footer, broken if too long, upwards from the picture's lower margin. */
static double paint_footer(const plot_panel *panel, const char *footer)
{
    enum { MAX_LINES = 16 };
    const double size = footer_size * panel->unit, step = size * 1.5, left = margin * panel->unit;
    const double width = panel->width - 2 * left;
    footer_line lines[MAX_LINES];
    int count = 0;
    if (!given(footer)) return 0;
    plot_font(panel->cr, size, false);
    while (*footer && count < room_for_lines(panel) && count < MAX_LINES) {
        const footer_line line = lines[count++] = phrases(panel, footer, width);
        footer += line.length;
        if (strncmp(footer, " \u00b7 ", strlen(" \u00b7 ")) == 0) footer += strlen(" \u00b7 ");
        footer += *footer == '\n';
    }
    use(panel->cr, panel->theme->soft_ink);
    for (int i = 0; i < count; i++)
        show_line(panel, lines[i].text, lines[i].length, left,
                  panel->height - margin * 0.75 * panel->unit - (count - 1 - i) * step, width, PLOT_LEFT);
    return count * step + size * 0.6;
}

/* ---- Axes ---- */

typedef struct label_font {
    cairo_t *cr;
    double size;
} label_font;

static double label_width(void *font, const plot_label *label)
{
    const label_font *f = font;
    return plot_label_width(f->cr, label, f->size);
}

static double label_height(void *font, const plot_label *label)
{
    (void)label;
    return ((const label_font *)font)->size;
}

/* A tick and its name for each group of dots. */
static bool name_places(const plot_dots *d, plot_ticks *t)
{
    t->count = 0;
    for (int i = 0; i < d->names_count && i < PLOT_MAX_TICKS; i++) {
        plot_tick *tick = &t->tick[t->count++];
        *tick = (plot_tick){.value = i};
        snprintf(tick->label.text, sizeof tick->label.text, "%.47s", d->names[i]);
    }
    return true;
}

/* Truncate a label to fit; false if fewer than two characters would remain. */
static bool cut_label(const plot_panel *panel, plot_label *label, double room)
{
    size_t length = strlen(label->text);
    while (plot_label_width(panel->cr, label, tick_size * panel->unit) > room) {
        do
            length--;
        while (length > 0 && ((unsigned char)label->text[length] & 0xc0) == 0x80);
        if (length < 2) return false;
        snprintf(label->text + length, sizeof label->text - length, "…");
    }
    return true;
}

/* A tick and the name in the middle of each bin; false if they do not fit. across: bins are side by side, not
 * stacked. */
static bool name_edges(const plot_panel *panel, const char *const *names, const double *edges, int64_t bins,
                       bool across, plot_ticks *t)
{
    const double gap = 0.3 * tick_size * panel->unit;
    const plot_scale *scale = across ? &panel->x : &panel->y;
    if (!names || bins > PLOT_MAX_TICKS) return false;
    t->count = 0;
    for (int64_t i = 0; i < bins; i++) {
        plot_tick *tick = &t->tick[t->count++];
        *tick = (plot_tick){.value = (edges[i] + edges[i + 1]) / 2};
        snprintf(tick->label.text, sizeof tick->label.text - 4, "%s", names[i]);
        const double room = fabs(plot_scale_at(scale, edges[i + 1]) - plot_scale_at(scale, edges[i]));
        if (across ? !cut_label(panel, &tick->label, room - gap) : room < tick_size * panel->unit) return false;
        if (!across && !cut_label(panel, &tick->label, 180 * panel->unit)) return false;
    }
    return true;
}

static bool name_bins(const plot_panel *panel, const plot *p, plot_ticks *t)
{
    if (p->dots && p->dots->names) return name_places(p->dots, t);
    if (!p->bin_names) return false;
    return p->heat ? name_edges(panel, p->bin_names, p->heat->x_edges, p->heat->nx, true, t)
                   : name_edges(panel, p->bin_names, p->series->edges, p->series->bins, true, t);
}

/* Names that are rotated if they do not fit: of groups of dots, or of bins that are words. */
typedef struct turnable_names {
    const char *const *names;
    int64_t count;
} turnable_names;

static turnable_names names_to_turn(const plot *p)
{
    if (p->dots && p->dots->names) return (turnable_names){p->dots->names, p->dots->names_count};
    if (p->bins_are_words && p->nseries > 0) return (turnable_names){p->bin_names, p->series[0].bins};
    return (turnable_names){NULL, 0};
}

/* The height of rotated names below a panel of about this width; 0 if they need not be rotated. */
static double turned_names(const plot_panel *panel, const plot *p, double width)
{
    const double size = tick_size * panel->unit, most = 0.3 * panel->height;
    const turnable_names all = names_to_turn(p);
    double widest = 0;
    char name[PLOT_TEXT_BYTES];
    if (!all.count) return 0;
    const double each = (width - (2 * margin + 70) * panel->unit) / (double)all.count;
    for (int64_t i = 0; i < all.count; i++) {
        plot_text_fit(panel->cr, all.names[i], strlen(all.names[i]), most, name);
        widest = fmax(widest, plot_text_width(panel->cr, name));
    }
    return widest + 0.5 * size > each ? widest : 0;
}

/* Names from bottom to top, as many as fit. */
static void paint_turned_names(const plot_panel *panel, const plot *p, double height)
{
    const turnable_names all = names_to_turn(p);
    const double *edges = p->dots ? NULL : p->series->edges;
    const double size = tick_size * panel->unit, length = tick_length * panel->unit;
    double end = -INFINITY;
    char name[PLOT_TEXT_BYTES];
    for (int64_t i = 0; i < all.count; i++) {
        const double x = edges ? (plot_scale_at(&panel->x, edges[i]) + plot_scale_at(&panel->x, edges[i + 1])) / 2
                               : plot_scale_at(&panel->x, (double)i);
        if (x < end + 1.1 * size) continue;
        end = x;
        cairo_move_to(panel->cr, crisp(panel, x), panel->y.from);
        cairo_rel_line_to(panel->cr, 0, length);
        use(panel->cr, panel->theme->axis);
        cairo_stroke(panel->cr);
        use(panel->cr, panel->theme->ink);
        plot_text_fit(panel->cr, all.names[i], strlen(all.names[i]), height, name);
        cairo_save(panel->cr);
        cairo_translate(panel->cr, x + 0.36 * size, panel->y.from + length + tick_gap * panel->unit);
        cairo_rotate(panel->cr, -M_PI / 2);
        plot_text_show(panel->cr, name, 0, 0, PLOT_RIGHT);
        cairo_restore(panel->cr);
    }
}

static void fit_across(const plot_panel *panel, const plot *p, plot_notation notation, plot_ticks *t)
{
    if (name_bins(panel, p, t)) return;
    label_font font = {panel->cr, tick_size * panel->unit};
    int most = (int)fmin((panel->x.to - panel->x.from) / (95 * panel->unit), 14);
    plot_ticks_fit(t, &panel->x, notation, most, 1.6 * font.size, label_width, &font);
}

static void fit_upward(const plot_panel *panel, const plot_scale *s, plot_notation notation, plot_ticks *t)
{
    label_font font = {panel->cr, tick_size * panel->unit};
    int most = (int)fmin(fabs(s->to - s->from) / (68 * panel->unit), 12);
    plot_ticks_fit(t, s, notation, most, 0.8 * font.size, label_height, &font);
}

static double widest(const plot_panel *panel, const plot_ticks *t)
{
    double width = 0;
    for (int i = 0; i < t->count; i++)
        width = fmax(width, plot_label_width(panel->cr, &t->tick[i].label, tick_size * panel->unit));
    return width;
}

/* The end of the last horizontal label. */
static double reach(const plot_panel *panel, const plot_ticks *t)
{
    double end = panel->x.to;
    for (int i = 0; i < t->count; i++) {
        double half = plot_label_width(panel->cr, &t->tick[i].label, tick_size * panel->unit) / 2;
        end = fmax(end, plot_scale_at(&panel->x, t->tick[i].value) + half);
    }
    return end;
}

/* Draw ticks and labels of a vertical scale, on the left (side -1) or right (+1) of x. */
static void paint_upward(const plot_panel *panel, const plot_scale *s, const plot_ticks *t, double x, int side)
{
    cairo_t *cr = panel->cr;
    double size = tick_size * panel->unit, length = tick_length * panel->unit;
    for (int i = 0; i < t->count; i++) {
        const plot_label *label = &t->tick[i].label;
        double y = plot_scale_at(s, t->tick[i].value);
        cairo_move_to(cr, x, crisp(panel, y));
        cairo_rel_line_to(cr, side * (label->text[0] ? length : length / 2), 0);
        use(cr, panel->theme->axis);
        cairo_stroke(cr);
        use(cr, panel->theme->ink);
        plot_label_show(cr, label, size, x + side * (length + tick_gap * panel->unit), y + size * 0.36,
                        side < 0 ? PLOT_RIGHT : PLOT_LEFT);
    }
}

static void paint_across(const plot_panel *panel, const plot_ticks *t)
{
    cairo_t *cr = panel->cr;
    double size = tick_size * panel->unit, length = tick_length * panel->unit, y = panel->y.from;
    for (int i = 0; i < t->count; i++) {
        const plot_label *label = &t->tick[i].label;
        double x = plot_scale_at(&panel->x, t->tick[i].value);
        cairo_move_to(cr, crisp(panel, x), y);
        cairo_rel_line_to(cr, 0, label->text[0] ? length : length / 2);
        use(cr, panel->theme->axis);
        cairo_stroke(cr);
        use(cr, panel->theme->ink);
        plot_label_show(cr, label, size, x, y + length + tick_gap * panel->unit + size * 0.75, PLOT_CENTER);
    }
}

static void paint_grid(const plot_panel *panel, const plot_ticks *t)
{
    for (int i = 0; i < t->count; i++) {
        if (t->tick[i].label.text[0] == '\0') continue;
        cairo_move_to(panel->cr, panel->x.from, crisp(panel, plot_scale_at(&panel->y, t->tick[i].value)));
        cairo_line_to(panel->cr, panel->x.to, crisp(panel, plot_scale_at(&panel->y, t->tick[i].value)));
    }
    use(panel->cr, panel->theme->grid);
    cairo_stroke(panel->cr);
}

static void paint_box(const plot_panel *panel, double left, double right)
{
    double top = crisp(panel, panel->y.to), bottom = crisp(panel, panel->y.from);
    cairo_rectangle(panel->cr, crisp(panel, left), top, right - left, bottom - top);
    use(panel->cr, panel->theme->axis);
    cairo_stroke(panel->cr);
}

/* Dashed lines across the panel: horizontal ones at two values of y, vertical ones at two values of x. */
static void paint_lines(const plot_panel *panel, const double x_lines[2], const double y_lines[2])
{
    const double dashes[] = {6 * panel->unit, 4 * panel->unit};
    cairo_set_dash(panel->cr, dashes, 2, 0);
    for (int i = 0; i < 2 && y_lines[0] < y_lines[1]; i++) {
        const double y = crisp(panel, plot_scale_at(&panel->y, y_lines[i]));
        cairo_move_to(panel->cr, panel->x.from, y);
        cairo_line_to(panel->cr, panel->x.to, y);
    }
    for (int i = 0; i < 2 && x_lines[0] < x_lines[1]; i++) {
        const double x = crisp(panel, plot_scale_at(&panel->x, x_lines[i]));
        cairo_move_to(panel->cr, x, panel->y.from);
        cairo_line_to(panel->cr, x, panel->y.to);
    }
    use(panel->cr, panel->theme->axis);
    cairo_stroke(panel->cr);
    cairo_set_dash(panel->cr, dashes, 0, 0);
}

/* Draw the lines of the two axes, and the zero line if values reach below it. */
static void paint_axis_lines(const plot_panel *panel)
{
    cairo_t *cr = panel->cr;
    cairo_move_to(cr, crisp(panel, panel->x.from), panel->y.to);
    cairo_line_to(cr, crisp(panel, panel->x.from), crisp(panel, panel->y.from));
    cairo_line_to(cr, panel->x.to, crisp(panel, panel->y.from));
    if (panel->y.lo < 0) {
        cairo_move_to(cr, panel->x.from, crisp(panel, plot_scale_at(&panel->y, 0)));
        cairo_line_to(cr, panel->x.to, crisp(panel, plot_scale_at(&panel->y, 0)));
    }
    use(cr, panel->theme->axis);
    cairo_stroke(cr);
}

/* ---- The complete plot ---- */

/* Paint a single plot on its background. */
static cairo_status_t paint_single(plot_panel *panel, const plot *p)
{
    cairo_t *cr = panel->cr;
    double unit = panel->unit;
    double edge = margin * unit, tick_room = (tick_length + tick_gap) * unit, name_room = label_size * unit * 1.7;
    cairo_status_t status = CAIRO_STATUS_SUCCESS;

    if (p->grid) {
        double below = edge + paint_title(panel, p->title, edge);
        plot_grid_paint(panel, p->grid, below, panel->height - edge - paint_footer(panel, p->footer));
        return cairo_status(cr);
    }
    plot_content content = p->heat    ? plot_heat_scales(panel, p)
                           : p->tiles ? plot_tiles_scales(panel, p)
                           : p->dots  ? plot_dots_scales(panel, p)
                                      : plot_bars_scales(panel, p);
    plot_notation counts = {.counts = true, .whole = content.whole}, values = {0};
    plot_notation along = p->tiles || p->dots ? counts : values;
    plot_ticks across, upward, key = {0};

    double top = edge + paint_title(panel, p->title, edge);
    if (p->image) top += paint_image(panel, p->image, top);
    top += paint_legend(panel, p, top);
    const double beside = legend_width(panel, p);
    double bottom = panel->height - edge - paint_footer(panel, p->footer);
    plot_font(cr, tick_size * unit, false);
    const double turned = turned_names(panel, p, panel->width - beside), below = turned > 0 ? turned : tick_size * unit;
    bottom -= tick_room + below + (given(p->x_label) ? name_room : 0);
    panel->y.to = round(top + 0.3 * edge);
    panel->y.from = round(fmax(bottom, panel->y.to + MIN_SIDE));
    content.color.to = panel->y.to;
    content.color.from = panel->y.from;

    plot_font(cr, tick_size * unit, false);
    if (!p->heat || !name_edges(panel, p->y_bin_names, p->heat->y_edges, p->heat->ny, false, &upward))
        fit_upward(panel, &panel->y, p->heat ? values : counts, &upward);
    double label_left = edge + (given(p->y_label) ? name_room : 0), key_room = beside;
    if (p->heat) {
        fit_upward(panel, &content.color, counts, &key);
        key_room = (key_gap + key_width) * unit + tick_room + widest(panel, &key);
        if (given(p->heat->label)) key_room += name_room;
    }
    panel->x.from = round(label_left + widest(panel, &upward) + tick_room);
    panel->x.to = round(fmax(panel->width - edge - key_room, panel->x.from + MIN_SIDE));
    fit_across(panel, p, along, &across);
    double beyond = turned > 0 ? 0 : reach(panel, &across) - (panel->width - key_room - edge / 4);
    if (beyond > 0) {
        panel->x.to = round(fmax(panel->x.to - beyond, panel->x.from + MIN_SIDE));
        fit_across(panel, p, along, &across);
    }

    cairo_set_line_width(cr, line_width(panel));
    if (p->heat) {
        status = content.empty ? status : plot_heat_paint(panel, p, &content.color);
        paint_lines(panel, p->x_lines, p->y_lines);
        paint_box(panel, panel->x.from, panel->x.to);
        double left = round(panel->x.to + key_gap * unit), right = left + round(key_width * unit);
        plot_heat_paint_key(panel, left, right - left);
        paint_box(panel, left, right);
        paint_upward(panel, &content.color, &key, right, 1);
        plot_font(cr, label_size * unit, false);
        use(cr, panel->theme->ink);
        if (given(p->heat->label)) show_upward(panel, p->heat->label, panel->width - edge);
        plot_font(cr, tick_size * unit, false);
    } else if (p->tiles) {
        if (!content.empty) plot_tiles_paint(panel, p);
        paint_box(panel, panel->x.from, panel->x.to);
        plot_font(cr, tick_size * unit, false);
    } else {
        paint_grid(panel, &upward);
        if (p->dots)
            plot_dots_paint(panel, p);
        else if (!content.empty)
            plot_bars_paint(panel, p);
        paint_axis_lines(panel);
    }
    paint_upward(panel, &panel->y, &upward, panel->x.from, -1);
    if (turned > 0)
        paint_turned_names(panel, p, turned);
    else
        paint_across(panel, &across);
    if (p->legend_beside) paint_legend_beside(panel, p, beside);

    double middle = (panel->x.from + panel->x.to) / 2;
    plot_font(cr, label_size * unit, false);
    use(cr, panel->theme->ink);
    if (given(p->x_label))
        show_line(panel, p->x_label, strlen(p->x_label), middle, bottom + tick_room + below + name_room * 0.8,
                  panel->x.to - panel->x.from, PLOT_CENTER);
    if (given(p->y_label)) show_upward(panel, p->y_label, edge + label_size * unit * 0.7);
    if (content.empty) {
        plot_font(cr, title_size * unit, false);
        use(cr, panel->theme->soft_ink);
        plot_text_show(cr, p->tiles || p->dots ? "nothing was measured" : "no samples", middle,
                       (panel->y.from + panel->y.to) / 2, PLOT_CENTER);
    }
    return status ? status : cairo_status(cr);
}

static double unit_of(double width, double height)
{
    return fmax(fmin(width / 1200, height / 800), 0.7);
}

static cairo_status_t paint_panels(const plot_panel *whole, const plot *p)
{
    double edge = margin * whole->unit, top = edge + paint_title(whole, p->title, edge) - edge / 2;
    plot_layout layout = plot_arrange_panels(p, whole->width, whole->height - top);
    cairo_status_t status = CAIRO_STATUS_SUCCESS;
    for (int k = 0; k < p->npanels && status == CAIRO_STATUS_SUCCESS; k++) {
        plot_panel part = *whole;
        part.width = layout.width;
        part.height = layout.height;
        part.unit = unit_of(part.width, part.height);
        cairo_save(part.cr);
        cairo_translate(part.cr, round(k % layout.columns * part.width),
                        round(top + (double)(k / layout.columns) * part.height));
        cairo_rectangle(part.cr, 0, 0, part.width, part.height);
        cairo_clip(part.cr);
        status = paint_single(&part, &p->panels[k]);
        cairo_restore(part.cr);
    }
    return status;
}

cairo_status_t plot_paint(plot_panel *panel, const plot *p)
{
    panel->unit = unit_of(panel->width, panel->height);
    panel->theme = p->dark ? &plot_dark : &plot_light;
    use(panel->cr, panel->theme->paper);
    cairo_paint(panel->cr);
    return p->panels ? paint_panels(panel, p) : paint_single(panel, p);
}
