/* `histo tune`: which strategy is the fastest where, on this machine; printed, drawn, and kept as wisdom. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/process/interrupt.h"
#include "base/process/process.h"
#include "base/progress.h"
#include "bench/command/picture.h"
#include "bench/command/settings.h"
#include "bench/command/tune_map.h"
#include "bench/core/device.h"
#include "bench/core/options.h"
#include "bench/map/tune.h"
#include "count/wisdom.h"
#include "output/outfile.h"
#include "output/terminal/terminal.h"

static const double default_budget_s = 60;
static const char default_types[] = "u8,u32,f32,f64",
                  default_distributions[] = "uniform,clustered,zipf,degenerate,sorted",
                  default_bins[] = "16,64,256,1024,4096,2^14,2^16,2^18,2^20,2^22",
                  default_samples[] = "2^10,2^12,2^14,2^16,2^18,2^20,2^22",
                  default_samples_with_gpu[] = "2^10,2^12,2^14,2^16,2^18,2^20,2^22,2^24,2^26,2^28";

typedef struct tune {
    const bench_settings *settings;
    bench_tune_options options;
    const char *wisdom; /* where to save it; NULL: nowhere */
    volatile sig_atomic_t interrupted;
} tune;

/* ---- Options ---- */

static int parse_types(tune *t, const char *list, fault *f)
{
    char item[32];
    int count = 0;
    while (bench_next_item(&list, ',', item, sizeof item)) {
        histo_dtype dtype;
        if (histo_dtype_parse(item, &dtype) != HISTO_OK || !bench_dtype_made(dtype))
            return fault_set(f, EXIT_USAGE,
                             "'%s' cannot be tuned for: --types takes u8 i8 u16 i16 u32 i32 u64 i64 f32 f64", item);
        for (int i = 0; i < count; i++)
            if (t->options.dtype[i] == dtype) return fault_set(f, EXIT_USAGE, "--types names %s twice", item);
        t->options.dtype[count++] = dtype;
    }
    t->options.dtypes = count;
    return count ? 0 : fault_set(f, EXIT_USAGE, "--types is empty: name some, as in u8,f32");
}

static int parse_distributions(tune *t, const char *list, fault *f)
{
    char item[32];
    int count = 0;
    while (bench_next_item(&list, ',', item, sizeof item)) {
        if (count == BENCH_MAX_DISTRIBUTIONS)
            return fault_set(f, EXIT_USAGE, "--distributions takes at most %d", BENCH_MAX_DISTRIBUTIONS);
        if (bench_distribution_parse(item, &t->options.distribution[count++]) != HISTO_OK)
            return fault_set(f, EXIT_USAGE, "%s", histo_last_error());
    }
    t->options.distributions = count;
    return count ? 0 : fault_set(f, EXIT_USAGE, "--distributions is empty: name some, as in uniform,zipf");
}

static int check_save(tune *t, fault *f)
{
    const char *save = t->settings->save;
    bool is_default = save && strcmp(save, "default") == 0;
    if (is_default && wisdom_make_directory(f) != 0) return -1;
    t->wisdom = is_default ? wisdom_default_path() : save;
    if (!t->wisdom) return 0;
    if (strcmp(t->wisdom, "-") == 0) return fault_set(f, EXIT_USAGE, "--save takes a file, not standard output");
    const char *json = t->settings->json;
    if (json && strcmp(t->wisdom, json) == 0)
        return fault_set(f, EXIT_USAGE, "--save and --json are both %s: name another file", json);
    if (outfile_check(t->wisdom, f) != 0) return -1;
    if (access(t->wisdom, F_OK) != 0 || histo_wisdom_load(t->wisdom) == HISTO_OK) return 0;
    return fault_set(f, EXIT_DATA, "%s (choose another file with --save)", histo_last_error());
}

static bool stop(void *context)
{
    return ((tune *)context)->interrupted;
}

static void tell(void *context, const char *what, int64_t done, int64_t total)
{
    progress_start(what, ((tune *)context)->settings->common.quiet);
    progress_update(done, total);
}

static int begin(tune *t, const bench_settings *s, fault *f)
{
    const int64_t max_samples = INT64_C(1) << 36;
    *t = (tune){.settings = s};
    bench_tune_options *o = &t->options;
    *o = (bench_tune_options){.device = s->common.device,
                              .transfers = s->transfers,
                              .threads = s->common.threads,
                              .vary = s->common.vary,
                              .budget = {s->budget_s > 0 ? s->budget_s : default_budget_s, stop, t},
                              .progress = tell};
    const bench_device *device = bench_device_find(s->common.device, BENCH_RESIDENT);
    if (!device) return fault_set(f, EXIT_DATA, "%s; take --device cpu", histo_last_error());
    const char *samples = device->device == HISTO_DEVICE_CPU ? default_samples : default_samples_with_gpu;
    if (parse_types(t, s->types ? s->types : default_types, f) != 0) return -1;
    if (parse_distributions(t, s->distributions ? s->distributions : default_distributions, f) != 0) return -1;
    o->bins = bench_parse_numbers("bins", s->common.bins ? s->common.bins : default_bins, HISTO_MAX_BINS, o->bin,
                                  BENCH_MAX_LISTED, f);
    if (o->bins < 0) return -1;
    o->samples = bench_parse_numbers("samples", s->sample_list ? s->sample_list : samples, max_samples, o->sample,
                                     BENCH_MAX_LISTED, f);
    if (o->samples < 0) return -1;
    return picture_check(s->image, f) != 0 || outfile_check(s->json, f) != 0 ? -1 : check_save(t, f);
}

/* ---- Results ---- */

static int write_json(const tune *t, const bench_tuning *map, fault *f)
{
    if (!t->settings->json) return 0;
    outfile *o = outfile_open(t->settings->json, f);
    if (!o) return -1;
    bench_tuning_json(map, process_command_line(), outfile_stream(o));
    return outfile_commit(o, f);
}

static int write_results(const tune *t, const bench_tuning *map, fault *f)
{
    const bench_settings *s = t->settings;
    if (t->wisdom && map->done > 0 && histo_wisdom_save(t->wisdom) != HISTO_OK)
        return fault_set(f, EXIT_DATA, "%s (choose another file with --save)", histo_last_error());
    FILE *printed = s->json && strcmp(s->json, "-") == 0 ? stderr : stdout;
    const screen to = screen_of(printed);
    for (int d = 0; d < t->options.dtypes; d++)
        tune_print_map(map, d, &to);
    for (int d = 0; d < t->options.dtypes && s->image; d++)
        if (picture_of_tuning(map, d, s, f) != 0) return -1;
    return write_json(t, map, f);
}

static void remark(const tune *t, const bench_tuning *map)
{
    if (t->settings->common.quiet) return;
    if (map->done < map->total)
        fprintf(stderr, "histo: %s after %lld of %lld measurements%s\n",
                t->interrupted ? "interrupted" : "time is over", (long long)map->done, (long long)map->total,
                t->interrupted ? "" : ": --budget gives more");
    if (!t->wisdom) fprintf(stderr, "histo: nothing was saved: --save default makes plans use what was found\n");
}

int bench_command_tune(const bench_settings *s)
{
    fault f = {0};
    tune t;
    bench_tuning map = {0};
    if (begin(&t, s, &f) != 0) return fault_report(&f);
    interrupt_defer(&t.interrupted);
    histo_status status = bench_tune(&t.options, &map);
    progress_end();
    if (status != HISTO_OK) fault_set(&f, EXIT_DATA, "%s", histo_last_error());
    fault late = {0};
    if (write_results(&t, &map, f.status == EXIT_OK ? &f : &late) == 0) remark(&t, &map);
    bench_tuning_free(&map);
    interrupt_obey(t.interrupted, !s->common.quiet);
    return f.status == EXIT_OK ? EXIT_OK : fault_report(&f);
}
