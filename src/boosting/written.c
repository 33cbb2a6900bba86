#include "boosting/written.h"

#include "base/checked.h"
#include "base/error.h"
#include "plan/problem.h"
#include "plan/strategy.h"

histo_status histo_sums_check(const histo_node_sums *sums, histo_dtype *sum, histo_dtype *count)
{
    const histo_status status = histo_check_reserved(sums->reserved, sizeof sums->reserved, "histo_node_sums");
    *sum = sums->sum_dtype ? sums->sum_dtype : HISTO_F64;
    *count = sums->count_dtype ? sums->count_dtype : HISTO_U32;
    if (status != HISTO_OK) return status;
    if (*sum != HISTO_F64 && *sum != HISTO_I64)
        return histo_fail(HISTO_INVALID, "sum_dtype is neither HISTO_F64 nor HISTO_I64");
    if (*count != HISTO_U32 && *count != HISTO_U64 && *count != HISTO_F64)
        return histo_fail(HISTO_INVALID, "count_dtype is none of HISTO_U32, HISTO_U64 and HISTO_F64");
    return HISTO_OK;
}

histo_bin_array histo_bin_array_at(void *at, histo_dtype dtype, const histo_node_sums *sums, int64_t total, double unit)
{
    const int64_t bin_stride = sums->bin_stride ? sums->bin_stride : (int64_t)histo_dtype_size(dtype);
    return (histo_bin_array){
        .at = at,
        .dtype = dtype,
        .bin_stride = bin_stride,
        .node_stride = sums->node_stride ? sums->node_stride : total * bin_stride,
        .unit = unit,
    };
}
