/* Fills of listed samples, and of several weights of each sample.
 *
 * Listed samples are copied, in their order. Several weights of a sample are a batch whose samples have a stride of 0
 * along it (see histo_fill_options.weights); where segments of one dimension leave no room for that, the samples are
 * repeated. */
#include "counts/listed.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads/pool.h"
#include "base/threads/share.h"
#include "base/threads/threads.h"
#include "boosting/row_list.h"
#include "counts/hist.h"
#include "plan/problem.h"
#include "plan/strategy.h"
#include "view/dtype.h"
#include "view/fetch.h"
#include "view/view.h"

typedef struct listing {
    histo_listed *to;
    const histo_fill_options *options;
    int64_t samples; /* of a view */
    int64_t listed;  /* as many are counted, with each weight */
    int64_t weights; /* of each sample */
    int64_t repeats; /* of the samples in memory: `weights`, or 1 */
    int threads;
} listing;

/* ---- Checks ---- */

static histo_status check_operand(const listing *l, const histo_view *view, const histo_view *first, const char *what)
{
    bool only = false;
    histo_status status = view == l->options->mask ? histo_view_check_mask(view, what) : histo_view_check(view, what);
    if (status == HISTO_OK) status = histo_view_same_shape(view, first, what);
    if (status != HISTO_OK) return status;
    if (histo_view_size(view)) histo_device_of(view->data, &only);
    if (!only) return HISTO_OK;
    return histo_fail(HISTO_UNSUPPORTED, "%s: a GPU does not take %s", what,
                      l->options->rows ? "rows" : "weight_count");
}

static histo_status check_views(listing *l, int naxes, const histo_view *views)
{
    const histo_fill_options *o = l->options;
    if (!views) return histo_fail(HISTO_INVALID, "the samples are NULL");
    histo_status status = HISTO_OK;
    for (int a = 0; a < naxes && status == HISTO_OK; a++)
        status = check_operand(l, &views[a], &views[0], "samples");
    if (status == HISTO_OK && o->mask) status = check_operand(l, o->mask, &views[0], "mask");
    if (status == HISTO_OK && o->where) status = check_operand(l, o->where, &views[0], "where");
    for (int64_t w = 0; o->weights && w < l->weights && status == HISTO_OK; w++) {
        char what[48];
        snprintf(what, sizeof what, "weights[%lld]", (long long)w);
        status = check_operand(l, &o->weights[w], &views[0], what);
        if (status == HISTO_OK && o->weights[w].dtype != o->weights[0].dtype)
            return histo_fail(HISTO_INVALID, "%s has another dtype than weights[0]", what);
    }
    return status;
}

static histo_status check_options(listing *l)
{
    const histo_fill_options *o = l->options;
    histo_status status = histo_check_reserved(o->reserved, sizeof o->reserved, "histo_fill_options");
    if (status == HISTO_OK) status = histo_threads_check(o->threads);
    if (status != HISTO_OK) return status;
    if (o->functions)
        return histo_fail(HISTO_UNSUPPORTED, "options have functions, and %s",
                          o->rows ? "rows, which are not of records" : "a weight_count");
    if (o->weight_count < 0 || o->weight_count > HISTO_MAX_BINS)
        return histo_fail(HISTO_INVALID, "weight_count is %lld", (long long)o->weight_count);
    if (o->weight_count && !o->weights)
        return histo_fail(HISTO_INVALID, "weight_count is %lld, and weights is NULL", (long long)o->weight_count);
    return HISTO_OK;
}

static histo_status check_list(listing *l, const histo_view *first)
{
    const histo_view *rows = l->options->rows;
    l->samples = l->listed = histo_view_size(first);
    if (!rows && !(l->options->offsets && l->weights > 1)) return HISTO_OK;
    if (first->ndim != 1 || first->batch_ndim)
        return histo_fail(HISTO_INVALID,
                          "rows, and offsets, are of samples in one dimension, which is not a batch dimension; these "
                          "have %d and %d",
                          first->ndim, first->batch_ndim);
    if (l->samples > UINT32_MAX)
        return histo_fail(HISTO_UNSUPPORTED, "rows of %lld samples, more than 2^32 - 1", (long long)l->samples);
    if (!rows) return HISTO_OK;
    l->listed = rows->shape[0];
    return histo_row_list_check(rows, l->samples, HISTO_DEVICE_CPU, l->threads);
}

/* ---- Copies ---- */

enum { BLOCK = 1024 };

/* Copies of the listed samples, or of all, from one or several views to one contiguous array. */
typedef struct copying {
    const listing *l;
    const histo_view *from; /* [views] */
    int64_t views, repeats; /* repeats: of each view */
    int64_t bit;            /* of the first, in a view of bits */
    size_t size;            /* of a copy */
    char *to;
} copying;

static void copy_block(const copying *c, const histo_view *from, int64_t begin, int n, char *to)
{
    uint32_t rows[BLOCK];
    const char *data = from->data;
    if (c->l->options->rows) histo_row_list_take(c->l->options->rows, begin, n, rows);
    for (int i = 0; i < n; i++) {
        const int64_t row = c->l->options->rows ? (int64_t)rows[i] : begin + i;
        if (from->dtype == HISTO_BIT)
            to[i] = histo_bit(data, c->bit + row * from->strides[0]);
        else
            memcpy(to + (size_t)i * c->size, data + row * from->strides[0], c->size);
    }
}

static void copy_share(void *context, int index)
{
    const copying *c = context;
    const int64_t n = c->l->listed;
    const int threads = c->l->threads;
    const int64_t begin = histo_share_begin(n, threads, index), end = histo_share_begin(n, threads, index + 1);
    for (int64_t i = begin; i < end; i += BLOCK)
        for (int64_t v = 0; v < c->views; v++)
            for (int64_t r = 0; r < c->repeats; r++)
                copy_block(c, &c->from[v], i, end - i < BLOCK ? (int)(end - i) : BLOCK,
                           c->to + (size_t)((v * c->repeats + r) * n + i) * c->size);
}

/* *view = the copies: with a batch dimension of the weights, unless they are one after the other for offsets. */
static histo_status copy(listing *l, const histo_view *from, int64_t views, histo_view *view)
{
    histo_listed *to = l->to;
    const bool bits = from->dtype == HISTO_BIT;
    copying c = {.l = l, .from = from, .views = views, .repeats = views > 1 ? 1 : l->repeats};
    c.bit = bits ? l->options->mask_offset : 0;
    c.size = bits ? 1 : histo_dtype_size(from->dtype);
    int64_t count, bytes;
    if (!histo_mul_i64(l->listed, views * c.repeats, &count) || !histo_mul_i64(count, (int64_t)c.size, &bytes))
        bytes = INT64_MAX;
    c.to = to->copies[to->copied] = histo_malloc(bytes ? (size_t)bytes : 1);
    if (!c.to) return histo_fail_memory((size_t)bytes, "copies of listed samples");
    to->copied++;
    histo_pool_run(l->threads, copy_share, &c);
    const histo_dtype dtype = bits ? HISTO_U8 : from->dtype;
    const bool in_batch = l->weights > 1 && !l->options->offsets;
    *view = in_batch ? histo_view_nd(c.to, dtype, 2, (const int64_t[]){l->weights, l->listed})
                     : histo_view_1d(c.to, dtype, l->listed * l->repeats);
    view->batch_ndim = in_batch;
    if (in_batch && views == 1) view->strides[0] = 0;
    return HISTO_OK;
}

/* The offsets of the segments, once for each weight. */
static histo_status repeat_offsets(listing *l, int64_t segments)
{
    histo_listed *to = l->to;
    const size_t bytes = (size_t)(segments * l->weights + 1) * sizeof *to->offsets;
    to->offsets = histo_malloc(bytes);
    if (!to->offsets) return histo_fail_memory(bytes, "the offsets of several weights");
    for (int64_t w = 0; w < l->weights; w++)
        for (int64_t s = 0; s <= segments; s++)
            to->offsets[w * segments + s] = w * l->listed + l->options->offsets[s];
    to->options.offsets = to->offsets;
    return HISTO_OK;
}

static histo_status copy_all(listing *l, int naxes, const histo_view *views)
{
    const histo_fill_options *o = l->options;
    histo_listed *to = l->to;
    histo_status status = HISTO_OK;
    for (int a = 0; a < naxes && status == HISTO_OK; a++)
        status = copy(l, &views[a], 1, &to->views[a]);
    if (status == HISTO_OK && o->mask) status = copy(l, o->mask, 1, &to->mask);
    if (status == HISTO_OK && o->where) status = copy(l, o->where, 1, &to->where);
    if (status == HISTO_OK && o->weights) status = copy(l, o->weights, l->weights, &to->weights);
    to->options.mask_offset = o->mask && o->mask->dtype == HISTO_BIT ? 0 : o->mask_offset;
    return status;
}

/* ---- Several weights, in place ---- */

/* A view with the weights as its first batch dimension, `step` bytes apart. */
static histo_view in_batch(const histo_view *view, int64_t weights, int64_t step)
{
    histo_view all = *view;
    all.ndim++;
    all.batch_ndim++;
    all.shape[0] = weights;
    all.strides[0] = step;
    memcpy(all.shape + 1, view->shape, (size_t)view->ndim * sizeof *all.shape);
    memcpy(all.strides + 1, view->strides, (size_t)view->ndim * sizeof *all.strides);
    return all;
}

/* Are the weights views of one array, `step` bytes apart? */
static bool are_evenly_apart(const histo_view *weights, int64_t count, int64_t *step)
{
    *step = (int64_t)((uintptr_t)weights[1].data - (uintptr_t)weights[0].data);
    bool even = true;
    for (int64_t w = 1; w < count && even; w++)
        even = (uintptr_t)weights[w].data - (uintptr_t)weights[w - 1].data == (uintptr_t)*step &&
               !memcmp(weights[w].strides, weights[0].strides, (size_t)weights[0].ndim * sizeof *weights->strides);
    return even;
}

/* Copy weights whose views have any strides, to arrays one after the other. */
static histo_status copy_weights(listing *l, const histo_view *weights)
{
    histo_listed *to = l->to;
    const size_t size = histo_dtype_size(weights->dtype);
    int64_t bytes;
    if (!histo_mul_i64(l->samples, l->weights * (int64_t)size, &bytes)) bytes = INT64_MAX;
    char *copies = to->copies[to->copied] = histo_malloc(bytes ? (size_t)bytes : 1);
    if (!copies) return histo_fail_memory((size_t)bytes, "copies of several weights");
    to->copied++;
    for (int64_t w = 0; w < l->weights; w++) {
        int64_t at[HISTO_MAX_DIMS] = {0};
        for (int64_t i = 0; i < l->samples; i++) {
            const char *from = weights[w].data;
            for (int d = 0; d < weights->ndim; d++)
                from += at[d] * weights[w].strides[d];
            memcpy(copies + (size_t)(w * l->samples + i) * size, from, size);
            for (int d = weights->ndim - 1; d >= 0 && ++at[d] == weights->shape[d]; d--)
                at[d] = 0;
        }
    }
    to->weights = histo_view_nd(copies, weights->dtype, weights->ndim, weights->shape);
    to->weights.batch_ndim = weights->batch_ndim;
    to->weights = in_batch(&to->weights, l->weights, l->samples * (int64_t)size);
    return HISTO_OK;
}

static histo_status spread_weights(listing *l, int naxes, const histo_view *views)
{
    const histo_fill_options *o = l->options;
    histo_listed *to = l->to;
    int64_t step;
    if (views[0].ndim == HISTO_MAX_DIMS)
        return histo_fail(HISTO_UNSUPPORTED, "weight_count of samples in %d dimensions, more than %d", HISTO_MAX_DIMS,
                          HISTO_MAX_DIMS - 1);
    for (int a = 0; a < naxes; a++)
        to->views[a] = in_batch(&views[a], l->weights, 0);
    if (o->mask) to->mask = in_batch(o->mask, l->weights, 0);
    if (o->where) to->where = in_batch(o->where, l->weights, 0);
    if (!are_evenly_apart(o->weights, l->weights, &step)) return copy_weights(l, o->weights);
    to->weights = in_batch(o->weights, l->weights, step);
    return HISTO_OK;
}

/* ---- All ---- */

static histo_status check_segments(const listing *l, int64_t entries)
{
    if (entries % l->weights)
        return histo_fail(HISTO_INVALID, "the histogram has %lld batch entries, not a multiple of weight_count, %lld",
                          (long long)entries, (long long)l->weights);
    const histo_view list = {.ndim = 1, .shape = {l->listed}};
    return histo_offsets_check(l->options->offsets, entries / l->weights, &list, HISTO_DEVICE_CPU);
}

histo_status histo_listed_make(histo_listed *listed, const histo_hist *hist, const histo_view *views,
                               const histo_fill_options *options)
{
    *listed = (histo_listed){.options = *options};
    listing l = {.to = listed, .options = options, .weights = options->weight_count ? options->weight_count : 1};
    histo_status status = check_options(&l);
    if (status == HISTO_OK) status = check_views(&l, hist->naxes, views);
    if (status != HISTO_OK) return status;
    l.threads = histo_threads_for(options->threads);
    l.repeats = options->offsets ? l.weights : 1;
    status = check_list(&l, &views[0]);
    if (status == HISTO_OK && options->offsets) status = check_segments(&l, histo_hist_batch(hist));
    if (status != HISTO_OK) return status;
    listed->options.rows = NULL;
    listed->options.weight_count = 0;
    listed->options.weights = options->weights ? &listed->weights : NULL;
    listed->options.mask = options->mask ? &listed->mask : NULL;
    listed->options.where = options->where ? &listed->where : NULL;
    if (!options->rows && l.weights == 1) { /* the caller's views, as they are */
        memcpy(listed->views, views, (size_t)hist->naxes * sizeof *views);
        listed->options.weights = options->weights;
        listed->options.mask = options->mask;
        listed->options.where = options->where;
        return HISTO_OK;
    }
    if (!options->rows && !options->offsets) return spread_weights(&l, hist->naxes, views);
    status = copy_all(&l, hist->naxes, views);
    if (status == HISTO_OK && options->offsets && l.weights > 1)
        status = repeat_offsets(&l, histo_hist_batch(hist) / l.weights);
    return status;
}

void histo_listed_free(histo_listed *listed)
{
    for (int c = 0; c < listed->copied; c++)
        histo_free(listed->copies[c]);
    histo_free(listed->offsets);
}
