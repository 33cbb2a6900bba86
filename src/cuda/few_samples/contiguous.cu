/* Few contiguous samples: which jobs the kernels count, and into how many pieces they are cut. */
#include "cuda/few_samples/contiguous.h"

#include <math.h>
#include <string.h>

#include "cuda/host/device.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/prepared.h"
#include "cuda/launch/work_of_job.h"
#include "cuda/memory/accumulators.h"

enum { MAX_LENGTH = 1 << 30 /* samples of an item */ };
enum { VECTOR = 16, LOG_TOUCHED = 9 };
/* Up to so many bytes, samples are few: in all, for each multiprocessor, or in a batch entry. More 8-bit samples are
 * counted faster with a copy of the counters for each lane. */
enum {
    FEW_EACH = 64 << 10,
    FEW_EACH_OF_MANY = 8 << 10, /* slots */
    MANY_SLOTS = 2048,
    FEW_OF_ENTRY = 128 << 10,
    FEW_VALUES_OF_ENTRY = 16 << 10
};

/* Blocks merge all slots: where these are many, that pays for fewer samples only. */
static bool are_few(const histo_cuda_device *device, int64_t slots, int64_t entries, double bytes, size_t size)
{
    const double each = slots > MANY_SLOTS ? FEW_EACH_OF_MANY : FEW_EACH;
    if (size == 1) return entries > 1 && bytes <= (double)entries * FEW_VALUES_OF_ENTRY;
    return bytes <= (double)device->multiprocessors * each || bytes <= (double)entries * FEW_OF_ENTRY;
}

/* ---- The cut into blocks ---- */

/* What a cut depends on. */
typedef struct shape {
    histo_device device;
    int64_t entries, length, slots; /* length: samples of an entry */
    size_t size, shared;            /* bytes of a sample; shared memory of a block */
} shape;

/* Into how many pieces each batch entry is cut, and how many threads a block has. */
typedef struct cut {
    shape of;
    int threads;
    int64_t pieces, blocks;
    double us;
} cut;

static uint32_t words_of(size_t size, int64_t slots, bool folds)
{
    uint32_t words = histo_spread((uint32_t)slots) + 1;
    if (size == 1) words = histo_spread(FEW_VALUES) + (folds ? words : 0);
    return (words + 3) / 4 * 4;
}

static bool is_same(const shape *a, const shape *b)
{
    return a->device == b->device && a->entries == b->entries && a->length == b->length && a->slots == b->slots &&
           a->size == b->size && a->shared == b->shared;
}

static cut find_cut(const shape *of)
{
    /* item_us: starting and ending an item. step_us: a step of all blocks of a multiprocessor. merge_us: a step of
     * clearing or merging. Rates per microsecond: bytes_us of bytes read by a multiprocessor, added_us of additions to
     * counters in device memory. */
    const double item_us = 0.15, step_us = 0.35, bytes_us = 3.3e4, merge_us = 8e-3, added_us = 5e5;
    const int64_t multiprocessors = histo_cuda_device_of(of->device)->multiprocessors;
    const int64_t step = VECTOR * few_vectors(of->size), bytes = of->length * (int64_t)of->size;
    cut best = {*of, 0, 1, 1, INFINITY};
    for (int threads = 64; threads <= FEW_THREADS; threads *= 2) {
        int64_t resident = histo_cuda_resident(of->device, threads, of->shared);
        int64_t by_registers = multiprocessors * few_blocks(of->size) * (FEW_THREADS / threads);
        if (by_registers < resident) resident = by_registers;
        for (int64_t pieces = 1; pieces == 1 || pieces * threads < 2 * (bytes / VECTOR + 1); pieces *= 2) {
            if (pieces > 1 && of->entries * pieces > 2 * resident) break;
            double items = (double)of->entries * (double)pieces, blocks = fmin(items, (double)resident);
            double each = ceil(blocks / (double)multiprocessors), rounds = ceil(items / blocks);
            double steps = ceil((double)bytes / (double)(pieces * step * threads));
            double transfer = (double)threads * (double)step * each / bytes_us; /* during which other blocks wait */
            double read = steps * (rounds > 1 ? fmax(step_us, transfer) : step_us + transfer);
            double merged = (double)of->slots / threads * merge_us;
            double added = items * fmin((double)of->slots, (double)of->length / (double)pieces);
            double us = rounds * (item_us + merged + read) + merged + added / added_us;
            if (us >= best.us) continue;
            best = {*of, threads, pieces, (int64_t)blocks, us};
        }
    }
    return best;
}

/* Finding a cut takes longer than the rest of a fill. Fills of one shape often follow each other, so the last is kept.
 */
static const cut *cut_of(shape of)
{
    static thread_local cut last;
    if (!is_same(&of, &last.of)) last = find_cut(&of);
    return &last;
}

/* ---- Estimate ---- */

double histo_few_contiguous_us(const histo_problem *p)
{
    const histo_cuda_device *device = histo_cuda_device_of(p->device);
    const size_t size = histo_dtype_size(p->dtypes[0]);
    const double bytes = (double)p->samples * (double)size, empty = 4.5 /* us of a fill without samples */,
                 bytes_per_us = 4e6;
    if (!are_few(device, p->slots, p->batch, bytes, size)) return INFINITY;
    const size_t shared = words_of(size, p->slots, true) * sizeof(unsigned int);
    if (shared > device->shared_block) return INFINITY;
    const int64_t length = (p->samples - 1) / p->batch + 1;
    const cut *it = cut_of({p->device, p->batch, length, p->slots, size, shared});
    /* Counters are read from and written to device memory in sectors of 32 bytes. */
    const double counters = (double)p->batch * fmin((double)p->slots * 8, (double)length * 32);
    const double search_us = p->lookups[0].edges && !p->lookups[0].table ? 2.5 : 0; /* of edges that are in no cache */
    return empty + search_us + fmax(it->us, (bytes + 2 * counters) / bytes_per_us);
}

/* ---- Jobs ---- */

/* Set the batch dimensions. Dimensions whose entries are equally far apart are joined; false if too many are left. */
static bool join_dims(const histo_strided_iter *iter, few_args *a)
{
    int64_t extent[FEW_DIMS] = {1, 1};
    int dims = 0;
    for (int d = iter->batch_ndim - 1; d >= 0; d--) {
        const int64_t stride = iter->strides[0][d];
        int at = FEW_DIMS - dims; /* the last one set */
        if (dims == 0 || stride != a->strides[at] * extent[at]) {
            if (++dims > FEW_DIMS) return false;
            a->strides[--at] = stride;
        }
        extent[at] *= iter->shape[d];
    }
    a->inner = (uint32_t)extent[FEW_DIMS - 1];
    a->by_inner = histo_divisor_of(a->inner);
    return true;
}

/* Set the samples [begin, end): whole batch entries, or part of one; false for others. */
static bool find_entries(const histo_job *job, few_args *a, int64_t *entries)
{
    const histo_strided_iter *iter = &job->iter;
    const int64_t each = iter->per_batch, first = job->begin / each, last = (job->end - 1) / each;
    *entries = last - first + 1;
    a->first = (uint32_t)first;
    a->length = (uint32_t)(*entries == 1 ? job->end - job->begin : each);
    if (*entries > 1 && (job->begin % each || job->end % each)) return false;
    a->samples += job->begin % each * (int64_t)histo_dtype_size(job->problem->dtypes[0]);
    return each <= MAX_LENGTH && join_dims(iter, a);
}

bool histo_few_contiguous_describe(const histo_job *job, bool touched, few_args *a)
{
    const histo_problem *p = job->problem;
    const histo_strided_iter *iter = &job->iter;
    const histo_cuda_accumulators *accumulators = histo_cuda_accumulators_in(job);
    const histo_lookup *lookup = &((const histo_cuda_prepared *)job->prepared)->lookups[0];
    const int64_t size = (int64_t)histo_dtype_size(p->dtypes[0]), samples = job->end - job->begin;
    const int run = iter->ndim - 1;
    if (p->naxes > 1 || iter->operands > 1 || iter->images || run != iter->batch_ndim || iter->batch > INT32_MAX / 2)
        return false;
    if (iter->shape[run] > 1 && iter->strides[0][run] != size) return false;
    int64_t misalignment = (int64_t)(uintptr_t)iter->base[0];
    for (int d = 0; d < iter->batch_ndim; d++)
        misalignment |= iter->strides[0][d];
    if (misalignment & (size - 1)) return false;
    memset(a, 0, sizeof *a);
    a->samples = iter->base[0];
    a->counts = accumulators->counts;
    a->counters = accumulators->counters;
    a->slots = (uint32_t)p->slots;
    a->lookup = *lookup;
    a->folds = size == 1 && p->slots < FEW_VALUES;
    a->searches = lookup->kind == HISTO_SEARCH && !lookup->table && !lookup->cells.entry && !lookup->pow2.is;
    a->words = words_of((size_t)size, p->slots, a->folds);
    int64_t entries = iter->batch;
    if (iter->offsets) {
        a->offsets = iter->offsets;
        a->batch = (uint32_t)iter->batch;
        a->begin = job->begin;
        a->end = job->end;
        if (samples > MAX_LENGTH) return false;
    } else if (!find_entries(job, a, &entries)) {
        return false;
    }
    const histo_cuda_device *device = histo_cuda_device_of(p->device);
    if (touched) {
        a->log_touched = LOG_TOUCHED;
        return size > 1 && entries == 1 && !iter->offsets;
    }
    return are_few(device, p->slots, entries, (double)samples * (double)size, (size_t)size) &&
           a->words * sizeof(unsigned int) <= device->shared_block;
}

static few_kernel *kernel_of(histo_dtype dtype, bool touched)
{
    const size_t size = histo_dtype_size(dtype);
    const few_row *row = dtype == HISTO_F32   ? few_f32
                         : dtype == HISTO_F64 ? few_f64
                         : size == 1          ? few_8
                         : size == 2          ? few_16
                         : size == 4          ? few_32
                                              : few_64;
    while (row->dtype != dtype)
        row++;
    return row->kernel[touched];
}

/* Items are small and many, since only slots in the hash table are merged. */
static histo_status launch_touched(const histo_job *job, few_args *a)
{
    const int threads = 256;
    a->each = a->length <= 1 << 18 ? 1 << 10 : 1 << 11;
    a->pieces = a->items = (a->length + a->each - 1) / a->each;
    a->by_pieces = histo_divisor_of(a->pieces);
    const size_t shared = 2 * sizeof(uint32_t) << a->log_touched;
    const int64_t resident = histo_cuda_resident(job->problem->device, threads, shared);
    void *args[] = {a};
    return histo_cuda_launch(job, (const void *)kernel_of(job->problem->dtypes[0], true),
                             dim3((unsigned)(a->items < resident ? a->items : resident)), threads, shared, args);
}

histo_status histo_few_contiguous_launch(const histo_job *job, few_args *a)
{
    enum { COPIED = 40 << 10 /* bytes of counters and edges */, ALIGN = 128 /* samples, so that pieces are aligned */ };
    if (a->log_touched) return launch_touched(job, a);
    const histo_problem *p = job->problem;
    const size_t size = histo_dtype_size(p->dtypes[0]);
    const int64_t samples = job->end - job->begin;
    const int64_t entries = a->offsets ? (int64_t)a->batch : samples / a->length;
    const int64_t length = a->offsets ? (samples - 1) / entries + 1 : (int64_t)a->length;
    const size_t edges = a->searches ? ((size_t)p->lookups[0].bins + 1) * sizeof(double) : 0;
    size_t shared = a->words * sizeof(unsigned int);
    a->copies = edges && shared + edges <= COPIED;
    if (a->copies) shared += edges;
    const cut *it = cut_of({p->device, entries, length, p->slots, size, shared});
    a->each = (uint32_t)((length - 1) / it->pieces / ALIGN * ALIGN + ALIGN);
    a->pieces = (a->length + a->each - 1) / a->each;
    if (a->offsets) {
        /* Long entries are cut where pieces begin. */
        const int64_t each = samples / (4 * it->blocks) + 1;
        a->each = (uint32_t)(each / ALIGN * ALIGN + ALIGN);
        a->ragged_pieces = (uint32_t)((samples + a->each - 1) / a->each);
        a->pieces = 1;
        a->items = a->ragged_pieces + a->batch;
    } else {
        a->items = (uint32_t)(entries * a->pieces);
    }
    a->by_pieces = histo_divisor_of(a->pieces);
    void *args[] = {a};
    const int64_t blocks = it->blocks < a->items ? it->blocks : a->items;
    return histo_cuda_launch(job, (const void *)kernel_of(p->dtypes[0], false), dim3((unsigned)blocks), it->threads,
                             shared, args);
}
