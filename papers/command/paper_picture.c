/* An experiment of a paper as a picture, in the paper's own axes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/command/picture.h"
#include "output/writers/plot.h"

enum { ROW = 256, MAX_DOTS = 2 * PAPERS_MAX_POINTS * PAPERS_MAX_SERIES };

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

/* A panel with the histogram of each input. */
static int draw_histograms(const papers_result *r, plot whole, const char *path, fault *f)
{
    plot panels[PAPERS_MAX_POINTS] = {{0}};
    plot_series series[PAPERS_MAX_POINTS];
    double *memory[PAPERS_MAX_POINTS] = {NULL};
    int failed = 0;
    for (int i = 0; i < r->points && !failed; i++) {
        const int64_t bins = r->point[i].input.bins;
        double *edges = memory[i] = malloc((size_t)(2 * bins + 1) * sizeof **memory);
        if (!edges) {
            failed = fault_set(f, EXIT_DATA, "no memory to draw histograms");
            break;
        }
        double *values = edges + bins + 1;
        for (int64_t b = 0; b <= bins; b++)
            edges[b] = (double)b;
        for (int64_t b = 0; b < bins; b++)
            values[b] = (double)r->counts[i][b];
        series[i] = (plot_series){.color = plot_palette(0), .bins = bins, .edges = edges, .values = values};
        panels[i] = (plot){.title = r->point[i].input.name, .y_label = "count", .nseries = 1, .series = &series[i]};
    }
    whole.panels = panels;
    whole.npanels = r->points;
    if (!whole.width) plot_suit_panels(r->points, &whole.width, &whole.height);
    if (!failed) failed = picture_write(&whole, path, f);
    for (int i = 0; i < r->points; i++)
        free(memory[i]);
    return failed;
}

/* Add a dot for each value of a series, measured or published; false if there are none. */
static bool add_dots(const papers_result *r, int s, bool published, int series, plot_dots *dots, double *x, double *y)
{
    const int begin = dots->count;
    for (int p = 0; p < r->points; p++) {
        const papers_cell *c = &r->cell[p][s];
        const double value = published ? c->published : c->value;
        if (isnan(value) || value <= 0) continue;
        x[dots->count] = papers_position(r, p);
        y[dots->count] = value;
        dots->series[dots->count++] = series;
    }
    return dots->count > begin;
}

/* A curve for each series; a dashed one for the published numbers. */
static int draw_curves(const papers_result *r, plot p, const char *path, fault *f)
{
    static double x[MAX_DOTS], y[MAX_DOTS];
    static int of[MAX_DOTS];
    plot_series series[2 * PAPERS_MAX_SERIES] = {{0}};
    char names[2 * PAPERS_MAX_SERIES][64], places[PAPERS_MAX_POINTS][64], value[96];
    const char *place[PAPERS_MAX_POINTS];
    bool dashed[2 * PAPERS_MAX_SERIES];
    plot_dots dots = {.x = x, .y = y, .series = of, .joined = true, .dashed = dashed};
    for (int s = 0; s < r->series_count; s++)
        for (int published = 0; published < 2; published++) {
            if (!add_dots(r, s, published, p.nseries, &dots, x, y)) continue;
            char *name = names[p.nseries];
            snprintf(name, sizeof names[0], "%s%s", r->series[s].label, published ? ", published" : "");
            series[p.nseries] = (plot_series){.name = name, .color = plot_palette(s)};
            dashed[p.nseries] = published;
            p.nseries++;
        }
    const char *axis = papers_axis(r);
    for (int i = 0; i < r->points && !axis; i++)
        place[i] = papers_point_name(r, i, places[i], sizeof places[i]);
    if (!axis) {
        const int wide = 175 * r->points;
        dots.names = place;
        dots.names_count = r->points;
        if (!p.width && wide > 1200) p.width = wide < PLOT_MAX_SIZE ? wide : PLOT_MAX_SIZE, p.height = 800;
    }
    p.series = series;
    p.dots = &dots;
    p.log_x = axis != NULL;
    p.log_y = r->experiment->measure != PAPERS_CONFLICTS;
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

/* Tile edges in the middle between increasing numbers, on a logarithmic scale. */
static void find_edges(const int64_t *numbers, int n, double *edges)
{
    for (int i = 1; i < n; i++)
        edges[i] = sqrt((double)numbers[i - 1] * (double)numbers[i]);
    edges[0] = n > 1 ? (double)numbers[0] * (double)numbers[0] / edges[1] : (double)numbers[0] / 2;
    edges[n] = n > 1 ? (double)numbers[n - 1] * (double)numbers[n - 1] / edges[n - 1] : (double)numbers[0] * 2;
}

static int draw_winners(const papers_result *r, plot p, const char *path, fault *f)
{
    int64_t bins[PAPERS_MAX_POINTS], samples[PAPERS_MAX_POINTS];
    double x[PAPERS_MAX_POINTS + 1], y[PAPERS_MAX_POINTS + 1];
    static int kinds[PAPERS_MAX_POINTS * PAPERS_MAX_POINTS];
    static char texts[PAPERS_MAX_POINTS * PAPERS_MAX_POINTS][8];
    plot_series series[PAPERS_MAX_SERIES] = {{0}};
    plot_tiles tiles = {.x_edges = x, .y_edges = y, .series = kinds, .texts = (const char(*)[8])texts};
    for (int i = 0; i < r->points; i++) {
        place_of(r->point[i].input.bins, bins, &tiles.nx);
        place_of(r->point[i].samples, samples, &tiles.ny);
    }
    for (int i = 0; i < tiles.nx * tiles.ny; i++)
        kinds[i] = -1;
    memset(texts, 0, sizeof texts);
    for (int i = 0; i < r->points; i++) {
        const int at = place_of(r->point[i].input.bins, bins, &tiles.nx) * tiles.ny +
                       place_of(r->point[i].samples, samples, &tiles.ny);
        const double *best = NULL;
        for (int s = 0; s < r->series_count; s++) {
            const double *rate = &r->cell[i][s].rate;
            if (isnan(*rate) || (best && *best >= *rate)) continue;
            best = rate;
            kinds[at] = s;
        }
        char rate[24];
        if (best) snprintf(rate, sizeof rate, "%.2g", *best);
        if (best) snprintf(texts[at], sizeof texts[at], "%.7s", rate);
    }
    for (int s = 0; s < r->series_count; s++)
        series[s] = (plot_series){.name = r->series[s].label, .color = plot_palette(s)};
    if (r->points) {
        find_edges(bins, tiles.nx, x);
        find_edges(samples, tiles.ny, y);
    }
    p.series = series;
    p.nseries = r->series_count;
    p.tiles = &tiles;
    p.x_label = "bins";
    p.y_label = "samples";
    p.log_x = p.log_y = true;
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
