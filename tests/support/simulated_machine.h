/* A CPU and GPUs with speeds and transfer times set by a test, in place of the library's clock, table of strategies and
 * CUDA backend. The CPU simulates the GPUs. */
#ifndef TESTS_SIMULATED_MACHINE_H
#define TESTS_SIMULATED_MACHINE_H

#include <stdbool.h>

#include <histo/histo.h>

enum { N = 1 << 20, GPUS = 8 }; /* number of samples in most fills; the most GPUs */

typedef struct simulated_machine {
    double slow_us, fast_us, gpu_us;                 /* predictions for N samples */
    long slow_takes_us, fast_takes_us, gpu_takes_us; /* simulated durations of fills */
    int gpus;
    const char *missing;             /* why there is no GPU */
    bool awake, pinned, on_gpu;      /* on_gpu: the samples are in GPU memory */
    histo_status preparing, running; /* what these return on the GPU */
    bool counts;                     /* fills really count */
    int asked, prepared;
    double dense_us; /* prediction if all samples are in a tenth of the slots; ten times that if none are */
    uint32_t step;   /* distance between the slots of successive probed samples */
    int max_probes;  /* available samples */
    histo_status probing;
    int probed;
    int64_t sent;  /* samples that the GPU got in its last fill */
    long clash_us; /* slowdown of the GPU while the CPU counts too */
    double now_us;
    int threads; /* number of CPU threads in its last fill */
    bool capturing;
} simulated_machine;
extern simulated_machine world;

#endif
