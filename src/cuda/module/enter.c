/* The module's side: what the backend calls of the library is called by the library's table. */
#include <stdarg.h>
#include <stdio.h>

#include "cuda/module/build.h"
#include "cuda/module/module.h"
#include "plan/registry.h"

static const histo_core *core;

static void enter(const histo_core *its)
{
    __atomic_store_n(&core, its, __ATOMIC_RELEASE);
}

extern const histo_module histo_cuda_module;
__attribute__((visibility("default")))
const histo_module histo_cuda_module = {HISTO_BUILD, &histo_backend_cuda, histo_cuda_rows, enter};

static int cpu_threads(int wanted)
{
    return core->cpu->threads(wanted);
}

const histo_backend histo_backend_cpu = {.name = "cpu", .threads = cpu_threads};

histo_status histo_accumulators_add(const histo_accumulators *accumulators, histo_list list)
{
    return core->accumulators_add(accumulators, list);
}

void histo_accumulators_clear_others(histo_accumulators *accumulators, histo_device_accumulators *kept)
{
    core->accumulators_clear_others(accumulators, kept);
}

histo_device_accumulators *histo_accumulators_home(const histo_accumulators *accumulators)
{
    return core->accumulators_home(accumulators);
}

double histo_axis_step(const histo_axis *axis)
{
    return core->axis_step(axis);
}

unsigned histo_cache_generation(void)
{
    return core->cache_generation();
}

void *histo_cache_read(const char *key, size_t *size)
{
    return core->cache_read(key, size);
}

void histo_cache_write(const char *key, const void *value, size_t size)
{
    core->cache_write(key, value, size);
}

histo_status histo_cells_make(histo_cells *cells, const histo_axis *owned, histo_dtype dtype, int64_t samples)
{
    return core->cells_make(cells, owned, dtype, samples);
}

uint32_t histo_checksum_add(uint32_t crc, const void *data, size_t size)
{
    return core->checksum_add(crc, data, size);
}

size_t histo_dtype_size(histo_dtype dtype)
{
    return core->dtype_size(dtype);
}

histo_status histo_exact_reserve(histo_exact *e, const histo_exact_windows *windows, uint64_t adds)
{
    return core->exact_reserve(e, windows, adds);
}

histo_status histo_fail(histo_status status, const char *format, ...)
{
    char sentence[512];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return core->fail(status, "%s", sentence);
}

histo_status histo_fail_memory(size_t bytes, const char *what)
{
    return core->fail_memory(bytes, what);
}

void histo_gather_range(char *to, const histo_strided_iter *iter, int operand, size_t size, int64_t begin, int64_t end)
{
    core->gather_range(to, iter, operand, size, begin, end);
}

void histo_list_free(histo_list *list)
{
    core->list_free(list);
}

void histo_lookup_free(histo_lookup *lookup)
{
    core->lookup_free(lookup);
}

histo_status histo_lookup_make(histo_lookup *lookup, const histo_axis *owned, histo_dtype dtype, bool many)
{
    return core->lookup_make(lookup, owned, dtype, many);
}

double histo_now_us(void)
{
    return core->now_us();
}

void histo_pool_finish(histo_pool_work *work)
{
    core->pool_finish(work);
}

void histo_pool_run(int count, void (*task)(void *context, int index), void *context)
{
    core->pool_run(count, task, context);
}

void histo_pool_start(histo_pool_work *work, int count, void (*task)(void *context, int index), void *context)
{
    core->pool_start(work, count, task, context);
}

double histo_problem_fraction(const histo_problem *problem, int64_t length)
{
    return core->problem_fraction(problem, length);
}

bool histo_problem_has_counters(const histo_problem *problem)
{
    return core->problem_has_counters(problem);
}

histo_outside histo_problem_outside(const histo_problem *problem, int64_t length)
{
    return core->problem_outside(problem, length);
}

double histo_sample_bytes(const histo_problem *problem)
{
    return core->sample_bytes(problem);
}

void histo_strided_iter_make(histo_strided_iter *iter, int operands, const histo_view *const *views)
{
    core->strided_iter_make(iter, operands, views);
}

void histo_pairs_iter_make(histo_strided_iter *iter, const histo_view *stack, const histo_pairs *pairs)
{
    core->pairs_iter_make(iter, stack, pairs);
}

histo_strided_iter histo_pairs_iter_pixels(const histo_strided_iter *iter)
{
    return core->pairs_iter_pixels(iter);
}

histo_view histo_view_nd(const void *data, histo_dtype dtype, int ndim, const int64_t *shape)
{
    return core->view_nd(data, dtype, ndim, shape);
}
