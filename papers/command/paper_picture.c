/* An experiment of a paper as a picture, in the paper's own axes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "bench/command/picture.h"
#include "output/writers/plot.h"

enum { ROW = 256 };

/* plot.svg becomes plot-ross-figure-6.3.svg if there are several, and a second one of that name …-6.3b.svg. */
static void picture_path(const papers_result *results, int index, int count, const char *image, char *path, size_t size)
{
    const papers_experiment *e = results[index].experiment;
    const char *dot = strrchr(image, '.');
    int before = 0;
    for (int i = 0; i < index; i++)
        before += strcmp(results[i].experiment->paper, e->paper) == 0 &&
                  strcmp(results[i].experiment->kind, e->kind) == 0 &&
                  strcmp(results[i].experiment->number, e->number) == 0;
    const char letter[] = {before ? (char)('a' + before) : '\0', '\0'};
    if (count == 1)
        snprintf(path, size, "%s", image);
    else
        snprintf(path, size, "%.*s-%s-%s-%.*s%s%s", (int)(dot - image), image, e->paper, e->kind,
                 (int)strcspn(e->number, " "), e->number, letter, dot);
}

/* A wafer's histogram, means across and differences upward, with lines around its middle eighth, as in the thesis. */
static int draw_wafer(const papers_result *r, int point, plot p, const char *path, fault *f)
{
    const int64_t rows = r->point[point].input.bins / ROW;
    double *values = malloc((size_t)(rows * ROW + rows + ROW + 2) * sizeof *values);
    if (!values) return fault_set(f, EXIT_DATA, "no memory to draw a wafer");
    double *x = values + rows * ROW, *y = x + ROW + 1;
    for (int64_t m = 0; m < ROW; m++)
        for (int64_t n = 0; n < rows; n++)
            values[m * rows + n] = (double)r->counts[point][n * ROW + m];
    for (int64_t i = 0; i <= ROW; i++)
        x[i] = (double)i;
    for (int64_t i = 0; i <= rows; i++)
        y[i] = (double)i;
    const plot_heat heat = {
        .nx = ROW, .ny = rows, .x_edges = x, .y_edges = y, .values = values, .scale = SCALE_LOG, .label = "count"};
    p.heat = &heat;
    p.y_lines[0] = (double)(rows / 2 - rows / 16);
    p.y_lines[1] = (double)(rows / 2 + rows / 16);
    p.x_label = "mean of the images";
    p.y_label = "difference of a pair, over the mean";
    int failed = picture_write(&p, path, f);
    free(values);
    return failed;
}

/* ---- Images and their histograms ---- */

/* What a panel shows: a histogram, and above it a small image of its samples, if these are one. */
typedef struct drawn_input {
    plot_series series;
    plot_image image;
    double *edges, *values;
    uint8_t *pixels;
} drawn_input;

/* The image that the same generator makes in a small size. Skipping pixels of a large one would show other patterns. */
static int draw_image(const bench_input *input, drawn_input *to, fault *f)
{
    enum { WIDTH = 480, HEIGHT = 270 };
    char name[sizeof input->name];
    bench_input small;
    snprintf(name, sizeof name, "%.*s/%dx%d", (int)strcspn(input->name, "/"), input->name, WIDTH, HEIGHT);
    if (bench_input_parse(name, &small) != HISTO_OK) return fault_of_library(f, EXIT_DATA, input->name);
    const histo_axis axis = bench_input_axis(&small, NULL);
    to->pixels = malloc((size_t)WIDTH * HEIGHT);
    if (!to->pixels) return fault_set(f, EXIT_DATA, "no memory to draw %s", input->name);
    bench_input_make(&small, &axis, (int64_t)WIDTH * HEIGHT, to->pixels);
    to->image = (plot_image){WIDTH, HEIGHT, to->pixels};
    return 0;
}

static int draw_input(const papers_result *r, int point, drawn_input *to, plot *panel, fault *f)
{
    const bench_input *input = &r->point[point].input;
    const int64_t bins = input->bins;
    to->edges = malloc((size_t)(bins + 1) * sizeof *to->edges);
    to->values = malloc((size_t)bins * sizeof *to->values);
    if (!to->edges || !to->values) return fault_set(f, EXIT_DATA, "no memory to draw histograms");
    for (int64_t b = 0; b <= bins; b++)
        to->edges[b] = (double)b;
    for (int64_t b = 0; b < bins; b++)
        to->values[b] = (double)r->counts[point][b];
    to->series = (plot_series){.color = plot_palette(0), .bins = bins, .edges = to->edges, .values = to->values};
    *panel = (plot){.title = input->name, .y_label = "count", .nseries = 1, .series = &to->series};
    if (!input->width) return 0;
    panel->image = &to->image;
    return draw_image(input, to, f);
}

/* A panel with the histogram of each input, below the images if they are. */
static int draw_histograms(const papers_result *r, plot whole, const char *path, fault *f)
{
    enum { COLUMNS = 4, WIDTH = 1600, PANEL_HEIGHT = 510 };
    plot panels[PAPERS_MAX_POINTS] = {{0}};
    drawn_input inputs[PAPERS_MAX_POINTS] = {{.pixels = NULL}};
    int failed = 0;
    for (int i = 0; i < r->points && !failed; i++)
        failed = draw_input(r, i, &inputs[i], &panels[i], f);
    whole.panels = panels;
    whole.npanels = r->points;
    if (panels[0].image) whole.panel_columns = COLUMNS;
    if (!whole.width && panels[0].image) {
        whole.width = WIDTH;
        whole.height = PANEL_HEIGHT * ((r->points + COLUMNS - 1) / COLUMNS);
    }
    if (!whole.width) plot_suit_panels(r->points, &whole.width, &whole.height);
    if (!failed) failed = picture_write(&whole, path, f);
    for (int i = 0; i < r->points; i++) {
        free(inputs[i].edges);
        free(inputs[i].values);
        free(inputs[i].pixels);
    }
    return failed;
}

/* ---- Curves and marks ---- */

/* A series that is configured as it was published has pale marks and dashes; our choices are black and grey, and thick.
 */
static bool is_ours(const papers_result *r, int series)
{
    return strncmp(r->series[series].label, "our choice", strlen("our choice")) == 0;
}

static plot_color series_color(const papers_result *r, int series)
{
    if (!is_ours(r, series)) return plot_palette(series);
    return strstr(r->series[series].label, "CPU") ? (plot_color){0.47, 0.47, 0.47} : (plot_color){0, 0, 0};
}

/* Where there are no equal terms to tell from, all is drawn alike. */
static plot_dot_style series_style(const papers_result *r, int series)
{
    const bool published =
        *r->experiment->series[PAPERS_ON_EQUAL_TERMS] && r->series[series].terms == PAPERS_AS_PUBLISHED;
    return (plot_dot_style){.line = published ? PLOT_DASHED : PLOT_SOLID,
                            .thick = is_ours(r, series),
                            .inside = published ? PLOT_PALE : PLOT_FULL,
                            .shape = series};
}

/* Dots of a picture. Those of a kind have a colour and a shape: kinds are series, and inputs or numbers are along the x
 * axis; of a ladder, kinds are inputs, and its rungs, which are the series, are along the x axis. */
typedef struct drawn_dots {
    plot_dots dots;
    plot_series series[2 * PAPERS_MAX_POINTS + 1];
    plot_dot_style styles[2 * PAPERS_MAX_POINTS + 1];
    double x[2 * PAPERS_MAX_POINTS * PAPERS_MAX_SERIES], y[2 * PAPERS_MAX_POINTS * PAPERS_MAX_SERIES];
    int of[2 * PAPERS_MAX_POINTS * PAPERS_MAX_SERIES];
    int nseries;
    double least, most; /* of the values */
} drawn_dots;

static bool is_ladder(const papers_result *r)
{
    return strcmp(r->experiment->number, "ladder") == 0;
}

/* Add a dot for each value of a kind, measured or published, in a column of its own at each place that has a name;
 * false if there are none. */
static bool add_dots(const papers_result *r, int kind, bool published, drawn_dots *to)
{
    const bool ladder = is_ladder(r), named = !papers_axis(r);
    const int kinds = ladder ? r->points : r->series_count, places = ladder ? r->series_count : r->points;
    const bool linear = r->experiment->measure == PAPERS_CONFLICTS;
    const double aside = 0.84 * ((kind + 0.5) / kinds - 0.5);
    const int begin = to->dots.count;
    for (int i = 0; i < places; i++) {
        const papers_cell *c = ladder ? &r->cell[kind][i] : &r->cell[i][kind];
        const double value = published ? c->published : c->value;
        if (isnan(value) || (value <= 0 && !linear)) continue;
        to->x[to->dots.count] = named ? i + aside : papers_position(r, i);
        to->y[to->dots.count] = value;
        to->of[to->dots.count++] = to->nseries;
        to->least = fmin(to->least, value);
        to->most = fmax(to->most, value);
    }
    return to->dots.count > begin;
}

static void add_kind(const papers_result *r, int kind, bool published, const char *name, drawn_dots *to)
{
    const bool ladder = is_ladder(r);
    plot_dot_style style = {.shape = kind};
    if (!ladder) style = series_style(r, kind);
    if (published || !papers_axis(r)) style.line = PLOT_NO_LINE;
    if (published) style.inside = PLOT_HOLLOW;
    to->styles[to->nseries] = style;
    to->series[to->nseries++] =
        (plot_series){.name = name, .color = ladder ? plot_palette(kind) : series_color(r, kind)};
}

/* Curves over numbers, marks over names; published numbers are hollow marks, which no line joins. */
static int draw_curves(const papers_result *r, plot p, const char *path, fault *f)
{
    static drawn_dots drawn;
    char places[PAPERS_MAX_POINTS][64], value[96];
    const char *place[PAPERS_MAX_POINTS];
    const char *axis = papers_axis(r);
    const bool ladder = is_ladder(r);
    const int kinds = ladder ? r->points : r->series_count;
    bool any_published = false;
    drawn = (drawn_dots){.dots = {.x = drawn.x, .y = drawn.y, .series = drawn.of, .styles = drawn.styles},
                         .least = INFINITY};
    for (int k = 0; k < kinds; k++) {
        const char *name = ladder ? r->point[k].input.name : r->series[k].label;
        if (add_dots(r, k, false, &drawn)) {
            add_kind(r, k, false, name, &drawn);
            name = NULL;
        }
        if (add_dots(r, k, true, &drawn)) {
            add_kind(r, k, true, name, &drawn);
            any_published = true;
        }
    }
    if (any_published) {
        drawn.styles[drawn.nseries] = (plot_dot_style){.inside = PLOT_HOLLOW};
        drawn.series[drawn.nseries++] = (plot_series){.name = "published number", .color = plot_gray};
    }
    for (int i = 0; i < r->points && !axis && !ladder; i++)
        place[i] = papers_point_name(r, i, places[i], sizeof places[i]);
    for (int i = 0; i < r->series_count && ladder; i++)
        place[i] = r->series[i].label;
    if (!axis) {
        drawn.dots.names = place;
        drawn.dots.names_count = ladder ? r->series_count : r->points;
    }
    p.series = drawn.series;
    p.nseries = drawn.nseries;
    p.legend_beside = true;
    p.dots = &drawn.dots;
    p.log_x = p.binary_x = axis != NULL;
    p.log_y = r->experiment->measure != PAPERS_CONFLICTS && drawn.most > 8 * drawn.least;
    p.x_label = axis;
    p.y_label = papers_value_name(r, value, sizeof value);
    return picture_write(&p, path, f);
}

/* ---- The map of winners ---- */

static int place_of(int64_t number, int64_t *numbers, int *count)
{
    int i = 0;
    while (i < *count && numbers[i] != number)
        i++;
    if (i == *count) numbers[(*count)++] = number;
    return i;
}

/* Which series is the fastest: one of the paper's, or with our choices among them. */
typedef struct winner_map {
    plot_tiles tiles;
    int series[PAPERS_MAX_POINTS * PAPERS_MAX_POINTS];
    char texts[PAPERS_MAX_POINTS * PAPERS_MAX_POINTS][8];
} winner_map;

/* tile: of each point, its index in the map. */
static void find_winners(const papers_result *r, bool with_ours, const int *tile, winner_map *to)
{
    for (int i = 0; i < to->tiles.nx * to->tiles.ny; i++)
        to->series[i] = -1;
    memset(to->texts, 0, sizeof to->texts);
    for (int i = 0; i < r->points; i++) {
        double best = 0;
        char rate[24];
        for (int s = 0; s < r->series_count; s++) {
            if (!(r->cell[i][s].rate > best) || (is_ours(r, s) && !with_ours)) continue;
            best = r->cell[i][s].rate;
            to->series[tile[i]] = s;
        }
        if (best > 0) snprintf(rate, sizeof rate, "%.2g", best);
        if (best > 0) snprintf(to->texts[tile[i]], sizeof to->texts[tile[i]], "%.7s", rate);
    }
}

/* The paper's map of its own algorithms, with its border, and beside it that with our choices among them. */
static int draw_winners(const papers_result *r, plot p, const char *path, fault *f)
{
    /* The paper: sort-search is the fastest at more than about 2^20 samples and 5 Ki bins. */
    const double border_bins = 5120, border_samples = 1 << 20, far = 0x1p40;
    const double border[][2] = {{border_bins, far}, {border_bins, border_samples}, {far, border_samples}};
    static const char *const titles[] = {"The paper's algorithms; above the line, sort-search won then",
                                         "With our choices among them"};
    static winner_map maps[2];
    int64_t bins[PAPERS_MAX_POINTS], samples[PAPERS_MAX_POINTS];
    double x[PAPERS_MAX_POINTS + 1], y[PAPERS_MAX_POINTS + 1];
    int nx = 0, ny = 0, tile[PAPERS_MAX_POINTS];
    plot_series series[2][PAPERS_MAX_SERIES] = {{{0}}};
    plot panels[2];
    for (int i = 0; i < r->points; i++) {
        place_of(r->point[i].input.bins, bins, &nx);
        place_of(r->point[i].samples, samples, &ny);
    }
    for (int i = 0; i < r->points; i++)
        tile[i] = place_of(r->point[i].input.bins, bins, &nx) * ny + place_of(r->point[i].samples, samples, &ny);
    picture_tile_edges(bins, nx, x);
    picture_tile_edges(samples, ny, y);
    for (int m = 0; m < 2; m++) {
        const bool with_ours = m == 1;
        for (int s = 0; s < r->series_count; s++)
            series[m][s] = (plot_series){.name = with_ours || !is_ours(r, s) ? r->series[s].label : NULL,
                                         .color = series_color(r, s)};
        maps[m].tiles = (plot_tiles){.nx = nx,
                                     .ny = ny,
                                     .x_edges = x,
                                     .y_edges = y,
                                     .series = maps[m].series,
                                     .texts = (const char(*)[8])maps[m].texts,
                                     .border = border,
                                     .border_points = with_ours ? 0 : 3};
        panels[m] = (plot){.title = titles[m],
                           .x_label = "bins",
                           .y_label = "samples",
                           .log_x = true,
                           .log_y = true,
                           .binary_x = true,
                           .binary_y = true,
                           .nseries = r->series_count,
                           .series = series[m],
                           .legend_beside = true,
                           .tiles = &maps[m].tiles};
        find_winners(r, with_ours, tile, &maps[m]);
    }
    p.panels = panels;
    p.npanels = p.panel_columns = 2;
    if (!p.width) p.width = 1600, p.height = 640;
    return picture_write(&p, path, f);
}

int picture_of_paper(const papers_result *results, int index, int count, const bench_settings *s, fault *f)
{
    const papers_result *r = &results[index];
    const papers_experiment *e = r->experiment;
    char path[4096], title[160], footer[400];
    if (!r->points) return 0;
    picture_path(results, index, count, s->image, path, sizeof path);
    papers_heading(e, title, sizeof title);
    snprintf(footer, sizeof footer, "%s%s", *e->claim ? "Published: " : "", e->claim);
    plot p = {.title = title, .footer = footer, .width = s->common.plot_width, .height = s->common.plot_height};
    if (e->measure == PAPERS_WINNERS) return draw_winners(r, p, path, f);
    if (e->measure != PAPERS_DRAWN) return draw_curves(r, p, path, f);
    const bool wafer = r->points == 1 && strncmp(r->point[0].input.name, "wafer", 5) == 0;
    return wafer ? draw_wafer(r, 0, p, path, f) : draw_histograms(r, p, path, f);
}
