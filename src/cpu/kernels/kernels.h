/* The kernels: functions that are compiled once for each instruction set level. The objects of a level export one
 * struct of them, histo_cpu_kernels_LEVEL, which is the only symbol in them referenced from outside. */
#ifndef CPU_KERNELS_H
#define CPU_KERNELS_H

#include "cpu/backend/features.h"
#include "cpu/kernels/brackets/brackets.h"
#include "cpu/kernels/byte_table/byte_table.h"
#include "cpu/kernels/channels.h"
#include "cpu/kernels/digits.h"
#include "cpu/kernels/extremes/extremes.h"
#include "cpu/kernels/filters.h"
#include "cpu/kernels/maps.h"
#include "cpu/kernels/moments.h"
#include "cpu/kernels/nodes/nodes.h"
#include "cpu/kernels/power_sums/power_sums.h"
#include "cpu/kernels/slots/slots.h"
#include "cpu/kernels/sums/sums.h"
#include "cpu/strategies/count_bytes.h"

typedef struct histo_cpu_kernels {
#define KERNEL(type, name) type *name;
#include "cpu/kernels/kernels.def"
#undef KERNEL
    /* maps.c */
    const histo_map_kernels *maps;
    /* count_bytes.c, count_bytes_vbmi2.c */
    const histo_byte_counting *byte_counting;
} histo_cpu_kernels;

/* The kernels of a level. */
const histo_cpu_kernels *histo_cpu_kernels_of(histo_isa isa);

/* The kernels of histo_isa_usable(). */
const histo_cpu_kernels *histo_cpu_kernels_usable(void);

#endif
