#include "count/groups.h"

#include <stdlib.h>
#include <string.h>

enum { BESIDE = 3 }; /* weights, mask and filter */

int groups_make(groups *g, int64_t count, int sources, fault *f)
{
    const size_t views = (size_t)sources + BESIDE;
    *g = (groups){.count = count,
                  .sources = sources,
                  .ends = calloc((size_t)count + 2, sizeof *g->ends),
                  .all = calloc(views, sizeof *g->all),
                  .views = calloc(views, sizeof *g->views)};
    return g->ends && g->all && g->views ? 0 : fault_set(f, EXIT_DATA, "no memory for the groups");
}

void groups_free(groups *g)
{
    free(g->ends);
    free(g->order);
    free(g->rows.data);
    free(g->all);
    free(g->views);
    *g = (groups){0};
}

static const histo_view *view_of(const groups *g, const piece *p, int i)
{
    const histo_view *beside[] = {p->weights, p->mask, p->where};
    return i < g->sources ? &p->views[i] : beside[i - g->sources];
}

static int make_room(groups *g, const piece *p, int64_t rows, fault *f)
{
    size_t bytes = 0;
    for (int i = 0; i < g->sources + BESIDE; i++)
        if (view_of(g, p, i)) bytes += histo_dtype_size(view_of(g, p, i)->dtype) * (size_t)rows;
    if (rows > g->room) {
        free(g->order);
        g->order = malloc((size_t)rows * sizeof *g->order);
        g->room = g->order ? rows : 0;
    }
    return g->room >= rows && scratch_reserve(&g->rows, bytes) ? 0
                                                               : fault_set(f, EXIT_DATA, "no memory for the groups");
}

/* Counting sort. After the last group come rows excluded by a mask or filter, whose words may not have been
 * surveyed. */
static void sort(groups *g, const histo_view *by, int64_t rows)
{
    const char *at = by->data;
    memset(g->ends, 0, ((size_t)g->count + 2) * sizeof *g->ends);
    for (int64_t i = 0; i < rows; i++)
        g->ends[*(const uint32_t *)(at + i * by->strides[0]) + 1]++;
    for (int64_t k = 0; k <= g->count; k++)
        g->ends[k + 1] += g->ends[k];
    for (int64_t i = 0; i < rows; i++)
        g->order[g->ends[*(const uint32_t *)(at + i * by->strides[0])]++] = i;
}

static void gather(const histo_view *from, const int64_t *order, int64_t rows, unsigned char *to)
{
    const char *at = from->data;
    const int64_t stride = from->strides[0];
    const size_t size = histo_dtype_size(from->dtype);
    if (size == sizeof(uint64_t))
        for (int64_t i = 0; i < rows; i++)
            memcpy(to + i * (int64_t)sizeof(uint64_t), at + order[i] * stride, sizeof(uint64_t));
    else
        for (int64_t i = 0; i < rows; i++)
            memcpy(to + i * (int64_t)size, at + order[i] * stride, size);
}

int groups_sort(groups *g, const piece *p, fault *f)
{
    const int64_t rows = p->by->shape[0];
    if (make_room(g, p, rows, f) != 0) return -1;
    sort(g, p->by, rows);
    unsigned char *to = g->rows.data;
    for (int i = 0; i < g->sources + BESIDE; i++) {
        const histo_view *from = view_of(g, p, i);
        if (!from) continue;
        gather(from, g->order, rows, to);
        g->all[i] = histo_view_nd(to, from->dtype, 2, (const int64_t[]){rows, 1});
        to += histo_dtype_size(from->dtype) * (size_t)rows;
    }
    return 0;
}

piece groups_of(groups *g, const piece *p, int64_t group)
{
    const int64_t first = group ? g->ends[group - 1] : 0, rows = g->ends[group] - first;
    piece group_piece = *p;
    for (int i = 0; i < g->sources + BESIDE; i++) {
        if (!view_of(g, p, i)) continue;
        const histo_view *all = &g->all[i];
        g->views[i] =
            histo_view_nd((const char *)all->data + first * all->strides[0], all->dtype, 2, (const int64_t[]){rows, 1});
    }
    group_piece.views = g->views;
    group_piece.weights = p->weights ? &g->views[g->sources] : NULL;
    group_piece.mask = p->mask ? &g->views[g->sources + 1] : NULL;
    group_piece.where = p->where ? &g->views[g->sources + 2] : NULL;
    group_piece.by = NULL;
    return group_piece;
}
