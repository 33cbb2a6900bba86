/* NumPy, boost-histogram, fast-histogram and OpenCV, where HISTO_BENCH_PYTHON names a Python that has them. */
#ifndef BENCH_PEERS_PYTHON_H
#define BENCH_PEERS_PYTHON_H

#include "bench/peers/peer.h"

extern const bench_peer bench_numpy, bench_boost_histogram, bench_fast_histogram, bench_opencv, bench_numpy_unique;

#endif
