/* For files that are compiled once for each instruction set level, with HISTO_ISA as the level's name:
 * HISTO_OF_ISA(slots) is histo_slots_avx2 if that is avx2. */
#ifndef CPU_ISA_H
#define CPU_ISA_H

#include "cpu/kernels/kernels.h"

#define HISTO_JOIN_ISA(name, isa) histo_##name##_##isa
#define HISTO_WITH_ISA(name, isa) HISTO_JOIN_ISA(name, isa) /* isa expanded */

/* VBMI and VBMI2 add faster ways to count and map bytes to the AVX-512 kernels. */
#if defined(__AVX512VBMI2__)
#define HISTO_OF_ISA(name) HISTO_WITH_ISA(name, avx512)
#else
#define HISTO_OF_ISA(name) HISTO_WITH_ISA(name, HISTO_ISA)
#endif

#define KERNEL(type, name) type HISTO_OF_ISA(name);
#include "cpu/kernels/kernels.def"
#undef KERNEL
extern const histo_map_kernels HISTO_WITH_ISA(map_kernels, HISTO_ISA);

#endif
