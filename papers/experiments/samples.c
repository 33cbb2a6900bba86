/* The samples of a point, and what the host can tell about them. */
#include <math.h>
#include <stdlib.h>

#include "papers/experiments/conflicts.h"
#include "papers/experiments/measures.h"

int64_t papers_samples_of(const papers_point *p, const papers_options *o)
{
    enum { SAMPLES = 1 << 22 };
    if (p->input.width) return p->input.width * p->input.height;
    if (p->samples) return p->samples;
    return o->common.quick ? PAPERS_QUICK_SAMPLES : SAMPLES;
}

static histo_status make_samples(const papers_point *p, const papers_options *o, int64_t *n, void **samples)
{
    *n = papers_samples_of(p, o);
    const size_t bytes = bench_input_bytes(&p->input, *n);
    const histo_axis axis = bench_input_axis(&p->input, NULL);
    *samples = malloc(bytes);
    if (!*samples) return histo_fail_memory(bytes, "samples: ask for fewer");
    bench_input_make(&p->input, &axis, *n, *samples);
    return HISTO_OK;
}

histo_status papers_place_samples(const papers_point *p, const papers_options *o, const bench_device *device,
                                  const void **placed, int64_t *n)
{
    void *samples;
    histo_status status = make_samples(p, o, n, &samples);
    *placed = NULL;
    if (status == HISTO_OK) status = bench_device_place(device, samples, bench_input_bytes(&p->input, *n), placed);
    free(samples);
    return status;
}

histo_status papers_find_conflicts(papers_result *r, int point, const papers_options *o)
{
    void *samples;
    int64_t n;
    bench_conflicts found;
    histo_status status = make_samples(&r->point[point], o, &n, &samples);
    if (status == HISTO_OK) status = bench_conflicts_count(samples, r->point[point].input.dtype, n, 1, &found);
    free(samples);
    if (status != HISTO_OK) return status;
    r->cell[point][0].value = found.mean;
    r->cell[point][1].value = found.deviation;
    return HISTO_OK;
}

/* How the samples are distributed, and the counts to be drawn. */
histo_status papers_draw(papers_result *r, int point, const papers_options *o)
{
    const bench_input *input = &r->point[point].input;
    const histo_axis axis = bench_input_axis(input, NULL);
    void *samples;
    int64_t n;
    histo_hist *hist = NULL;
    histo_status status = make_samples(&r->point[point], o, &n, &samples);
    histo_view view = histo_view_1d(samples, input->dtype, n);
    uint64_t *counts = calloc((size_t)axis.bins, sizeof *counts);
    if (status == HISTO_OK && !counts) status = histo_fail_memory((size_t)axis.bins * sizeof *counts, "counts");
    if (status == HISTO_OK) status = histo_hist_create(&hist, 1, &axis, NULL);
    if (status == HISTO_OK) status = histo_hist_fill(hist, &view, NULL);
    if (status == HISTO_OK) status = histo_hist_read_counts(hist, HISTO_BINS, counts, axis.bins, NULL);
    histo_hist_destroy(hist);
    free(samples);
    r->counts[point] = counts;
    if (status != HISTO_OK) return status;
    double occupied = 0, fullest = 0, middle = 0;
    const int64_t from = axis.bins / 2 - axis.bins / 16, to = axis.bins / 2 + axis.bins / 16;
    for (int64_t b = 0; b < axis.bins; b++) {
        occupied += counts[b] > 0;
        fullest = fmax(fullest, (double)counts[b]);
        if (b >= from && b < to) middle += (double)counts[b];
    }
    r->cell[point][0].value = occupied;
    r->cell[point][1].value = 100 * fullest / (double)n;
    r->cell[point][2].value = 100 * middle / (double)n;
    return HISTO_OK;
}
