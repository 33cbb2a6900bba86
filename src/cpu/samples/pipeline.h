/* The slot pipeline: while the slots of one piece are counted, those of the next are produced. */
#ifndef CPU_PIPELINE_H
#define CPU_PIPELINE_H

#include "cpu/kernels/byte_table/byte_table.h"

typedef struct histo_pipeline {
    const histo_job *job;
    histo_count_slots_fn *count;
    void *table;
    histo_carry_fn *carry;
    const void *to;
    const histo_sums *sums; /* NULL: slots are counted; else their weights are added to these sums */
    const void *weights;    /* the weights of the slots */
    bool floats;            /* weights are floats, not doubles */
    uint32_t *slots;        /* slots produced but not yet counted */
    int n;                  /* number of slots */
    histo_producer next;
} histo_pipeline;

enum { HISTO_PIPELINE_BYTES = 2 * HISTO_PIECE * sizeof(uint32_t) };

/* room: HISTO_PIPELINE_BYTES, 64-byte aligned. */
histo_pipeline histo_pipeline_start(const histo_job *job, void *room, histo_count_slots_fn *count, void *table,
                                    histo_carry_fn *carry, const void *to);
/* Count the slots in the pipeline and produce those of a piece, which replace them. weights: of the piece, borrowed
 * until its slots are consumed; or NULL. */
void histo_pipeline_push(histo_pipeline *pipeline, const histo_block *piece, const void *weights);
/* Count the slots in the pipeline. */
void histo_pipeline_flush(histo_pipeline *pipeline);

#endif
