/* Whether samples lie in rows of images, and how these are cut into tiles for blocks. */
#include "cuda/images.cuh"

#include <string.h>

extern "C" {
#include "base/checked.h"
}

/* Vectors of a tile, so that no counter wraps; of a launch, so that none of its indices does. */
enum {
    MAX_TILE_SAMPLES = 1 << 26,
    MAX_VECTORS = 1 << 30,
    MAX_IMAGES = INT32_MAX / (MAX_VECTORS / MAX_TILE_SAMPLES + 1)
};
enum { VECTOR = HISTO_IMAGES_VECTOR, WARP = 32 };

bool histo_cuda_images_of(const histo_job *job, int beside, int64_t lowest, int64_t row_bytes, histo_images *in)
{
    const histo_problem *problem = job->problem;
    const histo_strided_iter *iter = &job->iter;
    int mask = problem->mask, run = iter->ndim - 1, rows = run - iter->batch_ndim;
    if (iter->offsets || problem->naxes > 1 || problem->weights != HISTO_ABSENT || rows > 1) return false;
    if (mask != HISTO_ABSENT &&
        (histo_dtype_size(problem->dtypes[mask]) > 1 || (iter->strides[mask][run] != 1 && iter->shape[run] > 1)))
        return false;
    memset(in, 0, sizeof *in);
    int64_t entries = 1, number = 1;
    for (int d = iter->batch_ndim - 1; d >= 0; d--) {
        int64_t extent = iter->shape[d];
        if (d != beside) {
            if (!histo_mul_i64(number, extent, &number) || number > MAX_IMAGES) return false;
            in->dims++;
            memmove(&in->image[1], &in->image[0], (HISTO_MAX_DIMS - 1) * sizeof in->image[0]);
            in->image[0] = {(uint32_t)extent, histo_divisor_of(extent), iter->strides[0][d],
                            mask == HISTO_ABSENT ? 0 : iter->strides[mask][d], entries};
            in->aligned |= iter->strides[0][d];
        }
        entries *= extent;
    }
    in->at = iter->base[0] + lowest;
    in->row_bytes = row_bytes;
    in->size = (uint32_t)histo_dtype_size(problem->dtypes[0]);
    in->rows = 1;
    if (rows) {
        if (iter->shape[run - 1] > INT32_MAX) return false;
        in->rows = (uint32_t)iter->shape[run - 1];
        in->pitch = iter->strides[0][run - 1];
        in->aligned |= in->pitch;
    }
    if (rows && number * (row_bytes / (VECTOR * WARP) + 1) > INT32_MAX) return false;
    if (mask != HISTO_ABSENT) {
        in->mask = iter->base[mask];
        in->mask_pitch = rows ? iter->strides[mask][run - 1] : 0;
    }
    if (in->pitch < 0) { /* the last row is the first */
        in->at += in->pitch * (in->rows - 1);
        in->pitch = -in->pitch;
        in->mask += in->mask_pitch * (in->rows - 1);
        in->mask_pitch = -in->mask_pitch;
    }
    return true;
}

/* The team with which all tiles are done first: all blocks for one tile, as few as there are for each of several, or
 * a power of 2. */
static uint32_t team_of(int64_t tiles, int64_t vectors, int64_t blocks, int64_t threads, int64_t merge)
{
    int64_t most = (vectors + threads - 1) / threads, best = 1;
    if (most > blocks) most = blocks;
    int64_t each = tiles < blocks ? blocks / tiles : 1;
    double least = 0;
    for (int64_t team = each < most ? each : most, power = 1; power <= 2 * most;
         team = power < most ? power : most, power *= 2) {
        int64_t teams = blocks / team, rounds = (tiles + teams - 1) / teams;
        double time = (double)rounds * ((double)vectors / (double)team + (double)merge);
        if (least > 0 && time >= least) continue;
        least = time;
        best = team;
    }
    return (uint32_t)best;
}

/* Parts of rows, so that a team has a thread for each vector of one, and then for as many rows as there are threads. */
static int64_t parts_of(int64_t each, int64_t rows, int64_t stride, int64_t threads, int64_t merge)
{
    enum { TRIES = 8 };
    int64_t first = (each + stride - 1) / stride, best = first;
    double least = 0;
    for (int64_t parts = first; parts < first + TRIES && parts <= each; parts++) {
        int64_t at_once = stride / ((each + parts - 1) / parts), steps = (rows + at_once - 1) / at_once;
        double time = (double)parts * (double)(steps * threads + merge);
        if (least > 0 && time >= least) continue;
        least = time;
        best = parts;
    }
    return best;
}

static void cut(histo_images *in, int threads, int64_t blocks, int64_t merge)
{
    int64_t tiles = 1, beside = (int64_t)(uintptr_t)in->at | in->row_bytes | (in->rows > 1 ? in->pitch : 0);
    for (int d = 0; d < in->dims; d++) {
        tiles *= in->image[d].extent;
        beside |= in->image[d].stride;
    }
    in->ragged = beside % VECTOR != 0;
    in->whole = (uint32_t)(in->row_bytes / VECTOR);
    in->rest = (uint32_t)(in->row_bytes % VECTOR);
    in->reach = in->whole ? (uint32_t)in->row_bytes - VECTOR + 1 : 0;
    int64_t images = tiles, each = in->whole ? in->whole : 1;
    int64_t parts = (each + MAX_TILE_SAMPLES - 1) / MAX_TILE_SAMPLES;
    in->team = team_of(images * parts, in->rows * each / parts, blocks, threads, merge);
    in->stride = in->team * (uint32_t)threads;
    in->parts = (uint32_t)(in->rows > 1 ? parts_of(each, in->rows, in->stride, threads, merge) : parts);
    in->part = (uint32_t)((each + in->parts - 1) / in->parts);
    in->by_part = histo_divisor_of(in->part);
    in->by_parts = histo_divisor_of(in->parts);
    tiles = images * in->parts;
    in->tiles = (uint32_t)tiles;
    in->teams = (uint32_t)(blocks / in->team < tiles ? blocks / in->team : tiles);
    in->by_team = histo_divisor_of(in->team);
    in->more_rows = in->stride / in->part;
    in->more_offset = in->more_rows * (uint32_t)in->pitch;
    in->more_mask_rows = in->more_rows * in->mask_pitch;
    in->more_bytes = (int64_t)in->stride * VECTOR;
    in->more_masks = in->more_bytes / in->size;
}

/* Rows that are longer than indices of vectors reach are cut at samples and pixels, and many rows between them: so that
 * offsets have 32 bits, and no counter wraps. */
histo_status histo_cuda_images_launch(const histo_images *all, int threads, int64_t blocks, int64_t merge,
                                      histo_images_launch *launch, void *context)
{
    const int64_t max_bytes = (int64_t)48 << 28, max_offset = UINT32_MAX - 4 * VECTOR;
    histo_status status = HISTO_OK;
    for (int64_t byte = 0; byte < all->row_bytes && status == HISTO_OK; byte += max_bytes) {
        histo_images in = *all;
        in.row_bytes = all->row_bytes - byte < max_bytes ? all->row_bytes - byte : max_bytes;
        int64_t max_rows = MAX_VECTORS / (in.row_bytes / VECTOR + 1);
        int64_t near_rows = (max_offset - in.row_bytes) / (in.pitch > in.row_bytes ? in.pitch : in.row_bytes) + 1;
        if (near_rows < max_rows) max_rows = near_rows > 1 ? near_rows : 1;
        for (int64_t row = 0; row < all->rows && status == HISTO_OK; row += max_rows) {
            in.rows = (uint32_t)(all->rows - row < max_rows ? all->rows - row : max_rows);
            in.at = all->at + byte + row * in.pitch;
            in.mask = all->mask ? all->mask + byte / all->size + row * in.mask_pitch : NULL;
            cut(&in, threads, blocks, merge);
            status = launch(context, &in);
        }
    }
    return status;
}
