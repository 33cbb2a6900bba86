/* Splitting a fill. While page-locked samples are transferred to a GPU, the idle CPU counts some of them in place.
 * Pageable samples are not split: copying them keeps the CPU as busy as counting them would. Splits rest on measured
 * times, because predictions for a CPU with many threads are often wrong; docs/performance.md has the figures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/measure.h"

/* Minimum predicted speedup: both devices slow down by reading the same memory. */
static const double worth = 1.25;

/* Let both targets take part: the GPU leads; plan->split holds the CPU's row, its parameters and its fraction. */
static bool engage(histo_plan *plan, const histo_candidate *cpu, const histo_candidate *gpu, double fraction)
{
    if (histo_plan_settle(plan, 0) != HISTO_OK || histo_plan_settle(plan, 1) != HISTO_OK) return false;
    histo_plan_use(plan, gpu->row, gpu->params);
    plan->split.row = cpu->row;
    memcpy(plan->split.params, cpu->params, sizeof plan->split.params);
    plan->split.fraction = fraction;
    return true;
}

static void disengage(histo_plan *plan, const histo_candidate *alone)
{
    plan->split = (histo_split){0};
    histo_plan_use(plan, alone->row, alone->params);
    histo_plan_settle(plan, alone->target); /* already prepared: cannot fail */
}

void histo_plan_split(histo_plan *plan, const histo_candidate *cpu, const histo_candidate *gpu,
                      const histo_view *const *operands, const histo_fill_options *fill)
{
    const histo_candidate *chosen = plan->at == 0 ? cpu : gpu;
    const histo_transfer *way = &plan->target[1].transfer;
    if (!way->direct || plan->problem.ragged || plan->problem.storage == HISTO_SPARSE) return;
    double fixed = fmin(way->start_us + way->setup_us + way->gather_us, gpu->us);
    double fraction = (cpu->us - fixed) / (cpu->us - fixed + gpu->us), alone = fmin(cpu->us, gpu->us);
    if (!(fraction > 0) || (1 - fraction) * cpu->us * worth > alone) return;
    if (!engage(plan, cpu, gpu, fraction)) {
        disengage(plan, chosen);
        return;
    }
    plan->split.us = (1 - fraction) * cpu->us;
    if (plan->origin != HISTO_MEASURED) return;
    bool timed = histo_plan_time(plan, operands, fill, &plan->split.us) == HISTO_OK;
    plan->split.us += way->gather_us;
    if (!timed || plan->split.us > alone) disengage(plan, chosen);
}

bool histo_split_fits(const histo_plan *plan, const histo_view *const *operands)
{
    bool fits = plan->split.fraction > 0;
    for (int o = 0; fits && o < plan->problem.operands; o++)
        fits = histo_is_pinned(plan->row->backend, operands[o]);
    return fits;
}

static histo_status count_cpu_part(void *context)
{
    histo_cpu_part *cpu_part = context;
    return cpu_part->row->backend->run(cpu_part->row->strategy, &cpu_part->job);
}

void histo_split_begin(histo_cpu_part *cpu_part, const histo_plan *plan, const histo_job *job)
{
    *cpu_part = (histo_cpu_part){.row = plan->split.row, .job = *job};
    cpu_part->job.prepared = plan->target[0].prepared;
    /* The job's are one for the GPU, unless the fill asks for a number. */
    if (job->threads == plan->threads) cpu_part->job.threads = plan->target[0].threads;
    cpu_part->job.params = plan->split.params;
}

void histo_split_end(histo_cpu_part *cpu_part)
{
    free(cpu_part->job.workspace);
}

histo_status histo_split_run(const histo_plan *plan, const histo_job *job, histo_cpu_part *cpu_part)
{
    enum { MIN = 1 << 18, GRAIN = 1 << 12 };
    int64_t n = job->end - job->begin, travelling = (int64_t)(plan->split.fraction * (double)n) / GRAIN * GRAIN;
    if (travelling < MIN) travelling = 0;
    cpu_part->job.begin = job->begin + travelling;
    cpu_part->job.end = job->end;
    if (!travelling) return count_cpu_part(cpu_part);
    histo_job sent = *job;
    sent.end = cpu_part->job.begin;
    sent.meanwhile = count_cpu_part;
    sent.meanwhile_of = cpu_part;
    return plan->row->backend->run(plan->row->strategy, &sent);
}
