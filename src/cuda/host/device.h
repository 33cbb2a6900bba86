/* The GPUs, and whose memory an address is. */
#ifndef CUDA_HOST_DEVICE_H
#define CUDA_HOST_DEVICE_H

#include "cuda/host/check.h"
#include "plan/costs/rates.h"

enum { HISTO_CUDA_MAX_DEVICES = 64, HISTO_CUDA_BLOCK_RESERVE = 1024 /* bytes of shared memory the system takes */ };

typedef struct histo_cuda_device {
    char name[256];
    char word[300]; /* name and toolkit, without blanks */
    int major, minor;
    int multiprocessors;
    int threads_each;    /* maximum resident threads of a multiprocessor */
    size_t shared_each;  /* bytes of shared memory of a multiprocessor */
    size_t shared_block; /* the maximum for one block */
    size_t memory;
    histo_speed speed;
} histo_cuda_device;

const char *histo_cuda_unavailable(void);
int histo_cuda_devices(void);
/* Only if CUDA is available. */
const histo_cuda_device *histo_cuda_device_of(histo_device device);
histo_device histo_cuda_locate(const void *memory, bool *only);
/* Can kernels on `device` read this address directly and fast? pinned: the copy engine can read it. */
bool histo_cuda_is_direct(const void *memory, histo_device device, bool *pinned);

bool histo_cuda_awake(histo_device device);
bool histo_cuda_pinned(const void *memory);
histo_speed histo_cuda_speed(histo_device device);

/* A number for the current device's context, unique in this process; 0: there is none. */
unsigned long long histo_cuda_context(void);

/* Make a device current; *before is for histo_cuda_leave, which restores the previous one, if that was another. Each
 * success needs one: exit() waits for it, and then no more succeed. */
enum { HISTO_CUDA_STAY = -1 };
histo_status histo_cuda_enter(histo_device device, int *before);
/* … for what belongs to this context: histo_cuda_fail_lost if it is not the device's any more. */
histo_status histo_cuda_enter_context(histo_device device, unsigned long long context, int *before);
histo_status histo_cuda_fail_lost(histo_device device);
void histo_cuda_leave(int before);

#endif
