#include "cuda/memory/sparse.h"

#include "base/memory.h"
#include "cuda/host/cub.h"
#include "cuda/memory/accumulators.h"
#include "cuda/memory/allocate.h"

typedef histo_cub_word word;

int histo_cuda_sparse_bits(int64_t batch, int64_t slots)
{
    const uint64_t largest = (uint64_t)batch * (uint64_t)slots + (uint64_t)batch - 1;
    int bits = 1;
    while (bits < 64 && largest >> bits)
        bits++;
    return bits;
}

/* ---- The list ---- */

/* The bytes that CUB needs to sort n pairs and to merge those of equal slots. */
static size_t bytes_of_pairs(int64_t n)
{
    histo_cub_call sorting = {}, joining = {};
    word *const none[2] = {NULL, NULL};
    int which = 0;
    histo_cub_sort_pairs(&sorting, none, none, &which, n, 64);
    histo_cub_join_pairs(&joining, NULL, NULL, n, NULL, NULL, NULL);
    return sorting.bytes > joining.bytes ? sorting.bytes : joining.bytes;
}

histo_status histo_cuda_read_number(const word *there, cudaStream_t stream, int64_t *number)
{
    word here = 0;
    histo_status status =
        HISTO_CUDA(cudaMemcpyAsync(&here, there, sizeof here, cudaMemcpyDeviceToHost, stream), "reading a number");
    if (status == HISTO_OK) status = HISTO_CUDA(cudaStreamSynchronize(stream), "counting");
    *number = (int64_t)here;
    return status;
}

void histo_cuda_sparse_free(histo_cuda_sparse *s)
{
    void *memory[] = {s->slots[0], s->slots[1], s->counts[0], s->counts[1], s->memory};
    for (size_t m = 0; m < sizeof memory / sizeof memory[0]; m++)
        histo_cuda_release(memory[m]);
    memset(s, 0, sizeof *s);
}

/* Make an empty list with room for this many pairs. */
static histo_status make(histo_cuda_sparse *s, int64_t capacity)
{
    word **const arrays[] = {&s->slots[0], &s->slots[1], &s->counts[0], &s->counts[1]};
    histo_status status = HISTO_OK;
    memset(s, 0, sizeof *s);
    s->capacity = capacity;
    s->bytes = bytes_of_pairs(capacity);
    for (int a = 0; a < 4 && status == HISTO_OK; a++)
        status = histo_cuda_allocate((void **)arrays[a], (size_t)capacity * sizeof(word), "occupied slots");
    if (status == HISTO_OK) status = histo_cuda_allocate(&s->memory, s->bytes + sizeof(word), "sorting occupied slots");
    if (status != HISTO_OK) histo_cuda_sparse_free(s);
    return status;
}

/* Reallocate for twice the pairs that there are with n more. */
static histo_status enlarge(histo_cuda_sparse *s, int64_t n, cudaStream_t stream)
{
    histo_cuda_sparse larger;
    histo_status status = make(&larger, 2 * (s->n + n));
    if (status != HISTO_OK) return status;
    larger.n = s->n;
    const size_t bytes = (size_t)s->n * sizeof(word);
    if (bytes)
        status = HISTO_CUDA(cudaMemcpyAsync(larger.slots[0], s->slots[0], bytes, cudaMemcpyDeviceToDevice, stream),
                            "moving occupied slots");
    if (bytes && status == HISTO_OK)
        status = HISTO_CUDA(cudaMemcpyAsync(larger.counts[0], s->counts[0], bytes, cudaMemcpyDeviceToDevice, stream),
                            "moving occupied slots");
    histo_cuda_sparse_free(status == HISTO_OK ? s : &larger); /* waits for the copies */
    if (status == HISTO_OK) *s = larger;
    return status;
}

/* Sort the pairs, and merge those of one slot. */
static histo_status settle(histo_cuda_accumulators *accumulators, cudaStream_t stream)
{
    histo_cuda_sparse *s = &accumulators->sparse;
    if (s->n == 0) return HISTO_OK;
    const int bits = histo_cuda_sparse_bits(accumulators->batch, accumulators->slots);
    word *left = (word *)s->memory;
    histo_cub_call call = {left + 1, s->bytes, stream};
    int which = 0;
    histo_status status =
        HISTO_CUDA(histo_cub_sort_pairs(&call, s->slots, s->counts, &which, s->n, bits), "sorting occupied slots");
    call.bytes = s->bytes;
    if (status == HISTO_OK)
        status = HISTO_CUDA(histo_cub_join_pairs(&call, s->slots[which], s->counts[which], s->n, s->slots[1 - which],
                                                 s->counts[1 - which], left),
                            "joining occupied slots");
    int64_t n;
    if (status == HISTO_OK) status = histo_cuda_read_number(left, stream, &n);
    if (status != HISTO_OK) return status;
    s->n = n;
    if (which == 1) return HISTO_OK;
    word *slots = s->slots[0], *counts = s->counts[0];
    s->slots[0] = s->slots[1];
    s->counts[0] = s->counts[1];
    s->slots[1] = slots;
    s->counts[1] = counts;
    return HISTO_OK;
}

/* ---- Dense counters ---- */

/* Move the occupied counters of a batch to pairs. A warp reserves room for its pairs by one addition. Where slots is
 * NULL pairs are only counted. */
static __global__ void collect(word *counters, int64_t all, int64_t each, word *places, word *slots, word *counts)
{
    const int lane = (int)threadIdx.x % 32;
    const int64_t batch = all / each;
    for (int64_t first = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / 32 * 32; first < all;
         first += gridDim.x * (int64_t)blockDim.x) {
        const int64_t i = first + lane;
        const word count = i < all ? counters[i] : 0;
        const uint32_t occupied = __ballot_sync(~0u, count != 0);
        word place = 0;
        if (lane == 0 && occupied) place = atomicAdd(places, (word)__popc(occupied));
        place = __shfl_sync(~0u, place, 0) + (word)__popc(occupied & ((1u << lane) - 1));
        if (!count || !slots) continue;
        const int64_t entry = i / each, slot = i % each;
        slots[place] = (word)(slot < each - 1 ? entry * (each - 1) + slot : batch * (each - 1) + entry);
        counts[place] = count;
        counters[i] = 0;
    }
}

static histo_status launch_collect(histo_cuda_accumulators *accumulators, word *places, word *slots, word *counts,
                                   cudaStream_t stream)
{
    const unsigned blocks = 4096, threads = 256;
    int64_t all = accumulators->batch * accumulators->counters;
    void *args[] = {&accumulators->counts, &all, &accumulators->counters, &places, &slots, &counts};
    histo_status status = HISTO_CUDA(cudaMemsetAsync(places, 0, sizeof *places, stream), "finding occupied slots");
    if (status != HISTO_OK) return status;
    return HISTO_CUDA(cudaLaunchKernel((const void *)collect, dim3(blocks), dim3(threads), args, 0, stream),
                      "finding occupied slots");
}

/* Occupied counters become pairs, and are cleared. */
static histo_status pair_counters(histo_cuda_accumulators *accumulators, cudaStream_t stream)
{
    word *places;
    histo_status status = histo_cuda_allocate((void **)&places, sizeof *places, "finding occupied slots");
    if (status != HISTO_OK) return status;
    int64_t n = 0;
    status = launch_collect(accumulators, places, NULL, NULL, stream);
    if (status == HISTO_OK) status = histo_cuda_read_number(places, stream, &n);
    histo_cuda_sparse *s = &accumulators->sparse;
    if (status == HISTO_OK && s->n + n > s->capacity) status = enlarge(s, n, stream);
    if (status == HISTO_OK && n) {
        status = launch_collect(accumulators, places, s->slots[0] + s->n, s->counts[0] + s->n, stream);
        if (status == HISTO_OK) s->n += n;
    }
    histo_cuda_release(places); /* waits for the kernel */
    return status;
}

/* ---- To the host ---- */

histo_status histo_cuda_sparse_gather(histo_cuda_accumulators *accumulators, const histo_accumulators *to,
                                      cudaStream_t stream)
{
    histo_cuda_sparse *s = &accumulators->sparse;
    histo_status status = accumulators->counters ? pair_counters(accumulators, stream) : HISTO_OK;
    if (status == HISTO_OK) status = settle(accumulators, stream);
    if (status != HISTO_OK || s->n == 0) return status;
    const size_t bytes = (size_t)s->n * sizeof(word);
    word *slots = (word *)histo_malloc(2 * bytes), *counts = slots + s->n;
    histo_list list = {s->n, (histo_entry *)histo_malloc(2 * bytes)};
    if (!slots || !list.entries) status = histo_fail_memory(4 * bytes, "reading occupied slots from a GPU");
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaMemcpyAsync(slots, s->slots[0], bytes, cudaMemcpyDeviceToHost, stream),
                            "reading occupied slots");
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaMemcpyAsync(counts, s->counts[0], bytes, cudaMemcpyDeviceToHost, stream),
                            "reading occupied slots");
    if (status == HISTO_OK) status = HISTO_CUDA(cudaStreamSynchronize(stream), "reading occupied slots");
    for (int64_t i = 0; i < s->n && status == HISTO_OK; i++)
        list.entries[i] = {slots[i], counts[i]};
    histo_free(slots);
    if (status == HISTO_OK) status = histo_accumulators_add(to, list);
    if (status == HISTO_OK)
        s->n = 0;
    else
        histo_list_free(&list);
    return status;
}

/* Is there room for n more pairs, so that the list need not be sorted again soon? */
static bool is_roomy(const histo_cuda_sparse *s, int64_t n)
{
    return s->n + n <= s->capacity && 2 * s->n <= s->capacity;
}

histo_status histo_cuda_sparse_reserve(histo_cuda_accumulators *accumulators, const histo_accumulators *home, int64_t n,
                                       int64_t most, cudaStream_t stream)
{
    histo_cuda_sparse *s = &accumulators->sparse;
    if (s->n + n <= s->capacity) return HISTO_OK;
    histo_status status = settle(accumulators, stream);
    if (status == HISTO_OK && !is_roomy(s, n) && 2 * (s->n + n) > most)
        status = histo_cuda_sparse_gather(accumulators, home, stream);
    return status != HISTO_OK || is_roomy(s, n) ? status : enlarge(s, n, stream);
}
