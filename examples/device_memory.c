/* Counts samples that lie in a GPU's memory, in order with the other work of a CUDA stream: nothing is copied to the
 * host until the counts are read, which waits for the stream. */
#include "must.h"
#include <cuda_runtime_api.h>

static void must_cuda(cudaError_t error)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    exit(EXIT_FAILURE);
}

int main(void)
{
    enum { N = 1 << 20 };
    static uint16_t data[N];
    int gpus;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
        puts("there is no GPU in this machine");
        return EXIT_SUCCESS;
    }
    for (int i = 0; i < N; i++)
        data[i] = (uint16_t)i;

    void *samples;
    cudaStream_t stream;
    must_cuda(cudaStreamCreate(&stream));
    must_cuda(cudaMalloc(&samples, sizeof data));
    must_cuda(cudaMemcpyAsync(samples, data, sizeof data, cudaMemcpyHostToDevice, stream));

    histo_axis axis = histo_axis_regular(4, 0.0, 65536.0);
    histo_view view = histo_view_1d(samples, HISTO_U16, N);
    uint64_t counts[4];
    histo_fill_options on_stream = HISTO_DEFAULTS;
    on_stream.stream = stream;
    histo_hist *hist;
    must(histo_hist_create(&hist, 1, &axis, NULL));
    must(histo_hist_fill(hist, &view, &on_stream));
    must(histo_hist_read_counts(hist, HISTO_BINS, counts, 4, NULL));
    for (int i = 0; i < 4; i++)
        printf("%ju\n", (uintmax_t)counts[i]);
    histo_hist_destroy(hist);
    must_cuda(cudaFree(samples));
    must_cuda(cudaStreamDestroy(stream));
}
