/* Images of any size, made from a photograph. */
#ifndef BENCH_APPS_IMAGES_H
#define BENCH_APPS_IMAGES_H

#include <histo/histo.h>

typedef struct apps_photo {
    const uint8_t *planes[3]; /* red, green, blue; the same three times if it is gray */
    int64_t width, height;
} apps_photo;

/* A synthetic photograph, where there is none; pixels are to be freed. */
histo_status apps_photo_make(apps_photo *photo, uint8_t **pixels);

/* A C-contiguous image in memory of its own, which is in *view; free((void *)view->data) frees it. */
histo_status apps_image_allocate(histo_dtype dtype, int ndim, const int64_t *shape, histo_view *view);

/* The photograph, tiled by reflection so that nothing jumps. */
void apps_image_gray(const apps_photo *photo, int64_t width, int64_t height, uint8_t *pixels);

/* The photograph with darker middle tones: something else to match. */
void apps_image_dark(const apps_photo *photo, int64_t width, int64_t height, uint8_t *pixels);

/* 12 bits, interpolated between the photograph's levels, with a camera's noise. */
void apps_image_deep(const apps_photo *photo, int64_t width, int64_t height, uint16_t *pixels);

/* Interleaved hue 0 … 179, saturation and value, as in OpenCV. */
void apps_image_hsv(const apps_photo *photo, int64_t width, int64_t height, uint8_t *pixels);

/* A volume of side^3 samples of 12 bits, seen in one of two modalities (0, 1) whose values are related, not equal. */
void apps_image_volume(const apps_photo *photo, int64_t side, int modality, uint16_t *samples);

#endif
