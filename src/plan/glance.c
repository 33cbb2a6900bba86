/* A glance at the samples that a plan is made for: how densely they lie decides between strategies that keep a part of
 * the slots on chip and those that treat all alike. */
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

enum { GLANCES = 2048, BYTES = sizeof(uint32_t), VALUES = 256 };

/* By their bytes, the lowest first. */
static void sort(uint32_t *slots, int n)
{
    uint32_t sorted[GLANCES];
    for (int byte = 0; byte < BYTES; byte++) {
        int at[VALUES + 1] = {0};
        for (int i = 0; i < n; i++)
            at[(slots[i] >> 8 * byte) % VALUES + 1]++;
        for (int v = 1; v < VALUES; v++)
            at[v] += at[v - 1];
        for (int i = 0; i < n; i++)
            sorted[at[(slots[i] >> 8 * byte) % VALUES]++] = slots[i];
        memcpy(slots, sorted, (size_t)n * sizeof *slots);
    }
}

void histo_plan_glance(histo_plan *plan, const histo_view *const *operands, const histo_fill_options *fill)
{
    histo_problem *p = &plan->problem;
    uint32_t *slots = malloc(GLANCES * sizeof *slots);
    if (!slots) return;
    histo_job job = histo_plan_job(plan, operands, fill);
    job.end = job.nest.per_batch;
    if (histo_backend_of(p->device)->glance(&job, GLANCES, slots) != HISTO_OK) {
        free(slots);
        return;
    }
    sort(slots, GLANCES);
    p->glanced = slots;
    for (p->glances = GLANCES; p->glances > 0 && slots[p->glances - 1] == HISTO_NO_SLOT;)
        p->glances--;
}
