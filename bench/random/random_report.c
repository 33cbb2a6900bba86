/* The table and the JSON of random problems. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/core/report.h"
#include "bench/core/times.h"
#include "bench/random/random.h"

void random_report_begin(const bench_random_options *options, const char *backend)
{
    static const char *const efforts[] = {
        [HISTO_ESTIMATE] = "estimate", [HISTO_COMPILE] = "compile", [HISTO_MEASURE] = "measure"};
    static const char *const meanings[] = {
        [HISTO_ESTIMATE] =
            "Plans have default options: kernels for exactly these samples are not waited for, nor read from a cache.",
        [HISTO_COMPILE] =
            "Plans wait for kernels compiled for exactly these samples, as one that is used often has them.",
        [HISTO_MEASURE] = "Plans measure the strategies, and wait for kernels compiled for exactly these samples."};
    fprintf(
        options->common.table,
        "%s\nPer cent of the bound that the plan's choice reaches; its speed over the best peer's; its time over the "
        "best strategy's;\nmicroseconds; the strategy; its kernels; the problem, which 'histo bench random "
        "--problem' runs again\n\n",
        meanings[options->effort]);
    fprintf(options->common.table, "%7s %7s %7s %10s  %-18s %-11s %s\n", "bound%", "peer", "choice", "us", "strategy",
            "kernel", "problem");
    report_open(options->common.json, options->common.command_line, backend);
    json_text(options->common.json, "effort", efforts[options->effort]);
    json_open(options->common.json, "results", '[');
}

static void put_problem(json_writer *json, const random_verdict *v)
{
    static const char *const outcomes[] = {"exact", "wrong", "failed", "no memory"};
    char line[PROBLEM_LINE_BYTES];
    json_open(json, NULL, '{');
    json_text(json, "problem", problem_print(&v->problem, line));
    json_text(json, "class", random_class_names[v->class]);
    json_text(json, "outcome", outcomes[v->outcome]);
    if (v->outcome != RANDOM_EXACT) {
        json_text(json, "reason", v->reason);
        json_close(json, '}');
        return;
    }
    json_text(json, "strategy", v->strategy);
    if (*v->kernel) json_text(json, "kernel", v->kernel_line);
    json_text(json, "bounded_by", random_bounded_by(v));
    json_print(json,
               "\"us\": %.5g, \"planning_us\": %.5g, \"first_us\": %.5g, \"preparing_us\": %.5g, \"all_us\": %.5g, "
               "\"bytes\": %.6g, \"counter_bytes\": %.6g, \"bytes_us\": %.5g, \"counters_us\": %.5g, "
               "\"launch_us\": %.5g, \"bound_us\": %.5g, \"share_of_bound\": %.5g",
               v->us, v->planning_us, v->first_us, v->preparing_us, v->all_us, v->bytes, v->counters, v->bytes_us,
               v->counters_us, v->launch_us, v->bound_us, random_share(v));
    if (v->peer_us > 0) {
        json_text(json, "best_peer", v->peer);
        json_print(json, "\"over_best_peer\": %.5g", random_to_peer(v));
    }
    if (v->best_us > 0) {
        json_text(json, "best_strategy", v->best);
        json_print(json, "\"time_over_best_strategy\": %.5g", random_choice(v));
    }
    json_open(json, "entries", '[');
    for (int i = 0; i < v->scores; i++) {
        const random_score *s = &v->score[i];
        json_open(json, NULL, '{');
        json_text(json, s->is_peer ? "peer" : s->is_plan ? "plan" : "strategy", s->name);
        json_print(json, "\"us\": %.5g", s->us);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void print_ratio(FILE *to, double ratio)
{
    if (ratio > 0)
        fprintf(to, " %7.2f", ratio);
    else
        fprintf(to, " %7s", "");
}

static void print_again(FILE *to, const random_verdict *v)
{
    char line[PROBLEM_LINE_BYTES];
    fprintf(to, "histo bench random %s--problem '%s'\n", v->problem.place == PROBLEM_CPU ? "--device cpu " : "",
            problem_print(&v->problem, line));
}

/* What is wrong with a problem, and how to measure it again. */
static void print_failure(FILE *to, const random_verdict *v)
{
    static const char *const words[] = {"", "WRONG", "FAILED", "not measured"};
    fprintf(to, "%s: %s\n    ", words[v->outcome], v->reason);
    print_again(to, v);
}

static void print_entries(FILE *to, const random_verdict *v)
{
    fprintf(to,
            "    bound %.4g us by %s: %.4g us to read %.4g bytes, %.4g us for %.4g bytes of counters, launch %.4g\n",
            v->bound_us, random_bounded_by(v), v->bytes_us, v->bytes, v->counters_us, v->counters, v->launch_us);
    if (*v->kernel) fprintf(to, "    kernel: %s\n", v->kernel_line);
    for (int i = 0; i < v->scores; i++)
        fprintf(to, "    %-24s %10.4g us%s\n", v->score[i].name, v->score[i].us,
                v->score[i].is_plan   ? "  the plan's choice"
                : v->score[i].is_peer ? "  a peer"
                                      : "");
}

void random_report_problem(const bench_random_options *options, const random_verdict *v)
{
    char line[PROBLEM_LINE_BYTES];
    FILE *to = options->common.table;
    if (v->outcome != RANDOM_EXACT) {
        print_failure(to, v);
    } else {
        fprintf(to, "%7.1f", 100 * random_share(v));
        print_ratio(to, random_to_peer(v));
        print_ratio(to, random_choice(v));
        fprintf(to, " %10.5g  %-18s %-11s %s\n", v->us, bench_bare_name(v->strategy), *v->kernel ? v->kernel : "-",
                problem_print(&v->problem, line));
        if (options->line) print_entries(to, v);
    }
    fflush(to);
    put_problem(options->common.json, v);
}

/* ---- The summary ---- */

typedef double measure_of(const random_verdict *v);

/* 1 where the plan is the best. */
static double choice_quality(const random_verdict *v)
{
    return v->best_us / v->us;
}

/* Larger values are better, and those from `enough` on are good. */
static const struct {
    const char *name, *key;
    measure_of *measure;
    double scale, enough;
} measures[] = {{"per cent of the bound", "share_of_bound", random_share, 100, INFINITY},
                {"speed over the best peer", "over_best_peer", random_to_peer, 1, 1},
                {"speed over the best strategy", "over_best_strategy", choice_quality, 1, 1 / 1.1}};
enum { MEASURES = sizeof measures / sizeof *measures };

/* How the positive values of a measure are distributed. */
typedef struct distribution {
    int count, good;
    double mean, median, fifth, first, worst;
} distribution;

static distribution distribution_of(const random_result *result, random_class class, int m)
{
    distribution d = {0};
    double *values = malloc(((size_t)result->count + 1) * sizeof *values);
    for (int i = 0; i < result->count && values; i++) {
        const random_verdict *v = &result->verdict[i];
        const double value = measures[m].measure(v);
        if (v->class != class || v->outcome != RANDOM_EXACT || !(value > 0)) continue;
        values[d.count++] = value;
        d.good += value >= measures[m].enough;
        d.mean += log(value);
    }
    if (d.count) {
        bench_sort(values, (size_t)d.count);
        d.mean = exp(d.mean / d.count);
        d.median = bench_sorted_median(values, d.count);
        d.fifth = values[(d.count - 1) / 20];
        d.first = values[(d.count - 1) / 100];
        d.worst = values[0];
    }
    free(values);
    return d;
}

static void print_measure(FILE *to, const random_result *result, int m)
{
    const double scale = measures[m].scale;
    bool begun = false;
    for (int c = 0; c < RANDOM_CLASSES; c++) {
        distribution d = distribution_of(result, (random_class)c, m);
        if (!d.count) continue;
        if (!begun)
            fprintf(to, "\n%-30s %8s %8s %8s %8s %8s %8s\n", measures[m].name, "problems", "geomean", "median", "5th %",
                    "1st %", "worst");
        begun = true;
        fprintf(to, "%-30s %8d %8.3g %8.3g %8.3g %8.3g %8.3g", random_class_names[c], d.count, d.mean * scale,
                d.median * scale, d.fifth * scale, d.first * scale, d.worst * scale);
        if (measures[m].measure == choice_quality) fprintf(to, "   within 10 %%: %.1f %%", 100.0 * d.good / d.count);
        if (measures[m].measure == random_to_peer) fprintf(to, "   below it: %d", d.count - d.good);
        fputc('\n', to);
    }
}

/* The worst problems by a measure, each with its bound and the choice. */
static void print_worst(FILE *to, const random_result *result, int m)
{
    enum { WORST = 10 };
    double after = 0;
    int last = -1;
    for (int rank = 0; rank < WORST; rank++) {
        int next = -1;
        for (int i = 0; i < result->count; i++) {
            const random_verdict *v = &result->verdict[i];
            double x = measures[m].measure(v);
            if (v->outcome != RANDOM_EXACT || !(x > 0) || x < after || (x == after && i <= last)) continue;
            if (next < 0 || x < measures[m].measure(&result->verdict[next])) next = i;
        }
        if (next < 0 || measures[m].measure(&result->verdict[next]) >= measures[m].enough) return;
        const random_verdict *v = &result->verdict[next];
        after = measures[m].measure(v);
        last = next;
        if (rank == 0) fprintf(to, "\nthe worst by %s\n", measures[m].name);
        fprintf(to, "%8.3g  %s, %s%s%s, %.4g us", after * measures[m].scale, random_bounded_by(v),
                bench_bare_name(v->strategy), *v->kernel ? ", " : "", v->kernel, v->us);
        if (v->peer_us > 0) fprintf(to, ", %s %.4g us", v->peer, v->peer_us);
        if (v->best_us > 0 && v->best_us < v->us) fprintf(to, ", %s %.4g us", bench_bare_name(v->best), v->best_us);
        fputs("\n          ", to);
        print_again(to, v);
    }
}

static void print_roofs(FILE *to, const random_result *result)
{
    static const char *const names[] = {"memory", "device memory", "page-locked memory", "pageable memory"};
    for (int place = 0; place < PROBLEM_PLACES; place++) {
        const random_roof *roof = &result->roof[place];
        if (roof->sizes == 0) continue;
        fprintf(to, "%s: %.1f GB/s, an empty launch %.2f us", names[place], roof->rate * 1e-3, roof->launch_us);
        for (int i = 1; i < roof->sizes - 1; i++)
            fprintf(to, "%s%.4g KB %.2f", i > 1 ? ", " : "; to read ", roof->bytes[i] * 1e-3, roof->us[i]);
        fputc('\n', to);
    }
}

static void put_summary(json_writer *json, const random_result *result)
{
    json_close(json, ']');
    json_open(json, "summary", '{');
    json_print(json, "\"problems\": %d, \"seconds\": %.1f, \"wrong_or_failed\": %d, \"not_measured\": %d",
               result->count, result->seconds, result->wrong, result->skipped);
    json_open(json, "classes", '[');
    for (int c = 0; c < RANDOM_CLASSES; c++) {
        if (!distribution_of(result, (random_class)c, 0).count) continue;
        json_open(json, NULL, '{');
        json_text(json, "class", random_class_names[c]);
        for (int m = 0; m < MEASURES; m++) {
            distribution d = distribution_of(result, (random_class)c, m);
            if (!d.count) continue;
            json_open(json, measures[m].key, '{');
            json_print(json,
                       "\"problems\": %d, \"geometric_mean\": %.5g, \"median\": %.5g, \"percentile_5\": %.5g, "
                       "\"percentile_1\": %.5g, \"worst\": %.5g",
                       d.count, d.mean, d.median, d.fifth, d.first, d.worst);
            json_close(json, '}');
        }
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
    json_close(json, '}');
}

void random_report_end(const bench_random_options *options, const random_result *result)
{
    FILE *to = options->common.table;
    fprintf(to, "\n%d problem%s in %.0f s; ", result->count, result->count == 1 ? "" : "s", result->seconds);
    fprintf(to, result->wrong ? "%d FAILED or counted WRONG\n" : "all counts exact\n", result->wrong);
    if (result->skipped) fprintf(to, "not measured for lack of memory: %d\n", result->skipped);
    for (int i = 0; i < result->count; i++)
        if (result->verdict[i].outcome == RANDOM_WRONG || result->verdict[i].outcome == RANDOM_FAILED)
            print_failure(to, &result->verdict[i]);
    print_roofs(to, result);
    for (int m = 0; m < MEASURES; m++)
        print_measure(to, result, m);
    for (int m = 0; m < MEASURES && !options->line; m++)
        print_worst(to, result, m);
    put_summary(options->common.json, result);
}
