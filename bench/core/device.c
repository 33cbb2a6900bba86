/* Choosing the device to measure on, and samples in its memory. */
#include "bench/core/device.h"

#include "base/error.h"
#include "plan/strategy.h"

extern const bench_device bench_device_cpu, bench_devices_cuda[];

const bench_device *bench_device_find(histo_device device, bench_placement placement)
{
    if (device == HISTO_DEVICE_CPU) return &bench_device_cpu;
#ifdef BENCH_CUDA
    const bench_device *cuda = &bench_devices_cuda[placement];
    const char *why = histo_backend_cuda.unavailable();
    if (!why && (device == HISTO_DEVICE_AUTO || device == HISTO_DEVICE_CUDA(0))) return cuda;
    if (!why) why = "only the first GPU that is visible is measured (CUDA_VISIBLE_DEVICES chooses it)";
#else
    (void)placement;
    const char *why = "this build has no CUDA";
#endif
    if (device == HISTO_DEVICE_AUTO) return &bench_device_cpu;
    if (device == HISTO_DEVICE_CUDA_ALL)
        histo_fail(HISTO_UNSUPPORTED, "only 'bench several-gpus' measures all GPUs at once");
    else
        histo_fail(HISTO_UNSUPPORTED, "nothing can be measured on GPU %d: %s (--device cpu measures the CPU)",
                   device - HISTO_DEVICE_CUDA(0), why);
    return NULL;
}

int bench_device_threads(const bench_device *device, int wanted)
{
    return device->device == HISTO_DEVICE_CPU ? histo_backend_cpu.threads(wanted) : 1;
}

histo_status bench_device_make(const bench_device *device, const bench_input *input, const histo_axis *axis, int64_t n,
                               const void **placed)
{
    void *memory = NULL;
    histo_status status = device->allocate(bench_input_bytes(input, n), &memory);
    *placed = memory;
    return status == HISTO_OK ? device->make(input, axis, n, memory) : status;
}

histo_status bench_device_place(const bench_device *device, const void *host, size_t bytes, const void **placed)
{
    void *memory = NULL;
    histo_status status = device->allocate(bytes, &memory);
    *placed = memory;
    return status == HISTO_OK ? device->copy(memory, host, bytes) : status;
}
