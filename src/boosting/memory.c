#include "boosting/memory.h"

#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "cpu/kernels/nodes/nodes.h"

enum {
    LINE = 64,
    WORD_BYTES = HISTO_NODE_BLOCK * 2 * sizeof(int64_t),
    ROW_BYTES = HISTO_NODE_BLOCK * sizeof(uint32_t),
    /* Rows may have more bytes than are gathered at once, and columns are copied a few at a time. */
    BIN_BYTES = HISTO_NODE_GATHERED > HISTO_NODE_COLUMNS *HISTO_NODE_BLOCK * 2
                    ? HISTO_NODE_GATHERED
                    : HISTO_NODE_COLUMNS *HISTO_NODE_BLOCK * 2,
};

static size_t rounded_up(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

size_t histo_accumulator_bytes(const histo_features *features, int32_t feature, int lanes)
{
    if (features->dtype == HISTO_U8) return HISTO_NODE_BYTE_STRIDE((size_t)lanes);
    return rounded_up((size_t)features->bins[feature] * (size_t)lanes * sizeof(int64_t)) + HISTO_NODE_PAD;
}

/* A tile has HISTO_NODE_TILE bytes, or a single feature; both have no more than all features. */
static size_t tile_bytes(const histo_features *features)
{
    size_t all = 0, largest = HISTO_NODE_TILE;
    for (int32_t f = 0; f < features->features; f++) {
        const size_t bytes = histo_accumulator_bytes(features, f, 2);
        all += bytes;
        largest = bytes > largest ? bytes : largest;
    }
    return all < largest ? all : largest;
}

void histo_node_memory_free(histo_node_memory *memory)
{
    if (!memory) return;
    histo_free(memory->workspaces);
    histo_free(memory->planes);
    histo_free(memory);
}

static histo_node_memory *allocate(const histo_features *features, int threads)
{
    const size_t tile = tile_bytes(features);
    histo_node_memory *memory = histo_calloc(1, sizeof *memory);
    if (!memory) return NULL;
    memory->threads = threads;
    memory->each = tile + WORD_BYTES + 2 * ROW_BYTES + BIN_BYTES;
    memory->workspaces = histo_malloc_aligned(LINE, memory->each * (size_t)threads);
    for (int t = 0; t < threads && memory->workspaces; t++)
        memset(memory->workspaces + (size_t)t * memory->each, 0, tile);
    if (memory->workspaces) return memory;
    histo_node_memory_free(memory);
    return NULL;
}

histo_node_memory *histo_node_memory_take(const histo_features *features, int threads, int64_t numbers)
{
    const size_t bytes = (size_t)numbers * sizeof(int64_t);
    histo_node_memory *memory = atomic_exchange(features->memory, NULL);
    if (!memory || memory->threads < threads) {
        histo_node_memory_free(memory);
        memory = allocate(features, threads);
    }
    if (memory && memory->plane_bytes < bytes) {
        histo_free(memory->planes);
        memory->planes = histo_malloc(bytes);
        memory->plane_bytes = memory->planes ? bytes : 0;
    }
    if (memory && memory->plane_bytes < bytes) {
        histo_node_memory_keep(features, memory);
        return NULL;
    }
    if (bytes) memset(memory->planes, 0, bytes);
    return memory;
}

void histo_node_memory_keep(const histo_features *features, histo_node_memory *memory)
{
    histo_node_memory_free(atomic_exchange(features->memory, memory));
}

histo_node_workspace histo_node_workspace_of(const histo_node_memory *memory, int thread)
{
    char *at = memory->workspaces + (size_t)thread * memory->each;
    char *bins = at + memory->each - BIN_BYTES, *rows = bins - 2 * ROW_BYTES;
    return (histo_node_workspace){
        .accumulators = (int64_t *)(void *)at,
        .words = (int64_t *)(void *)(rows - WORD_BYTES),
        .rows = {(uint32_t *)(void *)rows, (uint32_t *)(void *)(rows + ROW_BYTES)},
        .bins = bins,
    };
}
