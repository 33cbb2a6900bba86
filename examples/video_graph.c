/* Equalizes the frames of a video in a GPU's memory. Counting a frame, making the table and applying it are one CUDA
 * graph, which is launched for each frame: nothing waits, allocates or goes to the host in between. */
#include "must.h"
#include <cuda_runtime_api.h>

enum { WIDTH = 320, HEIGHT = 240, PIXELS = WIDTH * HEIGHT, FRAMES = 3 };

static void must_cuda(cudaError_t error)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    exit(EXIT_FAILURE);
}

static void print_range(const char *what, const uint8_t *pixels)
{
    int least = 255, most = 0;
    for (int i = 0; i < PIXELS; i++) {
        least = pixels[i] < least ? pixels[i] : least;
        most = pixels[i] > most ? pixels[i] : most;
    }
    printf("%s%d to %d", what, least, most);
}

int main(void)
{
    int gpus;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
        puts("there is no GPU in this machine");
        return EXIT_SUCCESS;
    }
    void *frame, *result;
    cudaStream_t stream;
    must_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    must_cuda(cudaMalloc(&frame, PIXELS));
    must_cuda(cudaMalloc(&result, PIXELS));
    must_cuda(cudaMemset(frame, 0, PIXELS));

    const int64_t shape[] = {HEIGHT, WIDTH};
    const histo_view from = histo_view_nd(frame, HISTO_U8, 2, shape), to = histo_view_nd(result, HISTO_U8, 2, shape);
    const histo_axis levels = histo_axis_integer(0, 256);
    histo_fill_options anew = HISTO_DEFAULTS;
    histo_make_options to_bytes = HISTO_DEFAULTS;
    histo_apply_options applying = HISTO_DEFAULTS;
    anew.stream = to_bytes.stream = applying.stream = stream;
    anew.replace = true;
    to_bytes.hi = 255;
    histo_hist *hist;
    histo_map *map;
    histo_plan *plan;
    must(histo_hist_create(&hist, 1, &levels, NULL));
    must(histo_map_create(&map, 1, &levels, NULL));
    must(histo_plan_create(&plan, hist, &from, &anew, NULL));

    cudaGraph_t graph = NULL;
    cudaGraphExec_t equalize;
    for (int capturing = 0; capturing <= 1; capturing++) { /* the first calls allocate, which a graph must not */
        if (capturing) must_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        must(histo_plan_fill(plan, hist, &from, &anew));
        must(histo_map_equalize(map, hist, &to_bytes));
        must(histo_map_apply(map, &from, &to, &applying));
        if (capturing) must_cuda(cudaStreamEndCapture(stream, &graph));
    }
    must_cuda(cudaGraphInstantiateWithFlags(&equalize, graph, 0));

    for (int f = 0; f < FRAMES; f++) {
        static uint8_t pixels[PIXELS];
        for (int i = 0; i < PIXELS; i++)
            pixels[i] = (uint8_t)(40 + 30 * f + i % WIDTH / 4);
        printf("frame %d: ", f);
        print_range("", pixels);
        must_cuda(cudaMemcpyAsync(frame, pixels, PIXELS, cudaMemcpyHostToDevice, stream));
        must_cuda(cudaGraphLaunch(equalize, stream));
        must_cuda(cudaMemcpyAsync(pixels, result, PIXELS, cudaMemcpyDeviceToHost, stream));
        must_cuda(cudaStreamSynchronize(stream));
        print_range(" becomes ", pixels);
        putchar('\n');
    }
    must_cuda(cudaGraphExecDestroy(equalize));
    must_cuda(cudaGraphDestroy(graph));
    histo_plan_destroy(plan);
    histo_map_destroy(map);
    histo_hist_destroy(hist);
    must_cuda(cudaFree(frame));
    must_cuda(cudaFree(result));
    must_cuda(cudaStreamDestroy(stream));
}
