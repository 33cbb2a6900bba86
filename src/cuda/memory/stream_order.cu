/* The order of the uses of memory that fills, reads and maps share, on whatever streams: an event that each use waits
 * for and records. */
#include "cuda/memory/stream_order.h"

#include <string.h>

#include "cuda/host/device.h"
#include "cuda/host/driver.h"

/* ---- Sequences ---- */

/* The events that this thread's sequence has yet to record. */
enum { MOST_UNRECORDED = 4 };
struct unrecorded {
    const histo_cuda_order *order;
    histo_device device;
};
struct sequence {
    bool is; /* one has begun, on a stream that is not being captured */
    cudaStream_t stream;
    int n;
    unrecorded of[MOST_UNRECORDED];
};
static thread_local sequence current;

static bool is_unrecorded(const histo_cuda_order *order)
{
    for (int i = 0; i < current.n; i++)
        if (current.of[i].order == order) return true;
    return false;
}

/* Leave the event to the end of the sequence, if there is one on this stream. Not where a graph has it, whose launches
 * wait for it without this library's knowledge. */
static bool defer(const histo_cuda_order *order, cudaStream_t stream)
{
    int ordinal;
    if (!current.is || stream != current.stream || order->captured) return false;
    if (is_unrecorded(order)) return true;
    if (current.n == MOST_UNRECORDED || cudaGetDevice(&ordinal) != cudaSuccess) return false;
    current.of[current.n++] = {order, HISTO_DEVICE_CUDA(ordinal)};
    return true;
}

/* Other streams, or the host, are to wait for what the sequence has enqueued so far. */
static histo_status record_all()
{
    histo_status status = HISTO_OK;
    for (int i = 0; i < current.n; i++) {
        int before;
        const histo_status entered = histo_cuda_enter(current.of[i].device, &before);
        const histo_status recorded =
            entered == HISTO_OK
                ? HISTO_CUDA(cudaEventRecord(current.of[i].order->done, current.stream), "recording an event")
                : entered;
        if (entered == HISTO_OK) histo_cuda_leave(before);
        if (status == HISTO_OK) status = recorded;
    }
    current.n = 0;
    return status;
}

void histo_cuda_sequence_begin(void *stream)
{
    current.is = false;
    if (!histo_driver_is_loaded() || histo_cuda_unavailable()) return;
    current.stream = (cudaStream_t)stream;
    current.is = !histo_cuda_is_captured(current.stream);
}

histo_status histo_cuda_sequence_end()
{
    current.is = false;
    return record_all();
}

/* ---- Orders ---- */

histo_status histo_cuda_order_make(histo_cuda_order *order)
{
    return HISTO_CUDA(cudaEventCreateWithFlags(&order->done, cudaEventDisableTiming), "making an event");
}

void histo_cuda_order_free(histo_cuda_order *order, bool alive)
{
    for (int i = 0; i < current.n; i++)
        if (current.of[i].order == order) current.of[i--] = current.of[--current.n];
    if (alive && order->done) cudaEventDestroy(order->done);
}

histo_status histo_cuda_order_wait(const histo_cuda_order *order)
{
    const histo_status status = record_all();
    if (status != HISTO_OK || !order->captured) return status;
    return HISTO_CUDA(cudaDeviceSynchronize(), "waiting for graphs");
}

/* A process-wide unique number of the stream; 0 if unknown. */
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
    if (current.is && stream == current.stream) return false;
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(stream, &capture) != cudaSuccess) cudaGetLastError(); /* reported later */
    return capture != cudaStreamCaptureStatusNone;
}

/* What a stream is capturing: the capture's process-wide unique number, and after which nodes the next one comes. */
typedef struct captured_at {
    unsigned long long id; /* 0: unknown */
    cudaGraph_t graph;
    cudaGraphNode_t nodes[HISTO_CUDA_MAX_BRANCHES];
    size_t n; /* more than there is room for: unknown */
} captured_at;

static captured_at captured_at_of(cudaStream_t stream)
{
    captured_at at = {};
    cudaStreamCaptureStatus capture;
    const cudaGraphNode_t *nodes = NULL; /* valid until something else is captured */
#if CUDART_VERSION >= 12030
    const cudaGraphEdgeData *edges;
#endif
#if CUDART_VERSION >= 13000
    const cudaError_t error = cudaStreamGetCaptureInfo(stream, &capture, &at.id, &at.graph, &nodes, &edges, &at.n);
#elif CUDART_VERSION >= 12030
    const cudaError_t error = cudaStreamGetCaptureInfo_v3(stream, &capture, &at.id, &at.graph, &nodes, &edges, &at.n);
#else
    const cudaError_t error = cudaStreamGetCaptureInfo(stream, &capture, &at.id);
    at.n = SIZE_MAX;
#endif
    if (error != cudaSuccess) at.id = 0;
    if (at.id && at.n <= HISTO_CUDA_MAX_BRANCHES && at.n > 0) memcpy(at.nodes, nodes, at.n * sizeof *nodes);
    return at;
}

static bool is_among(cudaGraphNode_t node, const cudaGraphNode_t *nodes, size_t n)
{
    while (n > 0)
        if (nodes[--n] == node) return true;
    return false;
}

/* Add the edge to the graph, or remove it. */
static histo_status set_edge(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, bool exists)
{
    const auto change = exists ? cudaGraphAddDependencies : cudaGraphRemoveDependencies;
#if CUDART_VERSION >= 13000
    return HISTO_CUDA(change(graph, from, to, NULL, 1), "adding to a graph");
#else
    return HISTO_CUDA(change(graph, from, to, 1), "adding to a graph");
#endif
}

/* A graph waits for the event before its first node, if it has one only, so that no later node has to. */
static histo_status wait_first(const captured_at *at, cudaEvent_t event, bool *waits)
{
    cudaGraphNode_t first, node;
    size_t n = 0;
    *waits = false;
    if (!at->id || !at->graph || at->n == 0) return HISTO_OK;
    histo_status status = HISTO_CUDA(cudaGraphGetRootNodes(at->graph, NULL, &n), "adding to a graph");
    if (status != HISTO_OK || n != 1) return status;
    status = HISTO_CUDA(cudaGraphGetRootNodes(at->graph, &first, &n), "adding to a graph");
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaGraphAddEventWaitNode(&node, at->graph, NULL, 0, event), "waiting for an event");
    if (status == HISTO_OK) status = set_edge(at->graph, &node, &first, true);
    *waits = status == HISTO_OK;
    return status;
}

/* In a graph, each launch waits for the event and records it, on whatever stream it runs. */
histo_status histo_cuda_order_begin(histo_cuda_order *order, cudaStream_t stream, bool capturing)
{
    order->capturing = capturing;
    order->captured |= capturing;
    if (is_unrecorded(order)) {
        if (!capturing && stream == current.stream) return HISTO_OK;
        const histo_status status = record_all();
        if (status != HISTO_OK) return status;
    }
    const captured_at at = capturing ? captured_at_of(stream) : captured_at{};
    if (at.id && at.id == order->capture && stream == order->capture_stream) return HISTO_OK;
    unsigned long long id = order->captured ? 0 : id_of(stream); /* querying it would end a capture */
    if (id && id == order->last) return HISTO_OK;                /* stream order suffices */
    bool waits = false;
    histo_status status = capturing ? wait_first(&at, order->done, &waits) : HISTO_OK;
    if (status == HISTO_OK && !waits)
        status = HISTO_CUDA(cudaStreamWaitEvent(stream, order->done, capturing ? cudaEventWaitExternal : 0),
                            "waiting for an event");
    order->last = status == HISTO_OK ? id : 0;
    order->capture = status == HISTO_OK ? at.id : 0;
    order->capture_stream = stream;
    return status;
}

/* A graph has one node that records the event. It moves behind what is captured next on the stream, so that no kernel
 * waits for it. */
static histo_status record_behind(histo_cuda_record *record, cudaStream_t stream, const captured_at *at,
                                  cudaEvent_t event)
{
    histo_status status = HISTO_OK;
    const bool exists = record->capture == at->id, moves = exists && record->stream == stream;
    if (!exists)
        status = HISTO_CUDA(cudaGraphAddEventRecordNode(&record->node, at->graph, at->nodes, at->n, event),
                            "recording an event");
    for (size_t i = 0; i < at->n && exists && status == HISTO_OK; i++)
        if (!moves || !is_among(at->nodes[i], record->after, record->n))
            status = set_edge(at->graph, &at->nodes[i], &record->node, true);
    for (size_t i = 0; i < record->n && moves && status == HISTO_OK; i++)
        if (!is_among(record->after[i], at->nodes, at->n))
            status = set_edge(at->graph, &record->after[i], &record->node, false);
    if (status != HISTO_OK) return status;
    record->capture = at->id;
    record->stream = stream;
    record->n = at->n;
    memcpy(record->after, at->nodes, sizeof record->after);
    return HISTO_OK;
}

histo_status histo_cuda_order_end(histo_cuda_order *order, cudaStream_t stream)
{
    const bool capturing = order->capturing;
    if (!capturing && defer(order, stream)) return HISTO_OK;
    const captured_at at = capturing ? captured_at_of(stream) : captured_at{};
    if (at.id && at.n <= HISTO_CUDA_MAX_BRANCHES) return record_behind(&order->record, stream, &at, order->done);
    return HISTO_CUDA(cudaEventRecordWithFlags(order->done, stream, capturing ? cudaEventRecordExternal : 0),
                      "recording an event");
}

histo_status histo_cuda_order_end_any(histo_cuda_order *order, cudaStream_t stream, histo_status status)
{
    const histo_status ended = histo_cuda_order_end(order, stream);
    return status == HISTO_OK ? ended : status;
}
