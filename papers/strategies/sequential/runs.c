/* The runs of samples of a job: see runs.h. */
#include "runs.h"

#include "base/threads/monitor.h"
#include "plan/accumulators.h"
#include "view/gather.h"
#include "view/walk.h"

histo_status histo_sequential_count(const histo_job *job, histo_sequential_loop *loop, const double *edges)
{
    const histo_problem *p = job->problem;
    const histo_lookup *l = &p->lookups[0];
    const int64_t stride = job->iter.strides[0][job->iter.ndim - 1];
    histo_walk walk;
    histo_run run;
    const int64_t all = job->end - job->begin;
    histo_walk_start(&walk, &job->iter, job->begin, job->end, HISTO_MUCH_WORK);
    while (histo_walk_next(&walk, &run)) {
        const histo_status status = histo_go_on("counting", HISTO_MUCH_WORK, all - walk.left - run.n, all);
        if (status != HISTO_OK) return status;
        uint64_t *counts = job->accumulators->counts + run.batch * p->slots;
        if (p->plain) {
            loop(l, edges, run.at[0], stride, run.n, counts);
            continue;
        }
        for (int64_t i = 0; i < run.n; i++) { /* in the other byte order, or records */
            uint64_t x;
            if (p->records)
                histo_job_make_numbers(job, 0, (char *)&x, run.at[0] + i * stride, 0, 1);
            else
                histo_fetch((char *)&x, run.at[0] + i * stride, 0, p->stored[0], job->bits, 1);
            loop(l, edges, (const char *)&x, 0, 1, counts);
        }
    }
    return HISTO_OK;
}
