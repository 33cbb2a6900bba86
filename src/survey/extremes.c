/* The extremes of samples, by batch entry. */
#include "survey/extremes.h"

#include <math.h>
#include <string.h>

#include "axis/filter.h"
#include "axis/slot_of.h"
#include "base/error.h"
#include "base/floats.h"
#include "base/memory.h"
#include "base/threads/pool.h"
#include "base/threads/threads.h"
#include "cpu/kernels/kernels.h"
#include "plan/strategy.h"
#include "survey/device.h"
#include "view/dtype.h"

enum { FEW = 4096, MOST_THREADS = 256 };

void histo_extremes_add(histo_extremes *extremes, const histo_samples *block)
{
    histo_cpu_kernels_usable()->add_extremes(block->source->dtypes[0], block->block, block->n, extremes);
    extremes->masked += block->masked;
}

static bool is_signed(histo_dtype dtype)
{
    return dtype == HISTO_I8 || dtype == HISTO_I16 || dtype == HISTO_I32 || dtype == HISTO_I64;
}

static bool less(histo_dtype dtype, histo_number a, histo_number b)
{
    if (!histo_dtype_is_integer(dtype)) return a.f64 < b.f64;
    return is_signed(dtype) ? a.i64 < b.i64 : a.u64 < b.u64;
}

void histo_extremes_merge(histo_extremes *to, const histo_extremes *from, histo_dtype dtype)
{
    const bool first = histo_extremes_finite(to) == 0;
    if (histo_extremes_finite(from) > 0) {
        if (first || less(dtype, from->min, to->min)) to->min = from->min;
        if (first || less(dtype, to->max, from->max)) to->max = from->max;
    }
    to->samples += from->samples;
    to->nan += from->nan;
    to->below += from->below;
    to->above += from->above;
    to->masked += from->masked;
}

void histo_extremes_outwards(const histo_extremes *e, histo_dtype dtype, double *min, double *max)
{
    if (!histo_dtype_is_integer(dtype)) {
        *min = e->min.f64;
        *max = e->max.f64;
    } else if (is_signed(dtype)) {
        *min = (double)e->min.i64;
        *max = (double)e->max.i64;
        if (histo_less_i64(e->min.i64, *min)) *min = nextafter(*min, -INFINITY);
        if (histo_above_i64(e->max.i64, *max)) *max = nextafter(*max, INFINITY);
    } else {
        *min = (double)e->min.u64;
        *max = (double)e->max.u64;
        if (histo_less_u64(e->min.u64, *min)) *min = nextafter(*min, -INFINITY);
        if (histo_above_u64(e->max.u64, *max)) *max = nextafter(*max, INFINITY);
    }
}

typedef struct search {
    const histo_source *source;
    int threads;
    int64_t entries, entry;   /* number of entries; the one that all threads share */
    histo_extremes *extremes; /* of each entry, or of each thread */
} search;

/* Where the samples of entry i begin. */
static int64_t begin_of(const search *s, int64_t entry)
{
    const histo_strided_iter *iter = &s->source->iter;
    return iter->offsets ? iter->offsets[entry] : entry * iter->per_batch;
}

static void search_entries(void *context, int index)
{
    const search *s = context;
    const int64_t first = s->entries * index / s->threads, end = s->entries * (index + 1) / s->threads;
    histo_samples from;
    histo_samples_start(&from, s->source, begin_of(s, first), begin_of(s, end));
    from.all = begin_of(s, end);
    while (histo_samples_next(&from))
        histo_extremes_add(&s->extremes[from.batch], &from);
}

static void search_part(void *context, int index)
{
    const search *s = context;
    const int64_t begin = begin_of(s, s->entry), n = begin_of(s, s->entry + 1) - begin;
    histo_samples from;
    histo_samples_start(&from, s->source, begin + n / s->threads * index,
                        index == s->threads - 1 ? begin + n : begin + n / s->threads * (index + 1));
    from.first = begin - begin / s->threads; /* progress over all entries, each of which all threads share */
    from.all = s->source->samples / s->threads;
    while (histo_samples_next(&from))
        histo_extremes_add(&s->extremes[index], &from);
}

/* Search one entry with all threads. */
static histo_status search_entry(const histo_source *source, int threads, int64_t entry, histo_extremes *extremes)
{
    histo_extremes parts[MOST_THREADS] = {0};
    search all = {source, threads, 1, entry, parts};
    const histo_status status = histo_pool_run_long("surveying", threads, search_part, &all);
    for (int t = 0; t < threads; t++)
        histo_extremes_merge(extremes, &parts[t], source->dtypes[0]);
    return status;
}

/* A few samples in a single array, without other operands: quickly checked. */
static bool are_few(const histo_view *samples, const histo_fill_options *options)
{
    if (options && (options->weights || options->replace || !histo_fill_is_plain(options))) return false;
    if (!samples || samples->ndim != 1 || samples->batch_ndim != 0 || (unsigned)samples->dtype >= HISTO_DTYPE_COUNT)
        return false;
    const int64_t size = (int64_t)histo_dtype_size(samples->dtype), n = samples->shape[0];
    bool only = false;
    return n > 0 && n <= FEW && samples->strides[0] == size && samples->data &&
           (uintptr_t)samples->data % (uintptr_t)size == 0 && histo_device_of(samples->data, &only) == HISTO_DEVICE_CPU;
}

static histo_status find_on_device(const histo_source *source, histo_extremes *extremes, int64_t size)
{
    histo_found one, *by_key = size == 1 ? &one : histo_malloc((size_t)size * sizeof *by_key);
    if (!by_key) return histo_fail_memory((size_t)size * sizeof *by_key, "extremes");
    histo_status status = histo_source_extremes(source, by_key);
    for (int64_t b = 0; b < size && status == HISTO_OK; b++)
        extremes[b] = histo_extremes_found(&by_key[b], source->dtypes[0]);
    if (by_key != &one) histo_free(by_key);
    return status;
}

histo_status histo_find_extremes(const histo_view *samples, const histo_fill_options *options, histo_extremes *extremes,
                                 int64_t size)
{
    HISTO_STANDARD_FLOATS;
    if (size < 0) return histo_fail(HISTO_INVALID, "size is %lld: give 0 or more", (long long)size);
    if (!extremes && size > 0) return histo_fail(HISTO_INVALID, "the extremes are NULL");
    if (size == 1 && are_few(samples, options)) {
        *extremes = (histo_extremes){0};
        histo_cpu_kernels_usable()->add_extremes(samples->dtype, samples->data, samples->shape[0], extremes);
        return HISTO_OK;
    }
    histo_source source;
    histo_status status = histo_source_make(&source, samples, options, size);
    if (status != HISTO_OK || size == 0) return status;
    if (source.home != HISTO_DEVICE_CPU) return find_on_device(&source, extremes, size);
    const int threads = source.threads < MOST_THREADS ? source.threads : MOST_THREADS;
    memset(extremes, 0, (size_t)size * sizeof *extremes);
    bool found = false;
    if (size > 1) status = histo_extremes_of_columns(&source, extremes, &found);
    if (status != HISTO_OK || found) return status;
    if (threads <= size)
        return histo_pool_run_long("surveying", threads, search_entries,
                                   &(search){&source, threads, size, 0, extremes});
    for (int64_t entry = 0; entry < size && status == HISTO_OK; entry++)
        status = search_entry(&source, threads, entry, &extremes[entry]);
    return status;
}
