#include "cpu/samples/pipeline.h"

#include "cpu/backend/backend.h"
#include "cpu/backend/costs.h"
#include "cpu/kernels/kernels.h"
#include "cpu/samples/block.h"

histo_pipeline histo_pipeline_start(const histo_job *job, void *room, histo_count_slots_fn *count, void *table,
                                    histo_carry_fn *carry, const void *to)
{
    const histo_problem *p = job->problem;
    uint32_t *slots = room;
    histo_pipeline l = {.job = job, .count = count, .table = table, .carry = carry, .to = to, .slots = slots};
    const histo_cpu_prepared *prepared = job->prepared;
    const histo_spans *spans = prepared ? &prepared->spans[0] : NULL;
    l.next = (histo_producer){.lookup = &p->lookups[0], .spans = spans, .slots = slots + HISTO_PIECE};
    if (p->naxes == 1)
        l.next.produce = histo_cpu_kernels_usable()->producer_of(l.next.lookup, histo_is_near(p, 0), p->dtypes[0]);
    return l;
}

/* Consume the slots in the pipeline; true if those of `next` have been produced meanwhile. */
static bool consume(const histo_pipeline *l, const histo_producer *next)
{
    if (!l->sums) return l->count(l->table, l->slots, l->n, l->carry, l->to, next);
    return histo_cpu_kernels_usable()->add_weights(l->sums, l->slots, l->weights, l->floats, l->n, next);
}

void histo_pipeline_push(histo_pipeline *l, const histo_block *piece, const void *weights)
{
    uint32_t *consumed = l->slots;
    l->next.samples = piece->at[0];
    const bool together = l->n == HISTO_PIECE && piece->n == HISTO_PIECE;
    const bool produced = l->n && consume(l, together ? &l->next : NULL);
    if (!produced) histo_block_slots(l->job, piece, l->next.slots);
    l->slots = l->next.slots;
    l->next.slots = consumed;
    l->weights = weights;
    l->n = piece->n;
}

void histo_pipeline_flush(histo_pipeline *l)
{
    if (l->n) consume(l, NULL);
    l->n = 0;
}
