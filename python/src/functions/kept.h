/* Histograms and plans for samples on GPUs that are kept for further calls: making them takes longer than counting a
 * million samples. */
#ifndef PYTHON_KEPT_H
#define PYTHON_KEPT_H

#include "functions/counting.h"

/* Count as counting_run, for samples in the memory of the GPU `home`. Without the GIL. */
histo_status kept_count(const counting *c, histo_dtype dtype, void *out, int64_t size);
/* Destroy all that no call is using. */
void kept_forget(void);
/* Whether further plans have kernels compiled and wait for them; at first not. */
void kept_compile(bool wanted);

#endif
