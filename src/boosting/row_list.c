#include "boosting/row_list.h"

#include <string.h>

#include "base/error.h"
#include "base/threads/pool.h"
#include "base/threads/share.h"
#include "base/threads/threads.h"
#include "boosting/boosting.h"

typedef struct checking {
    const histo_view *list;
    int64_t rows;
    int tasks;
    int64_t *bad; /* [tasks]: the first that is out of range, or -1 */
} checking;

static int64_t row_at(const histo_view *list, int64_t i)
{
    const char *at = (const char *)list->data + i * list->strides[0];
    int32_t narrow;
    int64_t wide;
    if (list->dtype == HISTO_I64) return memcpy(&wide, at, sizeof wide), wide;
    memcpy(&narrow, at, sizeof narrow);
    return list->dtype == HISTO_I32 ? narrow : (int64_t)(uint32_t)narrow;
}

/* Negative numbers are too large ones here. */
#define DEFINE_LARGEST(name, type)                                                                                     \
    static uint64_t name(const char *at, int64_t stride, int64_t n)                                                    \
    {                                                                                                                  \
        type most = 0;                                                                                                 \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            type row;                                                                                                  \
            memcpy(&row, at + i * stride, sizeof row);                                                                 \
            most = row > most ? row : most;                                                                            \
        }                                                                                                              \
        return most;                                                                                                   \
    }
DEFINE_LARGEST(largest_32, uint32_t)
DEFINE_LARGEST(largest_64, uint64_t)
#undef DEFINE_LARGEST

static void check_share(void *context, int index)
{
    const checking *c = context;
    const int64_t n = c->list->shape[0], stride = c->list->strides[0];
    const int64_t begin = histo_share_begin(n, c->tasks, index), end = histo_share_begin(n, c->tasks, index + 1);
    const char *at = (const char *)c->list->data + begin * stride;
    const bool contiguous = stride == (int64_t)histo_dtype_size(c->list->dtype);
    c->bad[index] = -1;
    uint64_t most;
    if (c->list->dtype == HISTO_I64)
        most = contiguous ? largest_64(at, sizeof(int64_t), end - begin) : largest_64(at, stride, end - begin);
    else
        most = contiguous ? largest_32(at, sizeof(int32_t), end - begin) : largest_32(at, stride, end - begin);
    if (most < (uint64_t)c->rows || end == begin) return;
    for (int64_t i = begin; i < end && c->bad[index] < 0; i++)
        if (row_at(c->list, i) < 0 || row_at(c->list, i) >= c->rows) c->bad[index] = i;
}

histo_status histo_row_list_check(const histo_view *list, int64_t rows, int threads)
{
    enum { GRAIN = 1 << 18 };
    histo_status status = histo_boosting_check(list, 1, "rows");
    if (status != HISTO_OK) return status;
    if (list->dtype != HISTO_U32 && list->dtype != HISTO_I32 && list->dtype != HISTO_I64)
        return histo_fail(HISTO_INVALID,
                          "rows: numbers are of HISTO_U32, HISTO_I32 or HISTO_I64 in this machine's byte order");
    const int64_t n = list->shape[0];
    if (n > UINT32_MAX) return histo_fail(HISTO_INVALID, "rows has %lld numbers, more than 2^32 - 1", (long long)n);
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

#define TAKE(type)                                                                                                     \
    for (int i = 0; i < n; i++, at += stride) {                                                                        \
        type row;                                                                                                      \
        memcpy(&row, at, sizeof row);                                                                                  \
        rows[i] = (uint32_t)row;                                                                                       \
    }

void histo_row_list_take(const histo_view *list, int64_t begin, int n, uint32_t *rows)
{
    const int64_t stride = list->strides[0];
    const char *at = (const char *)list->data + begin * stride;
    if (list->dtype == HISTO_I64)
        TAKE(int64_t)
    else
        TAKE(uint32_t)
}
#undef TAKE
