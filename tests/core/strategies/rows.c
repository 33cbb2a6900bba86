#include "core/strategies/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/device.h"

/* Comparisons of CUDA strategies: made, unsupported, and skipped for lack of a GPU. */
static struct {
    long made, unsupported, skipped;
} on_gpu;
static bool counted[64]; /* row s has made at least one comparison */

bool is_chosen(void)
{
    static long cases;
    const char *every = getenv("HISTO_TEST_EVERY");
    return cases++ % (every ? atol(every) : 1) == 0;
}

bool is_cuda(const char *strategy)
{
    return strncmp(strategy, "cuda/", 5) == 0;
}

const histo_view *place(placed *all, const histo_view *view, bool on_device, histo_view *copy)
{
    if (!view || !on_device || histo_view_size(view) == 0) return view;
    all->memory[all->count] = device_copy(view, copy);
    assert_non_null(all->memory[all->count++]);
    return copy;
}

void displace(placed *all)
{
    while (all->count)
        device_free(all->memory[--all->count]);
}

/* Record that the row has counted something. */
static void note_row(const char *strategy)
{
    histo_strategy_info info;
    for (int s = 0; histo_strategy_describe(s, &info) == HISTO_OK; s++)
        if (strcmp(strchr(strategy, '/') + 1, info.name) == 0 &&
            strncmp(strategy, info.backend, strlen(info.backend)) == 0)
            counted[s] = true;
}

histo_plan_options options_for(const char *strategy, int threads)
{
    return (histo_plan_options){.effort = getenv("HISTO_TEST_COMPILE") ? HISTO_COMPILE : HISTO_ESTIMATE,
                                .strategy = strategy,
                                .threads = threads};
}

histo_plan *supported(const char *strategy, histo_status status, histo_plan *const *plan)
{
    bool cuda = is_cuda(strategy);
    bool optional = strcmp(strategy, "cuda/global_atomic") != 0 && strcmp(strategy, "cpu/sequential") != 0 &&
                    strcmp(strategy, "cpu/privatized") != 0;
    if (status == HISTO_UNSUPPORTED && optional) {
        on_gpu.unsupported += cuda;
        return NULL;
    }
    if (status != HISTO_OK) fail_msg("%s: %s", strategy, histo_last_error());
    on_gpu.made += cuda;
    note_row(strategy);
    return *plan;
}

histo_plan *plan_for(const char *strategy, histo_hist *h, const histo_view *views, const histo_fill_options *options,
                     int threads)
{
    histo_plan *plan;
    const histo_plan_options wanted = options_for(strategy, threads);
    return supported(strategy, histo_plan_create(&plan, h, views, options, &wanted), &plan);
}

bool row_name(int s, char name[64])
{
    const char *chosen = getenv("HISTO_TEST_ROWS");
    histo_strategy_info info;
    OK(histo_strategy_describe(s, &info));
    snprintf(name, 64, "%s/%s", info.backend, info.name);
    if (chosen && strncmp(name, chosen, strlen(chosen)) != 0) return false;
    if (strcmp(info.backend, "cuda") != 0 || !device_missing()) return true;
    on_gpu.skipped++;
    return false;
}

void every_row_counts(void **state)
{
    (void)state;
    print_message("CUDA strategies: %ld comparisons made, %ld unsupported, %ld SKIPPED%s%s\n", on_gpu.made,
                  on_gpu.unsupported, on_gpu.skipped, on_gpu.skipped ? ": " : "",
                  on_gpu.skipped ? device_missing() : "");
    long skipped = on_gpu.skipped;
    char name[64];
    for (int s = 0; s < histo_strategy_count(); s++)
        if (row_name(s, name) && !counted[s] && !getenv("HISTO_TEST_EVERY")) fail_msg("%s supports no case", name);
    if (skipped) skip();
}

int print_rows(void)
{
    histo_strategy_info info;
    for (int s = 0; s < histo_strategy_count(); s++) {
        if (histo_strategy_describe(s, &info) != HISTO_OK) return 1;
        printf("%s/%s\n", info.backend, info.name);
    }
    return 0;
}
