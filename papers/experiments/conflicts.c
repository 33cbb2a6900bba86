#include "papers/experiments/conflicts.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

static int degree_of(const unsigned *values, unsigned counters_per_word)
{
    int in_bank[BENCH_BANKS] = {0}, fullest = 0;
    for (int lane = 0; lane < BENCH_LANES; lane++) {
        int n = ++in_bank[values[lane] / counters_per_word % BENCH_BANKS];
        if (n > fullest) fullest = n;
    }
    return fullest;
}

static void find_moments(bench_conflicts *conflicts)
{
    double n = (double)conflicts->warps, sum = 0, squares = 0;
    for (int d = 1; d <= BENCH_LANES; d++)
        sum += (double)conflicts->of_degree[d] * d;
    conflicts->mean = sum / n;
    for (int d = 1; d <= BENCH_LANES; d++)
        squares += (double)conflicts->of_degree[d] * (d - conflicts->mean) * (d - conflicts->mean);
    conflicts->deviation = sqrt(squares / n);
}

histo_status bench_conflicts_count(const void *samples, histo_dtype dtype, int64_t n, unsigned counters_per_word,
                                   bench_conflicts *conflicts)
{
    if (dtype != HISTO_U8 && dtype != HISTO_U16)
        return histo_fail(HISTO_INVALID, "samples of %s are not pixels: bank conflicts are counted for u8 and u16",
                          histo_dtype_name(dtype));
    if (n < BENCH_LANES)
        return histo_fail(HISTO_INVALID, "%lld samples are not a warp: at least %d are needed", (long long)n,
                          BENCH_LANES);
    memset(conflicts, 0, sizeof *conflicts);
    conflicts->warps = n / BENCH_LANES;
    for (int64_t w = 0; w < conflicts->warps; w++) {
        unsigned values[BENCH_LANES];
        for (int lane = 0; lane < BENCH_LANES; lane++) {
            int64_t i = w * BENCH_LANES + lane;
            values[lane] = dtype == HISTO_U8 ? ((const uint8_t *)samples)[i] : ((const uint16_t *)samples)[i];
        }
        conflicts->of_degree[degree_of(values, counters_per_word)]++;
    }
    find_moments(conflicts);
    return HISTO_OK;
}

double bench_conflicts_fraction(const bench_conflicts *conflicts, int min, int max)
{
    int64_t warps = 0;
    for (int d = min; d <= max; d++)
        warps += conflicts->of_degree[d];
    return (double)warps / (double)conflicts->warps;
}

static const struct {
    const char *name;
    unsigned counters_per_word;
} counters[] = {{"plain 32-bit counters", 1}, {"packed 8-bit counters", 4}, {"packed 4-bit counters", 8}};

static const struct {
    const char *name;
    int min, max;
} classes[] = {{"1", 1, 1}, {"2-4", 2, 4}, {"5-8", 5, 8}, {"9-16", 9, 16}, {"17-32", 17, 32}};

enum {
    COUNTERS = sizeof counters / sizeof *counters,
    CLASSES = sizeof classes / sizeof *classes,
    NAME_WIDTH = 24,
    CLASS_WIDTH = 6
};

static void print_heading(FILE *table)
{
    fputs(
        "Turns that a warp takes to count 32 pixels: mean, standard deviation, and the percentage of warps that take\n"
        "1 (no conflict) ... 32 (all in one bank)\n\n",
        table);
    fprintf(table, "%-*s", NAME_WIDTH, "");
    for (int c = 0; c < COUNTERS; c++)
        fprintf(table, "  %*s", 13 + CLASSES * CLASS_WIDTH, counters[c].name);
    fprintf(table, "\n%-*s", NAME_WIDTH, "image");
    for (int c = 0; c < COUNTERS; c++) {
        fputs("     mean   dev", table);
        for (int i = 0; i < CLASSES; i++)
            fprintf(table, "%*s", CLASS_WIDTH, classes[i].name);
    }
    fputc('\n', table);
}

static void print_columns(const bench_conflicts *conflicts, FILE *table)
{
    fprintf(table, "  %7.2f%6.2f", conflicts->mean, conflicts->deviation);
    for (int i = 0; i < CLASSES; i++)
        fprintf(table, "%*.1f", CLASS_WIDTH, 100 * bench_conflicts_fraction(conflicts, classes[i].min, classes[i].max));
}

static void put_conflicts(const bench_conflicts *conflicts, int kind, json_writer *json)
{
    json_open(json, NULL, '{');
    json_text(json, "counters", counters[kind].name);
    json_print(json, "\"mean\": %.4f, \"deviation\": %.4f", conflicts->mean, conflicts->deviation);
    json_open(json, "warps_of_degree_1_to_32", '[');
    for (int d = 1; d <= BENCH_LANES; d++)
        json_print(json, "%lld", (long long)conflicts->of_degree[d]);
    json_close(json, ']');
    json_close(json, '}');
}

histo_status bench_conflicts_print(const char *name, const void *samples, histo_dtype dtype, int64_t n, FILE *table,
                                   json_writer *json, bool first)
{
    bench_conflicts found[COUNTERS];
    for (int c = 0; c < COUNTERS; c++) {
        histo_status status = bench_conflicts_count(samples, dtype, n, counters[c].counters_per_word, &found[c]);
        if (status != HISTO_OK) return status;
    }
    if (first) print_heading(table);
    fprintf(table, "%-*.*s", NAME_WIDTH, NAME_WIDTH, name);
    for (int c = 0; c < COUNTERS; c++)
        print_columns(&found[c], table);
    fputc('\n', table);
    json_open(json, NULL, '{');
    json_text(json, "image", name);
    json_print(json, "\"warps\": %lld", (long long)found[0].warps);
    json_open(json, "conflicts", '[');
    for (int c = 0; c < COUNTERS; c++)
        put_conflicts(&found[c], c, json);
    json_close(json, ']');
    json_close(json, '}');
    return HISTO_OK;
}
