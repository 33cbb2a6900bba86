/* The kernels of one instruction set level. */
#include "cpu/kernels/isa.h"

const histo_cpu_kernels HISTO_WITH_ISA(cpu_kernels, HISTO_ISA) = {
#define KERNEL(type, name) .name = HISTO_OF_ISA(name),
#include "cpu/kernels/kernels.def"
#undef KERNEL
    .maps = &HISTO_WITH_ISA(map_kernels, HISTO_ISA),
#if defined(__AVX512VBMI2__)
    .byte_counting = &histo_byte_counting_vbmi2,
#else
    .byte_counting = &histo_byte_counting_scalar,
#endif
};
