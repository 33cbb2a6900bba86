#include "boosting/row_list.h"

#include <string.h>

#include "base/error.h"
#include "base/threads/pool.h"
#include "base/threads/share.h"
#include "base/threads/threads.h"
#include "boosting/boosting.h"

#define TYPE uint32_t
#include "boosting/row_list_template.h"

#define TYPE int32_t
#include "boosting/row_list_template.h"

#define TYPE int64_t
#include "boosting/row_list_template.h"

typedef struct checking {
    const histo_view *list;
    int64_t rows;
    int tasks;
    int64_t *bad; /* [tasks]: the first that is out of range, or -1 */
} checking;

static const char *address_of(const histo_view *list, int64_t i)
{
    return (const char *)list->data + i * list->strides[0];
}

static int64_t row_at(const histo_view *list, int64_t i)
{
    const char *at = address_of(list, i);
    return list->dtype == HISTO_I64   ? row_of_int64_t(at)
           : list->dtype == HISTO_I32 ? row_of_int32_t(at)
                                      : row_of_uint32_t(at);
}

static void check_share(void *context, int index)
{
    const checking *c = context;
    const int64_t n = c->list->shape[0], stride = c->list->strides[0];
    const int64_t begin = histo_share_begin(n, c->tasks, index), end = histo_share_begin(n, c->tasks, index + 1);
    const char *at = address_of(c->list, begin);
    bool (*const has_stray)(const char *, int64_t, int64_t, int64_t) = c->list->dtype == HISTO_I64 ? has_stray_int64_t
                                                                       : c->list->dtype == HISTO_I32
                                                                           ? has_stray_int32_t
                                                                           : has_stray_uint32_t;
    c->bad[index] = -1;
    if (!has_stray(at, stride, end - begin, c->rows - 1)) return;
    for (int64_t i = begin; i < end && c->bad[index] < 0; i++)
        if (row_at(c->list, i) < 0 || row_at(c->list, i) >= c->rows) c->bad[index] = i;
}

histo_status histo_row_list_check(const histo_view *list, int64_t rows, histo_device home, int threads)
{
    enum { GRAIN = 1 << 18 };
    histo_device device = HISTO_DEVICE_CPU;
    histo_status status = histo_boosting_check(list, 1, "rows", &device);
    if (status == HISTO_OK && list->shape[0]) status = histo_boosting_check_home("rows", device, home);
    if (status != HISTO_OK) return status;
    if (list->dtype != HISTO_U32 && list->dtype != HISTO_I32 && list->dtype != HISTO_I64)
        return histo_fail(HISTO_INVALID,
                          "rows: numbers are of HISTO_U32, HISTO_I32 or HISTO_I64 in this machine's byte order");
    const int64_t n = list->shape[0];
    if (n > UINT32_MAX) return histo_fail(HISTO_INVALID, "rows has %lld numbers, more than 2^32 - 1", (long long)n);
    if (home != HISTO_DEVICE_CPU) return HISTO_OK;
    int64_t bad[HISTO_MAX_THREADS];
    checking c = {
        .list = list, .rows = rows, .tasks = n / GRAIN + 1 < threads ? (int)(n / GRAIN) + 1 : threads, .bad = bad};
    histo_pool_run(c.tasks, check_share, &c);
    for (int t = 0; t < c.tasks; t++)
        if (bad[t] >= 0)
            return histo_fail(HISTO_INVALID, "rows[%lld] is %lld, and there are %lld rows", (long long)bad[t],
                              (long long)row_at(list, bad[t]), (long long)rows);
    return HISTO_OK;
}

void histo_row_list_take(const histo_view *list, int64_t begin, int n, uint32_t *rows)
{
    const int64_t stride = list->strides[0];
    const char *at = address_of(list, begin);
    if (stride == sizeof *rows && list->dtype != HISTO_I64)
        memcpy(rows, at, (size_t)n * sizeof *rows);
    else if (list->dtype == HISTO_I64)
        take_int64_t(at, stride, n, rows);
    else if (list->dtype == HISTO_I32)
        take_int32_t(at, stride, n, rows);
    else
        take_uint32_t(at, stride, n, rows);
}
