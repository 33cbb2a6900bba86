/* For templates: files included once for each type or width, with NAME(function) as the function's name for it. Unlike
 * functions made by macros, a debugger can step through them. */
#ifndef CPU_TEMPLATE_H
#define CPU_TEMPLATE_H

#define HISTO_PASTE(a, b) a##b
#define HISTO_JOIN(a, b) HISTO_PASTE(a, b) /* joins the expansions of a and b */

/* Types of the width that the instance defines as BITS. */
#define SIGNED HISTO_JOIN(int, HISTO_JOIN(BITS, _t))
#define SIGNED_MIN HISTO_JOIN(INT, HISTO_JOIN(BITS, _MIN))
#define SIGNED_MAX HISTO_JOIN(INT, HISTO_JOIN(BITS, _MAX))
#define UNSIGNED HISTO_JOIN(uint, HISTO_JOIN(BITS, _t))

#if defined(__AVX512BW__)
/* Vectors of elements of that width: number of lanes, masks, and operations by name. */
#define VECTOR_LANES HISTO_JOIN(LANES_OF_, BITS)
#define LANES_OF_16 32
#define LANES_OF_32 16
#define LANES_OF_64 8
#define MASK HISTO_JOIN(__mmask, VECTOR_LANES)
#define EPI(operation) HISTO_JOIN(_mm512_##operation##_epi, BITS)
#define EPI_MASK(operation) HISTO_JOIN(EPI(operation), _mask)
#endif

#endif
