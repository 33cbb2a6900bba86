/* The instruction set, detected on first use. */
#include "cpu/backend/features.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static const char *const names[] = {"baseline", "avx2", "avx512", "avx512vbmi2"};

const char *histo_isa_name(histo_isa isa)
{
    return names[isa];
}

#if defined(__x86_64__)
/* The registers that the system saves per thread: XCR0. */
static uint64_t saved_registers(void)
{
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}
#endif

/* Uses CPUID directly: __builtin_cpu_supports always says no with zig's runtime library. */
static histo_isa isa_of_cpu(void)
{
#if defined(__x86_64__)
    enum { OSXSAVE = 1 << 27, AVX2 = 1 << 5, VBMI = 1 << 1, VBMI2 = 1 << 6 };
    const uint32_t f_dq_bw_vl = UINT32_C(1) << 16 | UINT32_C(1) << 17 | UINT32_C(1) << 30 | UINT32_C(1) << 31;
    const uint64_t of_avx = 0x6, of_avx512 = 0xe6;
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE)) return HISTO_ISA_BASELINE;
    const uint64_t saved = saved_registers();
    if ((saved & of_avx) != of_avx || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return HISTO_ISA_BASELINE;
    if ((saved & of_avx512) == of_avx512 && (b & f_dq_bw_vl) == f_dq_bw_vl)
        return (c & VBMI) && (c & VBMI2) ? HISTO_ISA_AVX512VBMI2 : HISTO_ISA_AVX512;
    if (b & AVX2) return HISTO_ISA_AVX2;
#endif
    return HISTO_ISA_BASELINE;
}

histo_isa histo_isa_usable(void)
{
    static atomic_int usable = -1; /* HISTO_CPU is read only once */
    int detected = atomic_load_explicit(&usable, memory_order_relaxed);
    if (detected >= 0) return (histo_isa)detected;
    histo_isa isa = isa_of_cpu();
    const char *limit = getenv("HISTO_CPU");
    for (int i = 0; limit && i < (int)isa; i++)
        if (strcmp(limit, names[i]) == 0) isa = (histo_isa)i;
    atomic_store_explicit(&usable, (int)isa, memory_order_relaxed);
    return isa;
}
