/* Device accumulators: the accumulators of a histogram on one GPU. They are made by the first fill on that GPU. While
 * nothing else has counted, they stay there, and host memory gets copies when they are read; else they are drained into
 * host memory. An event orders all use of the same accumulators across streams. */
#include "cuda/memory/accumulators.h"

#include <string.h>

#include "base/memory.h"
#include "cuda/host/check.h"
#include "cuda/host/device.h"
#include "cuda/memory/allocate.h"
#include "cuda/memory/fork.h"
#include "cuda/memory/read.h"

/* ---- Reproducible sums ---- */

/* The windows for bits [lowest, highest) of values, and two more for sums of up to 2^63 values. */
static histo_cuda_exact windows_of_bits(int lowest, int highest)
{
    int first = (lowest + 32 * HISTO_EXACT_UNIT) / 32, last = (highest - 1 + 32 * HISTO_EXACT_UNIT) / 32 + 2;
    if (last >= HISTO_EXACT_WINDOWS) last = HISTO_EXACT_WINDOWS - 1;
    histo_cuda_exact e = {first, last - first + 1, NULL, NULL};
    return e;
}

/* The windows for weights of a dtype, or for their squares rounded to double. */
static histo_cuda_exact windows_of(histo_dtype dtype, bool squared)
{
    int factor = squared ? 2 : 1;
    switch (dtype) {
    case HISTO_F16:
        return windows_of_bits(-24 * factor, 16 * factor);
    case HISTO_BF16:
    case HISTO_F32:
        return windows_of_bits(-149 * factor, 128 * factor);
    case HISTO_F64:
        return windows_of_bits(-1074, 1024);
    default:
        return windows_of_bits(0, 8 * (int)histo_dtype_size(dtype) * factor);
    }
}

static bool covers(const histo_cuda_exact *e, const histo_cuda_exact *wanted)
{
    return e->low <= wanted->low && e->low + e->windows >= wanted->low + wanted->windows;
}

static histo_cuda_exact joined(const histo_cuda_exact *a, const histo_cuda_exact *b)
{
    int low = a->low < b->low ? a->low : b->low, a_end = a->low + a->windows, b_end = b->low + b->windows;
    histo_cuda_exact e = {low, (a_end > b_end ? a_end : b_end) - low, NULL, NULL};
    return e;
}

/* Carry until all digits are in [-2^31, 2^31), which makes the digits of a sum unique. */
static __global__ void balance(histo_cuda_exact e, int64_t counters)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < counters;
         i += gridDim.x * (int64_t)blockDim.x) {
        long long carry = 0;
        for (int k = 0; k < e.windows; k++) {
            long long digit = e.digits[k * counters + i] + carry;
            carry = (digit - (int)digit) / (1ll << 32);
            e.digits[k * counters + i] = (int)digit;
        }
    }
}

static histo_status balance_sums(histo_cuda_accumulators *accumulators, cudaStream_t stream)
{
    int64_t counters = accumulators->batch * accumulators->counters;
    int64_t blocks = (counters + 255) / 256;
    histo_status status = HISTO_OK;
    for (int s = 0; s < 2 && accumulators->exact[s].digits && status == HISTO_OK; s++) {
        void *args[] = {&accumulators->exact[s], &counters};
        status = HISTO_CUDA(cudaLaunchKernel((const void *)balance, dim3((unsigned)(blocks < 4096 ? blocks : 4096)),
                                             dim3(256), args, 0, stream),
                            "carrying sums");
    }
    if (status == HISTO_OK) accumulators->pending = 0;
    return status;
}

histo_status histo_cuda_accumulators_reserve(histo_cuda_accumulators *accumulators, uint64_t adds, cudaStream_t stream)
{
    histo_status status = HISTO_OK;
    if (accumulators->exact[0].digits && accumulators->pending + adds > HISTO_EXACT_MAX_ADDS)
        status = balance_sums(accumulators, stream);
    accumulators->pending += adds;
    return status;
}

/* ---- Making and freeing ---- */

histo_status histo_cuda_accumulators_enter(const histo_cuda_accumulators *accumulators, int *before)
{
    return histo_cuda_enter_context(accumulators->base.device, accumulators->context, before);
}

int64_t histo_cuda_counters(const histo_cuda_accumulators *accumulators)
{
    return accumulators->batch * accumulators->counters;
}

static size_t all_counters(const histo_cuda_accumulators *accumulators)
{
    return (size_t)histo_cuda_counters(accumulators);
}

static size_t arriving_words(const histo_cuda_accumulators *accumulators)
{
    return accumulators->batch == 1 && accumulators->counters <= HISTO_CUDA_ARRIVING ? all_counters(accumulators) : 0;
}

unsigned long long *histo_cuda_arrivals(const histo_cuda_accumulators *accumulators)
{
    return arriving_words(accumulators) ? accumulators->counts + accumulators->counters : NULL;
}

histo_status histo_cuda_accumulators_zero(histo_cuda_accumulators *accumulators, cudaStream_t stream)
{
    size_t all = all_counters(accumulators);
    histo_status status = HISTO_OK;
    accumulators->sparse.n = 0;
    if (accumulators->counts)
        status =
            HISTO_CUDA(cudaMemsetAsync(accumulators->counts, 0,
                                       (all + arriving_words(accumulators)) * sizeof *accumulators->counts, stream),
                       "clearing counts");
    double *sums[] = {accumulators->sum_w, accumulators->sum_w2};
    for (int s = 0; s < 2; s++) {
        const histo_cuda_exact *e = &accumulators->exact[s];
        if (status == HISTO_OK && sums[s])
            status = HISTO_CUDA(cudaMemsetAsync(sums[s], 0, all * sizeof(double), stream), "clearing sums");
        if (status == HISTO_OK && e->digits)
            status = HISTO_CUDA(cudaMemsetAsync(e->digits, 0, all * (size_t)e->windows * sizeof *e->digits, stream),
                                "clearing sums");
        if (status == HISTO_OK && e->special)
            status = HISTO_CUDA(cudaMemsetAsync(e->special, 0, all * sizeof *e->special, stream), "clearing sums");
    }
    if (status == HISTO_OK) accumulators->pending = 0;
    return status;
}

static histo_status clear_memory(histo_cuda_accumulators *accumulators, cudaStream_t stream)
{
    histo_status status = histo_cuda_accumulators_zero(accumulators, stream);
    return status == HISTO_OK ? histo_cuda_order_end(&accumulators->order, stream) : status;
}

static histo_status make_sums(histo_cuda_accumulators *accumulators, histo_weighting weighting)
{
    size_t all = all_counters(accumulators);
    histo_status status = HISTO_OK;
    double **sums[] = {&accumulators->sum_w, &accumulators->sum_w2};
    for (int s = 0; s < 2; s++) {
        histo_cuda_exact *e = &accumulators->exact[s];
        if (s == 1 && !histo_has_squares(weighting)) break;
        if (status == HISTO_OK && histo_is_fast(weighting))
            status = histo_cuda_allocate((void **)sums[s], all * sizeof(double), "sums of weights");
        if (status != HISTO_OK || !histo_is_reproducible(weighting)) continue;
        status = histo_cuda_allocate((void **)&e->digits, all * (size_t)e->windows * sizeof *e->digits, "exact sums");
        if (status == HISTO_OK)
            status = histo_cuda_allocate((void **)&e->special, all * sizeof *e->special, "exact sums");
    }
    return status;
}

static histo_status make(const histo_job *job, const histo_cuda_exact exact[2], histo_cuda_accumulators **out)
{
    const histo_problem *p = job->problem;
    histo_cuda_accumulators *accumulators = (histo_cuda_accumulators *)histo_calloc(1, sizeof *accumulators);
    if (!accumulators) return histo_fail_memory(sizeof *accumulators, "a device accumulators");
    accumulators->base.backend = &histo_backend_cuda;
    accumulators->base.device = p->device;
    accumulators->batch = p->batch;
    accumulators->slots = p->slots;
    accumulators->is_sparse = p->storage == HISTO_SPARSE;
    accumulators->counters = histo_problem_has_counters(p) ? p->slots + 1 : 0;
    memcpy(accumulators->exact, exact, sizeof accumulators->exact);
    histo_status status =
        HISTO_CUDA(cudaStreamCreateWithFlags(&accumulators->stream, cudaStreamNonBlocking), "making a stream");
    accumulators->context = histo_cuda_context(); /* which the stream may have made */
    if (status == HISTO_OK) status = histo_cuda_order_make(&accumulators->order);
    if (status == HISTO_OK && accumulators->counters)
        status = histo_cuda_allocate((void **)&accumulators->counts,
                                     (all_counters(accumulators) + arriving_words(accumulators) +
                                      histo_cuda_scan_words((int64_t)all_counters(accumulators))) *
                                         sizeof *accumulators->counts,
                                     "counts");
    if (status == HISTO_OK) status = make_sums(accumulators, p->weighting);
    if (status == HISTO_OK) status = clear_memory(accumulators, accumulators->stream);
    if (status != HISTO_OK) {
        histo_cuda_accumulators_free(&accumulators->base);
        return status;
    }
    *out = accumulators;
    return HISTO_OK;
}

struct histo_cuda_old_workspace {
    histo_cuda_old_workspace *next;
    void *memory;
};

/* Continue after failures: the device may be lost. */
void histo_cuda_accumulators_free(histo_device_accumulators *device_accumulators)
{
    histo_cuda_accumulators *accumulators = (histo_cuda_accumulators *)device_accumulators;
    int before;
    const bool alive = histo_cuda_accumulators_enter(accumulators, &before) == HISTO_OK;
    if (accumulators->fork) histo_cuda_fork_free(accumulators->fork, alive);
    histo_cuda_sparse_free(&accumulators->sparse);
    void *memory[] = {accumulators->counts,          accumulators->sum_w,
                      accumulators->sum_w2,          accumulators->workspace,
                      accumulators->offsets,         accumulators->exact[0].digits,
                      accumulators->exact[1].digits, accumulators->exact[0].special,
                      accumulators->exact[1].special};
    for (size_t m = 0; m < sizeof memory / sizeof memory[0]; m++)
        histo_cuda_release(memory[m]);
    for (histo_cuda_old_workspace *next, *old = accumulators->old_workspaces; old; old = next) {
        next = old->next;
        histo_cuda_release(old->memory);
        histo_free(old);
    }
    histo_cuda_order_free(&accumulators->order, alive);
    if (alive) {
        if (accumulators->stream) cudaStreamDestroy(accumulators->stream);
        histo_cuda_leave(before);
        cudaGetLastError();
    }
    histo_free(accumulators);
}

/* ---- Filling ---- */

histo_status histo_cuda_accumulators_of(const histo_job *job, histo_cuda_accumulators **out)
{
    const histo_problem *p = job->problem;
    histo_dtype dtype = p->weights == HISTO_ABSENT ? HISTO_U8 : p->dtypes[p->weights];
    histo_cuda_exact wanted[2] = {windows_of(dtype, false), windows_of(dtype, true)};
    for (histo_device_accumulators **link = &job->accumulators->on_devices, *it; (it = *link); link = &it->next) {
        if (it->backend != &histo_backend_cuda || it->device != p->device) continue;
        histo_cuda_accumulators *accumulators = *out = (histo_cuda_accumulators *)it;
        if (accumulators->context != histo_cuda_context()) {
            if (!histo_cuda_accumulators_are_empty(it)) return histo_cuda_fail_lost(p->device);
            *link = it->next;
            histo_cuda_accumulators_free(it);
            break;
        }
        if (!histo_is_reproducible(p->weighting) ||
            (covers(&accumulators->exact[0], &wanted[0]) && covers(&accumulators->exact[1], &wanted[1])))
            return HISTO_OK;
        /* Weights of a new dtype: drain the sums, then make some that fit both dtypes. */
        histo_status status = histo_cuda_accumulators_gather(it, job->accumulators, false);
        if (status != HISTO_OK) return status;
        job->accumulators->on_host = true;
        for (int s = 0; s < 2; s++)
            wanted[s] = joined(&wanted[s], &accumulators->exact[s]);
        *link = it->next;
        histo_cuda_accumulators_free(it);
        break;
    }
    histo_status status = make(job, wanted, out);
    if (status != HISTO_OK) return status;
    (*out)->base.next = job->accumulators->on_devices;
    job->accumulators->on_devices = &(*out)->base;
    return HISTO_OK;
}

/* A graph that has captured a fill uses the workspace of that time whenever it is launched. */
histo_status histo_cuda_accumulators_workspace(histo_cuda_accumulators *accumulators, size_t bytes)
{
    if (bytes <= accumulators->workspace_bytes) return HISTO_OK;
    const bool keeps = accumulators->order.captured && accumulators->workspace;
    histo_cuda_old_workspace *old = keeps ? (histo_cuda_old_workspace *)histo_malloc(sizeof *old) : NULL;
    if (keeps && !old) return histo_fail_memory(sizeof *old, "a workspace");
    void *larger;
    histo_status status = histo_cuda_allocate(&larger, bytes, "the workspace of a strategy");
    if (status != HISTO_OK) {
        histo_free(old);
        return status;
    }
    if (keeps) {
        *old = {accumulators->old_workspaces, accumulators->workspace};
        accumulators->old_workspaces = old;
    } else {
        histo_cuda_release(accumulators->workspace); /* waits for kernels that use it */
    }
    accumulators->workspace = larger;
    accumulators->workspace_bytes = bytes;
    return HISTO_OK;
}

histo_status histo_cuda_accumulators_offsets(histo_cuda_accumulators *accumulators, histo_job *job, cudaStream_t stream)
{
    size_t bytes = (size_t)(accumulators->batch + 1) * sizeof *accumulators->offsets;
    histo_status status = HISTO_OK;
    if (!accumulators->offsets) status = histo_cuda_allocate((void **)&accumulators->offsets, bytes, "offsets");
    if (status == HISTO_OK)
        status =
            HISTO_CUDA(cudaMemcpyAsync(accumulators->offsets, job->iter.offsets, bytes, cudaMemcpyHostToDevice, stream),
                       "copying offsets");
    job->iter.offsets = accumulators->offsets;
    return status;
}

/* ---- Draining ---- */

/* An array of the device accumulators whose elements are added to the host's. */
typedef struct draining {
    histo_cuda_accumulators *from;
    const histo_accumulators *to;
    int which; /* sums of weights, or of their squares */
    int plane; /* of exact sums */
    char *array;
    size_t size;
} draining;

/* Call add(i, index, masked) for each element first + i: it is of the slot at this index of the whole batch or, if
 * masked, counts what batch entry `index` has left out. */
template <typename ADD>
static void each(const draining *d, int64_t first, int64_t n, ADD add)
{
    const histo_cuda_accumulators *from = d->from;
    int64_t entry = first / from->counters, slot = first % from->counters;
    for (int64_t i = 0; i < n; entry++, slot = 0) {
        const int64_t index = entry * from->slots;
        for (; slot < from->slots && i < n; slot++)
            add(i++, index + slot, false);
        if (i < n) add(i++, entry, true);
    }
}

static void add_counts(void *context, int64_t first, int64_t n, const void *elements)
{
    const draining *d = (const draining *)context;
    const uint64_t *counts = (const uint64_t *)elements;
    uint64_t *sums = d->to->counts, *masked = d->to->masked;
    each(d, first, n, [=](int64_t i, int64_t at, bool left_out) { (left_out ? masked : sums)[at] += counts[i]; });
}

static void add_sums(void *context, int64_t first, int64_t n, const void *elements)
{
    const draining *d = (const draining *)context;
    const double *added = (const double *)elements;
    double *sums = d->which == 0 ? d->to->sum_w : d->to->sum_w2;
    each(d, first, n, [=](int64_t i, int64_t at, bool left_out) {
        if (!left_out) sums[at] += added[i];
    });
}

static histo_exact *exact_of(const draining *d)
{
    return d->which == 0 ? d->to->exact_w : d->to->exact_w2;
}

static histo_status reserve_digits(void *context, int64_t first, int64_t n, const void *elements)
{
    (void)first;
    const draining *d = (const draining *)context;
    const int64_t *digits = (const int64_t *)elements;
    histo_exact_windows windows;
    memset(&windows, 0, sizeof windows);
    for (int64_t i = 0; i < n && !windows.touched[d->plane]; i++)
        windows.touched[d->plane] = digits[i] != 0;
    return windows.touched[d->plane] ? histo_exact_reserve(exact_of(d), &windows, 1) : HISTO_OK;
}

static void add_digits(void *context, int64_t first, int64_t n, const void *elements)
{
    const draining *d = (const draining *)context;
    const int64_t *digits = (const int64_t *)elements;
    histo_exact *sums = exact_of(d);
    const int plane = d->plane;
    each(d, first, n, [=](int64_t i, int64_t at, bool left_out) {
        if (!left_out) histo_exact_add_digit_alone(sums, at, plane, digits[i]);
    });
}

static histo_status reserve_specials(void *context, int64_t first, int64_t n, const void *elements)
{
    (void)first;
    const draining *d = (const draining *)context;
    const unsigned int *flags = (const unsigned int *)elements;
    histo_exact_windows windows;
    memset(&windows, 0, sizeof windows);
    for (int64_t i = 0; i < n && !windows.special; i++)
        windows.special = flags[i] != 0;
    return windows.special ? histo_exact_reserve(exact_of(d), &windows, 1) : HISTO_OK;
}

static void add_specials(void *context, int64_t first, int64_t n, const void *elements)
{
    const draining *d = (const draining *)context;
    const unsigned int *flags = (const unsigned int *)elements;
    histo_exact *sums = exact_of(d);
    each(d, first, n, [=](int64_t i, int64_t at, bool left_out) {
        if (!left_out && flags[i]) histo_exact_add_special(sums, at, (uint8_t)flags[i]);
    });
}

/* A piece is cleared once it has been added, so a failure counts nothing twice. */
static histo_status clear_piece(void *context, int64_t first, int64_t n)
{
    const draining *d = (const draining *)context;
    histo_status status =
        HISTO_CUDA(cudaMemsetAsync(d->array + (size_t)first * d->size, 0, (size_t)n * d->size, d->from->stream),
                   "clearing counts");
    if (status != HISTO_OK) d->from->broken = "it could not be cleared after it was read";
    return status;
}

typedef histo_status reserver(void *context, int64_t first, int64_t n, const void *elements);
typedef void adder(void *context, int64_t first, int64_t n, const void *elements);

/* Move an array to the host piece by piece. */
static histo_status drain(draining d, reserver *reserve, adder *add)
{
    const histo_cuda_taker taker = {reserve, add, clear_piece, &d};
    return histo_cuda_bring(d.from, d.array, d.size, histo_cuda_counters(d.from), d.from->stream, &taker);
}

static histo_status drain_all(histo_cuda_accumulators *from, const histo_accumulators *to)
{
    histo_status status = HISTO_OK;
    if (from->is_sparse) return histo_cuda_sparse_gather(from, to, from->stream);
    if (from->exact[0].digits) status = balance_sums(from, from->stream);
    if (status == HISTO_OK)
        status = drain({from, to, 0, 0, (char *)from->counts, sizeof *from->counts}, NULL, add_counts);
    double *sums[] = {from->sum_w, from->sum_w2};
    for (int s = 0; s < 2; s++) {
        const histo_cuda_exact *e = &from->exact[s];
        if (status == HISTO_OK && sums[s])
            status = drain({from, to, s, 0, (char *)sums[s], sizeof(double)}, NULL, add_sums);
        for (int k = 0; k < e->windows && e->digits && status == HISTO_OK; k++) {
            int64_t *plane = (int64_t *)e->digits + (size_t)k * all_counters(from);
            status = drain({from, to, s, e->low + k, (char *)plane, sizeof *plane}, reserve_digits, add_digits);
        }
        if (status == HISTO_OK && e->special)
            status = drain({from, to, s, 0, (char *)e->special, sizeof *e->special}, reserve_specials, add_specials);
    }
    if (status == HISTO_OK) status = HISTO_CUDA(cudaEventRecord(from->order.done, from->stream), "recording an event");
    if (status == HISTO_OK) status = HISTO_CUDA(cudaStreamSynchronize(from->stream), "reading counts");
    return status;
}

static histo_status fail_broken(const histo_cuda_accumulators *accumulators)
{
    return histo_fail(HISTO_DEVICE, "what GPU %d counted is not whole: %s; reset the histogram to use it again",
                      accumulators->base.device - HISTO_DEVICE_CUDA(0), accumulators->broken);
}

bool histo_cuda_accumulators_are_empty(const histo_device_accumulators *from)
{
    const histo_cuda_accumulators *accumulators = (const histo_cuda_accumulators *)from;
    return !accumulators->dirty && !from->copied && !accumulators->order.captured && !accumulators->broken;
}

histo_status histo_cuda_accumulators_check(const histo_cuda_accumulators *accumulators)
{
    return accumulators->broken ? fail_broken(accumulators) : HISTO_OK;
}

/* Overwrite the host's accumulators with everything that is on the device. */
static histo_status copy_all(const histo_cuda_accumulators *from, const histo_accumulators *to)
{
    const int64_t batch = from->batch, slots = from->slots;
    const histo_slot_grid all = {2, 0, {batch, slots}, {from->counters, 1}},
                          masked = {1, slots, {batch}, {from->counters}};
    const histo_reading reads[] = {{HISTO_READ_COUNTS, all, batch * slots, false, HISTO_U64, to->counts, NULL},
                                   {HISTO_READ_COUNTS, masked, batch, false, HISTO_U64, to->masked, NULL},
                                   {HISTO_READ_W, all, batch * slots, false, HISTO_F64, to->sum_w, NULL},
                                   {HISTO_READ_W2, all, batch * slots, false, HISTO_F64, to->sum_w2, NULL}};
    histo_status status = HISTO_OK;
    for (int i = 0; i < 4 && status == HISTO_OK; i++)
        if (reads[i].out) status = histo_cuda_read_here(from, &reads[i], from->stream);
    return status;
}

/* What is on the device replaces a copy in host memory, and is added to anything else there. */
static histo_status bring_home(histo_cuda_accumulators *accumulators, const histo_accumulators *to, bool keep)
{
    histo_device_accumulators *base = &accumulators->base;
    const bool changed = accumulators->dirty || accumulators->order.captured;
    const cudaStream_t stream = accumulators->stream;
    /* Host memory changes even if this fails midway, and is then to be cleared, or overwritten. */
    if (!keep && !base->copied) {
        base->drained = true;
        return drain_all(accumulators, to);
    }
    base->copied = true;
    histo_status status = changed ? copy_all(accumulators, to) : HISTO_OK;
    if (status != HISTO_OK || keep) return status;
    status = clear_memory(accumulators, stream);
    if (status != HISTO_OK) {
        accumulators->broken = "it could not be cleared after it was read";
        return status;
    }
    base->copied = false;
    base->drained = true;
    return HISTO_OK;
}

histo_status histo_cuda_accumulators_gather(histo_device_accumulators *from, const histo_accumulators *to, bool keep)
{
    histo_cuda_accumulators *accumulators = (histo_cuda_accumulators *)from;
    if (accumulators->broken) return fail_broken(accumulators);
    if (!accumulators->dirty && !accumulators->order.captured && (keep || !from->copied)) return HISTO_OK;
    int before;
    histo_status status = histo_cuda_accumulators_enter(accumulators, &before);
    if (status != HISTO_OK) return status;
    status = histo_cuda_order_wait(&accumulators->order);
    if (status == HISTO_OK) status = histo_cuda_order_begin(&accumulators->order, accumulators->stream, false);
    if (status == HISTO_OK) status = bring_home(accumulators, to, keep);
    if (status == HISTO_OK)
        accumulators->dirty = false;
    else
        cudaStreamSynchronize(accumulators->stream); /* the event does not cover the clearing */
    histo_cuda_leave(before);
    return status;
}

histo_status histo_cuda_accumulators_read(histo_device_accumulators *from, const histo_reading *reading)
{
    histo_cuda_accumulators *accumulators = (histo_cuda_accumulators *)from;
    if (accumulators->broken) return fail_broken(accumulators);
    int before;
    histo_status status = histo_cuda_accumulators_enter(accumulators, &before);
    if (status != HISTO_OK) return status;
    histo_reading r = *reading;
    r.grid.stride[0] = accumulators->counters;
    bool only;
    const bool there = histo_cuda_locate(r.out, &only) != HISTO_DEVICE_CPU;
    const cudaStream_t stream = there ? (cudaStream_t)r.stream : accumulators->stream;
    const bool captured = there && histo_cuda_is_captured(stream);
    if (!there) status = histo_cuda_order_wait(&accumulators->order);
    if (status == HISTO_OK) status = histo_cuda_order_begin(&accumulators->order, stream, captured);
    if (status == HISTO_OK)
        status =
            there ? histo_cuda_read_there(accumulators, &r, stream) : histo_cuda_read_here(accumulators, &r, stream);
    if (status == HISTO_OK) status = histo_cuda_order_end(&accumulators->order, stream);
    histo_cuda_leave(before);
    return status;
}

histo_status histo_cuda_send(void *to, histo_device device, const void *from, size_t bytes, void *stream)
{
    int before;
    histo_status status = histo_cuda_enter(device, &before);
    if (status != HISTO_OK) return status;
    status =
        HISTO_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, (cudaStream_t)stream), "copying counts");
    if (status == HISTO_OK) status = HISTO_CUDA(cudaStreamSynchronize((cudaStream_t)stream), "copying counts");
    histo_cuda_leave(before);
    return status;
}

histo_status histo_cuda_accumulators_wait(histo_device_accumulators *device_accumulators)
{
    histo_cuda_accumulators *accumulators = (histo_cuda_accumulators *)device_accumulators;
    int before;
    histo_status status = histo_cuda_accumulators_enter(accumulators, &before);
    if (status != HISTO_OK) return status;
    status = histo_cuda_order_wait(&accumulators->order);
    if (status == HISTO_OK) status = HISTO_CUDA(cudaEventSynchronize(accumulators->order.done), "counting");
    histo_cuda_leave(before);
    return status;
}

/* Is this a stream of the current device? The caller's stream is of one of the GPUs that have counted. Asking ends a
 * capture. */
static bool is_here(cudaStream_t stream)
{
#if CUDART_VERSION >= 12080
    int device, its;
    if (cudaGetDevice(&device) == cudaSuccess && cudaStreamGetDevice(stream, &its) == cudaSuccess) return its == device;
    cudaGetLastError();
#else
    (void)stream;
#endif
    return true;
}

bool histo_cuda_accumulators_clear(histo_device_accumulators *device_accumulators, void *wanted)
{
    histo_cuda_accumulators *accumulators = (histo_cuda_accumulators *)device_accumulators;
    int before;
    if (histo_cuda_accumulators_enter(accumulators, &before) != HISTO_OK) return false;
    const bool captured = wanted && histo_cuda_is_captured((cudaStream_t)wanted);
    if (wanted && !captured && !is_here((cudaStream_t)wanted)) wanted = NULL;
    const cudaStream_t stream = wanted ? (cudaStream_t)wanted : accumulators->stream;
    histo_status status = HISTO_OK;
    /* What a broken fill enqueued may still be running, and no event marks its end. */
    if (accumulators->broken)
        status = HISTO_CUDA(cudaDeviceSynchronize(), "waiting");
    else if (!wanted)
        status = histo_cuda_order_wait(&accumulators->order);
    if (status == HISTO_OK) status = histo_cuda_order_begin(&accumulators->order, stream, captured);
    if (status == HISTO_OK) status = clear_memory(accumulators, stream);
    accumulators->broken = NULL;
    accumulators->dirty = false;
    histo_cuda_leave(before);
    return status == HISTO_OK;
}
