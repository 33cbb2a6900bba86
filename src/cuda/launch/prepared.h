/* What a plan has prepared on its GPU. */
#ifndef CUDA_LAUNCH_PREPARED_H
#define CUDA_LAUNCH_PREPARED_H

#include "plan/strategy.h"

typedef struct histo_cuda_prepared {
    void *memory;                                     /* on the device: edges and tables; NULL: none are needed */
    unsigned long long context;                       /* of the memory */
    histo_lookup lookups[HISTO_MAX_AXES];             /* with pointers into memory */
    struct histo_cuda_specialised_entry *specialised; /* kernels compiled for the plan (jit/specialised.cu) … */
    struct histo_specialised_axis *specialised_axes;  /* … and its axes for them; NULL before the first */
    bool expects_compiled;                            /* it was predicted with compiled kernels */
    uint64_t number;                                  /* unique in this process; 0: none yet (lane_private) */
} histo_cuda_prepared;

#endif
