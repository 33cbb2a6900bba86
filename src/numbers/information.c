/* Entropies and mutual information of two axes, computed in order of the bins. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/floats.h"
#include "base/memory.h"
#include "numbers/occupied.h"
#include "plan/sparse.h"

/* The marginal distribution of an axis. */
typedef struct marginal {
    int64_t bins;      /* of the axis */
    int64_t *occupied; /* [n], sorted, if far fewer than all; NULL: all bins have a share */
    int64_t n;
    double *shares; /* [n] */
} marginal;

typedef struct marginals {
    marginal of[2];
} marginals;

static int compare_bins(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Steps of about a nanosecond. */
enum { STEPS_A_CELL = 8 };

/* The bin on axis a of a cell, which is an index into the bins of a batch entry. */
static int64_t bin_on(const marginals *m, int a, int64_t cell)
{
    return a == 0 ? cell / m->of[1].bins : cell % m->of[1].bins;
}

/* The index of this cell's share on axis a. */
static int64_t place_on(const marginals *m, int a, int64_t cell)
{
    const marginal *of = &m->of[a];
    const int64_t bin = bin_on(m, a, cell);
    if (!of->occupied) return bin;
    const int64_t *found = bsearch(&bin, of->occupied, (size_t)of->n, sizeof bin, compare_bins);
    return found - of->occupied;
}

/* List the bins of axis a that cells[n] occupy. */
static histo_status list_occupied(const marginals *m, int a, marginal *of, const int64_t *cells, int64_t n,
                                  int64_t per_entry)
{
    const size_t bytes = 2 * (size_t)n * sizeof(histo_entry);
    histo_entry *bins = histo_malloc(bytes);
    of->occupied = histo_malloc((size_t)n * sizeof *of->occupied);
    histo_status status =
        bins && of->occupied ? HISTO_OK : histo_fail_memory(bytes + bytes / 4, "the occupied bins of an axis");
    of->n = n;
    for (int64_t i = 0; i < n && status == HISTO_OK; i++)
        bins[i] = (histo_entry){(uint64_t)bin_on(m, a, cells[i] % per_entry), 0};
    if (status == HISTO_OK) status = histo_entries_sort(bins, &of->n, bins + n);
    for (int64_t i = 0; i < of->n && status == HISTO_OK; i++)
        of->occupied[i] = (int64_t)bins[i].slot;
    histo_free(bins);
    return status;
}

/* Allocate shares: for all bins, or only for those occupied by cells[n] if the axis has far more. */
static histo_status marginals_make(marginals *m, const histo_hist *hist, const int64_t *cells, int64_t n)
{
    enum { FEW = 1 << 16 };
    const int64_t per_entry = histo_hist_size(hist, HISTO_BINS) / histo_hist_batch(hist);
    for (int a = 0; a < 2; a++)
        m->of[a].bins = m->of[a].n = histo_hist_axis(hist, a).bins;
    for (int a = 0; a < 2; a++) {
        marginal *of = &m->of[a];
        if (cells && n > 0 && of->bins > FEW && of->bins > n) {
            const histo_status status = list_occupied(m, a, of, cells, n, per_entry);
            if (status != HISTO_OK) return status;
        }
        of->shares = histo_malloc((size_t)of->n * sizeof *of->shares);
        if (!of->shares) return histo_fail_memory((size_t)of->n * sizeof *of->shares, "the sums of an axis");
    }
    return HISTO_OK;
}

static void marginals_free(marginals *m)
{
    for (int a = 0; a < 2; a++) {
        histo_free(m->of[a].occupied);
        histo_free(m->of[a].shares);
    }
}

static double entropy_of(const double *shares, int64_t n, histo_pace *pace)
{
    double sum = 0;
    for (int64_t i = 0; i < n && histo_goes_on(pace, STEPS_A_CELL); i++)
        if (shares[i] > 0) sum -= shares[i] * log(shares[i]);
    return fabs(sum); /* one occupied bin gives -0 */
}

/* The information in weights[n], none of them negative, of the cells cell[n], or of all n cells in order if cell is
 * NULL. Meaningless if the pace stops. */
static histo_information information_of(const marginals *m, const int64_t *cell, const double *weights, int64_t n,
                                        histo_pace *pace)
{
    const marginal *a = &m->of[0], *b = &m->of[1];
    double total = 0;
    memset(a->shares, 0, (size_t)a->n * sizeof *a->shares);
    memset(b->shares, 0, (size_t)b->n * sizeof *b->shares);
    for (int64_t i = 0; i < n && histo_goes_on(pace, STEPS_A_CELL); i++) {
        const int64_t at = cell ? cell[i] : i;
        total += weights[i];
        a->shares[place_on(m, 0, at)] += weights[i];
        b->shares[place_on(m, 1, at)] += weights[i];
    }
    if (total == 0)
        return (histo_information){.entropy = {NAN, NAN}, .joint_entropy = NAN, .mutual = NAN, .normalized = NAN};
    for (int64_t i = 0; i < a->n; i++)
        a->shares[i] /= total;
    for (int64_t i = 0; i < b->n; i++)
        b->shares[i] /= total;
    histo_information got = {.entropy = {entropy_of(a->shares, a->n, pace), entropy_of(b->shares, b->n, pace)}};
    for (int64_t i = 0; i < n && histo_goes_on(pace, STEPS_A_CELL); i++) {
        const int64_t at = cell ? cell[i] : i;
        const double share = weights[i] / total;
        if (share == 0) continue;
        got.joint_entropy -= share * log(share);
        got.mutual += share * log(share / a->shares[place_on(m, 0, at)] / b->shares[place_on(m, 1, at)]);
    }
    got.joint_entropy = fabs(got.joint_entropy);
    got.mutual = fmax(0, got.mutual);
    got.normalized = got.joint_entropy > 0 ? (got.entropy[0] + got.entropy[1]) / got.joint_entropy : 1;
    return got;
}

static histo_pace pace_of(const marginals *m, int64_t cells, int64_t batch)
{
    return (histo_pace){.stage = "adding up information",
                        .all = STEPS_A_CELL * (2 * cells + batch * (m->of[0].n + m->of[1].n))};
}

static histo_status inform_counts(const histo_hist *hist, marginals *m, histo_information *information)
{
    histo_occupied all;
    histo_status status = histo_occupied_read(&all, hist, HISTO_BINS);
    if (status == HISTO_OK) status = marginals_make(m, hist, all.index, all.size);
    double *weights = NULL;
    if (status == HISTO_OK) {
        const size_t bytes = ((size_t)all.size + 1) * sizeof *weights;
        weights = histo_malloc(bytes);
        if (!weights) status = histo_fail_memory(bytes, "counts");
    }
    histo_pace pace = pace_of(m, all.size, histo_hist_batch(hist));
    for (int64_t b = 0; b < histo_hist_batch(hist) && status == HISTO_OK; b++) {
        const histo_levels levels = histo_occupied_next(&all, &pace);
        for (int64_t i = 0; i < levels.n; i++)
            weights[i] = (double)levels.count[i];
        information[b] = information_of(m, levels.bin, weights, levels.n, &pace);
        status = pace.status;
    }
    histo_free(weights);
    histo_occupied_release(&all);
    return status;
}

static histo_status inform_weights(const histo_hist *hist, marginals *m, histo_information *information)
{
    const int64_t size = histo_hist_size(hist, HISTO_BINS), bins = size / histo_hist_batch(hist);
    const size_t bytes = (size_t)size * sizeof(double);
    double *weights = histo_malloc(bytes);
    if (!weights) return histo_fail_memory(bytes, "sums of weights");
    histo_status status = histo_hist_read_weights(hist, HISTO_BINS, weights, NULL, size, NULL);
    if (status == HISTO_OK) status = marginals_make(m, hist, NULL, 0);
    for (int64_t i = 0; i < size && status == HISTO_OK; i++)
        if (!(weights[i] >= 0))
            status = histo_fail(HISTO_INVALID, "a sum of weights is %.17g, and none may be negative", weights[i]);
    histo_pace pace = pace_of(m, size, histo_hist_batch(hist));
    for (int64_t b = 0; b < histo_hist_batch(hist) && status == HISTO_OK; b++) {
        information[b] = information_of(m, NULL, weights + b * bins, bins, &pace);
        status = pace.status;
    }
    histo_free(weights);
    return status;
}

histo_status histo_hist_inform(const histo_hist *hist, histo_information *information)
{
    HISTO_STANDARD_FLOATS;
    histo_status status = histo_numbers_check(hist, 2, information, "information");
    if (status != HISTO_OK) return status;
    marginals m = {0};
    status = histo_hist_weighting(hist) == HISTO_UNWEIGHTED ? inform_counts(hist, &m, information)
                                                            : inform_weights(hist, &m, information);
    marginals_free(&m);
    return status;
}
