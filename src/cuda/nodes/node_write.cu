/* Writing the sums of nodes where the caller wants them. */
#include "cuda/host/check.h"
#include "cuda/nodes/nodes.h"
#include <algorithm>

enum { THREADS = 256, BLOCKS = 4096, TALL = 8, BROAD = 4 };

typedef struct writing {
    const histo_node_group *groups;
    int group_count;
    const int32_t *bins;
    const int64_t *first; /* [features] */
    int64_t nodes, words;
    int numbers;
    histo_node_array arrays[1 + HISTO_MAX_GRADIENTS]; /* counts first */
    unsigned long long *sums;                         /* [nodes][numbers][words] */
    const int *exponents;                             /* of the weights */
} writing;

typedef struct place {
    int32_t feature, bin; /* feature < 0: there is none here */
} place;

/* What sum number `word` of all groups belongs to. Neighbours are of a few features and bins, so that both reading,
 * where features are adjacent, and writing, where bins are, touch few sectors: those of 4 slots and 8 bins. *at: where
 * that sum is. */
HISTO_INLINE place place_of(const writing *w, int64_t word, int64_t *at)
{
    int from = 0, to = w->group_count - 1;
    while (from < to) {
        const int middle = (from + to + 1) / 2;
        if (w->groups[middle].base <= word)
            from = middle;
        else
            to = middle - 1;
    }
    const histo_node_group *g = &w->groups[from];
    const int broad = g->slots < BROAD ? g->slots : BROAD, across = g->slots / broad;
    const int i = (int)(word - g->base), tile = i / (TALL * broad), within = i % (TALL * broad);
    const int slot = tile % across * broad + within % broad, bin = tile / across * TALL + within / broad;
    *at = g->base + (int64_t)bin * g->slots + slot;
    const bool is =
        slot < g->features && bin < w->bins[g->first + slot] && w->first[g->first + slot] != HISTO_NOT_WRITTEN;
    return is ? place{g->first + slot, bin} : place{-1, 0};
}

/* Write a number at any address. */
template <typename TYPE>
static __host__ __device__ void put(char *at, TYPE x)
{
    if ((uintptr_t)at % sizeof x == 0) {
        *(TYPE *)at = x;
        return;
    }
    const char *from = (const char *)&x;
    for (size_t i = 0; i < sizeof x; i++)
        at[i] = from[i];
}

static __host__ __device__ void write_number(const histo_node_array *to, int64_t node, int64_t position, long long sum,
                                             double unit)
{
    if (!to->at) return;
    char *at = to->at + node * to->node_stride + position * to->bin_stride;
    switch (to->dtype) {
    case HISTO_F64:
        put(at, (double)sum * unit);
        break;
    case HISTO_U32:
        put(at, (uint32_t)sum);
        break;
    default:
        put(at, sum);
    }
}

static __global__ void __launch_bounds__(THREADS) write_sums(const __grid_constant__ writing w)
{
    __shared__ double units[1 + HISTO_MAX_GRADIENTS];
    if (threadIdx.x < w.numbers) units[threadIdx.x] = threadIdx.x ? ldexp(1.0, w.exponents[threadIdx.x - 1]) : 1;
    __syncthreads();
    const int64_t n = w.nodes * w.words, step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += step) {
        const int64_t node = i / w.words;
        int64_t at;
        const place it = place_of(&w, i % w.words, &at);
        for (int k = 0; k < w.numbers; k++) {
            unsigned long long *sum = &w.sums[(node * w.numbers + k) * w.words + at];
            const long long is = (long long)*sum;
            if (is) *sum = 0;
            if (it.feature >= 0) write_number(&w.arrays[k], node, w.first[it.feature] + it.bin, is, units[k]);
        }
    }
}

static writing writing_of(const histo_cuda_features *f, const histo_node_request *request, int numbers)
{
    writing w = {};
    w.group_count = f->group_count;
    w.nodes = request->nodes;
    w.words = f->words;
    w.numbers = numbers;
    w.arrays[0] = request->counts;
    for (int k = 1; k < numbers; k++)
        w.arrays[k] = request->sums[k - 1];
    return w;
}

histo_status histo_cuda_write_nodes(const histo_cuda_features *f, const histo_cuda_gradients *g,
                                    const histo_node_request *request, const int64_t *first, int numbers,
                                    cudaStream_t stream)
{
    writing w = writing_of(f, request, numbers);
    w.groups = f->groups;
    w.bins = f->bins_there;
    w.first = first;
    w.sums = (unsigned long long *)f->sums.memory;
    w.exponents = g->state->exponents;
    const int64_t blocks = (w.nodes * w.words + THREADS - 1) / THREADS;
    write_sums<<<(unsigned)std::min<int64_t>(blocks, BLOCKS), THREADS, 0, stream>>>(w);
    return HISTO_CUDA(cudaGetLastError(), "writing the histograms of nodes");
}

void histo_cuda_write_nodes_here(const histo_cuda_features *f, const histo_node_request *request, const double *units,
                                 int numbers, const long long *sums)
{
    writing w = writing_of(f, request, numbers);
    w.groups = f->groups_here;
    w.bins = f->bins;
    w.first = request->first;
    for (int64_t node = 0; node < w.nodes; node++)
        for (int64_t word = 0; word < w.words; word++) {
            int64_t at;
            const place it = place_of(&w, word, &at);
            for (int k = 0; k < numbers && it.feature >= 0; k++)
                write_number(&w.arrays[k], node, w.first[it.feature] + it.bin,
                             sums[(node * numbers + k) * w.words + at], k ? units[k - 1] : 1);
        }
}
