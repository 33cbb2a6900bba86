#include "plan/pairs.h"

#include "base/error.h"
#include "view/dtype.h"
#include "view/pairs.h"

histo_status histo_pairs_check(const histo_pairs *pairs)
{
    if (!pairs) return histo_fail(HISTO_INVALID, "the pairs are NULL: say which images are compared");
    const histo_status status = histo_check_reserved(pairs->reserved, sizeof pairs->reserved, "histo_pairs");
    if (status != HISTO_OK) return status;
    if (pairs->pairing == HISTO_PAIRS_RING || pairs->pairing == HISTO_PAIRS_APART) return HISTO_OK;
    return histo_fail(HISTO_INVALID, "unknown pairs %d: use HISTO_PAIRS_RING or HISTO_PAIRS_APART",
                      (int)pairs->pairing);
}

histo_status histo_pairs_bind(histo_problem *problem, const histo_view *stack, const histo_fill_options *options)
{
    const int64_t images = stack->ndim > stack->batch_ndim ? stack->shape[stack->batch_ndim] : 0;
    if (problem->naxes != HISTO_PAIRS_AXES)
        return histo_fail(HISTO_INVALID, "pairs of images are counted on two axes, difference and mean, and not on %d",
                          problem->naxes);
    if (problem->dtypes[0] != HISTO_U8 && problem->dtypes[0] != HISTO_U16)
        return histo_fail(HISTO_INVALID, "images whose pairs are counted are of u8 or u16, and not of %s",
                          histo_dtype_name(stack->dtype));
    if (images < 2 || images > HISTO_MAX_IMAGES)
        return histo_fail(HISTO_INVALID,
                          "pairs are of 2 to %d images, the first dimension behind the batch's; not of "
                          "%lld",
                          HISTO_MAX_IMAGES, (long long)images);
    if (images % (int)problem->pairs.pairing)
        return histo_fail(HISTO_INVALID, "%lld images cannot be paired apart from each other: their number is odd",
                          (long long)images);
    if (options->weights || options->mask || options->where || options->offsets || options->functions ||
        problem->weighting != HISTO_UNWEIGHTED)
        return histo_fail(HISTO_INVALID,
                          "pairs of images are counted without weights, mask, where, offsets and functions");
    problem->sampled[HISTO_DIFFERENCE] = problem->pairs.relative ? HISTO_F32 : HISTO_I32;
    problem->sampled[HISTO_MEAN] = problem->dtypes[0];
    return HISTO_OK;
}

void histo_pairs_sign(const histo_problem *problem, histo_text *text)
{
    if (histo_is_computed(problem))
        histo_text_add(text, ";pairs=%s", problem->pairs.pairing == HISTO_PAIRS_RING ? "ring" : "apart");
}
