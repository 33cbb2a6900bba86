#include "support/gpu_fills.h"

#include <stdlib.h>

#include "support/data.h"

histo_hist *make_unit_hist(int64_t batch, histo_weighting weighting)
{
    histo_axis axis = histo_axis_regular(BINS, 0, 1);
    histo_hist *h;
    OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.batch = batch, .weighting = weighting}));
    return h;
}

float *make_unit_floats(uint64_t seed, int64_t n)
{
    rng r = {.state = seed};
    histo_axis axis = histo_axis_regular(BINS, 0, 1);
    return make_samples(&r, HISTO_F32, UNIFORM, &axis, n);
}

gpu_samples make_gpu_samples(void *data, histo_dtype dtype, int64_t n)
{
    gpu_samples s = {.data = data, .host = histo_view_1d(data, dtype, n)};
    s.memory = device_copy(&s.host, &s.device);
    return s;
}

void free_gpu_samples(const gpu_samples *s)
{
    device_free(s->memory);
    free(s->data);
}

void fill_by(histo_hist *h, const char *strategy, const histo_view *views, const histo_fill_options *options)
{
    histo_plan *plan;
    OK(histo_plan_create(&plan, h, views, options, &(histo_plan_options){.strategy = strategy}));
    OK(histo_plan_fill(plan, h, views, options));
    histo_plan_destroy(plan);
}
