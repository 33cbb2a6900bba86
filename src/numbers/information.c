/* Entropies and mutual information of two axes, in the order of the bins. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "numbers/occupied.h"

/* Room for the shares of each axis alone. */
typedef struct marginals {
    double *of[2];
    int64_t bins[2];
} marginals;

static histo_status marginals_make(marginals *m, const histo_hist *hist)
{
    for (int a = 0; a < 2; a++) {
        m->bins[a] = histo_hist_axis(hist, a).bins;
        m->of[a] = histo_malloc((size_t)m->bins[a] * sizeof *m->of[a]);
        if (!m->of[a]) return histo_fail_memory((size_t)m->bins[a] * sizeof *m->of[a], "the sums of an axis");
    }
    return HISTO_OK;
}

static double entropy_of(const double *shares, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        if (shares[i] > 0) sum -= shares[i] * log(shares[i]);
    return fabs(sum); /* one occupied bin gives -0 */
}

/* The information in weights[n], none negative, of the bins bin[n], or of all n bins in order if bin is NULL. */
static histo_information information_of(const marginals *m, const int64_t *bin, const double *weights, int64_t n)
{
    double total = 0;
    for (int a = 0; a < 2; a++)
        memset(m->of[a], 0, (size_t)m->bins[a] * sizeof *m->of[a]);
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = bin ? bin[i] : i;
        total += weights[i];
        m->of[0][at / m->bins[1]] += weights[i];
        m->of[1][at % m->bins[1]] += weights[i];
    }
    if (total == 0) return (histo_information){{NAN, NAN}, NAN, NAN, NAN};
    for (int a = 0; a < 2; a++)
        for (int64_t i = 0; i < m->bins[a]; i++)
            m->of[a][i] /= total;
    histo_information got = {.entropy = {entropy_of(m->of[0], m->bins[0]), entropy_of(m->of[1], m->bins[1])}};
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = bin ? bin[i] : i;
        const double share = weights[i] / total;
        if (share == 0) continue;
        got.joint_entropy -= share * log(share);
        got.mutual += share * log(share / m->of[0][at / m->bins[1]] / m->of[1][at % m->bins[1]]);
    }
    got.joint_entropy = fabs(got.joint_entropy);
    got.mutual = fmax(0, got.mutual);
    got.normalized = got.joint_entropy > 0 ? (got.entropy[0] + got.entropy[1]) / got.joint_entropy : 1;
    return got;
}

static histo_status inform_counts(const histo_hist *hist, const marginals *m, histo_information *information)
{
    histo_occupied all;
    histo_status status = histo_occupied_read(&all, hist, HISTO_BINS);
    double *weights = NULL;
    if (status == HISTO_OK) {
        const size_t bytes = ((size_t)all.size + 1) * sizeof *weights;
        weights = histo_malloc(bytes);
        if (!weights) status = histo_fail_memory(bytes, "counts");
    }
    for (int64_t b = 0; b < histo_hist_batch(hist) && status == HISTO_OK; b++) {
        const histo_levels levels = histo_occupied_next(&all);
        for (int64_t i = 0; i < levels.n; i++)
            weights[i] = (double)levels.count[i];
        information[b] = information_of(m, levels.bin, weights, levels.n);
    }
    free(weights);
    histo_occupied_release(&all);
    return status;
}

static histo_status inform_weights(const histo_hist *hist, const marginals *m, histo_information *information)
{
    const int64_t size = histo_hist_size(hist, HISTO_BINS), bins = size / histo_hist_batch(hist);
    const size_t bytes = (size_t)size * sizeof(double);
    double *weights = histo_malloc(bytes);
    if (!weights) return histo_fail_memory(bytes, "sums of weights");
    histo_status status = histo_hist_read_weights(hist, HISTO_BINS, weights, NULL, size, NULL);
    for (int64_t i = 0; i < size && status == HISTO_OK; i++)
        if (!(weights[i] >= 0)) status = histo_fail(HISTO_INVALID, "a sum of weights is %g", weights[i]);
    for (int64_t b = 0; b < histo_hist_batch(hist) && status == HISTO_OK; b++)
        information[b] = information_of(m, NULL, weights + b * bins, bins);
    free(weights);
    return status;
}

histo_status histo_hist_inform(const histo_hist *hist, histo_information *information)
{
    histo_status status = histo_numbers_check(hist, 2, information, "information");
    if (status != HISTO_OK) return status;
    marginals m = {0};
    status = marginals_make(&m, hist);
    if (status == HISTO_OK)
        status = histo_hist_weighting(hist) == HISTO_UNWEIGHTED ? inform_counts(hist, &m, information)
                                                                : inform_weights(hist, &m, information);
    free(m.of[0]);
    free(m.of[1]);
    return status;
}
