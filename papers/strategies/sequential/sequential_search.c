/* sequential_search: one sample after another, its bin found by binary search in the edges: the baseline over which
 * Milic et al. give all their speed-ups.
 *
 * It searches regular axes as well, in a table of their edges.
 *
 * Source: Milic et al. 2013, listing 1.
 * Bytes: each sample once. log2(bins) comparisons that the CPU cannot predict bound it. */
#include <string.h>

#include "runs.h"

/* search_T(lookup, edges, run, stride, counts) for samples of each type T. COMPUTE: f64, i64 or u64. */
#define TYPE uint8_t
#define NAME search_u8
#define COMPUTE(function) function##_f64
#include "search_template.h"
#define TYPE int8_t
#define NAME search_i8
#define COMPUTE(function) function##_f64
#include "search_template.h"
#define TYPE uint16_t
#define NAME search_u16
#define COMPUTE(function) function##_f64
#include "search_template.h"
#define TYPE int16_t
#define NAME search_i16
#define COMPUTE(function) function##_f64
#include "search_template.h"
#define TYPE uint32_t
#define NAME search_u32
#define COMPUTE(function) function##_f64
#include "search_template.h"
#define TYPE int32_t
#define NAME search_i32
#define COMPUTE(function) function##_f64
#include "search_template.h"
#define TYPE uint64_t
#define NAME search_u64
#define COMPUTE(function) function##_u64
#include "search_template.h"
#define TYPE int64_t
#define NAME search_i64
#define COMPUTE(function) function##_i64
#include "search_template.h"
#define TYPE float
#define NAME search_f32
#define COMPUTE(function) function##_f64
#include "search_template.h"
#define TYPE double
#define NAME search_f64
#define COMPUTE(function) function##_f64
#include "search_template.h"

static histo_sequential_loop *const searches[HISTO_DTYPE_COUNT] = {
    [HISTO_U8] = search_u8,   [HISTO_I8] = search_i8,   [HISTO_U16] = search_u16, [HISTO_I16] = search_i16,
    [HISTO_U32] = search_u32, [HISTO_I32] = search_i32, [HISTO_U64] = search_u64, [HISTO_I64] = search_i64,
    [HISTO_F32] = search_f32, [HISTO_F64] = search_f64,
};

static const char *unsupported_reason(const histo_problem *problem)
{
    if (problem->operands != 1 || histo_is_computed(problem)) return "counts one axis, without weights or a mask";
    if (!searches[problem->dtypes[0]]) return "counts samples of C's types";
    if (problem->lookups[0].kind == HISTO_SEARCH_WHOLE) return "compares with edges that are doubles";
    return NULL;
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)threads, (void)params;
    return problem->lookups[0].kind == HISTO_SEARCH ? 0 : ((size_t)problem->lookups[0].bins + 1) * sizeof(double);
}

static const double *edges_of(const histo_lookup *l, double *room)
{
    if (l->kind == HISTO_SEARCH) return l->edges;
    for (int32_t i = 0; i < l->bins; i++)
        room[i] = l->lo + (double)i * l->step;
    room[l->bins] = l->hi;
    return room;
}

static histo_status launch(const histo_job *job)
{
    const histo_problem *p = job->problem;
    return histo_sequential_count(job, searches[p->dtypes[0]], edges_of(&p->lookups[0], job->workspace));
}

const histo_strategy histo_cpu_sequential_search = {
    .unsupported_reason = unsupported_reason, .workspace = workspace, .launch = launch};
