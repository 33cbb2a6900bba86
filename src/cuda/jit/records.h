/* Records (histo_function) on a GPU: the sources of their functions become part of specialised kernels, and no other
 * kernel can read records. */
#ifndef CUDA_JIT_RECORDS_H
#define CUDA_JIT_RECORDS_H

#include "plan/strategy.h"

/* What specialised kernels of a job call, from malloc: the sources of its functions, and histo_record_function
 * (record_function.cuh) of each operand that has records. NULL if out of memory. */
char *histo_cuda_records_text(const histo_job *job);

/* Can the functions of a job be compiled, and called for samples that lie so? HISTO_INVALID with the compiler's
 * messages if a source is wrong. The first time, compiles a small kernel that calls them. */
histo_status histo_cuda_records_check(const histo_job *job);

/* Fail because there is no specialised kernel for a job with records. */
histo_status histo_cuda_records_refuse(const histo_job *job);

#endif
