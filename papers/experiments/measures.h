/* What experiments measure besides rates, and what these measures share. */
#ifndef PAPERS_EXPERIMENTS_MEASURES_H
#define PAPERS_EXPERIMENTS_MEASURES_H

#include "base/error.h"
#include "papers/experiments/papers.h"

struct bench_peer;

enum { PAPERS_QUICK_SAMPLES = 1 << 20 };

/* True for series of a GPU; the device of a series, or NULL if it is missing or not selected. */
bool papers_on_gpu(const papers_series *series);
const bench_device *papers_device_of(const papers_series *series, const papers_options *options);

/* The kernel of a series that is not a strategy (kernels.h); NULL. */
const struct bench_peer *papers_peer(const papers_series *series);

/* How many samples a point has: those of its image, those that it asks for, or 2^22, of a quick run 2^20. */
int64_t papers_samples_of(const papers_point *point, const papers_options *options);

/* Its samples where the device counts them, to be released there also after a failure, and how many they are. */
histo_status papers_place_samples(const papers_point *point, const papers_options *options, const bench_device *device,
                                  const void **samples, int64_t *count);

/* PAPERS_CONFLICTS and PAPERS_DRAWN: all series of a point. */
histo_status papers_find_conflicts(papers_result *result, int point, const papers_options *options);
histo_status papers_draw(papers_result *result, int point, const papers_options *options);

/* PAPERS_LOST: per cent of the samples that a series loses at a point. */
histo_status papers_count_lost(papers_result *result, int point, int series, const bench_device *device,
                               const papers_options *options);

/* PAPERS_OVERFLOWS: overflows in a million samples, counted or predicted. */
void papers_add_predictions(papers_result *result);
histo_status papers_find_overflows(papers_result *result, int point, int series, const bench_device *device,
                                   const papers_options *options);

#endif
