/* A complete booster: trees of gradient boosting for squared errors, fitted to binned features level by level. One call
 * makes the histograms of all nodes of a level. The sums are exact, so the model has the same bits for any number of
 * threads. */
#include <string.h>

#include "must.h"

enum { ROWS = 20000, FEATURES = 5, BINS = 32, DEPTH = 4, LEAVES = 1 << DEPTH, TREES = 50, TOTAL = FEATURES * BINS };

/* Nodes are numbered as in a heap, from 1 on. Rows with a bin up to `upto` of the feature go to node 2n, others to 2n +
 * 1; leaf n has value[n - LEAVES]. */
typedef struct tree {
    int feature[LEAVES], upto[LEAVES];
    double value[LEAVES];
} tree;

static uint8_t table[ROWS][FEATURES];
static double target[ROWS], predicted[ROWS];

static double predict(const tree *t, const uint8_t *bins)
{
    int n = 1;
    while (n < LEAVES)
        n = 2 * n + (bins[t->feature[n]] > t->upto[n]);
    return t->value[n - LEAVES];
}

/* Choose the split of a node with the least squared error: sums are of gradients, counts of rows. */
static void choose_split(const double *sums, const uint32_t *counts, int *feature, int *upto)
{
    double best = -1;
    for (int f = 0; f < FEATURES; f++) {
        double all = 0, left = 0, n = 0, n_left = 0;
        for (int b = 0; b < BINS; b++) {
            all += sums[f * BINS + b];
            n += counts[f * BINS + b];
        }
        for (int b = 0; b < BINS; b++) {
            left += sums[f * BINS + b];
            n_left += counts[f * BINS + b];
            const double right = all - left, n_right = n - n_left;
            const double gain = (n_left > 0 ? left * left / n_left : 0) + (n_right > 0 ? right * right / n_right : 0);
            if (gain <= best) continue;
            best = gain;
            *feature = f;
            *upto = b;
        }
    }
}

static void fit_tree(const histo_features *features, const histo_gradients *gradients, int threads, tree *t)
{
    static int32_t rows[ROWS], divided[ROWS];
    static double sums[LEAVES][TOTAL];
    static uint32_t counts[LEAVES][TOTAL];
    int64_t offsets[LEAVES + 1] = {0, ROWS}, next[LEAVES + 1] = {0};
    for (int i = 0; i < ROWS; i++)
        rows[i] = i;
    const histo_view list = histo_view_1d(rows, HISTO_I32, ROWS);
    for (int nodes = 1; nodes <= LEAVES; nodes *= 2) {
        histo_node_options options = HISTO_DEFAULTS;
        histo_node_sums to = HISTO_DEFAULTS;
        options.rows = &list;
        options.offsets = offsets;
        options.nodes = nodes;
        options.threads = threads;
        to.sums[0] = sums;
        to.counts = counts;
        must(histo_features_fill(features, gradients, &options, &to));
        int64_t n = 0;
        for (int node = 0; node < nodes && nodes < LEAVES; node++) {
            int *feature = &t->feature[nodes + node], *upto = &t->upto[nodes + node];
            choose_split(sums[node], counts[node], feature, upto);
            for (int side = 0; side < 2; side++) { /* the children's rows keep their order */
                for (int64_t i = offsets[node]; i < offsets[node + 1]; i++)
                    if ((table[rows[i]][*feature] > *upto) == side) divided[n++] = rows[i];
                next[2 * node + side + 1] = n;
            }
        }
        if (nodes == LEAVES) break;
        memcpy(rows, divided, sizeof rows);
        memcpy(offsets, next, sizeof offsets);
    }
    for (int leaf = 0; leaf < LEAVES; leaf++) {
        double sum = 0, n = 0;
        for (int b = 0; b < BINS; b++) { /* of any feature */
            sum += sums[leaf][b];
            n += counts[leaf][b];
        }
        t->value[leaf] = n > 0 ? -0.2 * sum / n : 0;
    }
}

/* Returns how many leaves have other values. */
static int count_differences(const tree *a, const tree *b)
{
    int differences = 0;
    for (int k = 0; k < TREES; k++)
        for (int leaf = 0; leaf < LEAVES; leaf++)
            differences += a[k].value[leaf] != b[k].value[leaf];
    return differences;
}

/* Returns the mean squared error. */
static double fit(int threads, tree trees[TREES])
{
    static float gradient[ROWS];
    double error = 0;
    const int64_t shape[] = {ROWS, FEATURES};
    const int32_t bins[FEATURES] = {BINS, BINS, BINS, BINS, BINS};
    const histo_view binned = histo_view_nd(table, HISTO_U8, 2, shape);
    const histo_view values = histo_view_1d(gradient, HISTO_F32, ROWS);
    histo_features *features;
    histo_gradients *gradients;
    must(histo_features_create(&features, &binned, bins, NULL));
    must(histo_gradients_create(&gradients, ROWS, 1));
    memset(predicted, 0, sizeof predicted);
    for (int k = 0; k < TREES; k++) {
        for (int i = 0; i < ROWS; i++)
            gradient[i] = (float)(predicted[i] - target[i]); /* all Hessians are 1: their sums are counts */
        must(histo_gradients_set(gradients, &values, NULL));
        fit_tree(features, gradients, threads, &trees[k]);
        for (int i = 0; i < ROWS; i++)
            predicted[i] += predict(&trees[k], table[i]);
    }
    for (int i = 0; i < ROWS; i++)
        error += (predicted[i] - target[i]) * (predicted[i] - target[i]) / ROWS;
    histo_gradients_destroy(gradients);
    histo_features_destroy(features);
    return error;
}

int main(void)
{
    static tree one[TREES], two[TREES];
    uint32_t random = 1;
    double variance = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int f = 0; f < FEATURES; f++)
            table[i][f] = (uint8_t)((random = random * 1664525 + 1013904223) >> 27);
        target[i] = (table[i][0] > 9 ? 1 : -1) * (table[i][1] / 16.0 - 1) + (table[i][2] % 8 < 4 ? 0.5 : -0.5);
        variance += target[i] * target[i] / ROWS;
    }
    const double error = fit(1, one);
    printf("mean squared error without a model %.2f, with %d trees %.3f\n", variance, TREES, error);
    fit(2, two);
    printf("two threads give %s model\n", count_differences(one, two) ? "another" : "the same");
}
