/* What all uses of a map check of the samples, and the number of threads. */
#ifndef MAP_SAMPLES_H
#define MAP_SAMPLES_H

#include "cpu/samples/block.h"
#include "map/map.h"

/* HISTO_INVALID unless a view is valid and has the shape of `like`. `what` names it in the message. */
histo_status histo_map_check_view(const histo_view *view, const histo_view *like, const char *what);

/* Check the samples of each axis, the mask and the number of threads. */
histo_status histo_map_check_samples(const histo_map *map, const histo_view *views, const histo_apply_options *options);

/* n <= HISTO_BLOCK samples, contiguous and aligned: where they are, or gathered. */
const void *histo_map_contiguous(const char *at, int64_t stride, size_t size, int n, void *gathered);

typedef char histo_gathered[HISTO_MAX_AXES][HISTO_BLOCK * sizeof(double)];

/* samples[a]: where n samples of axis a are contiguous and aligned, if need be because they have been gathered. */
void histo_map_gather(int naxes, const histo_dtype *dtypes, const char *const *at, const int64_t *strides, int n,
                      histo_gathered gathered, const void **samples);

/* Whether samples are contiguous and aligned, so that they need not be gathered. */
static inline bool histo_map_is_contiguous(const void *at, int64_t stride, size_t size)
{
    return stride == (int64_t)size && (uintptr_t)at % size == 0;
}

/* The number of threads for so many samples; wanted: histo_apply_options.threads. */
int histo_map_threads(int64_t samples, int wanted);

#endif
