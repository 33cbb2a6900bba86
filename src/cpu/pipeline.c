#include "cpu/pipeline.h"

#include "cpu/cpu.h"
#include "cpu/kernels.h"

histo_pipeline histo_pipeline_start(const histo_job *job, void *room, histo_count_slots_fn *count, void *table,
                                    histo_carry_fn *carry, const void *to)
{
    const histo_problem *p = job->problem;
    uint32_t *slots = room;
    histo_pipeline l = {.job = job, .count = count, .table = table, .carry = carry, .to = to, .slots = slots};
    const histo_cpu_prepared *prepared = job->prepared;
    const histo_spans *spans = prepared ? &prepared->spans[0] : NULL;
    l.next = (histo_producer){.lookup = &p->lookups[0], .spans = spans, .slots = slots + HISTO_PIECE};
    if (p->operands == 1 && !p->pairs)
        l.next.produce = histo_cpu_kernels_usable()->producer_of(l.next.lookup, histo_is_near(p, 0), p->dtypes[0]);
    return l;
}

void histo_pipeline_push(histo_pipeline *l, const histo_block *piece)
{
    uint32_t *counted = l->slots;
    l->next.samples = piece->at[0];
    const bool together = l->n == HISTO_PIECE && piece->n == HISTO_PIECE;
    const bool produced = l->n && l->count(l->table, counted, l->n, l->carry, l->to, together ? &l->next : NULL);
    if (!produced) histo_block_slots(l->job, piece, l->next.slots);
    l->slots = l->next.slots;
    l->next.slots = counted;
    l->n = piece->n;
}

void histo_pipeline_flush(histo_pipeline *l)
{
    if (l->n) l->count(l->table, l->slots, l->n, l->carry, l->to, NULL);
    l->n = 0;
}
