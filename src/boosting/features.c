/* Tables of binned features. */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/floats.h"
#include "base/memory.h"
#include "base/threads/monitor.h"
#include "base/threads/pool.h"
#include "base/threads/share.h"
#include "base/threads/threads.h"
#include "boosting/memory.h"
#include "cpu/backend/backend.h"
#include "plan/strategy.h"
#include "view/view.h"

enum { HOME_NAME = 64 };

histo_device histo_boosting_home(const void *memory)
{
    bool only = false;
    const histo_device device = memory ? histo_device_of(memory, &only) : HISTO_DEVICE_CPU;
    return only ? device : (histo_device)HISTO_DEVICE_CPU;
}

static void name_home(histo_device device, char name[HOME_NAME])
{
    if (device == HISTO_DEVICE_CPU)
        snprintf(name, HOME_NAME, "host memory");
    else
        snprintf(name, HOME_NAME, "the memory of GPU %d", device - HISTO_DEVICE_CUDA(0));
}

histo_status histo_boosting_check_home(const char *what, histo_device there, histo_device device)
{
    char is[HOME_NAME], wanted[HOME_NAME];
    if (there == device) return HISTO_OK;
    name_home(there, is);
    name_home(device, wanted);
    return histo_fail(HISTO_UNSUPPORTED, "%s: this is in %s, not in %s", what, is, wanted);
}

histo_status histo_boosting_check(const histo_view *view, int ndim, const char *what, histo_device *device)
{
    const histo_status status = histo_view_check(view, what);
    if (status != HISTO_OK) return status;
    if (view->ndim != ndim || view->batch_ndim)
        return histo_fail(HISTO_INVALID, "%s has %d dimensions, %d of a batch, not %d and none", what, view->ndim,
                          view->batch_ndim, ndim);
    *device = histo_boosting_home(view->data);
    return HISTO_OK;
}

/* ---- Looking at all samples, and copying them ---- */

/* A sample that is in no bin: of the first row that has one. */
typedef struct stray {
    int64_t row;
    int32_t feature, bin;
} stray;

typedef struct reading {
    const histo_features *features;
    int64_t block; /* rows */
    int tasks;
    bool checks;
    stray *strays; /* [tasks] */
} reading;

#define TYPE uint8_t
#include "boosting/read_template.h"

#define TYPE uint16_t
#include "boosting/read_template.h"

static int32_t bin_at(const histo_features *f, int64_t row, int32_t feature)
{
    const char *at = f->table + row * f->row_stride + feature * f->column_stride;
    return f->dtype == HISTO_U8 ? read_uint8_t(at, 0, NULL, 0, 1) : read_uint16_t(at, 0, NULL, 0, 1);
}

/* Remember the first stray sample of a feature that is in these rows, if it is the first of all. */
static void find_stray(const histo_features *f, int32_t feature, int64_t begin, int64_t n, stray *first)
{
    for (int64_t row = begin; row < begin + n && row < first->row; row++)
        if (bin_at(f, row, feature) >= f->bins[feature]) *first = (stray){row, feature, bin_at(f, row, feature)};
}

static void read_rows(const reading *r, int64_t begin, int64_t n, stray *first)
{
    const histo_features *f = r->features;
    const int64_t size = (int64_t)histo_dtype_size(f->dtype), pitch = f->features * size;
    for (int32_t k = 0; k < f->features; k++) {
        const char *from = f->table + begin * f->row_stride + k * f->column_stride;
        char *to = f->copy ? f->copy + begin * pitch + k * size : NULL;
        const int32_t most = f->dtype == HISTO_U8 ? read_uint8_t(from, f->row_stride, to, pitch, n)
                                                  : read_uint16_t(from, f->row_stride, to, pitch, n);
        if (most >= f->bins[k]) find_stray(f, k, begin, n, first);
    }
}

static void read_share(void *context, int index)
{
    const reading *r = context;
    const int64_t rows = r->features->rows;
    const int64_t begin = histo_share_begin(rows, r->tasks, index), end = histo_share_begin(rows, r->tasks, index + 1);
    for (int64_t row = begin; row < end; row += r->block) {
        const int64_t n = end - row < r->block ? end - row : r->block;
        read_rows(r, row, n, &r->strays[index]);
        if (r->strays[index].row < INT64_MAX ||
            histo_stops("reading", n * r->features->features, row - begin, end - begin))
            return;
    }
}

static histo_status fail_stray(const histo_features *f, int64_t row, int32_t bin, int32_t feature)
{
    return histo_fail(HISTO_INVALID, "table: row %lld has bin %d of feature %d, which has %d bins", (long long)row, bin,
                      feature, f->bins[feature]);
}

/* Read the table, if it must be checked or copied. */
static histo_status read_table(histo_features *f, int threads)
{
    enum { CACHED = 1 << 15, LEAST = 16, GRAIN = 1 << 16 };
    bool checks = false;
    for (int32_t k = 0; k < f->features; k++)
        checks = checks || f->bins[k] < (f->dtype == HISTO_U8 ? 256 : 65536);
    if ((!checks && !f->copy) || !f->rows || !f->features) return HISTO_OK;
    const int64_t row_bytes = f->features * (int64_t)histo_dtype_size(f->dtype);
    reading r = {.features = f, .block = CACHED / row_bytes};
    if (r.block < LEAST) r.block = LEAST;
    const int64_t shares = f->rows * row_bytes / GRAIN + 1;
    r.tasks = shares < threads ? (int)shares : threads;
    stray strays[HISTO_MAX_THREADS];
    for (int t = 0; t < r.tasks; t++)
        strays[t] = (stray){.row = INT64_MAX};
    r.strays = strays;
    const histo_status status = histo_pool_run_long("reading", r.tasks, read_share, &r);
    if (status != HISTO_OK) return status;
    for (int t = 0; t < r.tasks; t++)
        if (strays[t].row < INT64_MAX) return fail_stray(f, strays[t].row, strays[t].bin, strays[t].feature);
    return HISTO_OK;
}

/* ---- Making ---- */

static histo_status check_table(const histo_view *table, histo_device *device)
{
    const histo_status status = histo_boosting_check(table, 2, "table", device);
    if (status != HISTO_OK) return status;
    if (table->dtype != HISTO_U8 && table->dtype != HISTO_U16)
        return histo_fail(HISTO_INVALID, "table: bins are of HISTO_U8 or HISTO_U16 in this machine's byte order");
    if (table->shape[0] > HISTO_MAX_TABLE_ROWS)
        return histo_fail(HISTO_INVALID, "table has %lld rows, more than 2^31 - 1", (long long)table->shape[0]);
    if (table->shape[1] > HISTO_MAX_BINS)
        return histo_fail(HISTO_INVALID, "table has %lld features, more than HISTO_MAX_BINS",
                          (long long)table->shape[1]);
    return HISTO_OK;
}

/* *total = the bins of all features. */
static histo_status check_bins(const histo_view *table, const int32_t *bins, int64_t *total)
{
    const int32_t most = table->dtype == HISTO_U8 ? 256 : 65536;
    *total = 0;
    for (int64_t f = 0; f < table->shape[1]; f++) {
        if (bins && (bins[f] < 1 || bins[f] > most))
            return histo_fail(HISTO_INVALID, "bins[%lld] is %d, not 1 to %d", (long long)f, bins[f], most);
        *total += bins ? bins[f] : most;
    }
    if (*total > HISTO_MAX_BINS)
        return histo_fail(HISTO_INVALID, "the features have %lld bins, more than HISTO_MAX_BINS", (long long)*total);
    return HISTO_OK;
}

static histo_status allocate(histo_features *f, const int32_t *bins, bool copied)
{
    enum { LINE = 64 };
    const size_t of_bins = (size_t)f->features * sizeof *bins, of_start = (size_t)f->features * sizeof *f->start;
    f->memory = histo_calloc(1, sizeof *f->memory);
    f->bins = histo_malloc(of_bins ? of_bins : 1);
    f->start = histo_malloc(of_start ? of_start : 1);
    if (!f->memory || !f->bins || !f->start) return histo_fail_memory(of_bins + of_start, "the features");
    int64_t start = 0;
    for (int32_t k = 0; k < f->features; k++) {
        f->bins[k] = bins ? bins[k] : f->dtype == HISTO_U8 ? 256 : 65536;
        f->start[k] = start;
        start += f->bins[k];
    }
    int64_t bytes = 0;
    if (!copied || !f->rows || !f->features) return HISTO_OK;
    if (!histo_mul_i64(f->rows, f->features * (int64_t)histo_dtype_size(f->dtype), &bytes)) bytes = INT64_MAX / 2;
    bytes = (bytes + LINE - 1) / LINE * LINE;
    f->copy = histo_cpu_allocate((size_t)bytes);
    return f->copy ? HISTO_OK : histo_fail_memory((size_t)bytes, "the copy of the features by rows");
}

static histo_status copy_to_device(histo_features *f, const histo_view *table, histo_device device, void *stream)
{
    histo_stray_bin found;
    const histo_node_backend *nodes = histo_backend_of(device)->nodes;
    const histo_status status = nodes->features(table, f->bins, device, stream, &found, &f->on_device);
    return status != HISTO_OK || found.row < 0 ? status : fail_stray(f, found.row, found.bin, found.feature);
}

histo_status histo_features_create(histo_features **features, const histo_view *table, const int32_t *bins,
                                   const histo_features_options *given)
{
    HISTO_STANDARD_FLOATS;
    static const histo_features_options defaults;
    const histo_features_options *options = given ? given : &defaults;
    int64_t total;
    histo_device device = HISTO_DEVICE_CPU;
    if (!features) return histo_fail(HISTO_INVALID, "the place for the features is NULL");
    *features = NULL;
    histo_status status = histo_check_reserved(options->reserved, sizeof options->reserved, "histo_features_options");
    if (status == HISTO_OK) status = histo_threads_check(options->threads);
    if (status == HISTO_OK) status = check_table(table, &device);
    if (status == HISTO_OK) status = check_bins(table, bins, &total);
    if (status != HISTO_OK) return status;
    histo_features *f = histo_malloc(sizeof *f);
    if (!f) return histo_fail_memory(sizeof *f, "the features");
    *f = (histo_features){
        .rows = table->shape[0],
        .features = (int32_t)table->shape[1],
        .dtype = table->dtype,
        .total = total,
        .table = device == HISTO_DEVICE_CPU ? table->data : NULL,
        .row_stride = table->strides[0],
        .column_stride = table->strides[1],
    };
    const bool by_rows = f->column_stride == (int64_t)histo_dtype_size(f->dtype);
    status = allocate(f, bins, options->by_rows && !by_rows && device == HISTO_DEVICE_CPU);
    if (status == HISTO_OK && device != HISTO_DEVICE_CPU)
        status = copy_to_device(f, table, device, options->stream);
    else if (status == HISTO_OK)
        status = read_table(f, histo_threads_for(options->threads));
    if (status != HISTO_OK) {
        histo_features_destroy(f);
        return status;
    }
    *features = f;
    return HISTO_OK;
}

void histo_features_destroy(histo_features *features)
{
    if (!features) return;
    if (features->memory) histo_node_memory_free(*features->memory);
    histo_free((void *)features->memory);
    if (features->on_device) features->on_device->backend->nodes->free_features(features->on_device);
    histo_free(features->copy);
    histo_free(features->start);
    histo_free(features->bins);
    histo_free(features);
}

histo_status histo_features_wait(const histo_features *features)
{
    if (!features) return histo_fail(HISTO_INVALID, "features is NULL");
    return features->on_device ? features->on_device->backend->nodes->wait(features->on_device) : HISTO_OK;
}

int64_t histo_features_bins(const histo_features *features)
{
    return features ? features->total : 0;
}
