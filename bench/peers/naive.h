/* The naive loop, which strategies have to beat. */
#ifndef BENCH_NAIVE_H
#define BENCH_NAIVE_H

#include "bench/peers/peer.h"

/* A loop per type: a subtraction and a multiplication, or a binary search, and an increment per sample. With equal bins
 * it ignores the edges, as such code does. */
extern const bench_peer bench_naive;

#endif
