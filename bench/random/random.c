#include "bench/random/random.h"

#include <stdlib.h>

#include "base/error.h"
#include "bench/core/device.h"

const char *const random_class_names[RANDOM_CLASSES] = {"GPU, more than 2^22 samples", "GPU, 2^20 to 2^22",
                                                        "GPU, up to 2^20", "GPU, transfers", "CPU"};

double random_share(const random_verdict *v)
{
    return v->bound_us / v->us;
}

double random_to_peer(const random_verdict *v)
{
    return v->peer_us / v->us;
}

double random_choice(const random_verdict *v)
{
    return v->best_us > 0 ? v->us / v->best_us : 0;
}

const char *random_bounded_by(const random_verdict *v)
{
    if (2 * v->launch_us >= v->bound_us) return "launch";
    return v->bytes_us >= v->counters_us ? "bytes" : "counters";
}

/* ---- Problem after problem ---- */

/* The next problem that the filter lets through; false if there is none. */
static histo_status draw_next(const bench_random_options *options, int64_t *drawn, random_problem *p)
{
    enum { MAX_DRAWN = 200000 };
    const bool on_gpu = options->common.device != HISTO_DEVICE_CPU;
    const int64_t given =
        options->common.samples ? options->common.samples : options->common.bytes / (int64_t)sizeof(double);
    const int64_t max_samples = given ? given : INT64_C(1) << (on_gpu ? 30 : 22);
    for (int tried = 0; tried < MAX_DRAWN; tried++) {
        *p = problem_draw(options->seed, (*drawn)++,
                          max_samples < 2 * PROBLEM_MIN_SAMPLES ? 2 * PROBLEM_MIN_SAMPLES : max_samples, on_gpu);
        if (!options->only || problem_matches(p, options->only)) return HISTO_OK;
    }
    return histo_fail(HISTO_INVALID, "none of %d random problems is %s: ask for less", MAX_DRAWN, options->only);
}

static histo_status check_line(const bench_random_options *options, random_problem *p)
{
    histo_status status = problem_parse(options->line, p);
    if (status != HISTO_OK || (p->place == PROBLEM_CPU) == (options->common.device == HISTO_DEVICE_CPU)) return status;
    return histo_fail(HISTO_INVALID, p->place == PROBLEM_CPU
                                         ? "the random problem is for a CPU: add --device cpu"
                                         : "the random problem has on=, which is for a GPU: leave it out, or add "
                                           "--device cuda where there is one");
}

static histo_status grow(random_result *result)
{
    if (result->count & (result->count - 1)) return HISTO_OK;
    size_t bytes = (size_t)(result->count ? 2 * result->count : 1) * sizeof *result->verdict;
    random_verdict *larger = realloc(result->verdict, bytes);
    if (!larger) return histo_fail_memory(bytes, "results");
    result->verdict = larger;
    return HISTO_OK;
}

static histo_status run_all(const bench_random_options *options, random_result *result, const random_problem *only)
{
    const int64_t count = only ? 1 : options->count ? options->count : 100;
    const double begun = bench_now_s();
    int64_t drawn = 0;
    histo_status status = histo_kernel_cache(NULL); /* as where nobody has run the like before */
    while (result->count < count && status == HISTO_OK && !bench_is_over(&options->common.budget, begun)) {
        random_problem p;
        if (only)
            p = *only;
        else
            status = draw_next(options, &drawn, &p);
        if (status == HISTO_OK) status = grow(result);
        if (status != HISTO_OK) break;
        random_verdict *v = &result->verdict[result->count];
        status = random_run(options, result->roof, &p, v);
        if (status != HISTO_OK && !*v->reason) break;
        random_report_problem(options, v);
        result->wrong += v->outcome == RANDOM_WRONG || v->outcome == RANDOM_FAILED;
        result->skipped += v->outcome == RANDOM_NO_MEMORY;
        result->count++;
    }
    result->seconds = bench_now_s() - begun;
    return status;
}

histo_status bench_random(const bench_random_options *options, random_result *result)
{
    const bench_device *device = bench_device_find(options->common.device, BENCH_RESIDENT);
    bench_random_options chosen = *options;
    random_problem p;
    *result = (random_result){0};
    if (!device) return HISTO_UNSUPPORTED;
    chosen.common.device = device->device;
    histo_status status = options->only ? problem_filter_check(options->only) : HISTO_OK;
    if (status == HISTO_OK) status = options->line ? check_line(&chosen, &p) : draw_next(&chosen, &(int64_t){0}, &p);
    if (status != HISTO_OK) return status;
    random_report_begin(&chosen, device->backend);
    status = run_all(&chosen, result, options->line ? &p : NULL);
    random_report_end(&chosen, result);
    return status;
}

void random_result_free(random_result *result)
{
    free(result->verdict);
    *result = (random_result){0};
}
