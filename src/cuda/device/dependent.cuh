/* Programmatic dependent launches: on sm_90, a kernel may be launched while the one before it still runs, which hides
 * the time that a launch takes. It must wait before it uses any memory. */
#ifndef CUDA_DEVICE_DEPENDENT_CUH
#define CUDA_DEVICE_DEPENDENT_CUH

#include "cuda/device/dtype.cuh"

/* Let the next kernel be launched now, if it waits for this one. */
HISTO_IN_KERNEL void histo_launch_dependents()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Wait until the kernel before this one has finished. */
HISTO_IN_KERNEL void histo_wait_for_earlier()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#endif
