#include "bench/map/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/core/report.h"

static const double near_enough = 0.9;    /* of the fastest strategy's rate: a right choice */
static const double hopeless = 8;         /* times slower than the fastest strategy: give up */
static const double min_of_uniform = 0.8; /* of the uniform cell's rate, for other distributions */

/* ---- One cell ---- */

/* The rate of the uniform cell of the same row, if it was measured before. */
static double uniform_rate(const bench_map_result *map, const bench_cell *cell)
{
    for (int i = 0; i < map->measured; i++)
        if (map->verdict[i].cell->input.kind == BENCH_UNIFORM && strcmp(map->verdict[i].cell->row, cell->row) == 0)
            return map->verdict[i].rate;
    return 0;
}

/* The rate that the peer sets as a target; 0: none, or no such peer. */
static double target_rate(const bench_result *result, const bench_cell *cell)
{
    for (int i = 0; i < result->scores && cell->over_peer > 0; i++)
        if (result->score[i].outcome == BENCH_EXACT && strcmp(result->score[i].name, cell->target_peer) == 0)
            return cell->over_peer * bench_rate(&result->score[i]);
    return 0;
}

static bench_verdict judge(const bench_map_result *map, const bench_cell *cell, const bench_result *result,
                           double target)
{
    const bench_score *plan = result->plan, *peer = result->best_peer;
    bench_verdict v = {.cell = cell, .target = target};
    if (plan->outcome != BENCH_EXACT || !result->best) {
        v.faults = BENCH_ERROR;
        return v;
    }
    v.rate = bench_rate(plan);
    v.percent = bench_percent(result, plan);
    v.choice = v.rate / bench_rate(result->best);
    v.peers = peer ? v.rate / bench_rate(peer) : 0;
    if (v.percent < target || v.rate < target_rate(result, cell)) v.faults |= BENCH_BELOW_TARGET;
    if (peer && v.peers < 1) v.faults |= BENCH_BELOW_PEER;
    if (v.choice < near_enough && strcmp(plan->name, result->best->name) != 0) v.faults |= BENCH_WRONG_CHOICE;
    if (v.rate < min_of_uniform * uniform_rate(map, cell)) v.faults |= BENCH_BELOW_UNIFORM;
    return v;
}

static const char *const fault_names[] = {"below target", "below peer", "wrong choice", "below 0.8 x uniform",
                                          "failed"};
enum { FAULTS = sizeof fault_names / sizeof fault_names[0] };

static void print_heading(FILE *to)
{
    fputs(
        "Gsamples/s of the plan's choice, in per cent of the read roof; the target (2n: twice the naive loop, 3b: "
        "three "
        "times boost-histogram);\nthe fastest strategy, if another one, and the plan's rate over it; the fastest peer, "
        "and the plan's rate over it\n\n",
        to);
    fprintf(to, "%-42s%9s %6s %7s  %-16s %-22s %-26s\n", "cell", "Gs/s", "roof%", "goal", "plan", "best", "peer");
}

static void print_cell(FILE *to, const bench_result *result, const bench_verdict *v)
{
    const bench_score *plan = result->plan, *peer = result->best_peer;
    char goal[400] = "", best[400] = "", other[400] = "";
    fprintf(to, "%-42s", v->cell->input.name);
    if (v->faults & BENCH_ERROR) {
        fprintf(to, " %s\n", plan->outcome == BENCH_EXACT ? "no strategy could count it" : plan->reason);
        return;
    }
    if (v->target > 0) snprintf(goal, sizeof goal, "%.0f", v->target);
    if (target_rate(result, v->cell) > 0)
        snprintf(goal + strlen(goal), sizeof goal - strlen(goal), "%s%.2g%c", *goal ? "," : "", v->cell->over_peer,
                 *v->cell->target_peer);
    if (strcmp(plan->name, result->best->name) != 0)
        snprintf(best, sizeof best, "%s %.2f", bench_bare_name(result->best->name), v->choice);
    if (peer) snprintf(other, sizeof other, "%s %.2f%s", peer->name, v->peers, peer->misplaced ? "*" : "");
    fprintf(to, "%9.4g %6.1f %7s  %-16s %-22s %-26s", v->rate * 1e-3, v->percent, goal, bench_bare_name(plan->name),
            best, other);
    const char *before = "";
    for (int f = 0; f < FAULTS; f++) {
        if (!(v->faults >> f & 1)) continue;
        fprintf(to, "%s%s", before, fault_names[f]);
        before = ", ";
    }
    fputs(v->faults ? "\n" : "ok\n", to);
    for (int i = 0; i < result->scores; i++)
        if (result->score[i].outcome == BENCH_WRONG || result->score[i].outcome == BENCH_FAILED)
            fprintf(to, "    %s %s: %s\n", result->score[i].name,
                    result->score[i].outcome == BENCH_WRONG ? "counted WRONG" : "FAILED", result->score[i].reason);
    fflush(to);
}

static void put_cell(json_writer *json, const bench_result *result, const bench_verdict *v)
{
    static const char *const placements[] = {"device", "pinned", "pageable"};
    if (!json) return;
    report_open_result(json, result);
    json_text(json, "row", v->cell->row);
    json_text(json, "distribution", v->cell->column);
    json_text(json, "placement", placements[v->cell->placement]);
    if (v->target > 0) json_print(json, "\"target_percent\": %g", v->target);
    if (target_rate(result, v->cell) > 0) {
        json_text(json, "target_peer", v->cell->target_peer);
        json_print(json, "\"target_over_peer\": %g", v->cell->over_peer);
    }
    if (!(v->faults & BENCH_ERROR)) {
        const bench_score *peer = result->best_peer;
        json_text(json, "chosen", result->plan->name);
        json_text(json, "best_strategy", result->best->name);
        json_print(json, "\"Gsamples_per_s\": %.5g, \"percent_of_read_roof\": %.5g, \"over_best_strategy\": %.4g",
                   v->rate * 1e-3, v->percent, v->choice);
        if (peer) json_text(json, "best_peer", peer->name);
        if (peer) json_print(json, "\"over_best_peer\": %.4g", v->peers);
    }
    json_print(json, "\"seconds\": %.2f", v->seconds);
    json_open(json, "faults", '[');
    for (int f = 0; f < FAULTS; f++)
        if (v->faults >> f & 1) json_text(json, NULL, fault_names[f]);
    json_close(json, ']');
    json_close(json, '}');
}

/* ---- All cells ---- */

typedef struct summary {
    int cells, with_peer, right, faults[FAULTS];
    double log_percent, log_peers;
    const bench_verdict *worst;   /* lowest fraction of its target, or else of the roof */
    const bench_verdict *closest; /* to its fastest peer */
} summary;

static double reached(const bench_verdict *v)
{
    return v->percent / (v->target > 0 ? v->target : 100);
}

static summary sum_up(const bench_map_result *map)
{
    summary s = {.cells = map->measured};
    for (int i = 0; i < map->measured; i++) {
        const bench_verdict *v = &map->verdict[i];
        for (int f = 0; f < FAULTS; f++)
            s.faults[f] += v->faults >> f & 1;
        if (v->faults & BENCH_ERROR) continue;
        s.right += !(v->faults & BENCH_WRONG_CHOICE);
        s.log_percent += log(v->percent);
        if (!s.worst || reached(v) < reached(s.worst)) s.worst = v;
        if (v->peers == 0) continue;
        s.with_peer++;
        s.log_peers += log(v->peers);
        if (!s.closest || v->peers < s.closest->peers) s.closest = v;
    }
    s.log_percent /= fmax(s.cells - s.faults[FAULTS - 1], 1);
    s.log_peers /= fmax(s.with_peer, 1);
    return s;
}

/* "below peer (3): u8/integer/256: zipf, sorted; u32/integer/4096: uniform": cells with this fault. */
static void print_faulty(FILE *to, const bench_map_result *map, const char *name, int fault, int count)
{
    const char *row = NULL;
    if (count) fprintf(to, "%s (%d)", name, count);
    for (int i = 0; i < map->cells; i++) {
        const bench_cell *cell = map->verdict[i].cell;
        if (!(map->verdict[i].faults & fault)) continue;
        if (!row || strcmp(row, cell->row) != 0)
            fprintf(to, "%s %s: %s", row ? ";" : ":", cell->row, cell->column);
        else
            fprintf(to, ", %s", cell->column);
        row = cell->row;
    }
    if (count) fputc('\n', to);
}

static void print_summary(FILE *to, const bench_map_result *map, int wrong, double seconds)
{
    summary s = sum_up(map);
    fprintf(to, "\n%d cells in %.0f s; ", s.cells, seconds);
    fprintf(to, wrong ? "%d entries FAILED or counted WRONG\n" : "all counts exact\n", wrong);
    print_faulty(to, map, "not measured", BENCH_NOT_MEASURED, map->cells - map->measured);
    if (!s.worst) return;
    fprintf(to, "geometric mean: %.1f %% of the read roof", exp(s.log_percent));
    if (s.with_peer) fprintf(to, ", %.2f x the best peer", exp(s.log_peers));
    fprintf(to, "\nworst cell: %s, %.1f %% of the roof", s.worst->cell->input.name, s.worst->percent);
    if (s.worst->target > 0) fprintf(to, " where the target is %.0f %%", s.worst->target);
    if (s.closest) fprintf(to, "\nclosest to a peer: %s, %.2f x", s.closest->cell->input.name, s.closest->peers);
    fprintf(to, "\nthe plan is within 10 %% of the best strategy on %d of %d cells\n", s.right, s.cells);
    for (int f = 0; f < FAULTS; f++)
        print_faulty(to, map, fault_names[f], 1 << f, s.faults[f]);
    fputs("* after a peer: it puts some samples into the wrong bins\n", to);
}

static void put_summary(json_writer *json, const bench_map_result *map, int wrong, double seconds)
{
    static const char *const keys[FAULTS] = {"below_target", "below_peer", "wrong_choice", "below_uniform", "failed"};
    summary s = sum_up(map);
    json_close(json, ']');
    json_open(json, "summary", '{');
    json_print(json, "\"cells\": %d, \"seconds\": %.1f, \"wrong_or_failed_entries\": %d", s.cells, seconds, wrong);
    if (s.worst) {
        json_print(json, "\"geometric_mean_percent_of_read_roof\": %.4g", exp(s.log_percent));
        json_text(json, "worst_cell", s.worst->cell->input.name);
    }
    if (s.with_peer) json_print(json, "\"geometric_mean_over_best_peer\": %.4g", exp(s.log_peers));
    json_print(json, "\"right_choices\": %d", s.right);
    for (int f = 0; f < FAULTS; f++)
        json_print(json, "\"%s\": %d", keys[f], s.faults[f]);
    json_open(json, "not_measured", '[');
    for (int i = map->measured; i < map->cells; i++)
        json_text(json, NULL, map->verdict[i].cell->input.name);
    json_close(json, ']');
    json_close(json, '}');
    json_close(json, '}');
}

/* Measure the next cell. */
static histo_status run_cell(const bench_options *options, bench_map_result *map, int *wrong)
{
    bench_verdict *v = &map->verdict[map->measured];
    bench_race race = {.device = bench_device_find(options->device, v->cell->placement),
                       .input = &v->cell->input,
                       .samples = options->samples,
                       .bytes = options->bytes,
                       .repeat = options->repeat ? options->repeat : 5,
                       .threads = options->threads,
                       .hopeless = hopeless,
                       .plan = true,
                       .peers = true};
    bench_result result;
    double start = bench_now_s();
    race.budget_us = options->device == HISTO_DEVICE_CPU ? 0.25e6 : 0.15e6;
    histo_status status = bench_race_run(&race, &result);
    if (status == HISTO_OK) {
        *v = judge(map, v->cell, &result, v->target);
        v->seconds = bench_now_s() - start;
        print_cell(options->table, &result, v);
        put_cell(options->json, &result, v);
        map->measured++;
        for (int i = 0; i < result.scores; i++)
            *wrong += result.score[i].outcome == BENCH_FAILED || result.score[i].outcome == BENCH_WRONG;
    }
    bench_result_free(&result);
    return status;
}

/* The cells that the options select. */
static histo_status select_cells(const bench_options *options, const char *patterns, bench_map_result *map)
{
    static bench_cell cells[BENCH_MAX_CELLS];
    const int count = bench_map_cells(cells);
    for (int i = 0; i < count; i++) {
        double target = cells[i].target[options->device != HISTO_DEVICE_CPU];
        if (target < 0 || (patterns && !bench_cell_selected(&cells[i], patterns))) continue;
        map->verdict[map->cells++] = (bench_verdict){&cells[i], .target = target, .faults = BENCH_NOT_MEASURED};
    }
    if (map->cells) return HISTO_OK;
    return histo_fail(HISTO_INVALID,
                      "no cell of the map matches %s: cells are called as u32/integer/4096/zipf, and patterns as "
                      "u32, u*/zipf or f32/log/4096 match parts of that",
                      patterns);
}

histo_status bench_map(const bench_options *options, const char *patterns, bench_map_result *map, int *wrong)
{
    const bench_device *device = bench_device_find(options->device, BENCH_RESIDENT);
    bench_options chosen = *options;
    double start = bench_now_s();
    *map = (bench_map_result){0};
    *wrong = 0;
    if (!device) return HISTO_UNSUPPORTED;
    chosen.device = device->device;
    if (!chosen.bytes) chosen.bytes = (int64_t)(device->device == HISTO_DEVICE_CPU ? 512 : 2048) << 20;
    histo_status status = select_cells(&chosen, patterns, map);
    if (status != HISTO_OK) return status;
    print_heading(options->table);
    report_open(options->json, options->command_line, device->backend);
    json_open(options->json, "results", '[');
    while (status == HISTO_OK && map->measured < map->cells) {
        if (bench_is_over(&options->budget, start)) break;
        status = run_cell(&chosen, map, wrong);
    }
    if (status != HISTO_OK && !map->measured) return status;
    print_summary(options->table, map, *wrong, bench_now_s() - start);
    put_summary(options->json, map, *wrong, bench_now_s() - start);
    return status;
}
