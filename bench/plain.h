/* Counting as one writes it without a library: the loop that checks the others, and the loop that they have to beat. */
#ifndef BENCH_PLAIN_H
#define BENCH_PLAIN_H

#include "bench/device.h"
#include "bench/peer.h"

/* Add the slots of n samples, or their weights, to counts, each by the edges, as bench_device.count. */
histo_status bench_plain_count(const bench_counted *what, int64_t n, int threads, uint64_t *counts);

/* A loop for each type: a subtraction, a multiplication or a binary search for each sample, and an increment. Edges of
 * equal bins are not looked at, as nobody does. */
extern const bench_peer bench_naive;

#endif
