/* Detects columns and cuts them into items for blocks: see lane_columns.cuh. */
#include "cuda/strategies/lane_private/lane_columns.h"

#include <string.h>

#include "cuda/host/device.h"
#include "cuda/jit/class.h"
#include "cuda/jit/specialised.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/work_of_job.h"

namespace histo::lane_private
{

enum { THREADS = 1024, WORD = 4, SECTOR = 32 };
enum { STEP_BYTES = 32, MAX_ROWS = 8 /* of a thread's samples */ };

static int64_t distance(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* Do neighbouring columns lie side by side, and are there more of them than the kernels of channels count together? */
static bool are_columns(const histo_job *job)
{
    const histo_strided_iter *iter = &job->iter;
    const int column = iter->batch_ndim - 1, run = iter->ndim - 1;
    if (iter->offsets || iter->images || column < 0 || run != column + 1) return false;
    if (job->begin != 0 || job->end != iter->batch * iter->per_batch) return false;
    const int64_t columns = iter->shape[column];
    if (columns <= HISTO_CHANNELS_TOGETHER || columns > INT32_MAX || iter->per_batch > INT32_MAX) return false;
    return distance(iter->strides[0][column]) < distance(iter->strides[0][run]);
}

/* The kernel's own constants: see lane_columns.cuh. */
typedef struct column_constants {
    bool is_private, by_value;
    int lanes, vector, rows, words;
} column_constants;

/* The layout of counters: a lane's own ones, if they fit. A thread counts several columns of small samples. */
static bool set_layout(const histo_job *job, int64_t counters, column_items *c, column_constants *own)
{
    const int64_t size = (int64_t)histo_dtype_size(job->problem->dtypes[0]), columns = c->columns;
    const int64_t room = (int64_t)(histo_cuda_device_of(job->problem->device)->shared_block / sizeof(unsigned int));
    int vector = size < WORD ? WORD / (int)size : 1, lanes = WARP;
    while (vector > 1 && (columns <= WARP * vector / 2 || counters * WARP * vector > room))
        vector /= 2;
    if (vector == 1 && columns < WARP) lanes = (int)columns;
    own->is_private = counters * WARP * vector <= room;
    while (!own->is_private && counters * lanes > room)
        lanes = columns < WARP ? 0 : lanes / 2;
    if (lanes == 0 || (lanes < columns && lanes * size < SECTOR)) return false;
    own->lanes = lanes;
    own->vector = vector;
    own->rows = STEP_BYTES / (vector * (int)size) < MAX_ROWS ? STEP_BYTES / (vector * (int)size) : MAX_ROWS;
    c->words = (uint32_t)(counters * vector * (own->is_private ? WARP : lanes));
    return true;
}

/* The words in which a thread's neighbouring columns of each operand are read, and where the operands end. */
static void set_words(const histo_cuda_work *work, column_items *c, column_constants *own)
{
    const histo_strided_iter *iter = &work->iter;
    for (int o = 0; o < iter->operands; o++) {
        const int64_t size = (int64_t)histo_dtype_size(work->dtypes[o]);
        uint64_t bits = (uint64_t)(uintptr_t)iter->base[o];
        c->end[o] = iter->base[o] + size;
        for (int d = 0; d < iter->ndim; d++) {
            if (d != iter->batch_ndim - 1) bits |= (uint64_t)iter->strides[o][d];
            if (iter->strides[o][d] > 0) c->end[o] += (iter->shape[d] - 1) * iter->strides[o][d];
        }
        const bool is_word =
            iter->strides[o][iter->batch_ndim - 1] == size && size * own->vector == WORD && size < WORD;
        const int words = !is_word ? 0 : bits % WORD == 0 && c->columns % own->vector == 0 ? 1 : 2;
        own->words |= words << COLUMN_WORDS_BITS * o;
    }
}

/* Cut the rows into parts so that all blocks finish together, and do not merge too often. */
static void cut(column_items *c, int64_t tiles, int64_t step_rows, int64_t bytes, int64_t blocks)
{
    const double bytes_us = 3.2e4, merge_us = 1.5, words_us = 1e4; /* of a block */
    double best = 0;
    for (int64_t parts = 1; parts <= 4 * blocks; parts++) {
        const int64_t each = ((c->rows - 1) / parts / step_rows + 1) * step_rows;
        const int64_t rounds = (tiles * parts + blocks - 1) / blocks;
        const double us = (double)rounds * ((double)each * (double)bytes / bytes_us + merge_us + c->words / words_us);
        if (parts > 1 && us >= best) continue;
        best = us;
        c->rows_each = each;
    }
    c->parts = (uint32_t)((c->rows + c->rows_each - 1) / c->rows_each);
}

bool columns_describe(const histo_job *job, columns_job *it)
{
    if (!are_columns(job)) return false;
    const histo_problem *p = job->problem;
    column_items *c = &it->columns;
    histo_cuda_class constants;
    column_constants own = {};
    it->work = histo_cuda_work_of(job, 1, 1, INT32_MAX / 2);
    if (!histo_cuda_class_of(job, &it->work, NULL, THREADS, &constants)) return false;
    memset(c, 0, sizeof *c);
    const histo_strided_iter *iter = &it->work.iter;
    c->rows = iter->per_batch;
    c->columns = (uint32_t)iter->shape[iter->batch_ndim - 1];
    own.by_value = p->naxes == 1 && histo_dtype_size(p->dtypes[0]) == 1 && p->slots > VALUES;
    c->column_counters = own.by_value ? VALUES + 1 : (uint32_t)it->work.counters;
    if (!set_layout(job, c->column_counters, c, &own)) return false;
    set_words(&it->work, c, &own);
    constants.samples = constants.vector = 1; /* classes that differ in what this kernel does not use are one */
    memset(constants.chunks, 0, sizeof constants.chunks);
    constants.own[constants.own_constants++] = {"column_lanes", own.lanes};
    constants.own[constants.own_constants++] = {"column_vector", own.vector};
    constants.own[constants.own_constants++] = {"column_rows", own.rows};
    constants.own[constants.own_constants++] = {"column_private", own.is_private};
    constants.own[constants.own_constants++] = {"column_by_value", own.by_value};
    constants.own[constants.own_constants++] = {"column_words", own.words};
    it->kernel = histo_cuda_specialised_kernel(job, &constants, "cuda/strategies/lane_private/lane_columns.cuh",
                                               "histo::lane_private::count_columns<constants>");
    if (!it->kernel) return false;
    const int64_t width = (int64_t)own.vector * own.lanes;
    const int64_t outer = iter->batch / c->columns, rows_of_warp = own.vector > 1 ? 1 : WARP / own.lanes;
    int64_t bytes = 0;
    for (int o = 0; o < constants.operands; o++)
        bytes += width * (int64_t)histo_dtype_size(constants.dtypes[o]);
    c->bands = (uint32_t)((c->columns + width - 1) / width);
    it->blocks = job->params[1] ? job->params[1] : histo_cuda_device_of(p->device)->multiprocessors;
    if (outer * c->bands > UINT32_MAX / (8 * it->blocks)) return false;
    cut(c, outer * c->bands, THREADS / WARP * own.rows * rows_of_warp, bytes, it->blocks);
    c->items = (uint32_t)(outer * c->bands * c->parts);
    return true;
}

histo_status columns_launch(const histo_job *job, columns_job *it)
{
    void *args[] = {&it->work, &it->columns};
    const int64_t items = it->columns.items;
    return histo_cuda_launch(job, it->kernel, dim3((unsigned)(items < it->blocks ? items : it->blocks)), THREADS,
                             it->columns.words * sizeof(unsigned int), args);
}

} // namespace histo::lane_private
