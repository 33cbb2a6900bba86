/* Synthetic images, pixel by pixel. */
#ifndef BENCH_IMAGES_H
#define BENCH_IMAGES_H

#include "papers/inputs/inputs.h"

uint8_t bench_pixel(const bench_input *image, int64_t x, int64_t y);

#endif
