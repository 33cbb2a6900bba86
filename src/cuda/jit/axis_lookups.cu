/* Chooses the lookups of specialised kernels: see axis_lookups.h. */
#include "cuda/jit/axis_lookups.h"

#include <math.h>
#include <stdlib.h>

#include "cuda/launch/prepared.h"

/* Integers of at most 16 bits in fixed point; false unless that gives the slots of the axis' table for every value.
 * is_closed: of a closed axis that ends at an integer. */
static bool fits_fixed_point(const histo_lookup *l, histo_dtype dtype, bool is_closed, histo_fixed_point *f)
{
    const bool is_signed = dtype == HISTO_I8 || dtype == HISTO_I16;
    const int bits = 8 * (int)histo_dtype_size(dtype);
    if (!l->table || l->kind != HISTO_UNIFORM || bits > 16 || dtype == HISTO_F16 || dtype == HISTO_BF16) return false;
    const int32_t least = is_signed ? -(1 << (bits - 1)) : 0, most = least + (1 << bits) - 1;
    const double first = fmax(ceil(l->lo) - 1, least), last = is_closed ? l->hi - 1 : fmin(ceil(l->over), most);
    if (is_closed && !(l->closed && l->hi == floor(l->hi) && l->hi <= most)) return false;
    if (l->step <= 1 || l->step > 0x1p16 || first >= last) return false;
    int exponent; /* the factor has 32 significant bits */
    frexp(l->per_step, &exponent);
    const double unit = ldexp(l->per_step, 32 - exponent);
    if ((last - l->lo) * l->per_step >= ldexp(1, 31 + exponent)) return false; /* the sum has 64 bits */
    f->shift = (uint32_t)(32 - exponent);
    f->first = (int32_t)first;
    f->last = (int32_t)last;
    f->factor = (uint32_t)unit;
    f->offset =
        (uint64_t)(ldexp(1, 32 - exponent) + (first - l->lo) * unit) + (1 << 16); /* the factor is rounded down */
    for (int32_t x = least; x <= most; x++) {
        const uint32_t slot = is_closed ? histo_slot_by_closed_point(f, x) : histo_slot_by_fixed_point(f, x);
        if (slot != l->table[(uint32_t)x & ((1u << bits) - 1)]) return false;
    }
    return true;
}

/* Choose the lookup as histo_any_lookup does. The axis must be all zeros before. */
static void set_axis(const histo_lookup *l, histo_dtype dtype, histo_specialised_axis *axis)
{
    const size_t size = histo_dtype_size(dtype);
    if (size <= 4 && l->pow2.is) {
        axis->by = HISTO_BY_POW2;
        axis->pow2 = l->pow2;
    } else if (fits_fixed_point(l, dtype, false, &axis->fixed)) {
        axis->by = HISTO_BY_FIXED_POINT;
    } else if (fits_fixed_point(l, dtype, true, &axis->fixed)) {
        axis->by = HISTO_BY_CLOSED_POINT;
    } else if (l->affine.is) {
        axis->by = HISTO_BY_AFFINE;
        axis->fixed = {};
    } else {
        axis->fixed = {};
        axis->by = size == 1                  ? HISTO_BY_TABLE
                   : l->kind == HISTO_UNIFORM ? dtype == HISTO_F32 && l->near_f32 ? HISTO_BY_GUESS : HISTO_BY_NEAREST
                   : size == 2                ? l->table ? HISTO_BY_TABLE : HISTO_BY_SEARCH
                   : l->kind == HISTO_SEARCH_WHOLE ? l->near > 0 ? HISTO_BY_NEAR_WHOLE : HISTO_BY_WHOLE
                   : l->near > 0                   ? HISTO_BY_NEAR
                   : !l->cells.entry               ? HISTO_BY_SEARCH
                   : l->cells.by_bits              ? HISTO_BY_BIT_CELLS
                                                   : HISTO_BY_LINEAR_CELLS;
    }
}

/* They are made once, because fixed point is tried with all values. */
const histo_specialised_axis *histo_cuda_axes_of(const histo_job *job)
{
    histo_cuda_prepared *prepared = (histo_cuda_prepared *)job->prepared;
    const histo_problem *p = job->problem;
    histo_specialised_axis *before = __atomic_load_n(&prepared->specialised_axes, __ATOMIC_ACQUIRE);
    if (before) return before;
    histo_specialised_axis *axes = (histo_specialised_axis *)calloc(HISTO_MAX_AXES, sizeof *axes);
    if (!axes) return NULL;
    for (int a = 0; a < p->naxes; a++) /* p->lookups has its tables in host memory */
        set_axis(&p->lookups[a], p->sampled[a], &axes[a]);
    if (__atomic_compare_exchange_n(&prepared->specialised_axes, &before, axes, false, __ATOMIC_RELEASE,
                                    __ATOMIC_ACQUIRE))
        return axes;
    free(axes);
    return before;
}

/* The kind of fixed point that an axis can be looked up in; HISTO_BY_TABLE: none. Plans ask often, and of one axis. */
static histo_specialised_lookup point_of(const histo_lookup *l, histo_dtype dtype)
{
    static thread_local struct {
        double lo, hi;
        int32_t bins;
        bool closed;
        histo_specialised_lookup by;
        histo_dtype dtype;
    } last;
    const bool is_same =
        last.lo == l->lo && last.hi == l->hi && last.bins == l->bins && last.closed == l->closed && last.dtype == dtype;
    histo_fixed_point fixed;
    if (!is_same) {
        const histo_specialised_lookup by = fits_fixed_point(l, dtype, false, &fixed)  ? HISTO_BY_FIXED_POINT
                                            : fits_fixed_point(l, dtype, true, &fixed) ? HISTO_BY_CLOSED_POINT
                                                                                       : HISTO_BY_TABLE;
        last = {l->lo, l->hi, l->bins, l->closed, by, dtype};
    }
    return last.by;
}

bool histo_cuda_has_fixed_point(const histo_lookup *l, histo_dtype dtype)
{
    return point_of(l, dtype) == HISTO_BY_FIXED_POINT;
}

const histo_fixed_point *histo_cuda_fixed_point_of(const histo_job *job)
{
    const histo_specialised_axis *axes = job->problem->naxes == 1 ? histo_cuda_axes_of(job) : NULL;
    return axes && axes->by == HISTO_BY_FIXED_POINT ? &axes->fixed : NULL;
}

/* ---- Tables in shared memory ---- */

/* The values of an integer type, or the bit patterns of a float's, between which slots may differ. */
static void set_range(const histo_lookup *l, histo_dtype dtype, histo_fixed_point *range)
{
    const int bits = 8 * (int)histo_dtype_size(dtype);
    const bool is_signed = dtype == HISTO_I8 || dtype == HISTO_I16;
    const int32_t least = is_signed ? -(1 << (bits - 1)) : 0, most = least + (1 << bits) - 1;
    const bool is_float = dtype == HISTO_F16 || dtype == HISTO_BF16;
    range->first = is_float ? least : (int32_t)fmin(fmax(floor(l->lo) - 1, least), most);
    range->last = is_float ? most : (int32_t)fmax(fmin(ceil(l->over) + 1, most), range->first);
}

uint32_t histo_cuda_tables_of(const histo_problem *problem, const histo_joint *first_floats, uint32_t at, uint32_t most,
                              histo_joint *joint, histo_cuda_class *constants)
{
    uint32_t words = 0;
    for (int a = 0; a < problem->naxes; a++) {
        const histo_lookup *l = &problem->lookups[a];
        const histo_dtype dtype = problem->sampled[a];
        const size_t size = histo_dtype_size(dtype);
        histo_specialised_axis its = {};
        uint32_t more = 0;
        if (first_floats && first_floats->first_floats[a]) continue;
        if (size <= 4 && l->pow2.is) continue;
        if (size <= 2) {
            if (!l->table || l->affine.is || point_of(l, dtype) != HISTO_BY_TABLE) continue;
            set_range(l, dtype, &its.fixed);
            its.by = l->bins + 2 <= UINT8_MAX ? HISTO_BY_SHARED_BYTES : HISTO_BY_SHARED_SHORTS;
            const uint32_t each = its.by == HISTO_BY_SHARED_BYTES ? 4 : 2;
            more = (uint32_t)(its.fixed.last - its.fixed.first) / each + 1;
        } else if (l->kind != HISTO_UNIFORM && l->cells.entry) {
            its.by = l->cells.by_bits ? HISTO_BY_SHARED_BITS : HISTO_BY_SHARED_LINEAR;
            more = l->cells.words;
        }
        if (more == 0 || more > most - words) continue;
        if (joint) {
            joint->tables[a] = at + words;
            constants->axes[a] = its;
        }
        words += more;
    }
    return words;
}
