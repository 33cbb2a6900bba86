/* NVIDIA's driver in this process. */
#ifndef CUDA_DRIVER_H
#define CUDA_DRIVER_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Has anything in this process loaded the driver? If not, no address is a GPU's, and a CUDA call would start the
 * driver. */
bool histo_driver_is_loaded(void);

#ifdef __cplusplus
}
#endif

#endif
