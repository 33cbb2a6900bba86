/* The slots of some samples. */
#ifndef CUDA_SCAN_PROBE_H
#define CUDA_SCAN_PROBE_H

#include "plan/strategy.h"

extern "C" histo_status histo_cuda_probe(const histo_job *job, int n, uint32_t *slots);

#endif
