/* How many samples a data race loses. */
#include <math.h>
#include <stdlib.h>

#include "papers/experiments/kernels.h"
#include "papers/experiments/measures.h"

static histo_status count_lost(const bench_peer *peer, const bench_device *device, const bench_task *task,
                               papers_cell *c)
{
    uint64_t *counts = calloc((size_t)task->axis->bins, sizeof *counts), counted = 0;
    void *state = NULL;
    double us = INFINITY;
    histo_status status = counts ? peer->begin(task, &state) : histo_fail_memory(sizeof *counts, "counts");
    if (status == HISTO_OK) status = device->time(peer->run, state, &us); /* may set things up */
    if (status == HISTO_OK) status = device->time(peer->run, state, &us);
    if (status == HISTO_OK) status = peer->counts(state, counts);
    if (state) peer->end(state);
    for (int64_t b = 0; b < task->axis->bins && status == HISTO_OK; b++)
        counted += counts[b];
    free(counts);
    if (status != HISTO_OK) return status;
    c->value = 100 * (1 - (double)counted / (double)task->count);
    c->rate = (double)task->count / us * 1e-3;
    c->samples = task->count;
    return HISTO_OK;
}

histo_status papers_count_lost(papers_result *r, int point, int series, const bench_device *device,
                               const papers_options *o)
{
    const bench_input *input = &r->point[point].input;
    const histo_axis axis = bench_input_axis(input, NULL);
    bench_task task = {.input = input, .axis = &axis, .threads = bench_device_threads(device, o->common.threads)};
    histo_status status = papers_place_samples(&r->point[point], o, device, &task.samples, &task.count);
    if (status == HISTO_OK)
        status = count_lost(papers_peer(&r->series[series]), device, &task, &r->cell[point][series]);
    if (task.samples) device->release(task.samples);
    return status;
}
