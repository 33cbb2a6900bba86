/* The rows of the table of strategies, which every test of test_strategies counts with, and those tests that do not fit
 * in its file. */
#ifndef TESTS_STRATEGIES_ROWS_H
#define TESTS_STRATEGIES_ROWS_H

#include <stdbool.h>

#include <histo/histo.h>

/* Selects every n-th case of a test, if the environment says so. */
bool is_chosen(void);

/* Name row s as backend/name, if the environment selects it and its device exists. */
bool row_name(int s, char name[64]);
bool is_cuda(const char *strategy);

histo_plan_options options_for(const char *strategy, int threads);

/* A plan that was made with this status. NULL if the strategy need not support the problem: only those that count
 * everything must. */
histo_plan *supported(const char *strategy, histo_status status, histo_plan *const *plan);
histo_plan *plan_for(const char *strategy, histo_hist *h, const histo_view *views, const histo_fill_options *options,
                     int threads);

/* Views of a fill, in device memory if requested. */
typedef struct placed {
    int count;
    void *memory[8];
} placed;
const histo_view *place(placed *all, const histo_view *view, bool on_device, histo_view *copy);
void displace(placed *all);

/* For --rows. */
int print_rows(void);

/* Tests. */
void joint_histograms(void **state);
void joint_tables(void **state);
void pairs_of_images(void **state);
void refused_pairs(void **state);
void weights_of_few_bins(void **state);
void weights_of_many_bins(void **state);
void every_row_counts(void **state); /* the last: it reports what the others have counted */

#endif
