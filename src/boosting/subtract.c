/* Histograms of the other children of nodes: those of the nodes less those of one child each. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/floats.h"
#include "boosting/written.h"
#include "plan/strategy.h"

/* An array of the parents and the same of the children. */
typedef struct operands {
    histo_bin_array parent, child;
    int64_t nodes, bins;
} operands;

static histo_status check_place(const char *whose, const char *what, const void *at)
{
    bool only = false;
    if (at) histo_device_of(at, &only);
    if (!only) return HISTO_OK;
    return histo_fail(HISTO_UNSUPPORTED, "%s: %s is in the memory of a GPU, which is not subtracted from", whose, what);
}

/* Check an array that both have, or neither. */
static histo_status check_pair(const char *what, const void *parent, const void *child)
{
    if (!parent != !child)
        return histo_fail(HISTO_INVALID, "%s is NULL in %s and not in %s", what, parent ? "child" : "parent",
                          parent ? "parent" : "child");
    const histo_status status = check_place("parent", what, parent);
    return status == HISTO_OK ? check_place("child", what, child) : status;
}

static histo_status check_sums(const histo_node_sums *parent, const histo_node_sums *child, histo_dtype *sum,
                               histo_dtype *count)
{
    histo_dtype other_sum, other_count;
    if (!parent || !child) return histo_fail(HISTO_INVALID, "%s is NULL", parent ? "child" : "parent");
    histo_status status = histo_sums_check(parent, sum, count);
    if (status == HISTO_OK) status = histo_sums_check(child, &other_sum, &other_count);
    if (status != HISTO_OK) return status;
    if (*sum != other_sum || *count != other_count)
        return histo_fail(HISTO_INVALID, "parent and child have different dtypes");
    if (parent->first || child->first)
        return histo_fail(HISTO_INVALID, "first is not NULL: all bins are subtracted, wherever their features begin");
    status = check_pair("counts", parent->counts, child->counts);
    for (int w = 0; w < HISTO_MAX_GRADIENTS && status == HISTO_OK; w++) {
        char what[32];
        snprintf(what, sizeof what, "sums[%d]", w);
        status = check_pair(what, parent->sums[w], child->sums[w]);
    }
    return status;
}

/* Is a count more than another? */
static bool is_more(const char *count, const char *other, histo_dtype dtype)
{
    if (dtype == HISTO_F64) {
        double a, b;
        memcpy(&a, count, sizeof a);
        memcpy(&b, other, sizeof b);
        return !(a <= b); /* or one of them is NaN */
    }
    uint64_t a = 0, b = 0;
    const size_t size = dtype == HISTO_U32 ? sizeof(uint32_t) : sizeof(uint64_t);
    const size_t low = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : sizeof a - size;
    memcpy((char *)&a + low, count, size);
    memcpy((char *)&b + low, other, size);
    return a > b;
}

static histo_status check_counts(const operands *o)
{
    for (int64_t node = 0; node < o->nodes; node++)
        for (int64_t bin = 0; bin < o->bins; bin++)
            if (is_more(o->child.at + node * o->child.node_stride + bin * o->child.bin_stride,
                        o->parent.at + node * o->parent.node_stride + bin * o->parent.bin_stride, o->child.dtype))
                return histo_fail(HISTO_INVALID, "child has more rows than parent in bin %lld of node %lld",
                                  (long long)bin, (long long)node);
    return HISTO_OK;
}

/* Of integers, that is modulo 2^64 or 2^32: results are not negative, or sums of integers. */
static inline __attribute__((always_inline)) void subtract_bins(const operands *o, int64_t node, histo_dtype dtype)
{
    char *to = o->parent.at + node * o->parent.node_stride;
    const char *from = o->child.at + node * o->child.node_stride;
    for (int64_t bin = 0; bin < o->bins; bin++, to += o->parent.bin_stride, from += o->child.bin_stride)
        if (dtype == HISTO_F64) {
            double sum, less;
            memcpy(&sum, to, sizeof sum);
            memcpy(&less, from, sizeof less);
            sum -= less;
            memcpy(to, &sum, sizeof sum);
        } else if (dtype == HISTO_U32) {
            uint32_t count, less;
            memcpy(&count, to, sizeof count);
            memcpy(&less, from, sizeof less);
            count -= less;
            memcpy(to, &count, sizeof count);
        } else {
            uint64_t sum, less;
            memcpy(&sum, to, sizeof sum);
            memcpy(&less, from, sizeof less);
            sum -= less;
            memcpy(to, &sum, sizeof sum);
        }
}

static void subtract(const operands *o)
{
    for (int64_t node = 0; node < o->nodes; node++)
        if (o->parent.dtype == HISTO_F64)
            subtract_bins(o, node, HISTO_F64);
        else if (o->parent.dtype == HISTO_U32)
            subtract_bins(o, node, HISTO_U32);
        else
            subtract_bins(o, node, HISTO_U64);
}

histo_status histo_node_sums_subtract(const histo_node_sums *parent, const histo_node_sums *child, int64_t nodes,
                                      int64_t bins)
{
    HISTO_STANDARD_FLOATS;
    histo_dtype sum, count;
    histo_status status = check_sums(parent, child, &sum, &count);
    if (status != HISTO_OK) return status;
    if (nodes < 0) return histo_fail(HISTO_INVALID, "nodes is %lld", (long long)nodes);
    if (bins < 0) return histo_fail(HISTO_INVALID, "bins is %lld", (long long)bins);
    operands o = {.parent = histo_bin_array_at(parent->counts, count, parent, bins, 1),
                  .child = histo_bin_array_at(child->counts, count, child, bins, 1),
                  .nodes = nodes,
                  .bins = bins};
    if (parent->counts) status = check_counts(&o);
    if (status != HISTO_OK) return status;
    if (parent->counts) subtract(&o);
    for (int w = 0; w < HISTO_MAX_GRADIENTS; w++) {
        if (!parent->sums[w]) continue;
        o.parent = histo_bin_array_at(parent->sums[w], sum, parent, bins, 1);
        o.child = histo_bin_array_at(child->sums[w], sum, child, bins, 1);
        subtract(&o);
    }
    return HISTO_OK;
}
