#include "commands/tune_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/outfile.h"
#include "output/picture_file.h"
#include "output/writers/plot.h"

enum { MAX_WINNERS = 26 }; /* a letter each */

/* The strategies that win somewhere on a map, in the order of their table. */
typedef struct winners {
    int count;
    int strategy[MAX_WINNERS];
    char name[MAX_WINNERS][64];
} winners;

static winners winners_of(const bench_tuning *map, int dtype)
{
    winners w = {0};
    histo_strategy_info info;
    for (int s = 0; histo_strategy_describe(s, &info) == HISTO_OK && w.count < MAX_WINNERS; s++) {
        bool wins = false;
        for (int b = 0; b < map->options->bins; b++)
            for (int n = 0; n < map->options->samples; n++)
                wins |= bench_tuning_cell(map, dtype, b, n)->best == s;
        if (!wins) continue;
        w.strategy[w.count] = s;
        snprintf(w.name[w.count], sizeof w.name[0], "%s/%s", info.backend, info.name);
        w.count++;
    }
    return w;
}

static int winner_of(const winners *w, const bench_tuned *cell)
{
    for (int i = 0; i < w->count; i++)
        if (w->strategy[i] == cell->best) return i;
    return -1;
}

/* Three digits of Gsamples/s. */
static void rate_text(const bench_tuned *cell, char *text, size_t size)
{
    double rate = (double)cell->samples / cell->best_us * 1e-3;
    snprintf(text, size, rate < 9.995 ? "%.2f" : rate < 99.95 ? "%.1f" : "%.0f", rate);
}

static void title_of(const bench_tuning *map, int dtype, char *title, size_t size)
{
    const bench_tune_options *o = map->options;
    snprintf(title, size, "The fastest strategy for %s samples", histo_dtype_name(o->dtype[dtype]));
}

/* "Gsamples/s on the worst of uniform and zipf; samples where they are counted" */
static void describe(const bench_tuning *map, char *text, size_t size)
{
    const bench_tune_options *o = map->options;
    int length = snprintf(text, size, "Gsamples/s on %s", o->distributions > 1 ? "the worst of " : "");
    for (int d = 0; d < o->distributions && length < (int)size; d++)
        length += snprintf(text + length, size - (size_t)length, "%s%s",
                           d == 0                      ? ""
                           : d == o->distributions - 1 ? " and "
                                                       : ", ",
                           o->distribution[d].name);
    if (length < (int)size)
        snprintf(text + length, size - (size_t)length, "; samples %s",
                 o->transfers ? "in host memory, their way to a GPU counts" : "where they are counted");
}

/* 4096, or 2^20 where that is shorter. */
static char *count_text(int64_t count, char text[TEXT_NUMBER_BYTES])
{
    int power = 0;
    while (power < 62 && INT64_C(1) << power < count)
        power++;
    bool long_power = count == INT64_C(1) << power && count > 99999;
    snprintf(text, TEXT_NUMBER_BYTES, long_power ? "2^%lld" : "%lld", long_power ? (long long)power : (long long)count);
    return text;
}

/* ---- On a terminal ---- */

static void print_cell(const winners *w, const bench_tuned *cell, int width, const screen *to)
{
    static const char *const styles[] = {"34", "33", "32", "31", "35", "36", "95", "94"};
    enum { STYLES = sizeof styles / sizeof *styles, WITH_RATE = 7 };
    int i = winner_of(w, cell);
    char rate[16] = "";
    if (i < 0) {
        fprintf(to->out, "%*s", width, "");
        return;
    }
    if (width >= WITH_RATE) rate_text(cell, rate, sizeof rate);
    screen_style(to, styles[i % STYLES]);
    fprintf(to->out, "%*s%c%s%s", width - 1 - (int)(*rate ? strlen(rate) + 1 : 0), "", 'A' + i, *rate ? " " : "", rate);
    screen_plain(to);
}

void tune_print_map(const bench_tuning *map, int dtype, const screen *to)
{
    enum { MARGIN = 8, NARROWEST = 3, WIDEST = 9 };
    const bench_tune_options *o = map->options;
    winners w = winners_of(map, dtype);
    char title[64], about[320], number[TEXT_NUMBER_BYTES];
    title_of(map, dtype, title, sizeof title);
    describe(map, about, sizeof about);
    int width = (to->columns - 1 - MARGIN) / o->bins;
    width = width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : width;
    fprintf(to->out, "%s%s\n%s\n%*s\n", dtype ? "\n" : "", title, about, MARGIN - 1, "samples");
    for (int n = o->samples; n-- > 0;) {
        fprintf(to->out, "%*s ", MARGIN - 1, count_text(o->sample[n], number));
        for (int b = 0; b < o->bins; b++)
            print_cell(&w, bench_tuning_cell(map, dtype, b, n), width, to);
        fputc('\n', to->out);
    }
    fprintf(to->out, "%*s ", MARGIN - 1, "bins");
    for (int b = 0; b < o->bins; b++) {
        count_text(o->bin[b], number);
        fprintf(to->out, "%*s", width, (int)strlen(number) < width ? number : "");
    }
    fputc('\n', to->out);
    for (int i = 0; i < w.count; i++)
        fprintf(to->out, "%*s%c  %s\n", MARGIN, "", 'A' + i, w.name[i]);
    if (!w.count) fprintf(to->out, "%*snothing was measured\n", MARGIN, "");
}

/* ---- As a picture ---- */

/* The edges between numbers that lie in the middle of their tiles, on a logarithmic scale. [n + 1], to be freed. */
static double *tile_edges(const int64_t *numbers, int n)
{
    double *edges = calloc((size_t)n + 1, sizeof *edges);
    if (!edges) return NULL;
    for (int i = 1; i < n; i++)
        edges[i] = sqrt((double)numbers[i - 1] * (double)numbers[i]);
    double first = (double)numbers[0], last = (double)numbers[n - 1];
    edges[0] = n > 1 ? first * first / edges[1] : first / 2;
    edges[n] = n > 1 ? last * last / edges[n - 1] : last * 2;
    return edges;
}

/* map.png becomes map-u8.png where there are more types. */
static void picture_path(const bench_tuning *map, int dtype, const char *image, char *path, size_t size)
{
    const char *dot = strrchr(image, '.');
    if (map->options->dtypes == 1)
        snprintf(path, size, "%s", image);
    else
        snprintf(path, size, "%.*s-%s%s", (int)(dot - image), image, histo_dtype_name(map->options->dtype[dtype]), dot);
}

static int write_picture(const bench_tuning *map, int dtype, const plot *p, const char *image, fault *f)
{
    char path[4096];
    picture_path(map, dtype, image, path, sizeof path);
    outfile *o = outfile_open(path, f);
    if (!o) return -1;
    if (plot_write(p, picture_file_format(image), o, f) == 0) return outfile_commit(o, f);
    outfile_abandon(o);
    return -1;
}

int tune_draw_map(const bench_tuning *map, int dtype, const settings *s, fault *f)
{
    const bench_tune_options *o = map->options;
    winners w = winners_of(map, dtype);
    plot_series entries[MAX_WINNERS];
    char title[64], about[320], names[MAX_WINNERS][72];
    double *x = tile_edges(o->bin, o->bins), *y = tile_edges(o->sample, o->samples);
    size_t tiles = (size_t)(o->bins * o->samples);
    int *kinds = calloc(tiles, sizeof *kinds);
    char(*texts)[8] = calloc(tiles, sizeof *texts);
    int failed = x && y && kinds && texts ? 0 : fault_set(f, EXIT_DATA, "no memory to draw the map");
    title_of(map, dtype, title, sizeof title);
    for (int i = 0; i < w.count; i++) {
        snprintf(names[i], sizeof names[i], "%c  %s", 'A' + i, w.name[i]);
        entries[i] = (plot_series){.name = names[i], .color = plot_palette(i)};
    }
    for (int b = 0; b < o->bins && !failed; b++)
        for (int n = 0; n < o->samples; n++) {
            const bench_tuned *cell = bench_tuning_cell(map, dtype, b, n);
            int at = b * o->samples + n;
            kinds[at] = winner_of(&w, cell);
            if (kinds[at] < 0) continue;
            char rate[5] = "";
            rate_text(cell, rate, sizeof rate);
            snprintf(texts[at], sizeof texts[at], "%c %.5s", 'A' + kinds[at], rate);
        }
    describe(map, about, sizeof about);
    const plot_tiles map_tiles = {o->bins, o->samples, x, y, kinds, (const char(*)[8])texts};
    const plot p = {.title = s->title ? s->title : title,
                    .x_label = "bins",
                    .y_label = "samples",
                    .footer = about,
                    .log_x = true,
                    .log_y = true,
                    .nseries = w.count,
                    .series = entries,
                    .tiles = &map_tiles,
                    .width = s->plot_width,
                    .height = s->plot_height};
    if (!failed) failed = write_picture(map, dtype, &p, s->image, f);
    free(x);
    free(y);
    free(kinds);
    free(texts);
    return failed;
}
