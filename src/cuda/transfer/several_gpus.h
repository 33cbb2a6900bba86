/* One fill that several GPUs share. */
#ifndef CUDA_TRANSFER_SEVERAL_GPUS_H
#define CUDA_TRANSFER_SEVERAL_GPUS_H

#include "plan/strategy.h"

histo_status histo_cuda_run_shared(const histo_strategy *strategy, histo_job *jobs, int n, histo_share *share);

#endif
