/* Tables of features on a GPU: copies, in groups of features that a block adds up at once. */
#include <algorithm>
#include <string.h>

#include "base/memory.h"
#include "cuda/host/check.h"
#include "cuda/memory/allocate.h"
#include "cuda/nodes/nodes.h"

enum { THREADS = 256, BLOCKS = 4096, LINE = 256, BYTE_BINS = 256, TALL = 8 };

/* ---- Groups ---- */

static int bins_of(const int32_t *bins, int32_t first, int32_t n)
{
    int most = 1;
    for (int32_t f = first; f < first + n; f++)
        most = bins[f] > most ? bins[f] : most;
    return most;
}

/* Bytes of shared memory for bins with rows of so many words. */
static size_t shared_of(int bins, int width)
{
    return (size_t)bins * (size_t)width * HISTO_NODE_WORDS * sizeof(uint32_t);
}

/* The next group: as many features as fit together. */
static histo_node_group group_from(const histo_cuda_features *f, int32_t first, size_t shared)
{
    const int each = (int)sizeof(uint32_t) / f->bytes; /* the least slots, those of a word */
    histo_node_group g = {};
    g.first = first;
    for (g.slots = HISTO_NODE_SLOTS;; g.slots /= 2) {
        g.features = f->features - first < g.slots ? f->features - first : g.slots;
        g.bins = bins_of(f->bins, first, g.features);
        if (g.slots == each || shared_of(g.bins, g.slots) <= shared) break;
    }
    while (g.slots > each && g.slots / 2 >= g.features)
        g.slots /= 2;
    g.lanes = g.slots / each;
    for (g.width = HISTO_NODE_SLOTS; g.width >= g.slots && shared_of(g.bins, g.width) > shared;)
        g.width /= 2;
    if (g.width < g.slots) g.width = 0;
    return g;
}

/* Describe all groups; tiles are still offsets. Returns their bytes. */
static size_t make_groups(histo_cuda_features *f, size_t shared)
{
    size_t bytes = 0;
    f->group_count = 0;
    for (int32_t first = 0; first < f->features; f->group_count++) {
        histo_node_group g = group_from(f, first, shared);
        g.base = f->words;
        g.before = f->lanes;
        g.tile = (const uint32_t *)bytes;
        bytes += ((size_t)f->rows * (size_t)g.lanes * sizeof(uint32_t) + LINE - 1) / LINE * LINE;
        f->words += (int64_t)((g.bins + TALL - 1) / TALL * TALL) * g.slots;
        f->lanes += g.lanes;
        if (f->groups_here) f->groups_here[f->group_count] = g;
        first += g.features;
    }
    return bytes;
}

/* ---- Copying ---- */

typedef struct copying {
    const histo_node_group *groups;
    const int32_t *bins;
    const char *table;
    int64_t row_stride, column_stride, rows;
    int size, bytes;           /* of a sample there, and here */
    unsigned long long *stray; /* the least row << 32 | feature */
} copying;

static __device__ uint32_t sample_at(const copying &c, int64_t row, int32_t feature)
{
    const unsigned char *at = (const unsigned char *)c.table + row * c.row_stride + feature * c.column_stride;
    return c.size == 1 ? at[0] : at[0] | (uint32_t)at[1] << 8; /* of any alignment */
}

/* A thread copies a word. Slots without a feature have bins that differ between rows, so that additions to them do not
 * wait for each other. */
static __global__ void __launch_bounds__(THREADS) copy_tile(const copying c, int group)
{
    const histo_node_group g = c.groups[group];
    const int each = (int)sizeof(uint32_t) / c.bytes;
    const int64_t n = c.rows * g.lanes, step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += step) {
        const int64_t row = i / g.lanes;
        uint32_t word = 0;
        for (int k = 0; k < each; k++) {
            const int slot = (int)(i % g.lanes) * each + k;
            uint32_t bin = (uint32_t)(row % g.bins);
            if (slot < g.features) {
                bin = sample_at(c, row, g.first + slot);
                if (bin >= (uint32_t)c.bins[g.first + slot]) {
                    atomicMin(c.stray, (unsigned long long)row << 32 | (unsigned)(g.first + slot));
                    bin = 0;
                }
            }
            word |= bin << (8 * c.bytes * k);
        }
        const_cast<uint32_t *>(g.tile)[i] = word;
    }
}

static histo_status upload(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    return bytes ? HISTO_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "copying features")
                 : HISTO_OK;
}

static histo_status download(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    histo_status status =
        HISTO_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream), "copying features");
    return status == HISTO_OK ? HISTO_CUDA(cudaStreamSynchronize(stream), "copying features") : status;
}

static histo_status find_stray(const copying *c, cudaStream_t stream, histo_stray_bin *stray)
{
    unsigned long long found;
    histo_status status = download(&found, c->stray, sizeof found, stream);
    stray->row = -1;
    if (status != HISTO_OK || found == ~0ull) return status;
    stray->row = (int64_t)(found >> 32);
    stray->feature = (int32_t)(uint32_t)found;
    uint16_t bin = 0;
    status = download(&bin, c->table + stray->row * c->row_stride + stray->feature * c->column_stride, (size_t)c->size,
                      stream);
    stray->bin = bin;
    return status;
}

static histo_status copy_table(histo_cuda_features *f, const histo_view *table, cudaStream_t stream,
                               histo_stray_bin *stray)
{
    copying c = {};
    c.groups = f->groups;
    c.bins = f->bins_there;
    c.table = (const char *)table->data;
    c.row_stride = table->strides[0];
    c.column_stride = table->strides[1];
    c.rows = f->rows;
    c.size = (int)histo_dtype_size(table->dtype);
    c.bytes = f->bytes;
    histo_status status = histo_cuda_allocate((void **)&c.stray, sizeof *c.stray, "the features");
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaMemsetAsync(c.stray, 0xff, sizeof *c.stray, stream), "copying features");
    for (int32_t k = 0; k < f->group_count && status == HISTO_OK && f->rows; k++) {
        const int64_t blocks = (f->rows * f->groups_here[k].lanes + THREADS - 1) / THREADS;
        copy_tile<<<(unsigned)std::min<int64_t>(blocks, BLOCKS), THREADS, 0, stream>>>(c, k);
        status = HISTO_CUDA(cudaGetLastError(), "copying features");
    }
    if (status == HISTO_OK) status = find_stray(&c, stream, stray);
    histo_cuda_release(c.stray);
    return status;
}

/* ---- Making and freeing ---- */

static histo_status make_stray(histo_cuda_features *f)
{
    void *memory = NULL;
    histo_status status = HISTO_CUDA(cudaHostAlloc(&memory, sizeof *f->stray, cudaHostAllocMapped), "the features");
    if (status != HISTO_OK) return status;
    f->stray = (volatile unsigned long long *)memory;
    *f->stray = 0;
    return HISTO_OK;
}

/* Everything but the samples. */
static histo_status describe(histo_cuda_features *f, const int32_t *bins, size_t shared, cudaStream_t stream)
{
    const size_t of_bins = (size_t)f->features * sizeof *bins;
    f->bins = (int32_t *)histo_malloc(of_bins + 1);
    if (!f->bins) return histo_fail_memory(of_bins, "the features");
    memcpy(f->bins, bins, of_bins);
    f->bytes = f->features && bins_of(bins, 0, f->features) > BYTE_BINS ? 2 : 1;
    make_groups(f, shared); /* how many there are */
    const size_t of_groups = (size_t)f->group_count * sizeof *f->groups;
    f->groups_here = (histo_node_group *)histo_malloc(of_groups + 1);
    if (!f->groups_here) return histo_fail_memory(of_groups, "the features");
    f->words = f->lanes = 0;
    const size_t bytes = make_groups(f, shared);
    histo_status status = histo_cuda_allocate(&f->tiles, bytes + 1, "the features");
    if (status == HISTO_OK) status = histo_cuda_allocate((void **)&f->groups, of_groups + of_bins + 1, "the features");
    if (status != HISTO_OK) return status;
    for (int32_t k = 0; k < f->group_count; k++)
        f->groups_here[k].tile = (const uint32_t *)((char *)f->tiles + (size_t)f->groups_here[k].tile);
    f->bins_there = (int32_t *)(f->groups + f->group_count);
    status = upload(f->groups, f->groups_here, of_groups, stream);
    return status == HISTO_OK ? upload(f->bins_there, bins, of_bins, stream) : status;
}

/* Continue after failures: the device may be lost. */
void histo_cuda_features_free(histo_device_features *base)
{
    histo_cuda_features *f = (histo_cuda_features *)base;
    int before;
    const bool alive = histo_cuda_enter_context(base->device, f->context, &before) == HISTO_OK;
    histo_cuda_room_free(&f->sums);
    histo_cuda_room_free(&f->parameters);
    histo_cuda_release(f->tiles);
    histo_cuda_release(f->groups);
    histo_cuda_order_free(&f->order, alive);
    if (alive) {
        if (f->stray) cudaFreeHost((void *)f->stray);
        histo_cuda_leave(before);
        cudaGetLastError();
    }
    histo_free(f->parameters_here);
    histo_free(f->groups_here);
    histo_free(f->bins);
    histo_free(f);
}

histo_status histo_cuda_features_make(const histo_view *table, const int32_t *bins, histo_device device, void *on,
                                      histo_stray_bin *stray, histo_device_features **made)
{
    const cudaStream_t stream = (cudaStream_t)on;
    stray->row = -1;
    histo_cuda_features *f = (histo_cuda_features *)histo_calloc(1, sizeof *f);
    if (!f) return histo_fail_memory(sizeof *f, "the features");
    f->base.backend = &histo_backend_cuda;
    f->base.device = device;
    f->rows = table->shape[0];
    f->features = (int32_t)table->shape[1];
    int before;
    histo_status status = histo_cuda_enter(device, &before);
    if (status != HISTO_OK) {
        histo_free(f);
        return status;
    }
    f->context = histo_cuda_context();
    if (histo_cuda_is_captured(stream))
        status = histo_fail(HISTO_UNSUPPORTED, "features cannot be made while the stream is captured into a graph");
    if (status == HISTO_OK) status = histo_cuda_order_make(&f->order);
    if (status == HISTO_OK) status = make_stray(f);
    if (status == HISTO_OK) status = describe(f, bins, histo_cuda_device_of(device)->shared_block, stream);
    if (status == HISTO_OK) status = copy_table(f, table, stream, stray);
    if (status == HISTO_OK && stray->row < 0)
        *made = &f->base;
    else
        histo_cuda_features_free(&f->base);
    histo_cuda_leave(before);
    return status;
}
