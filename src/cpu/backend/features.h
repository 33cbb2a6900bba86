/* The instruction set levels, and the level of this CPU. */
#ifndef CPU_FEATURES_H
#define CPU_FEATURES_H

/* AVX512 means F, BW, DQ and VL; AVX512VBMI2 adds VBMI and VBMI2. */
typedef enum histo_isa { HISTO_ISA_BASELINE, HISTO_ISA_AVX2, HISTO_ISA_AVX512, HISTO_ISA_AVX512VBMI2 } histo_isa;

/* The highest level that this CPU supports and the environment variable HISTO_CPU allows (baseline, avx2, avx512,
 * avx512vbmi2). */
histo_isa histo_isa_usable(void);
const char *histo_isa_name(histo_isa isa);

#endif
