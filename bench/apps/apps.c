#include "bench/apps/apps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps_peers.py.h"
#include "base/error.h"
#include "bench/core/report.h"
#include "bench/peers/python.h"

static const char *const libraries[] = {"OpenCV", "scikit-image", "NumPy",       "libvips",
                                        "Pillow", "SimpleITK",    "ImageMagick", "FFmpeg"};
enum { LIBRARIES = sizeof libraries / sizeof *libraries, BURST = 3, ARRAY_BYTES = BENCH_PYTHON_LIST + 32 };

/* A library at the same work. */
typedef struct peer {
    bool runs, compared;
    char reason[200];      /* why not */
    double us;             /* the least */
    double largest, share; /* by how much, and how often, its result differs from ours */
} peer;

typedef enum verdict { NOT_MEASURED = 0, MET, MISSED } verdict;
static const char *const verdict_names[] = {"not measured", "met", "missed"};

typedef struct race {
    const bench_options *options;
    const apps_table *table;
    apps_job job;
    double us; /* ours, the least */
    peer peers[LIBRARIES];
    bool wrong;      /* our result is not what it must be */
    char fault[300]; /* why not, or why nobody knows; else empty */
} race;

static struct {
    bench_python process;
    bool missing[LIBRARIES]; /* not installed */
} python;

/* ---- Peers ---- */

/* A tab, and "FILE DTYPE SHAPE" with tabs, of an array whose bytes go to this file. */
static histo_status share(int file, const histo_view *view, char *text, size_t size)
{
    char shape[BENCH_PYTHON_LIST];
    file = python.process.files[file];
    snprintf(text, size, "\t%d\t%s\t%s", file, histo_dtype_name(view->dtype),
             bench_python_list(view->shape, view->ndim, shape));
    return bench_python_put(file, view->data, 0, (size_t)histo_view_size(view) * histo_dtype_size(view->dtype));
}

static void refuse(race *r, int p)
{
    const char *why = histo_last_error();
    python.missing[p] |= strncmp(why, "absent", strlen("absent")) == 0;
    snprintf(r->peers[p].reason, sizeof r->peers[p].reason, "%s", why);
    r->peers[p].runs = false;
}

static histo_status begin_peers(race *r)
{
    char arrays[APPS_MAX_INPUTS * ARRAY_BYTES] = "";
    histo_status status = HISTO_OK;
    if (!r->job.row->work) return HISTO_OK;
    if (!bench_python_start(&python.process, apps_peers_py)) {
        bench_python_absent();
        for (int p = 0; p < LIBRARIES; p++)
            refuse(r, p);
        return HISTO_OK;
    }
    for (int i = 0; i < r->job.input_count && status == HISTO_OK; i++) {
        const size_t at = strlen(arrays);
        status = share(i, &r->job.inputs[i], arrays + at, sizeof arrays - at);
    }
    for (int p = 0; p < LIBRARIES && status == HISTO_OK; p++) {
        const apps_row *row = r->job.row;
        const char *words = r->job.words ? r->job.words : row->words ? row->words : "";
        r->peers[p].runs = bench_python_ask(&python.process, "begin\t%d\t%s\t%s\t%s\t%d%s\n", p, libraries[p],
                                            row->work, words, r->job.threads, arrays) == HISTO_OK;
        if (!r->peers[p].runs) refuse(r, p);
    }
    return status;
}

static void run_peer(race *r, int p)
{
    peer *entry = &r->peers[p];
    if (bench_python_ask(&python.process, "run\t%d\n", p) != HISTO_OK) {
        refuse(r, p);
        return;
    }
    const double us = strtod(python.process.answer, NULL);
    if (entry->us == 0 || us < entry->us) entry->us = us;
}

static histo_status compare_peers(race *r)
{
    char array[ARRAY_BYTES];
    if (!r->job.result.data || !python.process.answers) return HISTO_OK;
    histo_status status = share(APPS_MAX_INPUTS, &r->job.result, array, sizeof array);
    for (int p = 0; p < LIBRARIES && status == HISTO_OK; p++) {
        peer *entry = &r->peers[p];
        if (!entry->runs) continue;
        entry->compared = bench_python_ask(&python.process, "compare\t%d%s\n", p, array) == HISTO_OK;
        if (!entry->compared) {
            snprintf(entry->reason, sizeof entry->reason, "%s", histo_last_error());
            continue;
        }
        char *end;
        entry->largest = strtod(python.process.answer, &end);
        entry->share = strtod(end, NULL);
    }
    return status;
}

static void end_peers(void)
{
    for (int p = 0; p < LIBRARIES && python.process.answers; p++)
        bench_python_ask(&python.process, "end\t%d\n", p);
}

/* ---- Taking turns ---- */

/* A few runs in a row, so that caches and clocks are as warm as they become; slow ones only once. */
static histo_status take_turn(race *r, double *spent_us)
{
    enum { SLOW_US = 200000 };
    histo_status status = HISTO_OK;
    for (int i = 0; i < BURST && status == HISTO_OK; i++) {
        double us = 0;
        status = r->table->time(&r->job, &us);
        if (r->us == 0 || us < r->us) r->us = us;
        *spent_us += us;
    }
    for (int p = 0; p < LIBRARIES && status == HISTO_OK; p++)
        for (int i = 0; i < BURST && r->peers[p].runs; i++) {
            run_peer(r, p);
            *spent_us += r->peers[p].us;
            if (r->peers[p].us > SLOW_US) break;
        }
    return status;
}

static histo_status take_turns(race *r)
{
    enum { ENOUGH_US = 5000000, FEW = 3 };
    const int turns = r->options->repeat ? r->options->repeat : r->options->quick ? 2 : 15;
    double spent_us = 0;
    histo_status status = HISTO_OK;
    for (int t = 0; t < turns && status == HISTO_OK && (t < FEW || spent_us < ENOUGH_US || r->options->repeat); t++)
        status = take_turn(r, &spent_us);
    return status;
}

/* ---- What came of it ---- */

static const peer *find_peer(const race *r, const char *name)
{
    const peer *best = NULL;
    for (int p = 0; p < LIBRARIES; p++) {
        const peer *entry = &r->peers[p];
        if (entry->runs && (!name || strcmp(libraries[p], name) == 0) && (!best || entry->us < best->us)) best = entry;
    }
    return best;
}

/* Is our result what it must be? */
static void judge_result(race *r)
{
    const apps_row *row = r->job.row;
    const peer *reference = row->reference ? find_peer(r, row->reference) : NULL;
    r->wrong = true;
    if (r->job.differences > 0) {
        snprintf(r->fault, sizeof r->fault, "WRONG: %lld differ from the CPU's", (long long)r->job.differences);
        return;
    }
    r->wrong = reference && (!reference->compared || reference->largest > row->tolerance);
    if (row->reference && !reference)
        snprintf(r->fault, sizeof r->fault, "not compared: no %s", row->reference);
    else if (reference && !reference->compared)
        snprintf(r->fault, sizeof r->fault, "not compared: %s", reference->reason);
    else if (r->wrong)
        snprintf(r->fault, sizeof r->fault, "WRONG: %.3g %% differ from %s, by up to %.3g", 100 * reference->share,
                 row->reference, reference->largest);
}

static verdict judge_target(const race *r, const apps_target *target)
{
    if (target->us > 0) return r->us <= target->us ? MET : MISSED;
    if (target->share > 0) return r->us * target->share <= r->job.roof_us ? MET : MISSED;
    const peer *entry = find_peer(r, target->library);
    return !entry ? NOT_MEASURED : entry->us >= target->factor * r->us ? MET : MISSED;
}

static int count_targets(const apps_row *row)
{
    int count = 0;
    for (const apps_target *t = row->targets; count < APPS_MAX_TARGETS && t->us + t->factor + t->share > 0; t++)
        count++;
    return count;
}

enum { TARGET_BYTES = 80 };

static const char *target_text(const apps_target *target, char text[TARGET_BYTES])
{
    const size_t size = TARGET_BYTES;
    if (target->us > 0)
        snprintf(text, size, "%.4g us", target->us);
    else if (target->share > 0)
        snprintf(text, size, "%.3g %% of the roof", 100 * target->share);
    else
        snprintf(text, size, "%.3g x %s", target->factor, target->library ? target->library : "the fastest");
    return text;
}

static histo_status print_head(const apps_table *table, FILE *to)
{
    if (table->describe) {
        histo_status status = table->describe(to);
        fprintf(to, "%-26s %9s %7s %9s  target\n", "microseconds", "histo", "GB/s", "roof");
        return status;
    }
    fprintf(to, "milliseconds, the least of many runs in turns; in brackets, how many times ours\n%-26s %9s %7s\n", "",
            "histo", "GB/s");
    return HISTO_OK;
}

/* The fastest first. */
static void print_peers(const race *r, FILE *to)
{
    const peer *last = NULL;
    for (int n = 0; n < LIBRARIES; n++) {
        int next = -1;
        for (int p = 0; p < LIBRARIES; p++) {
            const peer *entry = &r->peers[p];
            const bool later = !last || entry->us > last->us || (entry->us == last->us && entry > last);
            if (entry->runs && later && (next < 0 || entry->us < r->peers[next].us)) next = p;
        }
        if (next < 0) return;
        last = &r->peers[next];
        fprintf(to, "%s %s %.4g (%.3g)", n ? "," : " ", libraries[next], last->us * 1e-3, last->us / r->us);
    }
}

static void print_row(const race *r, FILE *to)
{
    const apps_row *row = r->job.row;
    const bool has_roof = r->table->describe;
    char text[TARGET_BYTES];
    fprintf(to, "%-26s %9.3f", row->name, has_roof ? r->us : r->us * 1e-3);
    if (r->job.bytes)
        fprintf(to, " %7.1f", (double)r->job.bytes / r->us * 1e-3);
    else
        fprintf(to, " %7s", "");
    if (r->job.roof_us > 0)
        fprintf(to, " %7.1f %%", 100 * r->job.roof_us / r->us);
    else if (has_roof)
        fprintf(to, " %9s", "");
    else
        print_peers(r, to);
    for (int t = 0; t < count_targets(row); t++)
        fprintf(to, "%s %s: %s", has_roof ? " " : ";", target_text(&row->targets[t], text),
                verdict_names[judge_target(r, &row->targets[t])]);
    if (*r->fault) fprintf(to, "; %s", r->fault);
    fputc('\n', to);
    fflush(to);
}

static void put_peer(json_writer *json, const char *name, const peer *p)
{
    json_open(json, name, '{');
    if (!p->runs)
        json_text(json, "reason", p->reason);
    else
        json_print(json, "\"us\": %.3f", p->us);
    if (p->runs && p->compared)
        json_print(json, "\"largest_difference\": %.9g, \"share_that_differs\": %.9g", p->largest, p->share);
    json_close(json, '}');
}

static void put_row(const race *r, json_writer *json)
{
    const apps_row *row = r->job.row;
    const char *right = row->reference || r->table->describe ? "as it must be" : "not compared";
    json_open(json, NULL, '{');
    json_text(json, "name", row->name);
    json_print(json, "\"us\": %.3f, \"bytes\": %lld", r->us, (long long)r->job.bytes);
    if (r->job.roof_us > 0) json_print(json, "\"roof_us\": %.3f", r->job.roof_us);
    json_text(json, "result", *r->fault ? r->fault : right);
    json_open(json, "targets", '[');
    for (int t = 0; t < count_targets(row); t++) {
        char text[TARGET_BYTES];
        json_open(json, NULL, '{');
        json_text(json, "target", target_text(&row->targets[t], text));
        json_text(json, "verdict", verdict_names[judge_target(r, &row->targets[t])]);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_open(json, "peers", '{');
    for (int p = 0; p < LIBRARIES && row->work; p++)
        put_peer(json, libraries[p], &r->peers[p]);
    json_close(json, '}');
    json_close(json, '}');
}

/* ---- The table ---- */

static histo_status run_race(race *r)
{
    histo_status status = r->job.row->begin(&r->job);
    if (status == HISTO_OK) status = begin_peers(r);
    if (status == HISTO_OK) status = take_turns(r);
    if (status == HISTO_OK && r->table->result) status = r->table->result(&r->job);
    if (status == HISTO_OK) status = compare_peers(r);
    end_peers();
    r->table->end(&r->job);
    for (int i = 0; i < APPS_MAX_INPUTS; i++)
        free((void *)r->job.inputs[i].data);
    free((void *)r->job.result.data);
    return status;
}

/* Is a part of the name on the list? NULL: all are. */
static bool is_selected(const char *name, const char *list)
{
    char part[64];
    bool selected = !list;
    while (!selected && bench_next_item(&list, ',', part, sizeof part))
        selected = *part && strstr(name, part);
    return selected;
}

/* The tables of a device, NULL-terminated; NULL with a message if it cannot be used. */
static const apps_table *const *find_tables(histo_device device)
{
    static const apps_table *const cpu[] = {&apps_cpu, &apps_commands, NULL};
    if (device < HISTO_DEVICE_CUDA(0)) return cpu;
    const bench_device *gpu = bench_device_find(device, BENCH_RESIDENT); /* or says why not */
#ifdef BENCH_CUDA
    static const apps_table *const cuda[] = {&apps_cuda, NULL};
    if (gpu) return cuda;
#endif
    (void)gpu;
    return NULL;
}

static int count_selected(const apps_table *const *tables, const char *list)
{
    int selected = 0;
    for (; *tables; tables++)
        for (int i = 0; i < (*tables)->count; i++)
            selected += is_selected((*tables)->rows[i].name, list);
    return selected;
}

static void print_missing(FILE *to)
{
    for (int p = 0; p < LIBRARIES; p++)
        if (python.missing[p])
            fprintf(to, "%s is not installed where HISTO_BENCH_PYTHON points; script/bench installs it\n",
                    libraries[p]);
}

/* What was measured until now. */
typedef struct tally {
    int measured, wrong, left, met, missed;
} tally;

static void add_race(tally *t, const race *r)
{
    t->measured++;
    t->wrong += r->wrong;
    for (int i = 0; i < count_targets(r->job.row); i++) {
        const verdict reached = judge_target(r, &r->job.row->targets[i]);
        t->met += reached == MET;
        t->missed += reached == MISSED;
    }
}

static histo_status measure_table(const bench_options *options, const apps_table *table, const apps_photo *photo,
                                  const char *names, double begun_s, tally *t)
{
    for (int i = 0; i < table->count; i++) {
        const apps_row *row = &table->rows[i];
        if (!is_selected(row->name, names)) continue;
        if (bench_is_over(&options->budget, begun_s)) {
            t->left++;
            continue;
        }
        race r = {
            .options = options,
            .table = table,
            .job = {.table = table, .row = row, .photo = photo, .threads = options->threads, .quick = options->quick}};
        histo_status status = run_race(&r);
        if (status == HISTO_UNSUPPORTED) {
            fprintf(options->table, "%-26s not measured: %s\n", row->name, histo_last_error());
            continue;
        }
        if (status != HISTO_OK) return status;
        judge_result(&r);
        print_row(&r, options->table);
        put_row(&r, options->json);
        add_race(t, &r);
    }
    return HISTO_OK;
}

histo_status bench_apps(const bench_options *options, const apps_photo *photo, const char *names, int *measured,
                        int *wrong)
{
    const apps_table *const *tables = find_tables(options->device);
    const double begun_s = bench_now_s();
    tally t = {0};
    *measured = *wrong = 0;
    if (!tables) return HISTO_UNSUPPORTED;
    if (!count_selected(tables, names)) return histo_fail(HISTO_INVALID, "no application is called '%s'", names);
    report_open(options->json, options->command_line, NULL);
    json_open(options->json, "applications", '[');
    histo_status status = print_head(*tables, options->table);
    for (; *tables && status == HISTO_OK; tables++)
        status = measure_table(options, *tables, photo, names, begun_s, &t);
    print_missing(options->table);
    fprintf(options->table, "%d targets met, %d missed\n", t.met, t.missed);
    if (t.left) fprintf(options->table, "%d not measured: the time is over\n", t.left);
    report_close(options->json);
    *measured = t.measured;
    *wrong = t.wrong;
    return status;
}
