/* Device banks: the accumulators of a histogram on one GPU, made at the first fill there and emptied into host memory
 * when somebody wants to see the counts. Fills of one bank are ordered by an event, whatever streams they come on. */
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"

/* ---- Reproducible sums ---- */

/* Windows that hold bits [lowest, highest) of values, and two more: sums of up to 2^63 values. */
static histo_cuda_exact windows_of_bits(int lowest, int highest)
{
    int first = (lowest + 32 * HISTO_EXACT_UNIT) / 32, last = (highest - 1 + 32 * HISTO_EXACT_UNIT) / 32 + 2;
    if (last >= HISTO_EXACT_WINDOWS) last = HISTO_EXACT_WINDOWS - 1;
    histo_cuda_exact e = {first, last - first + 1, NULL, NULL};
    return e;
}

/* Those of weights of a dtype, or of their squares rounded to double. */
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

/* Carry, so that all digits are in [-2^31, 2^31): what they are in is unique for a sum. */
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

static histo_status balance_sums(histo_cuda_bank *bank, cudaStream_t stream)
{
    int64_t counters = bank->batch * bank->counters;
    int64_t blocks = (counters + 255) / 256;
    histo_status status = HISTO_OK;
    for (int s = 0; s < 2 && bank->exact[s].digits && status == HISTO_OK; s++) {
        void *args[] = {&bank->exact[s], &counters};
        status = HISTO_CUDA(cudaLaunchKernel((const void *)balance, dim3((unsigned)(blocks < 4096 ? blocks : 4096)),
                                             dim3(256), args, 0, stream),
                            "carrying sums");
    }
    if (status == HISTO_OK) bank->pending = 0;
    return status;
}

histo_status histo_cuda_bank_reserve(histo_cuda_bank *bank, uint64_t adds, cudaStream_t stream)
{
    histo_status status = HISTO_OK;
    if (bank->exact[0].digits && bank->pending + adds > HISTO_EXACT_MAX_ADDS) status = balance_sums(bank, stream);
    bank->pending += adds;
    return status;
}

/* ---- Making and freeing ---- */

static histo_status allocate(void **memory, size_t bytes, const char *what)
{
    return HISTO_CUDA(cudaMalloc(memory, bytes), what);
}

static size_t all_counters(const histo_cuda_bank *bank)
{
    return (size_t)(bank->batch * bank->counters);
}

static histo_status clear_memory(histo_cuda_bank *bank)
{
    size_t all = all_counters(bank);
    histo_status status = HISTO_OK;
    bank->sparse.n = 0;
    if (bank->counts)
        status =
            HISTO_CUDA(cudaMemsetAsync(bank->counts, 0, all * sizeof *bank->counts, bank->stream), "clearing counts");
    double *sums[] = {bank->sum_w, bank->sum_w2};
    for (int s = 0; s < 2; s++) {
        const histo_cuda_exact *e = &bank->exact[s];
        if (status == HISTO_OK && sums[s])
            status = HISTO_CUDA(cudaMemsetAsync(sums[s], 0, all * sizeof(double), bank->stream), "clearing sums");
        if (status == HISTO_OK && e->digits)
            status =
                HISTO_CUDA(cudaMemsetAsync(e->digits, 0, all * (size_t)e->windows * sizeof *e->digits, bank->stream),
                           "clearing sums");
        if (status == HISTO_OK && e->special)
            status =
                HISTO_CUDA(cudaMemsetAsync(e->special, 0, all * sizeof *e->special, bank->stream), "clearing sums");
    }
    if (status == HISTO_OK) status = HISTO_CUDA(cudaEventRecord(bank->done, bank->stream), "recording an event");
    if (status == HISTO_OK) bank->pending = 0;
    return status;
}

static histo_status make_sums(histo_cuda_bank *bank, histo_weighting weighting)
{
    size_t all = all_counters(bank);
    histo_status status = HISTO_OK;
    double **sums[] = {&bank->sum_w, &bank->sum_w2};
    for (int s = 0; s < 2; s++) {
        histo_cuda_exact *e = &bank->exact[s];
        if (s == 1 && !histo_has_squares(weighting)) break;
        if (status == HISTO_OK && histo_is_fast(weighting))
            status = allocate((void **)sums[s], all * sizeof(double), "sums of weights");
        if (status != HISTO_OK || !histo_is_reproducible(weighting)) continue;
        status = allocate((void **)&e->digits, all * (size_t)e->windows * sizeof *e->digits, "exact sums");
        if (status == HISTO_OK) status = allocate((void **)&e->special, all * sizeof *e->special, "exact sums");
    }
    return status;
}

static histo_status make(const histo_job *job, const histo_cuda_exact exact[2], histo_cuda_bank **out)
{
    const histo_problem *p = job->problem;
    histo_cuda_bank *bank = (histo_cuda_bank *)calloc(1, sizeof *bank);
    if (!bank) return histo_fail_memory(sizeof *bank, "a device bank");
    bank->base.backend = &histo_backend_cuda;
    bank->base.device = p->device;
    bank->batch = p->batch;
    bank->slots = p->slots;
    bank->is_sparse = p->storage == HISTO_SPARSE;
    bank->counters = histo_problem_has_counters(p) ? p->slots + 1 : 0;
    memcpy(bank->exact, exact, sizeof bank->exact);
    histo_status status =
        HISTO_CUDA(cudaStreamCreateWithFlags(&bank->stream, cudaStreamNonBlocking), "making a stream");
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaEventCreateWithFlags(&bank->done, cudaEventDisableTiming), "making an event");
    if (status == HISTO_OK && bank->counters)
        status = allocate((void **)&bank->counts, all_counters(bank) * sizeof *bank->counts, "counts");
    if (status == HISTO_OK) status = make_sums(bank, p->weighting);
    if (status == HISTO_OK) status = clear_memory(bank);
    if (status != HISTO_OK) {
        histo_cuda_bank_free(&bank->base);
        return status;
    }
    *out = bank;
    return HISTO_OK;
}

/* Freeing goes on whatever fails: the device may be lost. */
void histo_cuda_bank_free(histo_device_bank *device_bank)
{
    histo_cuda_bank *bank = (histo_cuda_bank *)device_bank;
    int before = -1;
    cudaGetDevice(&before);
    cudaSetDevice(bank->base.device - HISTO_DEVICE_CUDA(0));
    if (bank->fork) histo_cuda_fork_free(bank->fork);
    histo_cuda_sparse_free(&bank->sparse);
    void *memory[] = {bank->counts,          bank->sum_w,           bank->sum_w2,          bank->workspace,
                      bank->offsets,         bank->exact[0].digits, bank->exact[1].digits, bank->exact[0].special,
                      bank->exact[1].special};
    for (size_t m = 0; m < sizeof memory / sizeof memory[0]; m++)
        cudaFree(memory[m]);
    if (bank->done) cudaEventDestroy(bank->done);
    if (bank->stream) cudaStreamDestroy(bank->stream);
    cudaSetDevice(before);
    cudaGetLastError();
    free(bank);
}

/* ---- Filling ---- */

histo_status histo_cuda_bank_of(const histo_job *job, histo_cuda_bank **out)
{
    const histo_problem *p = job->problem;
    histo_dtype dtype = p->weights == HISTO_ABSENT ? HISTO_U8 : p->dtypes[p->weights];
    histo_cuda_exact wanted[2] = {windows_of(dtype, false), windows_of(dtype, true)};
    for (histo_device_bank **link = &job->bank->on_devices, *it; (it = *link); link = &it->next) {
        if (it->backend != &histo_backend_cuda || it->device != p->device) continue;
        histo_cuda_bank *bank = *out = (histo_cuda_bank *)it;
        if (!histo_is_reproducible(p->weighting) ||
            (covers(&bank->exact[0], &wanted[0]) && covers(&bank->exact[1], &wanted[1])))
            return HISTO_OK;
        /* Weights of another dtype than before: empty it, and make one that has room for both. */
        histo_status status = histo_cuda_bank_gather(it, job->bank);
        if (status != HISTO_OK) return status;
        for (int s = 0; s < 2; s++)
            wanted[s] = joined(&wanted[s], &bank->exact[s]);
        *link = it->next;
        histo_cuda_bank_free(it);
        break;
    }
    histo_status status = make(job, wanted, out);
    if (status != HISTO_OK) return status;
    (*out)->base.next = job->bank->on_devices;
    job->bank->on_devices = &(*out)->base;
    return HISTO_OK;
}

histo_status histo_cuda_bank_workspace(histo_cuda_bank *bank, size_t bytes)
{
    if (bytes <= bank->workspace_bytes) return HISTO_OK;
    void *larger;
    histo_status status = allocate(&larger, bytes, "the workspace of a strategy");
    if (status != HISTO_OK) return status;
    cudaFree(bank->workspace); /* waits for who uses it */
    bank->workspace = larger;
    bank->workspace_bytes = bytes;
    return HISTO_OK;
}

histo_status histo_cuda_bank_offsets(histo_cuda_bank *bank, histo_job *job, cudaStream_t stream)
{
    size_t bytes = (size_t)(bank->batch + 1) * sizeof *bank->offsets;
    histo_status status = HISTO_OK;
    if (!bank->offsets) status = allocate((void **)&bank->offsets, bytes, "offsets");
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaMemcpyAsync(bank->offsets, job->nest.offsets, bytes, cudaMemcpyHostToDevice, stream),
                            "copying offsets");
    job->nest.offsets = bank->offsets;
    return status;
}

/* A number that no other stream has; 0 if it is not known. */
static unsigned long long id_of(cudaStream_t stream)
{
    unsigned long long id = 0;
#if CUDART_VERSION >= 12000
    if (cudaStreamGetId(stream, &id) != cudaSuccess) id = 0;
#else
    (void)stream;
#endif
    return id;
}

bool histo_cuda_is_captured(cudaStream_t stream)
{
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(stream, &capture) != cudaSuccess) cudaGetLastError(); /* what comes next says why */
    return capture != cudaStreamCaptureStatusNone;
}

/* In a graph the event is waited for and recorded by each launch, on whatever stream that is. */
histo_status histo_cuda_bank_begin(histo_cuda_bank *bank, cudaStream_t stream)
{
    bank->capturing = histo_cuda_is_captured(stream);
    bank->captured |= bank->capturing;
    unsigned long long id = bank->captured ? 0 : id_of(stream); /* asking for it would end a capture */
    if (id && id == bank->last) return HISTO_OK;                /* the stream's own order */
    histo_status status = HISTO_CUDA(
        cudaStreamWaitEvent(stream, bank->done, bank->capturing ? cudaEventWaitExternal : 0), "waiting for an event");
    bank->last = status == HISTO_OK ? id : 0;
    return status;
}

histo_status histo_cuda_bank_end(histo_cuda_bank *bank, cudaStream_t stream)
{
    return HISTO_CUDA(cudaEventRecordWithFlags(bank->done, stream, bank->capturing ? cudaEventRecordExternal : 0),
                      "recording an event");
}

/* Wait for graphs that were launched: they may be recording the event only now. */
static histo_status wait_for_graphs(const histo_cuda_bank *bank)
{
    return bank->captured ? HISTO_CUDA(cudaDeviceSynchronize(), "waiting for graphs") : HISTO_OK;
}

/* ---- Emptying ---- */

/* Adds n elements, from the first-th of an array of the device bank on, to the host's bank. plane: of exact sums. */
typedef histo_status adder(const histo_cuda_bank *from, const histo_bank *to, int which, int plane, int64_t first,
                           int64_t n, const void *elements);

static histo_status add_counts(const histo_cuda_bank *from, const histo_bank *to, int which, int plane, int64_t first,
                               int64_t n, const void *elements)
{
    (void)which, (void)plane;
    const uint64_t *counts = (const uint64_t *)elements;
    for (int64_t i = 0; i < n; i++) {
        int64_t entry = (first + i) / from->counters, slot = (first + i) % from->counters;
        *(slot < from->slots ? &to->counts[entry * from->slots + slot] : &to->masked[entry]) += counts[i];
    }
    return HISTO_OK;
}

static histo_status add_sums(const histo_cuda_bank *from, const histo_bank *to, int which, int plane, int64_t first,
                             int64_t n, const void *elements)
{
    (void)plane;
    double *sums = which == 0 ? to->sum_w : to->sum_w2;
    const double *added = (const double *)elements;
    for (int64_t i = 0; i < n; i++) {
        int64_t entry = (first + i) / from->counters, slot = (first + i) % from->counters;
        if (slot < from->slots) sums[entry * from->slots + slot] += added[i];
    }
    return HISTO_OK;
}

static histo_status add_digits(const histo_cuda_bank *from, const histo_bank *to, int which, int plane, int64_t first,
                               int64_t n, const void *elements)
{
    histo_exact *sums = which == 0 ? to->exact_w : to->exact_w2;
    const int64_t *digits = (const int64_t *)elements;
    histo_exact_windows windows;
    memset(&windows, 0, sizeof windows);
    for (int64_t i = 0; i < n; i++)
        windows.touched[plane] |= digits[i] != 0;
    histo_status status = histo_exact_reserve(sums, &windows, 1);
    for (int64_t i = 0; i < n && status == HISTO_OK; i++)
        if (digits[i]) {
            int64_t entry = (first + i) / from->counters, slot = (first + i) % from->counters;
            histo_exact_add_digit(sums, entry * from->slots + slot, plane, digits[i]);
        }
    return status;
}

static histo_status add_specials(const histo_cuda_bank *from, const histo_bank *to, int which, int plane, int64_t first,
                                 int64_t n, const void *elements)
{
    (void)plane;
    histo_exact *sums = which == 0 ? to->exact_w : to->exact_w2;
    const unsigned int *flags = (const unsigned int *)elements;
    histo_exact_windows windows;
    memset(&windows, 0, sizeof windows);
    for (int64_t i = 0; i < n; i++)
        windows.special |= flags[i] != 0;
    histo_status status = histo_exact_reserve(sums, &windows, 1);
    for (int64_t i = 0; i < n && status == HISTO_OK; i++)
        if (flags[i]) {
            int64_t entry = (first + i) / from->counters, slot = (first + i) % from->counters;
            histo_exact_add_special(sums, entry * from->slots + slot, (uint8_t)flags[i]);
        }
    return status;
}

/* Move an array to the host and clear it there, piece by piece: what has been added is no longer on the device. */
static histo_status drain(histo_cuda_bank *bank, const histo_bank *to, adder *add, int which, int plane, void *array,
                          size_t size, char *room, size_t room_bytes)
{
    int64_t n = (int64_t)all_counters(bank), most = (int64_t)(room_bytes / size);
    for (int64_t first = 0; first < n; first += most) {
        int64_t piece = n - first < most ? n - first : most;
        char *from = (char *)array + (size_t)first * size;
        histo_status status = HISTO_CUDA(
            cudaMemcpyAsync(room, from, (size_t)piece * size, cudaMemcpyDeviceToHost, bank->stream), "reading counts");
        if (status == HISTO_OK) status = HISTO_CUDA(cudaStreamSynchronize(bank->stream), "reading counts");
        if (status == HISTO_OK) status = add(bank, to, which, plane, first, piece, room);
        if (status != HISTO_OK) return status;
        status = HISTO_CUDA(cudaMemsetAsync(from, 0, (size_t)piece * size, bank->stream), "clearing counts");
        if (status != HISTO_OK) {
            bank->broken = "it could not be cleared after it was read";
            return status;
        }
    }
    return HISTO_OK;
}

static histo_status drain_all(histo_cuda_bank *bank, const histo_bank *to, char *room, size_t room_bytes)
{
    histo_status status = HISTO_OK;
    if (bank->is_sparse) return histo_cuda_sparse_gather(bank, to, bank->stream);
    if (bank->exact[0].digits) status = balance_sums(bank, bank->stream);
    if (status == HISTO_OK)
        status = drain(bank, to, add_counts, 0, 0, bank->counts, sizeof *bank->counts, room, room_bytes);
    double *sums[] = {bank->sum_w, bank->sum_w2};
    for (int s = 0; s < 2; s++) {
        const histo_cuda_exact *e = &bank->exact[s];
        if (status == HISTO_OK && sums[s])
            status = drain(bank, to, add_sums, s, 0, sums[s], sizeof(double), room, room_bytes);
        for (int k = 0; k < e->windows && e->digits && status == HISTO_OK; k++)
            status = drain(bank, to, add_digits, s, e->low + k, e->digits + (size_t)k * all_counters(bank),
                           sizeof *e->digits, room, room_bytes);
        if (status == HISTO_OK && e->special)
            status = drain(bank, to, add_specials, s, 0, e->special, sizeof *e->special, room, room_bytes);
    }
    if (status == HISTO_OK) status = HISTO_CUDA(cudaEventRecord(bank->done, bank->stream), "recording an event");
    if (status == HISTO_OK) status = HISTO_CUDA(cudaStreamSynchronize(bank->stream), "reading counts");
    return status;
}

static histo_status fail_broken(const histo_cuda_bank *bank)
{
    return histo_fail(HISTO_DEVICE, "what GPU %d counted is not whole: %s; reset the histogram to use it again",
                      bank->base.device - HISTO_DEVICE_CUDA(0), bank->broken);
}

histo_status histo_cuda_bank_gather(histo_device_bank *from, const histo_bank *to)
{
    enum { ROOM = 4 << 20 };
    histo_cuda_bank *bank = (histo_cuda_bank *)from;
    if (bank->broken) return fail_broken(bank);
    if (!bank->dirty && !bank->captured) return HISTO_OK;
    int before;
    histo_status status = histo_cuda_enter(from->device, &before);
    if (status != HISTO_OK) return status;
    size_t bytes = all_counters(bank) * sizeof(uint64_t);
    if (bytes > ROOM || bank->is_sparse) bytes = ROOM;
    char *room = (char *)malloc(bytes);
    if (!room) status = histo_fail_memory(bytes, "reading counts from a GPU");
    if (status == HISTO_OK) status = wait_for_graphs(bank);
    if (status == HISTO_OK) status = histo_cuda_bank_begin(bank, bank->stream);
    if (status == HISTO_OK) status = drain_all(bank, to, room, bytes);
    if (status == HISTO_OK)
        bank->dirty = false;
    else
        cudaStreamSynchronize(bank->stream); /* no event is behind what is still being cleared */
    free(room);
    histo_cuda_leave(before);
    return status;
}

histo_status histo_cuda_bank_wait(histo_device_bank *device_bank)
{
    histo_cuda_bank *bank = (histo_cuda_bank *)device_bank;
    int before;
    histo_status status = histo_cuda_enter(device_bank->device, &before);
    if (status != HISTO_OK) return status;
    status = wait_for_graphs(bank);
    if (status == HISTO_OK) status = HISTO_CUDA(cudaEventSynchronize(bank->done), "counting");
    histo_cuda_leave(before);
    return status;
}

bool histo_cuda_bank_clear(histo_device_bank *device_bank)
{
    histo_cuda_bank *bank = (histo_cuda_bank *)device_bank;
    int before;
    if (histo_cuda_enter(device_bank->device, &before) != HISTO_OK) return false;
    /* What a broken fill enqueued may still run, and no event says when it is done. */
    histo_status status = bank->broken ? HISTO_CUDA(cudaDeviceSynchronize(), "waiting") : wait_for_graphs(bank);
    if (status == HISTO_OK) status = histo_cuda_bank_begin(bank, bank->stream);
    if (status == HISTO_OK) status = clear_memory(bank);
    bank->broken = NULL;
    bank->dirty = false;
    histo_cuda_leave(before);
    return status == HISTO_OK;
}
