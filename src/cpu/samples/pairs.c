/* Samples are computed from a copy of all images at some pixels. */
#include "cpu/samples/pairs.h"

#include <string.h>

#include "view/dtype.h"
#include "view/gather.h"
#include "view/pairs.h"

/* Divide n differences by the means over all images. They become floats in place. */
static void divide_differences(int32_t *differences, int n, uint32_t images, const uint32_t *sums)
{
    for (int k = 0; k < n; k++) {
        const float x = histo_relative_difference(differences[k], images, sums[k]);
        memcpy(&differences[k], &x, sizeof x);
    }
}

/* Means and differences at n pixels of adjacent images, pair by pair. */
#define DEFINE_PAIR(name, type)                                                                                        \
    static void pair_##name(const histo_strided_iter *iter, const type *restrict pixels, int n,                        \
                            int32_t *restrict differences, type *restrict means)                                       \
    {                                                                                                                  \
        uint32_t sums[HISTO_BLOCK] = {0}, images = (uint32_t)iter->images, factor = histo_mean_factor(images);         \
        for (int i = 0; i < iter->images; i++)                                                                         \
            for (int k = 0; k < n; k++)                                                                                \
                sums[k] += pixels[i * n + k];                                                                          \
        for (int k = 0; k < n; k++)                                                                                    \
            means[k] = (type)histo_mean_of(sums[k], images, factor);                                                   \
        for (int i = 0, at = 0; i < iter->images; i += iter->step, at += n) {                                          \
            const type *first = pixels + i * n, *second = pixels + (i + 1) % iter->images * n;                         \
            for (int k = 0; k < n; k++)                                                                                \
                differences[at + k] = (int32_t)first[k] - (int32_t)second[k];                                          \
            if (iter->relative) divide_differences(differences + at, n, images, sums);                                 \
            if (at) memcpy(means + at, means, (size_t)n * sizeof *means);                                              \
        }                                                                                                              \
    }
DEFINE_PAIR(u8, uint8_t)
DEFINE_PAIR(u16, uint16_t)

/* The buffer holds the differences, followed by the means and the copy of the images; it is large enough because every
 * pair has at most two images. */
bool histo_blocks_next_pairs(histo_blocks *blocks, histo_block *block)
{
    enum { OPERAND_BYTES = HISTO_BLOCK * sizeof(double) };
    const histo_strided_iter *iter = blocks->iter;
    const histo_problem *problem = blocks->job->problem;
    const histo_dtype dtype = problem->dtypes[0];
    const int pairs = iter->images / iter->step, most = HISTO_BLOCK / pairs;
    if (blocks->run.n == 0 && !histo_walk_next(&blocks->walk, &blocks->run)) return false;
    const int n = blocks->run.n < most ? (int)blocks->run.n : most;
    const int64_t stride = iter->strides[0][iter->ndim - 1];
    const size_t size = histo_dtype_size(dtype);
    int32_t *differences = (int32_t *)blocks->gathered;
    char *means = blocks->gathered + OPERAND_BYTES, *pixels = means + HISTO_BLOCK * sizeof(uint16_t);
    for (int i = 0; i < iter->images; i++)
        histo_fetch(pixels + (size_t)(i * n) * size, blocks->run.at[0] + i * iter->image_stride, stride,
                    problem->stored[0], NULL, n);
    if (dtype == HISTO_U8)
        pair_u8(iter, (const uint8_t *)pixels, n, differences, (uint8_t *)means);
    else
        pair_u16(iter, (const uint16_t *)pixels, n, differences, (uint16_t *)means);
    *block = (histo_block){.batch = blocks->run.batch, .n = n * pairs};
    block->at[HISTO_DIFFERENCE] = differences;
    block->at[HISTO_MEAN] = means;
    blocks->run.at[0] += n * stride;
    blocks->run.n -= n;
    return true;
}
