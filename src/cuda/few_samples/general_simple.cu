/* The kernels for few samples of one axis alone. */
#include "cuda/few_samples/general.cuh"
#include "cuda/few_samples/general.h"
#include "view/dtype.h"

using namespace histo::few;

template <histo_dtype type, by lookup>
static histo_few_kernel kernel_of(histo_few_kind kind, bool several)
{
    switch (kind) {
    case HISTO_FEW_MANY:
        return {(const void *)count_many<simple<type, lookup, DIRECT_THREADS, EACH>>, EACH};
    case HISTO_FEW_DENSE:
        if (several) return {(const void *)count_dense<simple<type, lookup, DENSE_THREADS, EACH>>, EACH};
        return {(const void *)count_dense<simple<type, lookup, DENSE_THREADS, 1>>, 1};
    default:
        return {(const void *)count<simple<type, lookup, DIRECT_THREADS, 1>>, 1};
    }
}

template <histo_dtype type>
static histo_few_kernel kernel_of(const histo_lookup *l, histo_few_kind kind, bool several)
{
    using storage = histo_stored<type>;
    const bool is_float = type == HISTO_F16 || type == HISTO_BF16 || type == HISTO_F32 || type == HISTO_F64;
    if constexpr (!is_float && sizeof(storage) <= 4)
        if (l->pow2.is) return kernel_of<type, BY_SHIFT>(kind, several);
    if (l->kind == HISTO_UNIFORM) return kernel_of<type, BY_NEAREST>(kind, several);
    if constexpr (is_float && sizeof(storage) >= 4)
        if (l->kind == HISTO_SEARCH && l->near == 0) return kernel_of<type, BY_PIVOTS>(kind, several);
    return {NULL, 0};
}

histo_few_kernel histo_few_simple(const histo_lookup *lookup, histo_dtype dtype, histo_few_kind kind, bool several)
{
    switch (dtype) {
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant:                                                                                                     \
        return kernel_of<constant>(lookup, kind, several);
        HISTO_DTYPES(CASE)
#undef CASE
    default:
        return {NULL, 0};
    }
}
