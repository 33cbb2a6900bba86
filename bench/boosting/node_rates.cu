// Rates of histo_features_fill on a GPU, beside a kernel with atomic additions in global memory, both from the same
// table by rows. Prints a line for each cell: the median of 15 fills into the GPU's memory, and whether both have the
// same sums.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#include <histo/histo.h>

#define CUDA(call)                                                                                                     \
    do {                                                                                                               \
        const cudaError_t error = (call);                                                                              \
        if (error) printf("%s: %s\n", #call, cudaGetErrorString(error)), exit(1);                                      \
    } while (0)
#define HISTO(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) != HISTO_OK) printf("%s: %s\n", #call, histo_last_error()), exit(1);                                \
    } while (0)

typedef unsigned long long word;

__host__ __device__ static uint32_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x7fb5d329728ea185ull;
    x ^= x >> 27;
    x *= 0x81dadef4bc2dd44dull;
    return (uint32_t)(x ^ x >> 33);
}

template <typename BIN>
__global__ void make_table(BIN *table, int64_t n, int bins, bool skewed)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        const uint32_t x = mix(i + 77);
        table[i] = (BIN)(skewed && x % 100 < 90 ? 7 % bins : (x >> 8) % bins);
    }
}

template <typename VALUE>
__global__ void make_values(VALUE *values, int64_t n)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
        values[i] = sizeof(VALUE) == 1 ? (VALUE)(mix(i + 5) % 255 - 127) : (VALUE)(mix(i + 5) / 4294967296.0 - 0.4);
}

// The peer: one thread a row and feature. The values are integers, in units.
template <typename BIN, typename VALUE>
__global__ void add_all(const BIN *table, int features, int bins, const VALUE *g, const VALUE *h, double per_g,
                        double per_h, const uint32_t *list, int64_t listed, const int64_t *offsets, int nodes,
                        word *sums)
{
    const int64_t total = (int64_t)features * bins;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < listed * features;
         i += (int64_t)gridDim.x * blockDim.x) {
        const int64_t position = i / features;
        const int feature = (int)(i % features);
        const uint32_t row = list ? list[position] : (uint32_t)position;
        int node = 0;
        while (node + 1 < nodes && offsets[node + 1] <= position)
            node++;
        word *to = sums + (node * total + (int64_t)feature * bins + table[(int64_t)row * features + feature]);
        atomicAdd(to, (word)__double2ll_rn((double)g[row] * per_g));
        atomicAdd(to + nodes * total, (word)__double2ll_rn((double)h[row] * per_h));
        atomicAdd(to + 2 * nodes * total, 1ull);
    }
}

__global__ void count_differences(const word *a, const word *b, int64_t n, word *differences)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
        if (a[i] != b[i]) atomicAdd(differences, 1ull);
}

template <typename RUN>
static double median_us(int runs, RUN run)
{
    cudaEvent_t from, to;
    CUDA(cudaEventCreate(&from));
    CUDA(cudaEventCreate(&to));
    std::vector<float> times(runs);
    for (float &time : times) {
        CUDA(cudaEventRecord(from));
        run();
        CUDA(cudaEventRecord(to));
        CUDA(cudaEventSynchronize(to));
        CUDA(cudaEventElapsedTime(&time, from, to));
    }
    std::sort(times.begin(), times.end());
    return times[runs / 2] * 1e3;
}

template <typename VALUE>
static const histo_dtype dtype_of = sizeof(VALUE) == 1 ? HISTO_I8 : HISTO_F32;

// every: list each so manieth row; 1: no list, unless there are several nodes.
template <typename BIN, typename VALUE = float>
static void cell(const char *name, int64_t rows, int features, int bins, bool skewed, int every, int nodes)
{
    BIN *table;
    VALUE *values;
    uint32_t *list = NULL;
    int64_t *offsets;
    word *sums, *expected, *differences;
    CUDA(cudaMalloc(&table, rows * features * sizeof *table));
    CUDA(cudaMalloc(&values, 2 * rows * sizeof *values));
    make_table<<<2048, 256>>>(table, rows * features, bins, skewed);
    make_values<<<2048, 256>>>(values, 2 * rows);
    const int64_t listed = rows / every, total = (int64_t)features * bins, n = 3 * nodes * total;
    std::vector<int64_t> cuts(nodes + 1);
    for (int i = 0; i <= nodes; i++)
        cuts[i] = listed * i / nodes;
    CUDA(cudaMalloc(&offsets, cuts.size() * sizeof cuts[0]));
    CUDA(cudaMemcpy(offsets, cuts.data(), cuts.size() * sizeof cuts[0], cudaMemcpyHostToDevice));
    if (every > 1 || nodes > 1) { // node s has rows of its own, in increasing order, all over the table
        std::vector<uint32_t> numbers(listed);
        for (int s = 0; s < nodes; s++)
            for (int64_t i = cuts[s]; i < cuts[s + 1]; i++)
                numbers[i] = (uint32_t)std::min(rows - 1, (i - cuts[s]) * nodes * every + mix(i) % every * nodes + s);
        CUDA(cudaMalloc(&list, listed * sizeof *list));
        CUDA(cudaMemcpy(list, numbers.data(), listed * sizeof *list, cudaMemcpyHostToDevice));
    }
    CUDA(cudaMalloc(&sums, n * sizeof *sums));
    CUDA(cudaMalloc(&expected, n * sizeof *sums));
    CUDA(cudaMalloc(&differences, sizeof *differences));
    CUDA(cudaMemset(differences, 0, sizeof *differences));
    CUDA(cudaMemset(expected, 0, n * sizeof *sums));

    const int64_t shape[] = {rows, features};
    const histo_view view = histo_view_nd(table, sizeof(BIN) == 1 ? HISTO_U8 : HISTO_U16, 2, shape);
    const histo_view of_values[] = {histo_view_1d(values, dtype_of<VALUE>, rows),
                                    histo_view_1d(values + rows, dtype_of<VALUE>, rows)};
    const histo_view of_list = histo_view_1d(list, HISTO_U32, listed);
    std::vector<int32_t> bins_of(features, bins);
    histo_features *its;
    histo_gradients *gradients;
    HISTO(histo_features_create(&its, &view, bins_of.data(), NULL));
    HISTO(histo_gradients_create(&gradients, rows, 2));
    const double setting = median_us(3, [&] { HISTO(histo_gradients_set(gradients, of_values, NULL)); });
    histo_node_options options = {};
    options.rows = list ? &of_list : NULL;
    options.offsets = nodes > 1 ? offsets : NULL;
    options.nodes = nodes;
    histo_node_sums to = {};
    to.sums[0] = sums;
    to.sums[1] = sums + nodes * total;
    to.counts = sums + 2 * nodes * total;
    to.sum_dtype = HISTO_I64;
    to.count_dtype = HISTO_U64;
    HISTO(histo_features_fill(its, gradients, &options, &to));
    const double filling = median_us(15, [&] { HISTO(histo_features_fill(its, gradients, &options, &to)); });
    HISTO(histo_features_wait(its));
    const double per_g = 1 / histo_gradients_unit(gradients, 0), per_h = 1 / histo_gradients_unit(gradients, 1);
    const double peer = median_us(1, [&] {
        add_all<<<4096, 256>>>(table, features, bins, values, values + rows, per_g, per_h, list, listed, offsets, nodes,
                               expected);
    });
    count_differences<<<1024, 256>>>(sums, expected, n, differences);
    word wrong;
    CUDA(cudaMemcpy(&wrong, differences, sizeof wrong, cudaMemcpyDeviceToHost));
    const double pairs = (double)listed * features;
    printf("%-22s fill %7.1f us %5.0f G pairs/s; global atomics %8.0f us %5.0f; set %6.0f us%s\n", name, filling,
           pairs / filling / 1e3, peer, pairs / peer / 1e3, setting, wrong ? " WRONG" : "");
    histo_features_destroy(its);
    histo_gradients_destroy(gradients);
    for (void *memory : {(void *)table, (void *)values, (void *)list, (void *)offsets, (void *)sums, (void *)expected,
                         (void *)differences})
        CUDA(cudaFree(memory));
}

int main(void)
{
    const int64_t n = 11000000; // of Higgs
    cell<uint8_t>("root", n, 28, 256, false, 1, 1);
    cell<uint8_t, int8_t>("root, i8 gradients", n, 28, 256, false, 1, 1);
    cell<uint8_t>("root, skewed", n, 28, 256, true, 1, 1);
    cell<uint8_t>("n/8", n, 28, 256, false, 8, 1);
    cell<uint8_t>("n/8, skewed", n, 28, 256, true, 8, 1);
    cell<uint8_t>("n/64", n, 28, 256, false, 64, 1);
    cell<uint8_t>("64 nodes", n, 28, 256, false, 1, 64);
    cell<uint16_t>("u16, 1024 bins", n, 28, 1024, false, 1, 1);
    cell<uint16_t>("u16, 1024 bins, n/8", n, 28, 1024, false, 8, 1);
    cell<uint8_t>("1000 features", 1000000, 1000, 256, false, 1, 1);
    cell<uint8_t>("12 bins", n, 28, 12, false, 1, 1);
    cell<uint16_t>("20 000 bins", n, 4, 20000, false, 1, 1);
}
