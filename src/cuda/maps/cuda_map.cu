/* Maps on a GPU: memory of their values, copies from and to the host, and the order of their uses. */
#include "cuda/maps/cuda_map.h"

#include <string.h>

#include "axis/axis.h"
#include "base/memory.h"
#include "cuda/host/check.h"
#include "cuda/host/device.h"
#include "cuda/memory/accumulators.h"
#include "cuda/memory/allocate.h"
#include "cuda/memory/stream_order.h"

/* ---- Making and freeing ---- */

static size_t bytes_of(const histo_mapping *mapping)
{
    return (size_t)(mapping->batch * mapping->length) * sizeof(double);
}

/* Make the map's device current, as histo_cuda_enter does; HISTO_DEVICE if the map went with its context. */
static histo_status enter(const histo_cuda_map *map, int *before)
{
    return histo_cuda_enter_context(map->base.device, map->context, before);
}

/* Continue after failures: the device may be lost. */
static void free_map(histo_device_map *base)
{
    histo_cuda_map *map = (histo_cuda_map *)base;
    int before;
    const bool alive = enter(map, &before) == HISTO_OK;
    histo_cuda_map_applying_free(map->applying, alive);
    histo_cuda_edges_free(&map->edges);
    histo_cuda_edges_free(&map->other);
    histo_cuda_release(map->values);
    histo_cuda_release(map->workspace);
    histo_cuda_order_free(&map->order, alive);
    if (alive) {
        if (map->stream) cudaStreamDestroy(map->stream);
        histo_cuda_leave(before);
        cudaGetLastError();
    }
    histo_free(map);
}

static histo_status create(const histo_mapping *mapping, histo_device device, histo_device_map **out)
{
    histo_cuda_map *map = (histo_cuda_map *)histo_calloc(1, sizeof *map);
    if (!map) return histo_fail_memory(sizeof *map, "a map");
    map->base.backend = &histo_backend_cuda;
    map->base.device = device;
    int before;
    histo_status status = histo_cuda_enter(device, &before);
    if (status != HISTO_OK) {
        histo_free(map);
        return status;
    }
    status = histo_cuda_allocate((void **)&map->values, bytes_of(mapping), "the values of a map");
    map->context = histo_cuda_context();
    if (status == HISTO_OK) status = histo_cuda_order_make(&map->order);
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaStreamCreateWithFlags(&map->stream, cudaStreamNonBlocking), "making a stream");
    if (status == HISTO_OK && mapping->naxes == 1)
        status = histo_cuda_edges_of(&mapping->axes[0], &map->edges, cudaStreamPerThread, false);
    if (status == HISTO_OK)
        *out = &map->base;
    else
        free_map(&map->base);
    histo_cuda_leave(before);
    return status;
}

/* ---- Memory that makers need ---- */

static histo_status refuse_capture(void)
{
    return histo_fail(HISTO_UNSUPPORTED, "make the map once like this before that is captured into a graph");
}

void histo_cuda_edges_free(histo_cuda_edges *edges)
{
    histo_cuda_release(edges->given);
    histo_free(edges->here);
}

static histo_status reserve_edges(histo_cuda_edges *edges, int64_t n)
{
    if (n <= edges->capacity) return HISTO_OK;
    histo_cuda_edges_free(edges);
    memset(edges, 0, sizeof *edges);
    const size_t bytes = (size_t)n * sizeof(double);
    edges->here = (double *)histo_malloc(bytes);
    if (!edges->here) return histo_fail_memory(bytes, "edges");
    histo_status status = histo_cuda_allocate((void **)&edges->given, bytes, "edges");
    if (status == HISTO_OK) edges->capacity = n;
    return status;
}

histo_status histo_cuda_edges_of(const histo_axis *axis, histo_cuda_edges *edges, cudaStream_t stream, bool capturing)
{
    const bool stored = axis->kind != HISTO_INTEGER && axis->kind != HISTO_REGULAR;
    const double *doubles = histo_axis_doubles(axis);
    const int64_t n = axis->bins + 1;
    const size_t bytes = (size_t)n * sizeof(double);
    const bool known = !stored || (n == edges->is.bins + 1 && edges->is.given && !memcmp(edges->here, doubles, bytes));
    if (!known && capturing) return refuse_capture();
    edges->is.given = NULL;
    histo_status status = known ? HISTO_OK : reserve_edges(edges, n);
    if (status == HISTO_OK && !known)
        status =
            HISTO_CUDA(cudaMemcpyAsync(edges->given, doubles, bytes, cudaMemcpyHostToDevice, stream), "copying edges");
    if (status == HISTO_OK && !known) status = HISTO_CUDA(cudaStreamSynchronize(stream), "copying edges");
    if (status != HISTO_OK) return status;
    if (!known) memcpy(edges->here, doubles, bytes);
    const histo_edges is = {axis->bins,
                            axis->lo,
                            axis->hi,
                            stored ? 0 : histo_axis_step(axis),
                            axis->kind == HISTO_INTEGER,
                            stored ? edges->given : NULL};
    edges->is = is;
    return HISTO_OK;
}

histo_status histo_cuda_map_workspace(histo_cuda_map *map, size_t bytes, bool capturing)
{
    if (bytes <= map->workspace_bytes) return HISTO_OK;
    if (capturing) return refuse_capture();
    void *larger;
    histo_status status = histo_cuda_allocate(&larger, bytes, "making a map");
    if (status != HISTO_OK) return status;
    histo_cuda_release(map->workspace); /* waits for kernels that use it */
    map->workspace = larger;
    map->workspace_bytes = bytes;
    return HISTO_OK;
}

/* ---- Copies ---- */

static histo_status send(histo_device_map *base, const histo_mapping *mapping, const double *values, void *to)
{
    histo_cuda_map *map = (histo_cuda_map *)base;
    const cudaStream_t stream = (cudaStream_t)to;
    int before;
    histo_status status = enter(map, &before);
    if (status != HISTO_OK) return status;
    status = histo_cuda_order_begin(&map->order, stream, false);
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaMemcpyAsync(map->values, values, bytes_of(mapping), cudaMemcpyHostToDevice, stream),
                            "copying a map");
    if (status == HISTO_OK) status = histo_cuda_order_end(&map->order, stream);
    if (status == HISTO_OK) status = HISTO_CUDA(cudaStreamSynchronize(stream), "copying a map");
    histo_cuda_leave(before);
    return status;
}

static histo_status fetch(histo_device_map *base, const histo_mapping *mapping, double *values)
{
    histo_cuda_map *map = (histo_cuda_map *)base;
    int before;
    histo_status status = enter(map, &before);
    if (status != HISTO_OK) return status;
    status = histo_cuda_order_wait(&map->order);
    if (status == HISTO_OK) status = histo_cuda_order_begin(&map->order, map->stream, false);
    if (status == HISTO_OK)
        status =
            HISTO_CUDA(cudaMemcpyAsync(values, map->values, bytes_of(mapping), cudaMemcpyDeviceToHost, map->stream),
                       "copying a map");
    if (status == HISTO_OK) status = histo_cuda_order_end(&map->order, map->stream);
    if (status == HISTO_OK) status = HISTO_CUDA(cudaStreamSynchronize(map->stream), "copying a map");
    histo_cuda_leave(before);
    return status;
}

/* ---- Uses ---- */

/* enqueue(map, stream, capturing), in the order of the map's uses */
template <typename ENQUEUE>
static histo_status use(histo_device_map *base, void *on, ENQUEUE enqueue)
{
    histo_cuda_map *map = (histo_cuda_map *)base;
    const cudaStream_t stream = (cudaStream_t)on;
    const bool capturing = histo_cuda_is_captured(stream);
    int before;
    histo_status status = enter(map, &before);
    if (status != HISTO_OK) return status;
    status = histo_cuda_order_begin(&map->order, stream, capturing);
    if (status == HISTO_OK) status = enqueue(map, stream, capturing);
    if (status == HISTO_OK) status = histo_cuda_order_end(&map->order, stream);
    histo_cuda_leave(before);
    return status;
}

static histo_status make(histo_device_map *base, const histo_mapping *mapping, const histo_making *making)
{
    histo_cuda_accumulators *sources[] = {(histo_cuda_accumulators *)making->from,
                                          (histo_cuda_accumulators *)making->other};
    histo_status whole = HISTO_OK;
    for (int s = 0; s < 2 && whole == HISTO_OK; s++)
        if (sources[s]) whole = histo_cuda_accumulators_check(sources[s]);
    if (whole != HISTO_OK) return whole;
    return use(base, making->options.stream, [&](histo_cuda_map *map, cudaStream_t stream, bool capturing) {
        histo_status status = HISTO_OK;
        for (int s = 0; s < 2 && status == HISTO_OK; s++)
            if (sources[s]) status = histo_cuda_order_begin(&sources[s]->order, stream, capturing);
        if (status == HISTO_OK) status = histo_cuda_map_make(map, mapping, making, stream, capturing);
        for (int s = 0; s < 2 && status == HISTO_OK; s++)
            if (sources[s]) status = histo_cuda_order_end(&sources[s]->order, stream);
        return status;
    });
}

static histo_status apply(histo_device_map *base, const histo_mapping *mapping, const histo_view *views,
                          const histo_view *out, const histo_apply_options *options)
{
    return use(base, options->stream, [&](histo_cuda_map *map, cudaStream_t stream, bool capturing) {
        return histo_cuda_map_apply(map, mapping, views, out, options, stream, capturing);
    });
}

static histo_status moments(histo_device_map *base, const histo_mapping *mapping, const histo_view *views,
                            const histo_apply_options *options, histo_moments *sums)
{
    return use(base, options->stream, [&](histo_cuda_map *map, cudaStream_t stream, bool capturing) {
        return histo_cuda_map_moments(map, mapping, views, options, stream, capturing, sums);
    });
}

extern "C" const histo_map_backend histo_cuda_maps = {create, free_map, send,   fetch, histo_cuda_map_makes,
                                                      make,   apply,    moments};
