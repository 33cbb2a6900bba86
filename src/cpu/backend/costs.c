/* The cost of turning samples into slots, for the strategies' cost models: measured in nanoseconds per sample, with the
 * samples in cache. */
#include "cpu/backend/costs.h"

#include "cpu/backend/features.h"
#include "cpu/kernels/kernels.h"
#include "view/dtype.h"

/* By the way slots are found: a shift (bins of 2^k integers, up to 32 bits), fixed point (f32 and 16 bits), double,
 * stored edges. */
typedef struct slot_costs {
    double pow2, f32, f64, search;
} slot_costs;

static const slot_costs *usable_costs(void)
{
    static const slot_costs costs[] = {
        [HISTO_ISA_BASELINE] = {.pow2 = 0.3, .f32 = 0.45, .f64 = 0.65, .search = 3},
        [HISTO_ISA_AVX2] = {.pow2 = 0.05, .f32 = 0.13, .f64 = 0.22, .search = 2},
        [HISTO_ISA_AVX512] = {.pow2 = 0.05, .f32 = 0.08, .f64 = 0.25, .search = 1.5},
        [HISTO_ISA_AVX512VBMI2] = {.pow2 = 0.05, .f32 = 0.08, .f64 = 0.25, .search = 1.5},
    };
    return &costs[histo_isa_usable()];
}

/* Whether slots are computed by a shift in vectors of 16 or 32 bits: see slots.c. */
static bool is_pow2(const histo_problem *p, int axis)
{
    return p->lookups[axis].pow2.is && histo_dtype_is_integer(p->sampled[axis]);
}

bool histo_is_near(const histo_problem *p, int axis)
{
    return p->axes[axis].edges && !p->lookups[axis].table && p->off[axis] <= HISTO_NEAR;
}

double histo_slots_ns(const histo_problem *p)
{
    const slot_costs *costs = usable_costs();
    double ns = 0;
    for (int a = 0; a < p->naxes; a++) {
        const histo_lookup *lookup = &p->lookups[a];
        const size_t size = histo_dtype_size(p->sampled[a]);
        const bool by_table = lookup->table && (size == 1 || lookup->kind == HISTO_SEARCH);
        const bool is_float = p->sampled[a] == HISTO_F32 || size == 2;
        const double widen = size > 2 ? 0 : p->sampled[a] == HISTO_F16 ? 0.2 : 0.08;
        ns += is_pow2(p, a)                                           ? costs->pow2
              : by_table                                              ? 0.4
              : lookup->kind != HISTO_UNIFORM && !histo_is_near(p, a) ? costs->search
              : is_float                                              ? costs->f32 + widen
                                                                      : costs->f64;
    }
    return ns;
}

double histo_pipelined_slots_ns(const histo_problem *p)
{
    histo_produce_fn *produce =
        histo_cpu_kernels_usable()->producer_of(&p->lookups[0], histo_is_near(p, 0), p->dtypes[0]);
    const bool alone = p->naxes == 1 && !histo_is_reproducible(p->weighting);
    return histo_slots_ns(p) / (alone && produce ? 1.25 : 1);
}

double histo_codes_ns(const histo_problem *p)
{
    const size_t size = histo_dtype_size(p->dtypes[0]);
    if (is_pow2(p, 0) && size == 2 && histo_cpu_kernels_usable()->byte_counting->add_shorts) return 0.02;
    if (is_pow2(p, 0) && size > 1) return size == 8 ? 0.12 : 0.022 * (double)size;
    /* Codes of floats take half as long as their slots if no sample is outside the axis, and longer if many are. */
    const bool is_float = p->dtypes[0] == HISTO_F32 || p->dtypes[0] == HISTO_F64;
    const bool regular = p->lookups[0].kind == HISTO_UNIFORM || histo_is_near(p, 0);
    return regular && is_float ? histo_slots_ns(p) / 2 + 0.09 : histo_slots_ns(p) + (size == 2 ? 0.15 : 0.1);
}

double histo_gather_ns(const histo_problem *p)
{
    enum { LINE = 64, NEAR = 1 << 20 /* bytes that stay in the cache until the next column is read */ };
    const double swap_ns = p->plain ? 0 : 0.1, lines = (double)p->samples / (double)p->batch;
    const double far_ns = lines * LINE <= NEAR ? 1.5 : 3;
    return swap_ns + (p->apart == HISTO_FAR_APART ? far_ns : p->apart ? 0.1 + 0.01 * p->apart : 0);
}
