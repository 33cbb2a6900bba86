#include "counts/few_samples.h"

#include <string.h>

#include "plan/accumulators.h"
#include "plan/total.h"
#include "view/dtype.h"

/* Fixed costs, in samples counted in the same time: of a fill without a plan, and of making a plan. */
enum { SAMPLES_A_FILL = 128, SAMPLES_A_PLAN = 8192 };

/* Upper limits on the numbers read and on comparisons with edges. For so few, no other strategy is fast enough for a
 * plan for one fill to pay off. */
enum { FEW = 1 << 14, FEW_STEPS = 1 << 12 };

extern const histo_strategy histo_cpu_direct;

static double off_of(const histo_axis *axis)
{
    return axis->edges ? histo_axis_off(axis) : 0;
}

/* Comparisons with stored edges per sample, if the edges are not nearly regular; a plan would prepare tables for
 * them. */
static int64_t steps_of(int naxes, const histo_axis *axes)
{
    int64_t steps = 0;
    for (int a = 0; a < naxes; a++)
        for (int64_t bins = off_of(&axes[a]) > HISTO_NEAR ? axes[a].bins : 1; bins > 1; bins /= 2)
            steps++;
    return steps;
}

bool histo_has_few_samples(const histo_problem *problem, const histo_axis *axes, int64_t spent)
{
    static const histo_plan_options defaults;
    return problem->samples * problem->operands <= FEW && spent < SAMPLES_A_PLAN && problem->home == HISTO_DEVICE_CPU &&
           problem->storage == HISTO_DENSE && !problem->ragged && !histo_is_computed(problem) &&
           problem->samples * steps_of(problem->naxes, axes) <= FEW_STEPS && !histo_plan_wanted(&defaults);
}

static histo_status count(const void *strategy, histo_job *job)
{
    histo_status status = histo_accumulators_own(job->accumulators);
    return status == HISTO_OK ? histo_backend_cpu.run(strategy, job) : status;
}

histo_status histo_count_few_samples(histo_problem *problem, const histo_axis *axes, histo_accumulators *accumulators,
                                     const histo_view *const *operands, const histo_fill_options *fill)
{
    problem->device = HISTO_DEVICE_CPU;
    problem->slots = accumulators->slots;
    problem->bins = 1;
    for (int a = 0; a < problem->naxes; a++) {
        problem->axes[a] = axes[a];
        problem->off[a] = off_of(&axes[a]);
        problem->bins *= axes[a].bins;
        histo_lookup_start(&problem->lookups[a], &axes[a], problem->sampled[a]);
    }
    histo_problem_stride(problem, true);
    histo_job job;
    histo_problem_job(problem, operands, fill, &job);
    job.accumulators = accumulators;
    job.end = histo_strided_iter_samples(&job.iter);
    if (fill && fill->replace) return histo_job_replace(&job, count, &histo_cpu_direct);
    const histo_status status = histo_total_admit(accumulators, (uint64_t)job.end);
    return status == HISTO_OK ? count(&histo_cpu_direct, &job) : status;
}

void histo_unplanned_note(histo_unplanned *unplanned, const histo_problem *problem)
{
    unplanned->spent += problem->samples + SAMPLES_A_FILL;
    unplanned->noted = true;
    unplanned->samples = problem->samples;
    unplanned->operands = problem->operands;
    unplanned->weights = problem->weights;
    unplanned->mask = problem->mask;
    unplanned->where = problem->where;
    unplanned->strided = problem->strided;
    unplanned->apart = problem->apart != 0;
    memcpy(unplanned->stored, problem->stored, (size_t)problem->operands * sizeof *unplanned->stored);
}

/* A view laid out like that of the samples, over memory that is never read. */
static histo_view view_like(const histo_unplanned *unplanned, int operand, int64_t batch)
{
    static const double nothing;
    const histo_dtype dtype = (histo_dtype)(unplanned->stored[operand] & ~(unsigned)HISTO_RECORDS);
    const int64_t size = histo_dtype_step(dtype), gap = unplanned->strided ? 2 : 1, entry = unplanned->samples / batch;
    return (histo_view){
        .data = &nothing,
        .dtype = dtype,
        .ndim = 2,
        .batch_ndim = 1,
        .shape = {batch, entry},
        .strides = {unplanned->apart ? size : entry * gap * size, (unplanned->apart ? batch : gap) * size}};
}

histo_status histo_unplanned_plan(const histo_unplanned *unplanned, int naxes, const histo_axis *axes,
                                  const histo_hist_options *kind, histo_plan **plan)
{
    histo_view views[HISTO_MAX_OPERANDS];
    for (int o = 0; o < unplanned->operands; o++)
        views[o] = view_like(unplanned, o, kind->batch);
    const histo_fill_options fill = {.weights = unplanned->weights == HISTO_ABSENT ? NULL : &views[unplanned->weights],
                                     .mask = unplanned->mask == HISTO_ABSENT ? NULL : &views[unplanned->mask],
                                     .where = unplanned->where == HISTO_ABSENT ? NULL : &views[unplanned->where]};
    const histo_plan_options options = {.strategy = "cpu/direct", .threads = 1};
    histo_status status = histo_plan_make(plan, naxes, axes, kind, views, NULL, &fill, &options);
    if (status == HISTO_OK) (*plan)->origin = HISTO_UNPLANNED;
    return status;
}
