#include "functions/counting.h"

#include "functions/fill.h"
#include "functions/plan_cache.h"
#include "state/unlocked.h"

/* Fill a histogram in pieces, and read it. */
static int run_in_pieces(const count_request *c, const histo_fill_options *fill_options, const histo_plan_options *plan,
                         const histo_count_options *options, void *out, int64_t size)
{
    const histo_hist_options create = {.batch = counting_batch(c),
                                       .weighting = c->weights ? HISTO_WEIGHT_FAST_SUM : HISTO_UNWEIGHTED};
    const histo_read_options read = {.dtype = options->dtype};
    histo_hist *hist;
    histo_status status = histo_hist_create(&hist, c->naxes, c->axes, &create);
    if (status != HISTO_OK) return raise_status(status), -1;
    const int done = fill(NULL, &hist, c->naxes, c->views, fill_options, plan);
    if (done == 0)
        status = c->weights ? histo_hist_read_weights(hist, c->slots, out, NULL, size, &read)
                            : histo_hist_read_counts(hist, c->slots, out, size, &read);
    if (done == 0 && status == HISTO_OK && c->tally) status = histo_hist_tally(hist, c->tally);
    if (status != HISTO_OK) raise_status(status);
    histo_hist_destroy(hist);
    return status == HISTO_OK ? done : -1;
}

int counting_run(const count_request *c, histo_dtype dtype, void *out, int64_t size)
{
    enum { CLEARED_A_SAMPLE = 16 }; /* counters, in the time that counting one takes */
    const histo_fill_options with = {
        .weights = c->weights, .mask = c->mask, .threads = c->threads, .stream = c->stream};
    const histo_plan_options device = {.device = c->device}, *plan = c->device ? &device : NULL;
    const histo_count_options options = {.slots = c->slots, .dtype = dtype, .plan = plan, .zeroed = c->zeroed};
    const int64_t n = histo_view_size(&c->views[0]);
    const bool caches = c->home && n > 0;
    histo_status status;
    if (!caches && fills_in_pieces(n)) return run_in_pieces(c, &with, plan, &options, out, size);
    if (caches) {
        UNLOCKED(status, plan_cache_count(c, dtype, out, size));
    } else if (releases_gil(n + (c->zeroed ? 0 : size / CLEARED_A_SAMPLE))) {
        UNLOCKED(status, histo_count(c->naxes, c->axes, c->views, &with, out, size, c->tally, &options));
    } else {
        status = histo_count(c->naxes, c->axes, c->views, &with, out, size, c->tally, &options);
    }
    return status == HISTO_OK ? 0 : (raise_status(status), -1);
}
