/* Interleaved channels: batch entries of bytes that stand side by side, as those of RGB and RGBA images. */
#ifndef CPU_CHANNELS_H
#define CPU_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/strategy.h"

enum { HISTO_MAX_CHANNELS = 4 };

typedef struct histo_channels {
    int count, pitch;          /* channels; bytes of a pixel, at most HISTO_MAX_CHANNELS */
    histo_strided_iter pixels; /* the job's iter with the first channel alone: a batch entry is an image */
} histo_channels;

/* False if the job's only operand is no such channels. */
bool histo_channels_find(histo_channels *channels, const histo_job *job);

/* The channels of n pixels, each to out[channel]. Compiled once for each level of the instruction set (channels.c). */
typedef void histo_split_channels_fn(const uint8_t *pixels, int pitch, int count, int n, uint8_t *const *out);
histo_split_channels_fn histo_split_channels_baseline, histo_split_channels_avx2, histo_split_channels_avx512;
histo_split_channels_fn *histo_split_channels_usable(void);

#endif
