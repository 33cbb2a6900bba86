#include "bench/command/tune_map.h"

#include <string.h>

tune_winners tune_winners_of(const bench_tuning *map, int dtype)
{
    tune_winners w = {0};
    histo_strategy_info info;
    for (int s = 0; histo_strategy_describe(s, &info) == HISTO_OK && w.count < TUNE_MAX_WINNERS; s++) {
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

int tune_winner_of(const tune_winners *w, const bench_tuned *cell)
{
    for (int i = 0; i < w->count; i++)
        if (w->strategy[i] == cell->best) return i;
    return -1;
}

void tune_rate_text(const bench_tuned *cell, char *text, size_t size)
{
    double rate = (double)cell->samples / cell->best_us * 1e-3;
    snprintf(text, size, rate < 9.995 ? "%.2f" : rate < 99.95 ? "%.1f" : "%.0f", rate);
}

void tune_title(const bench_tuning *map, int dtype, char *title, size_t size)
{
    const bench_tune_options *o = map->options;
    snprintf(title, size, "The fastest strategy for %s samples", histo_dtype_name(o->dtype[dtype]));
}

void tune_describe(const bench_tuning *map, char *text, size_t size)
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

static void print_cell(const tune_winners *w, const bench_tuned *cell, int width, const screen *to)
{
    static const char *const styles[] = {"34", "33", "32", "31", "35", "36", "95", "94"};
    enum { STYLES = sizeof styles / sizeof *styles, WITH_RATE = 7 };
    int i = tune_winner_of(w, cell);
    char rate[16] = "";
    if (i < 0) {
        fprintf(to->out, "%*s", width, "");
        return;
    }
    if (width >= WITH_RATE) tune_rate_text(cell, rate, sizeof rate);
    screen_style(to, styles[i % STYLES]);
    fprintf(to->out, "%*s%c%s%s", width - 1 - (int)(*rate ? strlen(rate) + 1 : 0), "", 'A' + i, *rate ? " " : "", rate);
    screen_plain(to);
}

void tune_print_map(const bench_tuning *map, int dtype, const screen *to)
{
    enum { MARGIN = 8, NARROWEST = 3, WIDEST = 9 };
    const bench_tune_options *o = map->options;
    tune_winners w = tune_winners_of(map, dtype);
    char title[64], about[320], number[TEXT_NUMBER_BYTES];
    tune_title(map, dtype, title, sizeof title);
    tune_describe(map, about, sizeof about);
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
