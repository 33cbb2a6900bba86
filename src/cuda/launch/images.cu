/* Detects images with a row pitch and cuts them into tiles for teams of blocks: see images.cuh. */
#include "cuda/launch/images.h"

#include <string.h>

#include "base/checked.h"
#include "cuda/launch/work_of_job.h"

/* In vectors, except MAX_IMAGES. The limits keep 32-bit counters of a tile and 32-bit indices of a launch from
 * wrapping. */
enum {
    MAX_TILE_VECTORS = 1 << 26,
    MAX_VECTORS = 1 << 30,
    MAX_IMAGES = INT32_MAX / (MAX_VECTORS / MAX_TILE_VECTORS + 1)
};
enum { VECTOR = HISTO_IMAGES_VECTOR, WARP = 32 };

bool histo_cuda_images_of(const histo_job *job, int skip_dim, int64_t lowest, int64_t row_bytes, histo_images *in)
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
        if (d != skip_dim) {
            if (!histo_mul_i64(number, extent, &number) || number > MAX_IMAGES) return false;
            in->dims++;
            memmove(&in->image[1], &in->image[0], (HISTO_MAX_DIMS - 1) * sizeof in->image[0]);
            in->image[0] = {(uint32_t)extent, histo_divisor_of(extent), iter->strides[0][d],
                            mask == HISTO_ABSENT ? 0 : iter->strides[mask][d], entries};
            in->strides_or |= iter->strides[0][d];
        }
        entries *= extent;
    }
    in->samples = iter->base[0] + lowest;
    in->row_bytes = row_bytes;
    in->size = (uint32_t)histo_dtype_size(problem->dtypes[0]);
    in->rows = 1;
    if (rows) {
        if (iter->shape[run - 1] > INT32_MAX) return false;
        in->rows = (uint32_t)iter->shape[run - 1];
        in->pitch = iter->strides[0][run - 1];
        in->strides_or |= in->pitch;
    }
    if (rows && number * (row_bytes / (VECTOR * WARP) + 1) > INT32_MAX) return false;
    if (mask != HISTO_ABSENT) {
        in->mask = iter->base[mask];
        in->mask_pitch = rows ? iter->strides[mask][run - 1] : 0;
    }
    if (in->pitch < 0) { /* start at the last row */
        in->samples += in->pitch * (in->rows - 1);
        in->pitch = -in->pitch;
        in->mask += in->mask_pitch * (in->rows - 1);
        in->mask_pitch = -in->mask_pitch;
    }
    return true;
}

/* The team size that finishes all tiles first. Candidates: the blocks divided by the tiles (all blocks for a single
 * tile), and powers of two. */
static uint32_t team_of(int64_t tiles, int64_t vectors, int64_t blocks, int64_t threads, int64_t merge)
{
    int64_t max_team = (vectors + threads - 1) / threads, best = 1;
    if (max_team > blocks) max_team = blocks;
    int64_t even = tiles < blocks ? blocks / tiles : 1;
    double best_time = 0;
    for (int64_t team = even < max_team ? even : max_team, power = 1; power <= 2 * max_team;
         team = power < max_team ? power : max_team, power *= 2) {
        int64_t teams = blocks / team, rounds = (tiles + teams - 1) / teams;
        double time = (double)rounds * ((double)vectors / (double)team + (double)merge);
        if (best_time > 0 && time >= best_time) continue;
        best_time = time;
        best = team;
    }
    return (uint32_t)best;
}

/* The number of column bands of an image, none wider than the team's threads, that idles the fewest threads. A team
 * reads as many rows of a band at once as its threads cover. */
static int64_t bands_of(int64_t row_vectors, int64_t rows, int64_t stride, int64_t threads, int64_t merge)
{
    enum { TRIES = 8 };
    int64_t first = (row_vectors + stride - 1) / stride, best = first;
    double best_time = 0;
    for (int64_t bands = first; bands < first + TRIES && bands <= row_vectors; bands++) {
        int64_t step_rows = stride / ((row_vectors + bands - 1) / bands), steps = (rows + step_rows - 1) / step_rows;
        double time = (double)bands * (double)(steps * threads + merge);
        if (best_time > 0 && time >= best_time) continue;
        best_time = time;
        best = bands;
    }
    return best;
}

static void cut(histo_images *in, int threads, int64_t blocks, int64_t merge)
{
    int64_t tiles = 1, misalignment = (int64_t)(uintptr_t)in->samples | in->row_bytes | (in->rows > 1 ? in->pitch : 0);
    for (int d = 0; d < in->dims; d++) {
        tiles *= in->image[d].extent;
        misalignment |= in->image[d].stride;
    }
    in->has_ends = misalignment % VECTOR != 0;
    in->row_vectors = (uint32_t)(in->row_bytes / VECTOR);
    in->row_rest = (uint32_t)(in->row_bytes % VECTOR);
    in->reach = in->row_vectors ? (uint32_t)in->row_bytes - VECTOR + 1 : 0;
    int64_t images = tiles, width = in->row_vectors ? in->row_vectors : 1;
    int64_t bands = (width + MAX_TILE_VECTORS - 1) / MAX_TILE_VECTORS;
    in->team = team_of(images * bands, in->rows * width / bands, blocks, threads, merge);
    in->stride = in->team * (uint32_t)threads;
    if (in->rows > 1) bands = bands_of(width, in->rows, in->stride, threads, merge);
    in->tiles_per_image = (uint32_t)bands;
    in->tile_width = (uint32_t)((width + in->tiles_per_image - 1) / in->tiles_per_image);
    in->by_tile_width = histo_divisor_of(in->tile_width);
    in->by_tiles_per_image = histo_divisor_of(in->tiles_per_image);
    tiles = images * in->tiles_per_image;
    in->tiles = (uint32_t)tiles;
    in->teams = (uint32_t)(blocks / in->team < tiles ? blocks / in->team : tiles);
    in->by_team = histo_divisor_of(in->team);
    in->step_rows = in->stride / in->tile_width;
    in->step_row_bytes = in->step_rows * (uint32_t)in->pitch;
    in->step_row_mask_bytes = in->step_rows * in->mask_pitch;
    in->step_bytes = (int64_t)in->stride * VECTOR;
    in->step_mask_bytes = in->step_bytes / in->size;
}

/* Rows too long for 32-bit vector indices are split at a multiple of every sample and pixel size (48 << 28 bytes);
 * images with too many rows are split between rows. */
histo_status histo_cuda_images_launch(const histo_images *all, int threads, int64_t blocks, int64_t merge,
                                      histo_images_launch *launch, void *context)
{
    const int64_t max_bytes = (int64_t)48 << 28, max_span = UINT32_MAX - 4 * VECTOR;
    histo_status status = HISTO_OK;
    for (int64_t byte = 0; byte < all->row_bytes && status == HISTO_OK; byte += max_bytes) {
        histo_images in = *all;
        in.row_bytes = all->row_bytes - byte < max_bytes ? all->row_bytes - byte : max_bytes;
        int64_t max_rows = MAX_VECTORS / (in.row_bytes / VECTOR + 1);
        int64_t rows_in_reach = (max_span - in.row_bytes) / (in.pitch > in.row_bytes ? in.pitch : in.row_bytes) + 1;
        if (rows_in_reach < max_rows) max_rows = rows_in_reach > 1 ? rows_in_reach : 1;
        for (int64_t row = 0; row < all->rows && status == HISTO_OK; row += max_rows) {
            in.rows = (uint32_t)(all->rows - row < max_rows ? all->rows - row : max_rows);
            in.samples = all->samples + byte + row * in.pitch;
            in.mask = all->mask ? all->mask + byte / all->size + row * in.mask_pitch : NULL;
            cut(&in, threads, blocks, merge);
            status = launch(context, &in);
        }
    }
    return status;
}
