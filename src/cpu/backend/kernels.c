/* The kernels compiled for each instruction set level. */
#include "cpu/kernels/kernels.h"

#include <stdatomic.h>

extern const histo_cpu_kernels histo_cpu_kernels_baseline, histo_cpu_kernels_avx2, histo_cpu_kernels_avx512,
    histo_cpu_kernels_avx512vbmi2;

const histo_cpu_kernels *histo_cpu_kernels_of(histo_isa isa)
{
    static const histo_cpu_kernels *const kernels[] = {
        [HISTO_ISA_BASELINE] = &histo_cpu_kernels_baseline,
#if defined(__x86_64__)
        [HISTO_ISA_AVX2] = &histo_cpu_kernels_avx2,
        [HISTO_ISA_AVX512] = &histo_cpu_kernels_avx512,
        [HISTO_ISA_AVX512VBMI2] = &histo_cpu_kernels_avx512vbmi2,
#endif
    };
    return kernels[isa];
}

const histo_cpu_kernels *histo_cpu_kernels_usable(void)
{
    static _Atomic(const histo_cpu_kernels *) usable; /* looked up once, since every block of samples asks for it */
    const histo_cpu_kernels *kernels = atomic_load_explicit(&usable, memory_order_relaxed);
    if (kernels) return kernels;
    kernels = histo_cpu_kernels_of(histo_isa_usable());
    atomic_store_explicit(&usable, kernels, memory_order_relaxed);
    return kernels;
}
