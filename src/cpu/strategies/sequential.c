/* sequential: the papers' listing, one sample after another, with the exact edge rule and nothing clever. It is the
 * oracle that every other strategy is compared with, so it shares nothing with them except the lookup of one sample.
 *
 * Source: Hardavellas, Histograms, sequential algorithm; Podlozhnyuk 2007, listing 1.
 * Bytes: each sample once. Wins only on a handful of samples. */
#include "axis/filter.h"
#include "cpu/strategies/weights.h"
#include "view/gather.h"
#include "view/pairs.h"

static const char *unsupported_reason(const histo_problem *problem)
{
    (void)problem;
    return NULL;
}

static double cost_us(const histo_problem *problem, int threads)
{
    (void)threads;
    double weight_us = problem->weighting == HISTO_UNWEIGHTED ? 0 : 0.03;
    return 0.1 + (double)problem->samples * (0.03 * problem->naxes + weight_us);
}

/* The value of an image. */
static int64_t pixel(const histo_job *job, const char *first, int image)
{
    return (int64_t)histo_sample_value(first + image * job->iter.image_stride, job->problem->stored[0]);
}

/* All pairs at a place. */
static void count_pairs(const histo_job *job, int64_t batch, const char *first)
{
    const histo_problem *p = job->problem;
    const int images = job->iter.images;
    int64_t sum = 0;
    for (int i = 0; i < images; i++)
        sum += pixel(job, first, i);
    uint16_t mean = (uint16_t)((sum + images / 2) / images);
    uint8_t narrow = (uint8_t)mean;
    const bool is_narrow = p->sampled[HISTO_MEAN] == HISTO_U8;
    int64_t slot_of_mean = histo_lookup_slot(&p->lookups[HISTO_MEAN], p->sampled[HISTO_MEAN],
                                             is_narrow ? (const void *)&narrow : (const void *)&mean);
    for (int i = 0; i < images; i += job->iter.step) {
        int32_t difference = (int32_t)(pixel(job, first, i) - pixel(job, first, (i + 1) % images));
        const float relative = histo_relative_difference(difference, (uint32_t)images, (uint32_t)sum);
        int64_t slot = histo_lookup_slot(&p->lookups[HISTO_DIFFERENCE], p->sampled[HISTO_DIFFERENCE],
                                         p->relative ? (const void *)&relative : (const void *)&difference);
        slot = slot * p->slot_strides[HISTO_DIFFERENCE] + slot_of_mean * p->slot_strides[HISTO_MEAN];
        job->accumulators->counts[batch * p->slots + slot]++;
    }
}

static histo_status launch_pairs(const histo_job *job)
{
    histo_strided_iter places = histo_strided_iter_places(&job->iter);
    histo_walk walk;
    histo_run run;
    histo_walk_start(&walk, &places, 0, histo_strided_iter_samples(&places), INT64_MAX);
    while (histo_walk_next(&walk, &run))
        for (int64_t i = 0; i < run.n; i++)
            count_pairs(job, run.batch, run.at[0] + i * places.strides[0][places.ndim - 1]);
    return HISTO_OK;
}

/* Does the sample at these addresses pass the mask and the range filter? */
static bool is_kept(const histo_job *job, const char *const *at)
{
    const histo_problem *p = job->problem;
    uint8_t kept = 1;
    if (p->mask != HISTO_ABSENT) histo_keep_nonzero(p->dtypes[p->mask], at[p->mask], 0, 1, &kept);
    if (p->where != HISTO_ABSENT)
        histo_keep_inside(p->dtypes[p->where], at[p->where], 0, 1, job->where_lo, job->where_hi, &kept);
    return kept;
}

/* One sample of each operand at these addresses, as its plain dtype has it. */
static void fetch(const histo_job *job, const char *const *from, uint64_t *room, const char **at)
{
    for (int o = 0; o < job->problem->operands; o++) {
        histo_fetch((char *)&room[o], from[o], 0, job->problem->stored[o], job->bits, 1);
        at[o] = (const char *)&room[o];
    }
}

static void count(const histo_job *job, int64_t batch, const char *const *at)
{
    const histo_problem *p = job->problem;
    const histo_accumulators *accumulators = job->accumulators;
    if (!is_kept(job, at)) {
        accumulators->masked[batch]++;
        return;
    }
    int64_t slot = batch * p->slots;
    for (int a = 0; a < p->naxes; a++)
        slot += (int64_t)p->slot_strides[a] * histo_lookup_slot(&p->lookups[a], p->dtypes[a], at[a]);
    accumulators->counts[slot]++;
    if (p->weighting != HISTO_UNWEIGHTED) histo_weights_add(job, slot, at);
}

static histo_status launch(const histo_job *job)
{
    if (job->problem->pairs) return launch_pairs(job);
    const histo_problem *p = job->problem;
    histo_status status = histo_weights_reserve(job);
    if (status != HISTO_OK) return status;
    histo_walk walk;
    histo_run run;
    histo_walk_start(&walk, &job->iter, job->begin, job->end, INT64_MAX);
    while (histo_walk_next(&walk, &run)) {
        for (int64_t i = 0; i < run.n; i++) {
            uint64_t room[HISTO_MAX_OPERANDS];
            const char *fetched[HISTO_MAX_OPERANDS];
            if (!p->plain) fetch(job, run.at, room, fetched);
            count(job, run.batch, p->plain ? run.at : fetched);
            for (int o = 0; o < p->operands; o++)
                run.at[o] += job->iter.strides[o][job->iter.ndim - 1];
        }
    }
    return HISTO_OK;
}

const histo_strategy histo_cpu_sequential = {
    .unsupported_reason = unsupported_reason,
    .cost_us = cost_us,
    .launch = launch,
    .ragged = true,
    .pairs = true,
};
