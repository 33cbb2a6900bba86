/* Applying maps on a GPU. There are five kernels:
 *
 *     cells  tiles in two dimensions, samples of one or two bytes, and results of u8, u16 or f32
 *     bytes  no tiles, samples of one byte
 *     slots  no tiles, samples of u16, i16 or f32, and results of u8, u16 or f32
 *     joint  no tiles, two or three axes of samples of one byte, and results of u8 or f32
 *     any    everything
 *
 * The first three need one axis. All but the last need rows: there is no mask, and each batch entry is an image of
 * aligned samples, rows apart by any stride. Where the samples of a row are neighbours and rows begin at multiples of a
 * vector, threads of the first three take vectors of them, else single samples. The first kernel that can is used: it
 * is the fastest, too. */
#include "cuda/maps/map_apply.h"

#include <string.h>

#include "axis/axis.h"
#include "base/memory.h"
#include "cuda/host/device.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/prepared.h"
#include "cuda/launch/work_of_job.h"
#include "cuda/maps/cuda_map.h"
#include "cuda/memory/allocate.h"
#include "view/walk.h"

enum { THREADS = 256, MOST_DOWN = 65535 /* blocks in the later dimensions of a grid, the limit of CUDA */ };

/* ---- Lookups on the device ---- */

/* The lookups of the map's axes for samples of these dtypes. */
struct histo_cuda_map_lookups {
    histo_cuda_map_lookups *next;
    histo_dtype dtypes[HISTO_MAX_AXES];
    void *prepared; /* what the backend has made of them */
};

void histo_cuda_map_applying_free(histo_cuda_map_applying *applying, bool alive)
{
    if (!applying) return;
    for (histo_cuda_map_lookups *it = applying->lookups, *next; it; it = next) {
        next = it->next;
        histo_backend_cuda.unprepare(it->prepared);
        histo_free(it);
    }
    histo_cuda_release(applying->rows);
    histo_cuda_release(applying->arrived);
    if (alive) cudaFreeHost(applying->moments);
    histo_free(applying);
}

/* Slots of all 16-bit patterns take a table, unless a shift gives them; arbitrary edges take cells. */
static histo_status make_lookup(histo_lookup *lookup, const histo_axis *axis, histo_dtype dtype)
{
    enum { MANY = 1 << 24 };
    histo_status status = histo_lookup_make(lookup, axis, dtype, false);
    if (status != HISTO_OK || lookup->pow2.is) return status;
    if (histo_dtype_size(dtype) == 2) return histo_lookup_make(lookup, axis, dtype, true);
    if (histo_dtype_size(dtype) > 2 && lookup->kind == HISTO_SEARCH)
        return histo_cells_make(&lookup->cells, axis, dtype, MANY);
    return HISTO_OK;
}

static histo_status upload(const histo_cuda_map *map, const histo_mapping *mapping, const histo_dtype *dtypes,
                           void **prepared)
{
    histo_problem *problem = (histo_problem *)histo_calloc(1, sizeof *problem);
    if (!problem) return histo_fail_memory(sizeof *problem, "the lookups of a map");
    problem->device = map->base.device;
    histo_status status = HISTO_OK;
    for (; problem->naxes < mapping->naxes && status == HISTO_OK; problem->naxes++) {
        const int a = problem->naxes;
        problem->sampled[a] = dtypes[a];
        status = make_lookup(&problem->lookups[a], &mapping->axes[a], dtypes[a]);
    }
    if (status == HISTO_OK) status = histo_backend_cuda.prepare(problem, prepared);
    for (int a = 0; a < problem->naxes; a++)
        histo_lookup_free(&problem->lookups[a]);
    histo_free(problem);
    return status;
}

static histo_status add_lookups(histo_cuda_map *map, const histo_mapping *mapping, const histo_dtype *dtypes,
                                histo_cuda_map_lookups **added)
{
    if (!map->applying) map->applying = (histo_cuda_map_applying *)histo_calloc(1, sizeof *map->applying);
    histo_cuda_map_lookups *it = map->applying ? (histo_cuda_map_lookups *)histo_calloc(1, sizeof *it) : NULL;
    if (!it) return histo_fail_memory(sizeof *it, "the lookups of a map");
    memcpy(it->dtypes, dtypes, sizeof it->dtypes);
    histo_status status = upload(map, mapping, dtypes, &it->prepared);
    if (status != HISTO_OK) {
        histo_free(it);
        return status;
    }
    it->next = map->applying->lookups;
    *added = map->applying->lookups = it;
    return HISTO_OK;
}

/* The lookups for samples of these views, made if missing. */
static histo_status lookups_of(histo_cuda_map *map, const histo_mapping *mapping, const histo_view *views,
                               bool capturing, const histo_lookup **lookups)
{
    histo_dtype dtypes[HISTO_MAX_AXES] = {};
    for (int a = 0; a < mapping->naxes; a++)
        dtypes[a] = views[a].dtype;
    histo_cuda_map_lookups *it = map->applying ? map->applying->lookups : NULL;
    while (it && memcmp(it->dtypes, dtypes, sizeof dtypes) != 0)
        it = it->next;
    if (!it && capturing)
        return histo_fail(HISTO_UNSUPPORTED, "apply the map to such samples once before that is captured into a graph");
    histo_status status = it ? HISTO_OK : add_lookups(map, mapping, dtypes, &it);
    if (status == HISTO_OK) *lookups = ((const histo_cuda_prepared *)it->prepared)->lookups;
    return status;
}

/* ---- The work of kernels ---- */

static histo_map_grid grid_of(const histo_apply_options *options)
{
    histo_map_grid grid = {};
    grid.ndim = options->tiles.ndim;
    for (int d = 0; d < grid.ndim; d++) {
        grid.count[d] = options->tiles.count[d];
        grid.size[d] = options->tiles.size[d];
        grid.per_size[d] = 1.0f / (float)grid.size[d];
        grid.origin[d] = options->origin[d];
    }
    return grid;
}

/* Make an iterator whose dimensions are those of the views, not merged, so that places among tiles are known. */
static void make_unmerged(histo_strided_iter *iter, int operands, const histo_view *const *views)
{
    memset(iter, 0, sizeof *iter);
    iter->operands = operands;
    iter->ndim = views[0]->ndim;
    iter->batch_ndim = views[0]->batch_ndim;
    iter->batch = iter->per_batch = 1;
    for (int d = 0; d < iter->ndim; d++) {
        iter->shape[d] = views[0]->shape[d];
        *(d < iter->batch_ndim ? &iter->batch : &iter->per_batch) *= iter->shape[d];
    }
    for (int o = 0; o < operands; o++) {
        iter->base[o] = (const char *)views[o]->data;
        memcpy(iter->strides[o], views[o]->strides, (size_t)iter->ndim * sizeof *views[o]->strides);
    }
}

histo_status histo_cuda_map_describe(histo_map_work *work, histo_cuda_map *map, const histo_mapping *mapping,
                                     const histo_view *views, const histo_view *out, const histo_apply_options *options,
                                     bool capturing)
{
    const histo_lookup *lookups = NULL;
    histo_status status = lookups_of(map, mapping, views, capturing, &lookups);
    if (status != HISTO_OK) return status;
    memset(work, 0, sizeof *work);
    const histo_view *operand[HISTO_MAX_AXES + 2];
    histo_cuda_work *s = &work->samples;
    int operands = 0;
    uint32_t stride = 1;
    for (; operands < mapping->naxes; operands++)
        operand[operands] = &views[operands];
    if (out) operand[operands++] = out;
    s->naxes = mapping->naxes;
    s->weights = s->where = s->mask = HISTO_ABSENT;
    if (options->mask) {
        s->mask = operands;
        operand[operands++] = options->mask;
    }
    for (int o = 0; o < operands; o++)
        s->dtypes[o] = operand[o]->dtype;
    for (int a = mapping->naxes - 1; a >= 0; a--) {
        s->lookups[a] = lookups[a];
        s->slot_strides[a] = stride;
        stride *= (uint32_t)mapping->axes[a].bins + 3;
    }
    if (options->tiles.ndim || !out)
        make_unmerged(&s->iter, operands, operand);
    else
        histo_strided_iter_make(&s->iter, operands, operand);
    s->end = s->iter.batch * s->iter.per_batch;
    work->tiles = grid_of(options);
    work->linear = mapping->within == HISTO_MAP_LINEAR;
    work->length = mapping->length;
    work->values = map->values;
    int64_t tables = 1;
    for (int d = 0; d < work->tiles.ndim; d++)
        tables *= work->tiles.count[d];
    work->entry_tables = mapping->batch == tables ? 0 : tables;
    histo_cuda_work_measure(s);
    return HISTO_OK;
}

/* ---- Rows ---- */

/* Whether one stride leads from each batch entry of an operand to the next. */
static bool entries_of(const histo_strided_iter *iter, int operand, int64_t *stride)
{
    *stride = iter->batch_ndim ? iter->strides[operand][iter->batch_ndim - 1] : 0;
    for (int d = iter->batch_ndim - 1; d > 0; d--)
        if (iter->strides[operand][d - 1] != iter->strides[operand][d] * iter->shape[d]) return false;
    return true;
}

/* Describe the work by rows; false if they do not describe it. */
static bool rows_of(const histo_map_work *work, histo_map_rows *rows)
{
    const histo_cuda_work *s = &work->samples;
    const histo_strided_iter *iter = &s->iter;
    const int inner = iter->ndim - iter->batch_ndim, last = iter->ndim - 1;
    if (s->mask != HISTO_ABSENT || !s->aligned || inner < 1 || inner > 2) return false;
    if (work->tiles.ndim && (work->tiles.ndim != 2 || inner != 2)) return false;
    memset(rows, 0, sizeof *rows);
    rows->lookup = s->lookups[0];
    rows->tiles = work->tiles;
    rows->linear = work->linear;
    rows->length = work->length;
    rows->entry_tables = work->entry_tables;
    rows->values = work->values;
    rows->from = iter->base[0];
    rows->to = (char *)iter->base[s->naxes];
    rows->entries = iter->batch;
    rows->rows = inner == 2 ? iter->shape[last - 1] : 1;
    rows->columns = iter->shape[last];
    rows->dtype = s->dtypes[0];
    rows->result = s->dtypes[s->naxes];
    for (int k = 0; k < 2; k++) {
        const int o = k ? s->naxes : 0;
        if (!entries_of(iter, o, &rows->entry_stride[k])) return false;
        rows->row_stride[k] = inner == 2 ? iter->strides[o][last - 1] : 0;
        rows->stride[k] = iter->strides[o][last];
    }
    return rows->rows <= INT32_MAX && rows->columns <= INT32_MAX;
}

/* Describe work on several axes, whose rows rows_of has found; false if a kernel of bytes cannot do it. */
static bool joint_of(const histo_map_work *work, histo_map_joint *joint)
{
    const histo_cuda_work *s = &work->samples;
    const histo_strided_iter *iter = &s->iter;
    const int last = iter->ndim - 1;
    if (s->naxes > HISTO_MAP_JOINT_AXES || work->tiles.ndim) return false;
    joint->naxes = s->naxes;
    for (int a = 0; a < s->naxes; a++) {
        if (histo_dtype_size(s->dtypes[a]) > 1 || !entries_of(iter, a, &joint->entry_stride[a])) return false;
        joint->dtypes[a] = s->dtypes[a];
        joint->lookups[a] = s->lookups[a];
        joint->slot_strides[a] = s->slot_strides[a];
        joint->from[a] = iter->base[a];
        joint->row_stride[a] = last > iter->batch_ndim ? iter->strides[a][last - 1] : 0;
        joint->stride[a] = iter->strides[a][last];
    }
    return true;
}

static bool begins_at_multiples(const histo_map_rows *rows, int operand, int64_t bytes)
{
    const void *base = operand ? rows->to : rows->from;
    const int64_t entry = rows->entries > 1 ? rows->entry_stride[operand] : 0;
    const int64_t row = rows->rows > 1 ? rows->row_stride[operand] : 0;
    return (int64_t)(uintptr_t)base % bytes == 0 && entry % bytes == 0 && row % bytes == 0;
}

static bool is_wide(const histo_map_rows *rows, int vector)
{
    const int64_t size[2] = {(int64_t)histo_dtype_size(rows->dtype), (int64_t)histo_dtype_size(rows->result)};
    for (int o = 0; o < 2; o++)
        if (rows->stride[o] != size[o] || !begins_at_multiples(rows, o, size[o] * vector)) return false;
    return true;
}

/* How a kernel of rows is launched. */
typedef struct launching {
    histo_map_kernel kernel;
    dim3 grid; /* the last dimension is that of batch entries */
    int threads;
    size_t shared;
} launching;

/* Take this kernel for vectors if samples and results are aligned for it, else for single samples. */
static bool take(histo_map_rows *rows, launching *how, histo_map_kernel wide, histo_map_kernel single)
{
    if (!wide.kernel) return false;
    how->kernel = is_wide(rows, wide.vector) ? wide : single;
    const int64_t vectors = (rows->columns + how->kernel.vector - 1) / how->kernel.vector;
    rows->vectors = (uint32_t)vectors;
    rows->by_vectors = histo_divisor_of(vectors);
    return vectors * rows->rows <= INT32_MAX;
}

/* Cut the rows into so few blocks that all of them are on the device at once, as each makes a table. */
static void cut_rows(const histo_cuda_map *map, const histo_map_rows *rows, launching *how)
{
    enum { RESIDENT = 4 /* blocks on a multiprocessor */ };
    const int64_t blocks = (int64_t)RESIDENT * histo_cuda_device_of(map->base.device)->multiprocessors;
    const int64_t least = (rows->rows * rows->vectors + THREADS - 1) / THREADS;
    const int64_t most = blocks / rows->entries > 1 ? blocks / rows->entries : 1;
    how->grid.x = (unsigned)(least < most ? least : most);
    how->threads = THREADS;
}

static bool choose_bytes(const histo_cuda_map *map, histo_map_rows *rows, launching *how)
{
    const size_t size = histo_dtype_size(rows->result);
    if (rows->tiles.ndim || histo_dtype_size(rows->dtype) > 1) return false;
    if (!take(rows, how, histo_cuda_map_bytes(size, true), histo_cuda_map_bytes(size, false))) return false;
    cut_rows(map, rows, how);
    return true;
}

/* A table is kept if it is short, and if each block has some samples for each of its entries. */
static void keep(histo_map_rows *rows, launching *how)
{
    enum { MOST_BYTES = 32 << 10, LEAST_SAMPLES = 2 };
    const size_t bytes = (size_t)rows->length * histo_dtype_size(rows->result);
    const int64_t samples = rows->rows * rows->columns / how->grid.x;
    if (rows->linear || bytes > MOST_BYTES || samples < LEAST_SAMPLES * rows->length) return;
    rows->kept = (uint32_t)rows->length;
    how->shared = bytes;
}

static bool choose_slots(const histo_cuda_map *map, histo_map_rows *rows, launching *how)
{
    if (rows->tiles.ndim || !take(rows, how, histo_cuda_map_slots(rows->dtype, rows->result, true),
                                  histo_cuda_map_slots(rows->dtype, rows->result, false)))
        return false;
    cut_rows(map, rows, how);
    keep(rows, how);
    return true;
}

static bool choose_joint(const histo_cuda_map *map, histo_map_rows *rows, launching *how)
{
    const histo_map_kernel single = {histo_cuda_map_joint(rows->result), 1};
    if (!take(rows, how, single, single)) return false;
    cut_rows(map, rows, how);
    keep(rows, how);
    return true;
}

/* The number of threads, at most `most`, that leaves fewest idle, where `groups` of them take a row. */
static int threads_for(int64_t groups, int most)
{
    enum { STEP = 32 };
    int best = most;
    double best_part = 0;
    for (int threads = most; threads >= most / 2; threads -= STEP) {
        const int64_t rounds = (groups + threads - 1) / threads;
        const int64_t busy = groups <= threads ? threads / groups * groups : groups;
        const double part = (double)busy / (double)(rounds * threads);
        if (part <= best_part) continue;
        best_part = part;
        best = threads;
    }
    return best;
}

/* Where the cells of a dimension begin: behind the last one is the end. The places before the centre of the first tile
 * are a cell, and those behind that of the last. */
static void find_cells(const histo_map_grid *tiles, int d, int64_t extent, int32_t *begin)
{
    int64_t at = 0;
    begin[0] = 0;
    for (int64_t c = 1; c <= tiles->count[d]; c++) {
        const int64_t centre = (2 * c - 1) * tiles->size[d] / 2, near = 2 + (centre >> 22); /* floats are that exact */
        const int64_t guess = centre - near - tiles->origin[d];
        if (at < guess) at = guess < extent ? guess : extent;
        float share;
        while (at < extent &&
               histo_tile_before(tiles->per_size[d], (float)(tiles->origin[d] + at), &share) < (float)(c - 1))
            at++;
        begin[c] = (int32_t)at;
    }
    begin[tiles->count[d] + 1] = (int32_t)extent;
}

/* The number of all strips, if a whole cell has `strips`. */
static int64_t strips_of(const histo_map_grid *tiles, int64_t strips)
{
    const int64_t half = (strips + 1) / 2, quarter = (strips + 3) / 4;
    const int64_t column = (tiles->count[0] - 1) * strips + 2 * half;
    const int64_t narrow = (tiles->count[0] - 1) * half + 2 * quarter;
    return (tiles->count[1] - 1) * column + 2 * narrow;
}

/* Give each strip of each cell a block, so that all multiprocessors are busy: larger and fewer strips where tables are
 * long. */
static bool cut_cells(const histo_cuda_device *device, histo_map_cells *cells, launching *how)
{
    enum { LEAST_ROWS = 8 };
    histo_map_rows *rows = &cells->rows;
    const histo_map_grid *tiles = &rows->tiles;
    const bool is_short = histo_dtype_size(rows->dtype) == 1;
    const int64_t size = tiles->size[0], groups = (tiles->size[1] + how->kernel.vector - 1) / how->kernel.vector;
    how->threads = threads_for(groups, is_short ? HISTO_MAP_SHORT_THREADS : HISTO_MAP_LONG_THREADS);
    const int64_t blocks =
        (int64_t)(is_short ? HISTO_MAP_SHORT_BLOCKS : HISTO_MAP_LONG_BLOCKS) * device->multiprocessors;
    const int64_t at_once = groups < how->threads ? how->threads / groups : 1; /* rows */
    /* Of a whole cell. Those of the first and the last row are half as high, those of such columns half as wide. */
    int64_t strips = size / LEAST_ROWS < blocks ? size / LEAST_ROWS : blocks;
    while (strips > 1 && rows->entries * strips_of(tiles, strips) > blocks)
        strips--;
    int64_t each = strips > 1 ? (size + strips - 1) / strips : size;
    each = (each + at_once - 1) / at_once * at_once;
    find_cells(tiles, 0, rows->rows, cells->top);
    find_cells(tiles, 1, rows->columns, cells->left);
    int32_t most = 1; /* rows of a cell but the first */
    for (int64_t c = 1; c <= tiles->count[0]; c++)
        most = cells->top[c + 1] - cells->top[c] > most ? cells->top[c + 1] - cells->top[c] : most;
    cells->strip_rows = (int32_t)each;
    cells->first_strips = (uint32_t)((cells->top[1] + each - 1) / each);
    cells->strips = (uint32_t)((most + each - 1) / each);
    how->grid.x = (unsigned)tiles->count[1] + 1;
    const int64_t down = cells->first_strips + tiles->count[0] * cells->strips;
    how->grid.y = (unsigned)down;
    return down <= MOST_DOWN;
}

static bool choose_cells(const histo_cuda_map *map, histo_map_cells *cells, launching *how)
{
    enum { LEAST_SIZE = 8, PATTERNS = 256, PACKED = 8 /* bytes of four values */ };
    histo_map_rows *rows = &cells->rows;
    const histo_map_grid *tiles = &rows->tiles;
    const bool bytes = histo_dtype_size(rows->dtype) == 1;
    if (!tiles->ndim || (rows->linear && !bytes)) return false;
    const int64_t extent[2] = {rows->rows, rows->columns};
    for (int d = 0; d < 2; d++)
        if (tiles->size[d] < LEAST_SIZE || tiles->count[d] > HISTO_MAP_MOST_TILES ||
            tiles->origin[d] > INT32_MAX - extent[d])
            return false;
    if (!take(rows, how, histo_cuda_map_cells(rows->dtype, rows->result, true),
              histo_cuda_map_cells(rows->dtype, rows->result, false)))
        return false;
    const histo_cuda_device *device = histo_cuda_device_of(map->base.device);
    const int64_t kept = bytes ? (int64_t)PATTERNS : rows->length - 1; /* integers are never NaN, the last slot */
    rows->kept = kept * PACKED <= (int64_t)device->shared_block ? (uint32_t)kept : 0;
    how->shared = rows->kept * (bytes ? (size_t)HISTO_MAP_COPIED : (size_t)PACKED);
    return cut_cells(device, cells, how);
}

/* ---- Launching ---- */

static histo_status launch_any(const histo_cuda_map *map, histo_map_work *work, cudaStream_t stream)
{
    enum { LEAST = 1 << 10, MOST = 1 << 20, RESIDENT = 2, ROUNDS = 4 };
    const int64_t blocks = (int64_t)RESIDENT * histo_cuda_device_of(map->base.device)->multiprocessors;
    histo_cuda_work_cut(&work->samples, blocks * ROUNDS, LEAST, MOST);
    const int64_t tiles = work->samples.tiles;
    const unsigned grid = (unsigned)(tiles < blocks * ROUNDS ? tiles : blocks * ROUNDS);
    void *args[] = {work};
    return histo_cuda_launch_early(map->base.device, histo_cuda_map_any(), dim3(grid), THREADS, 1, 0, args, stream);
}

histo_status histo_cuda_map_apply(histo_cuda_map *map, const histo_mapping *mapping, const histo_view *views,
                                  const histo_view *out, const histo_apply_options *options, cudaStream_t stream,
                                  bool capturing)
{
    histo_map_work work;
    histo_status status = histo_cuda_map_describe(&work, map, mapping, views, out, options, capturing);
    if (status != HISTO_OK) return status;
    histo_map_cells cells;
    histo_map_joint joint;
    launching how = {};
    if (!rows_of(&work, &cells.rows)) return launch_any(map, &work, stream);
    histo_map_rows *rows = &cells.rows;
    const bool several = mapping->naxes > 1;
    bool chosen =
        !several && (choose_cells(map, &cells, &how) || choose_bytes(map, rows, &how) || choose_slots(map, rows, &how));
    if (several && joint_of(&work, &joint)) chosen = choose_joint(map, rows, &how);
    if (!chosen) return launch_any(map, &work, stream);
    how.grid.z = (unsigned)(rows->entries < MOST_DOWN ? rows->entries : (int64_t)MOST_DOWN);
    joint.rows = *rows;
    void *args[] = {several ? (void *)&joint : (void *)&cells}; /* cells begin with their rows */
    return histo_cuda_launch_early(map->base.device, how.kernel.kernel, how.grid, how.threads, 1, how.shared, args,
                                   stream);
}
