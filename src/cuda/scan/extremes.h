/* The least and the greatest sample. */
#ifndef CUDA_SCAN_EXTREMES_H
#define CUDA_SCAN_EXTREMES_H

#include "plan/strategy.h"

histo_status histo_cuda_extremes(const histo_job *job, histo_found *found);

#endif
