/* 8-bit samples that lie contiguously, or up to four bytes apart: see byte_pixels.cu, small_image.cu,
 * tile_images.cu and warp_images.cu. */
#ifndef CUDA_BYTE_PIXELS_H
#define CUDA_BYTE_PIXELS_H

#include "cuda/launch/images.h"

enum { HISTO_MAX_PIXEL_BYTES = 4 };

/* What is counted: rows of pixels, of whose bytes some or all are channels with a histogram each. */
typedef struct histo_pixels {
    histo_images in;

    /* Of each byte of a pixel the offset of its channel's table in shared memory, in counters; HISTO_PIXEL_UNCOUNTED if
     * it is not counted. Bytes are numbered by their address modulo the bytes of a pixel, but pixels of 3 bytes from
     * the start of the row: the phase of each vector then says where its first byte is. */
    uint16_t table[HISTO_MAX_PIXEL_BYTES];
    int tables;
    int64_t entry[HISTO_MAX_PIXEL_BYTES]; /* batch entry of a table, relative to that of the image */
    const uint32_t *slot_of;              /* by value */
    bool is_signed, filters;
    double where_lo, where_hi;
    uint32_t slots;
    int64_t counters;
    unsigned long long *counts;
} histo_pixels;

enum { HISTO_PIXEL_UNCOUNTED = 0xffff };

/* Describe the job's samples, and how many bytes a pixel has; false if these kernels cannot count them. */
bool histo_pixels_describe(const histo_job *job, histo_pixels *pixels, int *period);

/* Count them by blocks of at most `threads` threads (whole warps), and at most `blocks` blocks; 0: no limit. */
histo_status histo_pixels_launch(const histo_job *job, const histo_pixels *pixels, int period, int64_t threads,
                                 int64_t blocks);

/* Are they a single contiguous array, small enough for the kernel of small images? */
bool histo_is_small_image(const histo_job *job, const histo_pixels *pixels, int period, int64_t threads);
/* Does the launch count anew, where a job is to? */
bool histo_small_image_replaces(const histo_job *job, const histo_pixels *pixels);
histo_status histo_small_image_launch(const histo_job *job, const histo_pixels *pixels, int64_t blocks);

/* Are they some images, each of which is for a cluster? The launch counts anew, where a job is to. */
bool histo_are_tile_images(const histo_job *job, const histo_pixels *pixels, int period);
histo_status histo_tile_images_launch(const histo_job *job, const histo_pixels *pixels);

/* Are they many images, so small that each is for a warp? */
bool histo_are_warp_images(const histo_job *job, const histo_pixels *pixels, int period);
histo_status histo_warp_images_launch(const histo_job *job, const histo_pixels *pixels);

/* The estimated time; infinite unless they are. */
double histo_warp_images_us(const histo_problem *problem);

#endif
