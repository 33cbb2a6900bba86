/* Launching kernels that merge their counters through rows: see count_tiles.h. */
#include "papers/strategies/tiles/count_tiles.h"

#include "cuda/host/device.h"
#include "cuda/launch/launch.h"

enum { COLUMNS = 32, LANES = 32 };

/* Rows [first, end) of counts, of which a batch entry has `each`. */
typedef struct rows_to_add {
    const unsigned int *at;
    int64_t first, end, each;
} rows_to_add;

/* The second kernel: a block adds 32 counters over all rows of batch entry blockIdx.y; each warp takes some rows. */
static __global__ void add_rows(const __grid_constant__ histo_cuda_work work, const __grid_constant__ rows_to_add rows)
{
    __shared__ unsigned long long partial[LANES][COLUMNS];
    int64_t entry = rows.first / rows.each + blockIdx.y;
    int64_t begin = entry * rows.each, end = begin + rows.each;
    if (begin < rows.first) begin = rows.first;
    if (end > rows.end) end = rows.end;
    uint32_t column = threadIdx.x % COLUMNS, lane = threadIdx.x / COLUMNS;
    int64_t slot = blockIdx.x * (int64_t)COLUMNS + column;
    unsigned long long sum = 0;
    for (int64_t item = begin + lane; item < end && slot < work.counters; item += LANES)
        sum += rows.at[(item - rows.first) * work.counters + slot];
    partial[lane][column] = sum;
    __syncthreads();
    if (lane > 0 || slot >= work.counters) return;
    for (int l = 1; l < LANES; l++)
        sum += partial[l][column];
    work.counts[(work.first_entry + entry) * work.counters + slot] += sum;
}

histo_block_layout histo_cuda_block_layout(const histo_problem *problem, int64_t wanted, int group, size_t each,
                                           size_t extra, int64_t blocks, bool by_rows)
{
    size_t room = histo_cuda_device_of(problem->device)->shared_block, groups = (size_t)(wanted / group);
    size_t most = room < extra ? 0 : each ? (room - extra) / each : groups;
    if (groups > most) groups = most;
    histo_block_layout l = {(int)groups * group, extra + groups * each, blocks, by_rows};
    if (l.threads && !blocks) l.blocks = histo_cuda_resident(problem->device, l.threads, l.shared);
    return l;
}

void histo_cuda_block_explain(const histo_block_layout *layout, histo_text *text)
{
    histo_text_add(text, "%lld blocks of %d threads, %zu bytes of shared memory each, ", (long long)layout->blocks,
                   layout->threads, layout->shared);
    if (layout->strided) histo_text_add(text, "side by side, ");
    if (layout->coarsening)
        histo_text_add(text, "%d sample%s a load, ", layout->coarsening, layout->coarsening == 1 ? "" : "s");
    histo_text_add(text, layout->by_rows ? "added up by a second kernel" : "each added to the histogram atomically");
}

size_t histo_cuda_rows_bytes(const histo_problem *problem, const histo_block_layout *layout)
{
    return layout->by_rows ? (size_t)layout->blocks * (size_t)(problem->slots + 1) * sizeof(unsigned int) : 0;
}

histo_status histo_cuda_add_rows(const histo_job *job, const histo_cuda_work *work, const histo_tile_rows *rows,
                                 int64_t blocks)
{
    const histo_tile_range *tiles = &rows->tiles;
    rows_to_add adding = {rows->at, tiles->first, tiles->end, work->tiles_per_entry};
    if (tiles->strided) {
        adding.first = tiles->first / work->tiles_per_entry * blocks;
        adding.end = adding.first + blocks;
        adding.each = blocks;
    }
    int64_t entries = (adding.end - 1) / adding.each - adding.first / adding.each + 1;
    dim3 grid((unsigned)((work->counters + COLUMNS - 1) / COLUMNS), (unsigned)entries);
    void *args[] = {(void *)work, &adding};
    return histo_cuda_launch(job, (const void *)add_rows, grid, COLUMNS * LANES, 0, args);
}

histo_cuda_work histo_cuda_scanned_work(const histo_job *job, const histo_block_layout *layout, int64_t least,
                                        int64_t most)
{
    return layout->strided ? histo_cuda_work_of(job, 1, HISTO_SCAN_TILE, HISTO_SCAN_TILE)
                           : histo_cuda_work_of(job, layout->blocks, least, most);
}

histo_status histo_cuda_launch_tiles(const histo_job *job, const void *kernel, const histo_cuda_work *work,
                                     const void *more, const histo_block_layout *layout)
{
    histo_status status = HISTO_OK;
    /* One tile per row, if there are rows. */
    int64_t each = !layout->by_rows ? work->tiles : layout->strided ? 1 : layout->blocks;
    histo_tile_rows rows = {layout->by_rows ? (unsigned int *)job->workspace : NULL, {0, 0, layout->strided}};
    for (; rows.tiles.end < work->tiles && status == HISTO_OK; rows.tiles.first = rows.tiles.end) {
        rows.tiles.end = work->tiles - rows.tiles.first < each ? work->tiles : rows.tiles.first + each;
        const int64_t blocks = histo_scan_blocks(&rows.tiles, work->samples_each, layout->threads, layout->blocks);
        void *args[] = {(void *)work, &rows, (void *)more};
        status = histo_cuda_launch(job, kernel, dim3((unsigned)blocks), layout->threads, layout->shared, args);
        if (status == HISTO_OK && rows.at) status = histo_cuda_add_rows(job, work, &rows, blocks);
    }
    return status;
}
