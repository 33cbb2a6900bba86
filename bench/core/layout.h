/* Memory layouts of a fill: one array, channels, images, a region of a wider image, a mask. */
#ifndef BENCH_LAYOUT_H
#define BENCH_LAYOUT_H

#include "papers/inputs/inputs.h"

/* A fill of a layout. Addresses are relative to samples and mask, which the device makes. */
typedef struct bench_arrangement {
    int64_t stored;      /* samples in memory, of which some may not be counted */
    int64_t counted;     /* in a fill */
    int64_t touched;     /* samples whose bytes must be read */
    int64_t batch;       /* histograms */
    bool masked;         /* with a byte per sample */
    histo_pairing pairs; /* of a stack of images; 0: samples are in memory */
    int64_t first;       /* stored sample at which the view begins */
    histo_view view;
} bench_arrangement;

/* The layout's part of a cell's name; "" for one array. */
const char *bench_layout_name(bench_layout layout);

/* Arrange about `wanted` samples as the input says; images of a fixed size keep it. */
bench_arrangement bench_arrange(const bench_input *input, int64_t wanted);

/* The view and the mask of a fill. */
histo_view bench_samples_at(const bench_arrangement *arranged, const void *samples);
histo_view bench_mask_at(const bench_arrangement *arranged, const void *mask);

#endif
