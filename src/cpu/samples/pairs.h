/* Blocks of samples computed from pairs of images. */
#ifndef CPU_SAMPLES_PAIRS_H
#define CPU_SAMPLES_PAIRS_H

#include "cpu/samples/block.h"

/* histo_blocks_next for these: a block holds all pairs at some pixels. */
bool histo_blocks_next_pairs(histo_blocks *blocks, histo_block *block);

#endif
