/* sequential: the papers' listing, one sample after the other, with the exact edge rule and nothing clever. It is the
 * oracle that every other strategy is compared with, so it shares no step with them but the lookup of one sample.
 *
 * Source: Hardavellas, Histograms, sequential algorithm; Podlozhnyuk 2007, listing 1.
 * Bytes: each sample once. Wins only on a handful of samples. */
#include "cpu/cpu.h"

static const char *refuses(const histo_problem *problem)
{
    (void)problem;
    return NULL;
}

static double cost_us(const histo_problem *problem, int threads)
{
    (void)threads;
    double weight_us = problem->weighting == HISTO_UNWEIGHTED ? 0 : 0.03;
    return 0.1 + (double)problem->samples * (0.012 * problem->naxes + weight_us);
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)problem, (void)threads, (void)params;
    return 0;
}

static histo_status launch(const histo_job *job)
{
    const histo_problem *p = job->problem;
    const histo_bank *bank = job->bank;
    histo_status status = histo_weights_reserve(job);
    if (status != HISTO_OK) return status;
    histo_walk walk;
    histo_run run;
    histo_walk_start(&walk, &job->nest, job->begin, job->end, INT64_MAX);
    while (histo_walk_next(&walk, &run)) {
        for (int64_t i = 0; i < run.n; i++) {
            if (histo_sample_kept(job, run.at)) {
                int64_t slot = run.batch * p->slots;
                for (int a = 0; a < p->naxes; a++)
                    slot += (int64_t)p->slot_strides[a] * histo_lookup_slot(&p->lookups[a], p->dtypes[a], run.at[a]);
                bank->counts[slot]++;
                if (p->weighting != HISTO_UNWEIGHTED) histo_weights_add(job, slot, run.at);
            } else {
                bank->masked[run.batch]++;
            }
            for (int o = 0; o < p->operands; o++)
                run.at[o] += job->nest.strides[o][job->nest.ndim - 1];
        }
    }
    return HISTO_OK;
}

const histo_strategy histo_cpu_sequential = {refuses, cost_us, workspace, launch, {{0}}, true};
