/* The distinct values, if they fit; otherwise keys drawn at random, between which a second pass counts. */
#include "base/error.h"
#include "base/floats.h"
#include "base/memory.h"
#include "numbers/key_bins.h"
#include "view/dtype.h"

enum { QUANTILES = 1 << 15 };

struct histo_ranks {
    histo_dtype dtype;
    histo_key_span finite;
    histo_distinct distinct;
    histo_key_list list;
    histo_hist *hist;        /* of the second pass */
    histo_key_point *points; /* [list.count], once counted */
    bool in_pass, done, incomplete;
};

histo_status histo_ranks_create(histo_ranks **ranks, histo_dtype dtype)
{
    HISTO_STANDARD_FLOATS;
    if (ranks) *ranks = NULL;
    if (!ranks) return histo_fail(HISTO_INVALID, "the pointer for the ranks is NULL");
    if (histo_dtype_size(dtype) == 0) return histo_fail(HISTO_INVALID, "unknown dtype %d", (int)dtype);
    histo_ranks *made = histo_malloc(sizeof *made);
    if (!made) return histo_fail_memory(sizeof *made, "ranks");
    *made = (histo_ranks){.dtype = histo_dtype_plain(dtype)};
    made->finite = histo_finite_keys(made->dtype);
    const histo_status status = histo_distinct_make(&made->distinct, made->dtype);
    if (status != HISTO_OK) {
        histo_ranks_destroy(made);
        return status;
    }
    *ranks = made;
    return HISTO_OK;
}

void histo_ranks_destroy(histo_ranks *r)
{
    if (!r) return;
    histo_distinct_free(&r->distinct);
    histo_key_list_free(&r->list);
    histo_hist_destroy(r->hist);
    histo_free(r->points);
    histo_free(r);
}

static histo_status check_whole(const histo_ranks *r)
{
    if (!r) return histo_fail(HISTO_INVALID, "the ranks are NULL");
    if (r->incomplete)
        return histo_fail(HISTO_INVALID, "the ranks hold a part of samples whose adding was cancelled: destroy them");
    return HISTO_OK;
}

static histo_status end_values(histo_ranks *r)
{
    histo_distinct_end(&r->distinct);
    r->done = r->distinct.all;
    if (r->done) return HISTO_OK;
    const histo_status status = histo_key_list_add(&r->list, &r->distinct, QUANTILES);
    return status == HISTO_OK ? histo_key_bins_create(&r->hist, r->dtype, &r->list, false) : status;
}

static histo_status end_between_keys(histo_ranks *r)
{
    const size_t bytes = (size_t)r->list.count * sizeof *r->points;
    histo_key_point *points = histo_realloc(r->points, bytes);
    if (points) r->points = points;
    if (!points) return histo_fail_memory(bytes, "counts between keys");
    const histo_status status = histo_key_bins_read(r->hist, &r->list, r->points);
    if (status != HISTO_OK) return status;
    if (r->points[r->list.count - 1].upto != r->distinct.samples)
        return histo_fail(HISTO_INVALID, "the samples changed between two passes: add the same each time");
    r->done = true;
    return HISTO_OK;
}

histo_status histo_ranks_next_pass(histo_ranks *r, bool *more)
{
    HISTO_STANDARD_FLOATS;
    if (more) *more = false;
    if (!r || !more) return histo_fail(HISTO_INVALID, "the ranks, or the place for more, are NULL");
    histo_status status = check_whole(r);
    if (status == HISTO_OK && r->in_pass) status = r->hist ? end_between_keys(r) : end_values(r);
    if (status != HISTO_OK) return status;
    if (!r->in_pass && !r->done) histo_distinct_start(&r->distinct, &r->finite, 1);
    r->in_pass = !r->done;
    *more = r->in_pass;
    return HISTO_OK;
}

histo_status histo_ranks_add(histo_ranks *r, const histo_view *samples, const histo_fill_options *options)
{
    HISTO_STANDARD_FLOATS;
    histo_status status = check_whole(r);
    if (status != HISTO_OK) return status;
    if (!r->in_pass)
        return histo_fail(HISTO_INVALID, "no pass has begun: add samples after histo_ranks_next_pass gave more");
    histo_source source;
    status = histo_key_source_make(&source, samples, options, r->dtype, "the ranks are");
    if (status != HISTO_OK) return status;
    status =
        r->hist ? histo_key_bins_fill(r->hist, &source, samples, options) : histo_distinct_add(&r->distinct, &source);
    r->incomplete = status == HISTO_CANCELLED;
    return status;
}

static int64_t size_of(const histo_ranks *r)
{
    return r->points ? r->list.count : r->distinct.count;
}

static histo_status check_done(const histo_ranks *r)
{
    const histo_status status = check_whole(r);
    if (status != HISTO_OK || r->done) return status;
    return histo_fail(HISTO_INVALID, "the ranks are not known: add the samples while histo_ranks_next_pass gives more");
}

histo_status histo_ranks_size(const histo_ranks *r, int64_t *size)
{
    const histo_status status = check_done(r);
    if (status != HISTO_OK) return status;
    if (!size) return histo_fail(HISTO_INVALID, "the place for the size is NULL");
    *size = size_of(r);
    return HISTO_OK;
}

histo_status histo_ranks_read(const histo_ranks *r, double *values, uint64_t *upto, int64_t *size)
{
    HISTO_STANDARD_FLOATS;
    const histo_status status = check_done(r);
    if (status != HISTO_OK) return status;
    if (!size) return histo_fail(HISTO_INVALID, "the place for the size is NULL");
    if (*size != size_of(r))
        return histo_fail(HISTO_INVALID, "size is %lld, and there are %lld values", (long long)*size,
                          (long long)size_of(r));
    uint64_t sum = 0;
    int64_t n = 0;
    double last = 0;
    for (int64_t i = 0; i < *size; i++) {
        const double value = histo_key_value(r->dtype, r->points ? r->points[i].key : r->distinct.values[i].key) + 0.0;
        sum = r->points ? r->points[i].upto : sum + r->distinct.values[i].count;
        n -= n > 0 && value == last;
        last = value;
        if (values) values[n] = value;
        if (upto) upto[n] = sum;
        n++;
    }
    *size = n;
    return HISTO_OK;
}
