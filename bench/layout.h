/* How the samples of a fill lie in memory: one array, or channels, images, rows of a wider image, and with a mask. */
#ifndef BENCH_LAYOUT_H
#define BENCH_LAYOUT_H

#include "bench/inputs.h"

/* A fill of a layout. Addresses are relative to `samples` and `mask`, which are made by the device. */
typedef struct bench_arrangement {
    int64_t stored;    /* samples in memory, of which some may not be counted */
    int64_t counted;   /* in a fill */
    int64_t touched;   /* samples whose bytes cannot be avoided */
    int64_t batch;     /* histograms */
    bool masked;       /* with a byte for each sample */
    histo_pairs pairs; /* of a stack of images */
    int64_t first;     /* stored sample that the view begins with */
    histo_view view;
} bench_arrangement;

/* The name of a layout in those of cells; "" for one array. */
const char *bench_layout_name(bench_layout layout);

/* About `wanted` samples, arranged as the input says; an image with a size of its own has that. */
bench_arrangement bench_arrange(const bench_input *input, int64_t wanted);

/* The view and the mask of a fill. */
histo_view bench_samples_at(const bench_arrangement *it, const void *samples);
histo_view bench_mask_at(const bench_arrangement *it, const void *mask);

#endif
