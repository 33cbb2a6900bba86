/* The addition of rows of nodes: which kernel. */
#include "cuda/host/kernel.h"
#include "cuda/nodes/node_sums.cuh"
#include "cuda/nodes/nodes.h"

enum { LIST_NONE, LIST_CONTIGUOUS, LIST_ANY, ROWS = 4, COUNTS = 1, HIGH = 2, BY_WORK = -1 };

typedef void sums_kernel(const histo_node_work);

template <int BYTES, int LIST>
static sums_kernel *kernel_of(const histo_node_work *w, bool wide)
{
    const bool high = w->low_bits < 32;
    if (!wide)
        return w->pair == 2 ? node_add_list<BYTES, LIST, false, 2, BY_WORK, ROWS>
                            : node_add_list<BYTES, LIST, false, 1, BY_WORK, ROWS>;
    if (w->pair == 1) return node_add_list<BYTES, LIST, true, 1, BY_WORK, ROWS>;
    if (!high) return node_add_list<BYTES, LIST, true, 2, BY_WORK, ROWS>;
    return w->counts ? node_add_list<BYTES, LIST, true, 2, COUNTS + HIGH, ROWS>
                     : node_add_list<BYTES, LIST, true, 2, HIGH, ROWS>;
}

template <int BYTES>
static sums_kernel *kernel_for(const histo_node_work *w, bool wide)
{
    if (!w->list) return kernel_of<BYTES, LIST_NONE>(w, wide);
    const bool contiguous = !w->list_wide && w->list_stride == sizeof(uint32_t) && (uintptr_t)w->list % 4 == 0;
    return contiguous ? kernel_of<BYTES, LIST_CONTIGUOUS>(w, wide) : kernel_of<BYTES, LIST_ANY>(w, wide);
}

/* ---- Bins that are too many for shared memory ---- */

/* A thread adds the bins of a word to sums in global memory. */
template <int BYTES>
static __global__ void __launch_bounds__(256) add_far(const __grid_constant__ histo_node_work w, int group)
{
    const histo_node_group g = w.groups[group];
    const int64_t n = node_listed(w) * g.lanes, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const int64_t position = i / g.lanes, node = node_of(w, position);
        const uint32_t row = w.list ? node_row_at<LIST_ANY>(w, position) : (uint32_t)position;
        if (row >= w.rows) *w.stray = 1;
        if (row >= w.rows || node >= w.nodes) continue;
        const uint32_t lane = (uint32_t)(i % g.lanes), word = g.tile[(uint64_t)row * (uint32_t)g.lanes + lane];
        for (int k = 0; k < 4 / BYTES; k++) {
            const uint32_t slot = lane * (4 / BYTES) + k, bin = word >> (8 * BYTES * k) & ((1u << (8 * BYTES)) - 1);
            if (slot >= (uint32_t)g.features) break;
            unsigned long long *to = w.sums + node * w.numbers * w.words + g.base + (int64_t)bin * g.slots + slot;
            if (w.counts) atomicAdd(to, 1ull);
            for (int p = 0; p < w.pair; p++)
                atomicAdd(to + (w.first + p) * w.words, (unsigned long long)(long long)w.weights[row * w.pair + p]);
        }
    }
}

static histo_status add_far_groups(const histo_cuda_features *f, const histo_node_work *w, cudaStream_t stream)
{
    enum { THREADS = 256, BLOCKS_EACH = 8 };
    histo_status status = HISTO_OK;
    for (int k = 0; k < f->group_count && status == HISTO_OK; k++) {
        if (f->groups_here[k].width) continue;
        const int64_t all = (w->listed * f->groups_here[k].lanes + THREADS - 1) / THREADS;
        const int64_t most = histo_cuda_device_of(f->base.device)->multiprocessors * BLOCKS_EACH;
        const unsigned blocks = (unsigned)(all < most ? all : most);
        if (f->bytes == 1)
            add_far<1><<<blocks, THREADS, 0, stream>>>(*w, k);
        else
            add_far<2><<<blocks, THREADS, 0, stream>>>(*w, k);
        status = HISTO_CUDA(cudaGetLastError(), "adding up nodes");
    }
    return status;
}

/* ---- Launches ---- */

histo_status histo_cuda_add_nodes(const histo_cuda_features *f, const histo_node_work *given, cudaStream_t stream)
{
    histo_node_work w = *given;
    bool wide = true, far = false;
    w.groups = f->groups;
    w.group_count = f->group_count;
    w.lanes = f->lanes;
    w.shared_words = 0;
    for (int k = 0; k < f->group_count; k++) {
        const histo_node_group *g = &f->groups_here[k];
        const uint32_t words = (uint32_t)(g->bins * g->width * HISTO_NODE_WORDS);
        far |= g->width == 0;
        wide &= g->width == 0 || g->width == HISTO_NODE_SLOTS;
        if (words > w.shared_words) w.shared_words = words;
    }
    if (w.shared_words) {
        const size_t shared = w.shared_words * sizeof(uint32_t);
        sums_kernel *kernel = f->bytes == 1 ? kernel_for<1>(&w, wide) : kernel_for<2>(&w, wide);
        histo_status status = histo_cuda_allow_shared((const void *)kernel, shared);
        if (status != HISTO_OK) return status;
        kernel<<<(unsigned)histo_cuda_device_of(f->base.device)->multiprocessors, HISTO_NODE_THREADS, shared, stream>>>(
            w);
        status = HISTO_CUDA(cudaGetLastError(), "adding up nodes");
        if (status != HISTO_OK) return status;
    }
    return far ? add_far_groups(f, &w, stream) : HISTO_OK;
}
