/* sequential_loop: result[data[i]]++, the loop that everyone would write: bins are integers, and the sample is the bin.
 *
 * Source: Podlozhnyuk 2007, listing 1; Hardavellas, Histograms, sequential algorithm. They trust that samples are bins;
 * here those that are not are counted below and above the axis.
 * Bytes: each sample once. Increments of the same counter wait for each other. */
#include <string.h>

#include "runs.h"

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

static histo_sequential_loop *const loops[HISTO_DTYPE_COUNT] = {
    [HISTO_U8] = loop_u8,   [HISTO_I8] = loop_i8,   [HISTO_U16] = loop_u16,
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
    return histo_sequential_count(job, loops[job->problem->dtypes[0]], NULL);
}

const histo_strategy histo_cpu_sequential_loop = {.unsupported_reason = unsupported_reason, .launch = launch};
