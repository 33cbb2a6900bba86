/* Memory of fills of nodes. */
#include "base/memory.h"
#include "cuda/memory/allocate.h"
#include "cuda/nodes/nodes.h"

/* Keep the memory, which a graph may use, behind the room. */
static histo_status keep(histo_cuda_room *room)
{
    histo_cuda_room *kept = (histo_cuda_room *)histo_malloc(sizeof *kept);
    if (!kept) return histo_fail_memory(sizeof *kept, "the histograms of nodes");
    *kept = *room;
    *room = {};
    room->before = kept;
    return HISTO_OK;
}

histo_status histo_cuda_room_reserve(histo_cuda_room *room, size_t bytes, bool captured, const char *what, bool *grown)
{
    *grown = bytes > room->bytes;
    if (!*grown) return HISTO_OK;
    void *larger;
    histo_status status = histo_cuda_allocate(&larger, bytes, what);
    if (status != HISTO_OK) return status;
    if (captured && room->memory)
        status = keep(room);
    else
        histo_cuda_release(room->memory); /* waits for kernels that use it */
    if (status != HISTO_OK) {
        histo_cuda_release(larger);
        return status;
    }
    room->memory = larger;
    room->bytes = bytes;
    return HISTO_OK;
}

void histo_cuda_room_free(histo_cuda_room *room)
{
    histo_cuda_release(room->memory);
    for (histo_cuda_room *it = room->before, *before; it; it = before) {
        before = it->before;
        histo_cuda_release(it->memory);
        histo_free(it);
    }
}
