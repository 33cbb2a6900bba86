/* The table of strategies, made from strategies.def. */
#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "plan/registry.h"

#define FROM_cuda(strategy) NULL /* filled in by add_cuda */
#define FROM_cpu(strategy) &strategy

#define STRATEGY(backend, name, summary, limits, source) extern const histo_strategy histo_##backend##_##name;
#include "plan/strategies.def"
#undef STRATEGY

static const histo_row rows[] = {
#define STRATEGY(backend, name, summary, limits, source)                                                               \
    {&histo_backend_##backend, #name, summary, limits, source, FROM_##backend(histo_##backend##_##name)},
#include "plan/strategies.def"
#undef STRATEGY
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* A copy of the rows that includes the strategies of the CUDA backend, once it is loaded. */
static pthread_once_t added = PTHREAD_ONCE_INIT;
static histo_row all_rows[ROWS];

static void add_cuda(void)
{
    const histo_strategy *const *strategies = histo_cuda_strategies();
    for (int i = 0; i < ROWS; i++) {
        all_rows[i] = rows[i];
        if (!rows[i].strategy) all_rows[i].strategy = strategies[i];
    }
}

static const histo_row *table(void)
{
    if (!histo_cuda_strategies()) return rows;
    pthread_once(&added, add_cuda);
    return all_rows;
}

const histo_row *histo_row_at(int i)
{
    return i >= 0 && i < ROWS ? &table()[i] : NULL;
}

const histo_backend *histo_backend_of(histo_device device)
{
    return device == HISTO_DEVICE_CPU ? &histo_backend_cpu : &histo_backend_cuda;
}

histo_device histo_device_of(const void *memory, bool *only)
{
    const histo_backend *gpu = &histo_backend_cuda;
    *only = false;
    return gpu->locate ? gpu->locate(memory, only) : (histo_device)HISTO_DEVICE_CPU;
}

histo_device histo_memory_device(const void *memory)
{
    bool only;
    return memory ? histo_device_of(memory, &only) : HISTO_DEVICE_CPU;
}

const histo_row *histo_row_find(const char *name, const histo_backend *preferred)
{
    const histo_row *row = NULL, *in = table();
    const char *slash = strchr(name, '/');
    size_t prefix = slash ? (size_t)(slash - name) : 0;
    for (int i = 0; i < ROWS; i++) {
        const char *backend = in[i].backend->name;
        if (slash && (strncmp(name, backend, prefix) != 0 || backend[prefix])) continue;
        if (strcmp(slash ? slash + 1 : name, in[i].name) != 0) continue;
        if (!row || in[i].backend == preferred) row = &in[i];
    }
    return row;
}

int histo_strategy_count(void)
{
    return ROWS;
}

histo_status histo_strategy_describe(int i, histo_strategy_info *info)
{
    if (info) *info = (histo_strategy_info){0};
    const histo_row *row = histo_row_at(i);
    if (!row || !info) return histo_fail(HISTO_INVALID, "there is no strategy %d, or no room for its description", i);
    *info = (histo_strategy_info){.backend = row->backend->name,
                                  .name = row->name,
                                  .summary = row->summary,
                                  .limits = row->limits,
                                  .source = row->source,
                                  .storage = row->strategy && row->strategy->sparse ? HISTO_SPARSE : HISTO_DENSE};
    return HISTO_OK;
}
