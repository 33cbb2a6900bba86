/* Interpolation between the tables of the tiles around samples. */
#ifndef MAP_BLEND_H
#define MAP_BLEND_H

#include "map/lookup.h"
#include "map/tiles.h"

/* A map and a grid of tiles, prepared for samples of one dtype. */
typedef struct histo_blend {
    const histo_map *map;
    const histo_map_lookup *lookup;
    histo_grid grid;
    void *planes;      /* [map->batch][patterns] values of bit patterns; NULL where that does not pay */
    histo_dtype dtype; /* of the planes: HISTO_U8 or HISTO_U16 if all values are such whole numbers, else HISTO_F32 */
    int patterns;      /* see histo_map_patterns */
} histo_blend;

/* Prepare for so many samples. Free with histo_blend_free, also after a failure. */
histo_status histo_blend_make(histo_blend *blend, const histo_map *map, const histo_map_lookup *lookup,
                              const histo_grid *grid, int64_t samples);
void histo_blend_free(histo_blend *blend);

enum { HISTO_MAX_CORNERS = 8 };

/* Samples that have the same tiles around them: at most HISTO_BLOCK columns, and rows of the dimension before. One
 * thread's memory. */
typedef struct histo_patch {
    const histo_blend *blend;
    int corners; /* tables to interpolate between, 2 to 8 */
    /* Bit k of a corner's number is set for the higher of the two tiles along the dimension k before the last. */
    int64_t tables[HISTO_MAX_CORNERS];
    float share[HISTO_BLOCK]; /* of the higher tile, in each column */
    float down, back;         /* its share in a row, and in the dimension before rows */
    bool joined;              /* four tables are interleaved: */
    histo_joined_bytes bytes[2];
    uint64_t *shorts; /* [2][patterns] */
    uint16_t at[HISTO_BLOCK];
    histo_map_slots slots;
    double entries[HISTO_BLOCK];
    float corner[HISTO_MAX_CORNERS][HISTO_BLOCK];
} histo_patch;

histo_status histo_patch_make(histo_patch *patch, const histo_blend *blend);
void histo_patch_free(histo_patch *patch);

/* Go to the patch of `columns` samples and so many rows at place[ndim] of the grid, whose tables begin with `table`. */
void histo_patch_enter(histo_patch *patch, int64_t table, const int64_t *place, int columns, int64_t rows);

/* The blends of a row of it, of as many contiguous and aligned samples of each axis as it has columns, as samples of
 * dtype. y: its place in the dimension before the last. `to` may be samples of the same size. */
void histo_patch_blend(histo_patch *patch, int64_t y, const void *const *samples, int columns, histo_dtype dtype,
                       void *to);

#endif
