/* Two kernels of the lecture that cannot be strategies, since one loses samples and the other needs memory that only
 * one histogram at a time can have. They count 8-bit samples of 256 bins. */
#ifndef PAPERS_EXPERIMENTS_KERNELS_H
#define PAPERS_EXPERIMENTS_KERNELS_H

#include "bench/peers/peer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The data race: every thread reads a counter in memory, adds one and writes it back, as if it were alone. */
extern const bench_peer papers_race_cpu, papers_race_cuda;

/* Each tile of samples is copied into constant memory, which all threads read, each for the counters of its bank. */
extern const bench_peer papers_constant_tile;

#ifdef __cplusplus
}
#endif

#endif
