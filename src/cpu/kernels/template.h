/* For templates: files that are included once for each type or width, with NAME(function) as the function's name for
 * it. A debugger steps through them, as it cannot through functions that macros make. */
#ifndef CPU_TEMPLATE_H
#define CPU_TEMPLATE_H

#define HISTO_PASTE(a, b) a##b
#define HISTO_JOIN(a, b) HISTO_PASTE(a, b) /* joins what a and b expand to */

/* Types of the width that the instance defines as BITS. */
#define SIGNED HISTO_JOIN(int, HISTO_JOIN(BITS, _t))
#define SIGNED_MIN HISTO_JOIN(INT, HISTO_JOIN(BITS, _MIN))
#define SIGNED_MAX HISTO_JOIN(INT, HISTO_JOIN(BITS, _MAX))
#define UNSIGNED HISTO_JOIN(uint, HISTO_JOIN(BITS, _t))

#endif
