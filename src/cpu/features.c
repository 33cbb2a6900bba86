/* The instruction set, detected on first use. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"

static const char *const names[] = {"baseline", "avx2", "avx512", "avx512vbmi2"};

const char *histo_isa_name(histo_isa isa)
{
    return names[isa];
}

static histo_isa isa_of_cpu(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") ? HISTO_ISA_AVX512VBMI2
                                                                                             : HISTO_ISA_AVX512;
    if (__builtin_cpu_supports("avx2")) return HISTO_ISA_AVX2;
#endif
    return HISTO_ISA_BASELINE;
}

histo_isa histo_isa_usable(void)
{
    static atomic_int found = -1; /* HISTO_CPU is read once */
    int known = atomic_load_explicit(&found, memory_order_relaxed);
    if (known >= 0) return (histo_isa)known;
    histo_isa isa = isa_of_cpu();
    const char *limit = getenv("HISTO_CPU");
    for (int i = 0; limit && i < (int)isa; i++)
        if (strcmp(limit, names[i]) == 0) isa = (histo_isa)i;
    atomic_store_explicit(&found, (int)isa, memory_order_relaxed);
    return isa;
}
