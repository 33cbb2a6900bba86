/* Plain loops: one that checks all entries, and the naive one that they have to beat. */
#ifndef BENCH_PLAIN_H
#define BENCH_PLAIN_H

#include "bench/core/device.h"
#include "bench/peers/peer.h"

/* Add n samples, or their weights, to counts by the edges: bench_device.count. */
histo_status bench_plain_count(const bench_counted *what, int64_t n, int threads, uint64_t *counts);

/* A loop per type: a subtraction and a multiplication, or a binary search, and an increment per sample. With equal bins
 * it ignores the edges, as such code does. */
extern const bench_peer bench_naive;

#endif
