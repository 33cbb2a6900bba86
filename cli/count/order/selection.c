#include "count/order/selection.h"

#include <stdlib.h>

#include "base/failure.h"
#include "base/progress.h"

typedef struct passes {
    feed *feed;
    int count;  /* number of sources */
    bool joint; /* a filter applies to all of them */
    histo_quantiles **quantiles;
    bool *in_pass, again; /* again: after the first pass */
    uint64_t nan;         /* number of NaN samples */
} passes;

static int begin(passes *r, const choice *c, histo_quantile_rule rule, int n, const double *q, fault *f)
{
    r->quantiles = calloc((size_t)c->count, sizeof *r->quantiles);
    r->in_pass = calloc((size_t)c->count, sizeof *r->in_pass);
    if (!r->quantiles || !r->in_pass) return fault_set(f, EXIT_DATA, "no memory for the quantiles");
    r->count = c->count;
    for (int i = 0; i < c->count; i++)
        if (histo_quantiles_create(&r->quantiles[i], c->sources[i].dtype, rule, n, q) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, "the quantiles");
    return 0;
}

static int enter(void *self, int file, const samples *in, fault *f)
{
    passes *r = self;
    const int count = samples_choice(in)->count;
    if (count == r->count) return 0;
    return fault_set(f, EXIT_DATA, "%s has %d channel%s where %s has %d: take one file at a time, or choose --channel",
                     feed_name(r->feed, file), count, count == 1 ? "" : "s", feed_name(r->feed, 0), r->count);
}

static int count_nan(passes *r, const histo_view *of, const histo_fill_options *filter, const char *name, fault *f)
{
    histo_extremes e = {0};
    if (of->dtype < HISTO_F16 || histo_view_size(of) == 0) return 0;
    if (histo_find_extremes(of, filter, &e, 1) != HISTO_OK) return fault_of_library(f, EXIT_DATA, name);
    r->nan += e.nan;
    return 0;
}

static int take(void *self, int file, const piece *p, fault *f)
{
    passes *r = self;
    for (int i = 0; i < r->count; i++) {
        const histo_fill_options options = piece_filter(p, r->joint ? 0 : i);
        if (!r->again && count_nan(r, &p->views[i], &options, feed_name(r->feed, file), f) != 0) return -1;
        if (r->in_pass[i] && histo_quantiles_add(r->quantiles[i], &p->views[i], &options) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, feed_name(r->feed, file));
    }
    return 0;
}

static int leave(void *self, int file, const samples *in, fault *f)
{
    (void)file;
    (void)f;
    if (!((const passes *)self)->again) samples_remark(in);
    return 0;
}

static bool next_pass(passes *r)
{
    bool any = false;
    for (int i = 0; i < r->count; i++)
        any |= histo_quantiles_next_pass(r->quantiles[i], &r->in_pass[i]) == HISTO_OK && r->in_pass[i];
    return any;
}

static int find(passes *r, int n, double *values, fault *f)
{
    const feed_visitor visitor = {.verb = "selecting", .enter = enter, .take = take, .leave = leave, .self = r};
    for (; next_pass(r); r->again = true)
        if (feed_visit(r->feed, &visitor, f) != 0) return -1;
    for (int i = 0; i < r->count; i++)
        if (histo_quantiles_read(r->quantiles[i], values + (size_t)i * (size_t)n) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, feed_name(r->feed, 0));
    return 0;
}

int selection_find(feed *from, const choice *c, histo_quantile_rule rule, int n, const double *q, double *values,
                   uint64_t *nan, fault *f)
{
    passes r = {.feed = from, .joint = c->joint};
    int failed = begin(&r, c, rule, n, q, f);
    if (!failed) failed = find(&r, n, values, f);
    *nan = r.nan;
    for (int i = 0; i < r.count; i++)
        histo_quantiles_destroy(r.quantiles[i]);
    free(r.quantiles);
    free(r.in_pass);
    return failed;
}
