/* The GPUs of described_gpus.c, whatever the backend is built for. */
#define HISTO_CUDA_BUILT_FOR 75, 80, 86, 89, 90, 100, 120
#include "cuda/host/device.cu"
