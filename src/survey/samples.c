/* Runs that are contiguous, aligned and pass all filters are used in place; others are gathered. */
#include "survey/samples.h"

#include <string.h>

#include "axis/filter.h"
#include "base/error.h"
#include "base/threads/monitor.h"
#include "base/threads/threads.h"
#include "cpu/kernels/kernels.h"
#include "cpu/samples/bounds.h"
#include "plan/strategy.h"
#include "view/dtype.h"
#include "view/view.h"

enum { OPERANDS = 3, LEAST_PER_THREAD = 1 << 17 };

/* Whether every run can be used in place. */
static bool is_contiguous_aligned(const histo_strided_iter *iter, size_t size)
{
    bool aligned = (uintptr_t)iter->base[0] % size == 0;
    for (int d = 0; d < iter->ndim; d++)
        aligned = aligned && iter->strides[0][d] % (int64_t)size == 0;
    return aligned && iter->strides[0][iter->ndim - 1] == (int64_t)size;
}

static histo_status check_operand(const histo_view *view, const histo_view *like, const char *what, bool is_mask)
{
    histo_status status = is_mask ? histo_view_check_mask(view, what) : histo_view_check(view, what);
    return status == HISTO_OK && view != like ? histo_view_same_shape(view, like, what) : status;
}

/* Samples that only a GPU can read are surveyed there; mask and filter must then be in its memory, too. */
static histo_status find_home(histo_source *source, const histo_view *view, const char *what)
{
    bool only;
    const histo_device device = histo_device_of(view->data, &only);
    if (view == &source->views[0]) source->home = only ? device : HISTO_DEVICE_CPU;
    if (source->home == HISTO_DEVICE_CPU && only)
        return histo_fail(HISTO_UNSUPPORTED, "the %s is in the memory of GPU %d, and the samples are not", what,
                          device - HISTO_DEVICE_CUDA(0));
    if (source->home != HISTO_DEVICE_CPU && device != source->home)
        return histo_fail(HISTO_UNSUPPORTED, "the samples are in the memory of GPU %d, and the %s is not",
                          source->home - HISTO_DEVICE_CUDA(0), what);
    return HISTO_OK;
}

static histo_status check_batch(const histo_view *samples, const int64_t *offsets, int64_t entries, histo_device home)
{
    if (offsets) return histo_offsets_check(offsets, entries, samples, home);
    const int64_t batch = histo_view_batch(samples);
    if (batch == entries) return HISTO_OK;
    return histo_fail(HISTO_INVALID, "there is room for %lld results, and the samples have %lld batch entries",
                      (long long)entries, (long long)batch);
}

static int threads_for(int64_t samples, int wanted)
{
    const int64_t worthwhile = samples / LEAST_PER_THREAD;
    if (worthwhile < 2) return 1;
    const int threads = histo_threads_for(wanted);
    return threads < worthwhile ? threads : (int)worthwhile;
}

histo_status histo_source_make(histo_source *source, const histo_view *samples, const histo_fill_options *options,
                               int64_t entries)
{
    const histo_fill_options none = {0};
    if (!options) options = &none;
    if (!samples) return histo_fail(HISTO_INVALID, "the samples are NULL");
    const bool batch = entries != HISTO_NO_BATCH;
    if (options->weights) return histo_fail(HISTO_INVALID, "weights are for fills: here each sample counts once");
    if (options->replace) return histo_fail(HISTO_INVALID, "replace is for fills: there are no counts here");
    if (options->offsets && !batch)
        return histo_fail(HISTO_INVALID, "offsets are for fills and extremes: here all samples are one segment");
    const int64_t *offsets = batch ? options->offsets : NULL;
    const char *const names[] = {"samples", "mask", "where"};
    const histo_view *const views[] = {samples, options->mask, options->where};
    histo_view *flat = source->views; /* without batch dimensions, so that all dimensions can be merged */
    const histo_view *operands[OPERANDS];
    int count = 0;
    source->mask = source->where = HISTO_ABSENT;
    source->home = HISTO_DEVICE_CPU;
    for (int v = 0; v < OPERANDS; v++) {
        if (v > 0 && !views[v]) continue;
        histo_status status = check_operand(views[v], samples, names[v], v == 1);
        if (status != HISTO_OK) return status;
        flat[count] = *views[v];
        if (!batch) flat[count].batch_ndim = 0;
        operands[count] = &flat[count];
        if (histo_view_size(samples)) status = find_home(source, operands[count], names[v]);
        if (status != HISTO_OK) return status;
        source->stored[count] = histo_dtype_stored(views[v]->dtype);
        source->dtypes[count] = histo_dtype_fetched(views[v]->dtype);
        if (v > 0) *(v == 1 ? &source->mask : &source->where) = count;
        count++;
    }
    source->functions = options->functions;
    if (options->functions && options->functions->numbers_of) {
        histo_status status = histo_view_check_records(samples, options->functions, names[0]);
        if (status != HISTO_OK) return status;
        if (source->home != HISTO_DEVICE_CPU)
            return histo_fail(HISTO_UNSUPPORTED,
                              "functions of records are called by the CPU, and these are in the memory "
                              "of GPU %d",
                              source->home - HISTO_DEVICE_CUDA(0));
        source->stored[0] = (histo_dtype)(source->stored[0] | HISTO_RECORDS);
    }
    histo_status status = histo_filter_check(options);
    if (status == HISTO_OK) status = histo_threads_check(options->threads);
    if (status == HISTO_OK && batch) status = check_batch(samples, offsets, entries, source->home);
    if (status != HISTO_OK) return status;
    source->samples = histo_view_size(samples);
    source->threads = threads_for(source->samples, options->threads);
    source->only_inside = false;
    source->stream = options->stream;
    source->mask_offset = options->mask_offset;
    source->where_lo = options->where_lo;
    source->where_hi = options->where_hi;
    if (options->where)
        source->where_inside = histo_bounds_of(source->dtypes[source->where], options->where_lo, options->where_hi);
    if (offsets)
        histo_strided_iter_make_ragged(&source->iter, count, operands, entries, offsets);
    else
        histo_strided_iter_make(&source->iter, count, operands);
    source->bits = options->mask ? options->mask->data : NULL;
    if (source->mask != HISTO_ABSENT && source->stored[source->mask] == HISTO_BIT)
        source->iter.base[source->mask] += options->mask_offset;
    source->contiguous_aligned = histo_dtype_is_plain(source->stored[0]) &&
                                 is_contiguous_aligned(&source->iter, histo_dtype_size(samples->dtype));
    return HISTO_OK;
}

histo_status histo_source_make_typed(histo_source *source, const histo_view *samples, const histo_fill_options *options,
                                     histo_dtype dtype, const char *whose)
{
    const histo_status status = histo_source_make(source, samples, options, HISTO_NO_BATCH);
    if (status != HISTO_OK || histo_dtype_plain(samples->dtype) == dtype) return status;
    return histo_fail(HISTO_INVALID, "%s of %s samples, and these are %s", whose, histo_dtype_name(dtype),
                      histo_dtype_name(samples->dtype));
}

void histo_source_only_inside(histo_source *source, double lo, double hi)
{
    source->only_inside = true;
    source->lo = lo;
    source->hi = hi;
    source->inside = histo_bounds_of(source->dtypes[0], lo, hi);
}

void histo_samples_start(histo_samples *from, const histo_source *source, int64_t begin, int64_t end)
{
    const bool in_place = source->contiguous_aligned && !histo_source_is_filtered(source);
    from->source = source;
    from->run.n = 0;
    from->stopped = false;
    from->stoppable = histo_pool_stoppable() || histo_is_monitored();
    from->first = 0;
    from->all = source->samples;
    from->at = begin;
    from->end = end;
    histo_walk_start(&from->walk, &source->iter, begin, end,
                     in_place ? HISTO_SAMPLES_IN_PLACE : HISTO_SAMPLES_GATHERED);
}

/* Copy n samples of an operand to contiguous, aligned memory. */
static void fetch(const histo_samples *from, int o, int64_t n, char *to)
{
    const histo_source *s = from->source;
    const int64_t stride = s->iter.strides[o][s->iter.ndim - 1];
    if (histo_dtype_is_records(s->stored[o]))
        s->functions->numbers_of(s->functions->context, from->run.at[o], stride, n, to);
    else
        histo_cpu_kernels_usable()->fetch(to, from->run.at[o], stride, s->stored[o], s->bits, n);
}

/* n samples of an operand, contiguous and aligned: in place, or gathered. */
static const void *operand_at(const histo_samples *from, int o, int64_t n, char *gathered)
{
    const histo_strided_iter *iter = &from->source->iter;
    const histo_dtype dtype = from->source->stored[o];
    const size_t size = histo_dtype_size(from->source->dtypes[o]);
    const int64_t stride = iter->strides[o][iter->ndim - 1];
    const char *at = from->run.at[o];
    if (histo_dtype_is_plain(dtype) && stride == (int64_t)size && (uintptr_t)at % size == 0) return at;
    fetch(from, o, n, gathered);
    return gathered;
}

/* Mark which of the next n samples, which are at `samples`, pass all filters; returns their number. */
static int filter(histo_samples *from, const void *samples, int n)
{
    const histo_source *s = from->source;
    const histo_cpu_kernels *kernels = histo_cpu_kernels_usable();
    const bool masked = s->mask != HISTO_ABSENT, filtered = masked || s->where != HISTO_ABSENT;
    if (masked)
        kernels->keep_nonzero(s->dtypes[s->mask], operand_at(from, s->mask, n, from->operand), n, false, from->keep);
    if (s->where != HISTO_ABSENT)
        kernels->keep_inside(s->dtypes[s->where], operand_at(from, s->where, n, from->operand), n, s->where_inside,
                             masked, from->keep);
    const int passed = filtered ? kernels->count_kept(from->keep, n) : n;
    from->masked += (uint64_t)(n - passed);
    if (!s->only_inside) return passed;
    kernels->keep_inside(s->dtypes[0], samples, n, s->inside, filtered, from->keep);
    return kernels->count_kept(from->keep, n);
}

/* Whether the thread must stop. The monitor is polled for every block if a function of records, which may take any
 * time, is called. */
static bool is_stopped(histo_samples *from)
{
    const int64_t at = from->end - from->walk.left - from->run.n, read = at - from->at;
    from->at = at;
    from->stopped = from->stopped || histo_stops("surveying", from->source->functions ? HISTO_MUCH_WORK : read,
                                                 at - from->first, from->all);
    return from->stopped;
}

static bool find_run(histo_samples *from)
{
    return !(from->stoppable && is_stopped(from)) && (from->run.n > 0 || histo_walk_next(&from->walk, &from->run));
}

static void advance(histo_samples *from, int64_t n)
{
    const histo_strided_iter *iter = &from->source->iter;
    for (int o = 0; o < iter->operands; o++)
        from->run.at[o] += n * iter->strides[o][iter->ndim - 1];
    from->run.n -= n;
}

/* Append those of the next n samples that pass to the gathered ones; returns their number. */
static int64_t append(histo_samples *from, int64_t gathered, int n)
{
    const histo_source *s = from->source;
    const histo_cpu_kernels *kernels = histo_cpu_kernels_usable();
    const size_t size = histo_dtype_size(s->dtypes[0]);
    char *to = from->gathered + (size_t)gathered * size;
    if (!histo_source_is_filtered(s)) {
        fetch(from, 0, n, to);
        return n;
    }
    const void *samples = operand_at(from, 0, n, from->strided);
    const int passed = filter(from, samples, n);
    if (passed == n && gathered == 0 && samples != from->strided && n >= HISTO_SAMPLES_GATHERED / 2)
        from->block = samples; /* in place */
    else if (passed == n)
        memcpy(to, samples, (size_t)n * size);
    else
        kernels->compact(size, samples, from->keep, n, to);
    return passed;
}

bool histo_samples_next(histo_samples *from)
{
    const histo_source *s = from->source;
    if (!find_run(from)) return false;
    from->batch = from->run.batch;
    from->masked = 0;
    if (!histo_source_is_filtered(s) && s->contiguous_aligned && from->run.n >= HISTO_SAMPLES_GATHERED / 2) {
        from->block = from->run.at[0];
        from->n = from->run.n;
        from->run.n = 0;
        return true;
    }
    from->block = from->gathered;
    from->n = 0;
    do {
        const int64_t room = HISTO_SAMPLES_GATHERED - from->n;
        const int64_t n = from->run.n < room ? from->run.n : room;
        from->n += append(from, from->n, (int)n);
        advance(from, n);
    } while (from->block == from->gathered && from->n < HISTO_SAMPLES_GATHERED && find_run(from) &&
             from->run.batch == from->batch);
    return true;
}
