/* sequential_loop: result[data[i]]++, the loop that everyone would write: bins are integers, and the sample is the bin.
 *
 * Source: Podlozhnyuk 2007, listing 1; Hardavellas, Histograms, sequential algorithm. They trust that samples are bins;
 * here those that are not are counted below and above the axis.
 * Bytes: each sample once. Increments of the same counter wait for each other. */
#include <string.h>

#include "axis/slot_of.h"
#include "plan/accumulators.h"
#include "plan/strategy.h"
#include "view/gather.h"
#include "view/walk.h"

#define TYPE uint8_t
#define NAME loop_u8
#include "loop_template.h"
#define TYPE int8_t
#define NAME loop_i8
#include "loop_template.h"
#define TYPE uint16_t
#define NAME loop_u16
#include "loop_template.h"
#define TYPE int16_t
#define NAME loop_i16
#include "loop_template.h"
#define TYPE uint32_t
#define NAME loop_u32
#include "loop_template.h"
#define TYPE int32_t
#define NAME loop_i32
#include "loop_template.h"

typedef void loop(int64_t first, uint32_t bins, const char *at, int64_t stride, int64_t n, uint64_t *counts);
static loop *const loops[HISTO_DTYPE_COUNT] = {[HISTO_U8] = loop_u8,   [HISTO_I8] = loop_i8,   [HISTO_U16] = loop_u16,
                                               [HISTO_I16] = loop_i16, [HISTO_U32] = loop_u32, [HISTO_I32] = loop_i32};

static const char *unsupported_reason(const histo_problem *problem)
{
    if (problem->operands != 1 || histo_is_computed(problem)) return "counts one axis, without weights or a mask";
    if (!loops[problem->dtypes[0]]) return "counts integers of at most 32 bits";
    const histo_pow2 *bins = &problem->lookups[0].pow2;
    return bins->is && bins->shift == 0 && !bins->closed ? NULL : "needs a bin for each integer";
}

static histo_status launch(const histo_job *job)
{
    const histo_problem *p = job->problem;
    const histo_lookup *l = &p->lookups[0];
    const int64_t stride = job->iter.strides[0][job->iter.ndim - 1];
    histo_walk walk;
    histo_run run;
    histo_walk_start(&walk, &job->iter, job->begin, job->end, INT64_MAX);
    while (histo_walk_next(&walk, &run)) {
        uint64_t *counts = job->accumulators->counts + run.batch * p->slots;
        if (p->plain) {
            loops[p->dtypes[0]]((int64_t)l->lo, (uint32_t)l->bins, run.at[0], stride, run.n, counts);
            continue;
        }
        for (int64_t i = 0; i < run.n; i++) { /* in the other byte order */
            uint64_t x;
            histo_fetch((char *)&x, run.at[0] + i * stride, 0, p->stored[0], job->bits, 1);
            loops[p->dtypes[0]]((int64_t)l->lo, (uint32_t)l->bins, (const char *)&x, 0, 1, counts);
        }
    }
    return HISTO_OK;
}

const histo_strategy histo_cpu_sequential_loop = {.unsupported_reason = unsupported_reason, .launch = launch};
