/* Quantiles of samples: a survey whose results are order statistics. */

#include "axis/quantile_rule.h"
#include "base/error.h"
#include "base/floats.h"
#include "base/memory.h"
#include "survey/pass.h"
#include "view/dtype.h"

struct histo_quantiles {
    histo_dtype dtype;
    int n;
    histo_selection *selection;
    bool in_pass, done;
    uint64_t seen, expected; /* samples in this pass, and in the first */
    bool first, changed;     /* in the first pass; passes disagree on the number of samples */
    bool incomplete;         /* a cancelled call has added part of its samples */
};

histo_status histo_quantiles_create(histo_quantiles **quantiles, histo_dtype dtype, histo_quantile_rule rule, int n,
                                    const double *q)
{
    HISTO_STANDARD_FLOATS;
    if (quantiles) *quantiles = NULL;
    if (!quantiles) return histo_fail(HISTO_INVALID, "the pointer for the quantiles is NULL");
    if (histo_dtype_size(dtype) == 0) return histo_fail(HISTO_INVALID, "unknown dtype %d", (int)dtype);
    histo_status status = histo_quantile_check(rule, n, q);
    if (status != HISTO_OK) return status;
    histo_quantiles *made = histo_malloc(sizeof *made);
    if (!made) return histo_fail_memory(sizeof *made, "quantiles");
    *made = (histo_quantiles){.dtype = histo_dtype_plain(dtype), .n = n, .first = true};
    status = histo_selection_create(&made->selection, made->dtype, n, false, 0);
    if (status != HISTO_OK) {
        histo_free(made);
        return status;
    }
    histo_selection_start(made->selection, rule, q, false);
    *quantiles = made;
    return HISTO_OK;
}

void histo_quantiles_destroy(histo_quantiles *quantiles)
{
    if (!quantiles) return;
    histo_selection_destroy(quantiles->selection);
    histo_free(quantiles);
}

static histo_status check_whole(const histo_quantiles *q)
{
    if (!q) return histo_fail(HISTO_INVALID, "the quantiles are NULL");
    if (q->incomplete)
        return histo_fail(HISTO_INVALID,
                          "the quantiles hold a part of samples whose adding was cancelled: destroy them");
    return HISTO_OK;
}

histo_status histo_quantiles_next_pass(histo_quantiles *q, bool *more)
{
    HISTO_STANDARD_FLOATS;
    if (more) *more = false;
    if (!q || !more) return histo_fail(HISTO_INVALID, "the quantiles, or the place for more, are NULL");
    const histo_status status = check_whole(q);
    if (status != HISTO_OK) return status;
    if (q->in_pass) {
        q->changed |= !q->first && q->seen != q->expected;
        q->first = false;
        q->expected = q->seen;
        q->done = histo_selection_end_pass(q->selection);
    }
    q->in_pass = !q->done;
    q->seen = 0;
    *more = q->in_pass;
    return HISTO_OK;
}

histo_status histo_quantiles_add(histo_quantiles *quantiles, const histo_view *samples,
                                 const histo_fill_options *options)
{
    HISTO_STANDARD_FLOATS;
    histo_status status = check_whole(quantiles);
    if (status != HISTO_OK) return status;
    if (!quantiles->in_pass)
        return histo_fail(HISTO_INVALID, "no pass has begun: add samples after histo_quantiles_next_pass gave more");
    histo_source source;
    status = histo_source_make_typed(&source, samples, options, quantiles->dtype, "the quantiles are");
    if (status != HISTO_OK) return status;
    status = histo_pass_run(&source, &(histo_facts){.selection = quantiles->selection}, &quantiles->seen);
    if (status == HISTO_CANCELLED) quantiles->incomplete = true;
    return status;
}

histo_status histo_quantiles_read(const histo_quantiles *quantiles, double *values)
{
    HISTO_STANDARD_FLOATS;
    const histo_status status = check_whole(quantiles);
    if (status != HISTO_OK) return status;
    if (!values && quantiles->n > 0) return histo_fail(HISTO_INVALID, "the array for the quantiles is NULL");
    if (!quantiles->done)
        return histo_fail(HISTO_INVALID,
                          "the quantiles are not known: add the samples while histo_quantiles_next_pass gives more");
    if (quantiles->changed)
        return histo_fail(HISTO_INVALID, "the samples changed between two passes: add the same each time");
    for (int i = 0; i < quantiles->n; i++)
        values[i] = histo_selection_value(quantiles->selection, i);
    return HISTO_OK;
}
