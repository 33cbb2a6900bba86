/* Probing the samples of a new plan. Their clustering decides between strategies that keep only some slots in shared
 * memory and those that treat all slots alike. */
#include <string.h>

#include "base/memory.h"
#include "plan/plan.h"

enum { PROBES = 2048, BYTES = sizeof(uint32_t), VALUES = 256 };

/* Radix sort, least significant byte first. */
static void sort(uint32_t *slots, int n)
{
    uint32_t sorted[PROBES];
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

void histo_plan_probe(histo_plan *plan, const histo_view *const *operands, const histo_fill_options *fill)
{
    histo_problem *p = &plan->problem;
    if (p->records) return; /* only a compiled kernel can read records */
    uint32_t *slots = histo_malloc(PROBES * sizeof *slots);
    if (!slots) return;
    histo_job job;
    histo_plan_job(plan, operands, fill, &job);
    job.end = histo_strided_iter_samples(&job.iter);
    if (histo_backend_of(p->device)->probe(&job, PROBES, slots) != HISTO_OK) {
        histo_free(slots);
        return;
    }
    sort(slots, PROBES);
    p->probed = slots;
    for (p->probes = PROBES; p->probes > 0 && slots[p->probes - 1] == HISTO_NO_SLOT;)
        p->probes--;
}
