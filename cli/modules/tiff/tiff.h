/* The parts of the TIFF reader: libtiff's access to the file (access.c), the description of a page (page.c), its
 * metadata (metadata.c), its samples (samples.c) and their meaning (meaning.c), and the pages and bands of a file
 * (reader.c). */
#ifndef MODULES_TIFF_H
#define MODULES_TIFF_H

#include <sys/types.h>
#include <tiffio.h>

#include "input/readers/arrays/scaling.h"
#include "input/readers/images/image.h"
#include "input/readers/images/jp2_block.h"

/* GDAL's fields. */
enum { TIFF_GDAL_METADATA = 42112, TIFF_GDAL_NODATA = 42113 };

/* How the current page stores its samples. */
typedef struct storage {
    unsigned bits;
    histo_dtype dtype; /* as read, before scaling */
    bool planes;       /* one plane per channel */
    bool tiled;
    bool compressed;
    bool direct; /* rows can be read without libtiff */
    bool strips; /* they are small, and libtiff reads them whole */
    bool expand; /* stored samples need conversion to the layout */
    bool palette;
    bool jp2;                          /* blocks are JPEG 2000, which libtiff does not decode … */
    bool jp2_luma;                     /* … with luma and chroma */
    bool differenced;                  /* each sample is stored as its difference from the one to the left */
    bool white_is_zero;                /* the first channel is inverted */
    int64_t block_width, block_height; /* of a tile or strip */
    size_t pitch;                      /* bytes per stored row of a block */
} storage;

/* The meaning of the current page's samples. */
typedef struct meaning {
    bool scaled;
    scratch lines;   /* a scaling for each channel */
    bool has_nodata; /* samples with these bits, or with this palette index, are missing */
    uint64_t nodata;
    bool masked;
    scratch mask;                 /* of the page: 0 where pixels are missing */
    scratch valid, marks, values; /* of the band */
} meaning;

/* A page that masks another. */
typedef struct mask_page {
    int number, of; /* of: the last page before it with an image of its own */
    uint64_t directory;
    uint32_t width, height;
} mask_page;

typedef struct tiff_reader {
    image image;
    TIFF *tif;
    int fd;
    off_t position; /* libtiff's position in the file */
    read_options options;
    int wanted_page; /* -1: all */
    int64_t ordinal; /* index of the current page among those that are not auxiliary; before the first, of that */
    int64_t current; /* of libtiff's directory; -1: unknown */
    int64_t slice;   /* rows per unit: a row of tiles, a strip, a band, or a page; the last one in a page may have
                      * fewer */
    int64_t slices;  /* per page */
    int64_t first;   /* the first unit to read */
    int64_t stop;    /* the unit to stop before; -1: all */
    bool begun;      /* inside a page */
    int64_t x;       /* of the next tile */
    storage stored;
    meaning meaning;
    mask_page *masks; /* [masks_count], owned */
    int masks_count;
    bool one_image; /* all other pages are reduced copies of the first, or pictures of its label */
    unsigned char palette[1 << 16][3];
    jp2_decode_block_function *decode_jp2; /* NULL: not needed yet */
    scratch block;                         /* as stored */
    bool adds_up;                          /* undoes differences, which libtiff then leaves as they are in this
                                            * directory */
    bool decoding;                         /* warnings are errors */
    char complaint[256];                   /* libtiff's first message since the last reset */
} tiff_reader;

/* ---- Access ---- */

int tiff_open_library(tiff_reader *t, fault *f);
/* libtiff's close function for a file that others close. */
int tiff_leave_open(thandle_t handle);
/* The number of bytes read: fewer than size only at the end of the file, or on failure. */
size_t tiff_read_at(const tiff_reader *t, off_t offset, void *to, size_t size);
/* libtiff's complaint, or `other` if there is none. */
const char *tiff_complaint_or(const tiff_reader *t, const char *other);

/* ---- Pages ---- */

unsigned tiff_field_u16(TIFF *tif, uint32_t tag);
uint32_t tiff_field_u32(TIFF *tif, uint32_t tag);
/* Describe the samples of libtiff's current directory; fails if unsupported. */
int tiff_describe_page(tiff_reader *t, int page, image_layout *layout, fault *f);
/* The predictor, for compressions that have one; 0: none. */
unsigned tiff_predictor(TIFF *tif);
/* Keep the page's metadata, if requested. */
int tiff_keep_metadata(tiff_reader *t, fault *f);

/* ---- Meaning ---- */

/* Find what libtiff's current page says about its samples, after tiff_describe_page; changes the dtype of values. */
int tiff_find_meaning(tiff_reader *t, image_layout *layout, fault *f);
/* Read the mask of a page from the directory at this offset, which libtiff then moves to; 0: none. */
int tiff_read_mask(tiff_reader *t, const image_layout *page, uint64_t directory, fault *f);
/* Convert a band to values, and mark missing ones. */
int tiff_apply_meaning(tiff_reader *t, band *b, fault *f);
/* The nodata value among those of bands; false if there is none, or if channels differ. */
bool tiff_delivered_nodata(const tiff_reader *t, unsigned char value[8]);
/* GDAL's metadata without the scales that are applied; false if out of memory. */
bool tiff_keep_unscaled(tiff_reader *t, metadata_block *block);
void tiff_free_meaning(tiff_reader *t);

/* ---- Samples ---- */

/* Read the next band of the page, as stored, and advance. */
int tiff_read_band(tiff_reader *t, const int *wanted, int count, histo_view *views, band *b, fault *f);

/* Read rows of the band: one plane, or all channels if interleaved. */
int tiff_read_part(tiff_reader *t, int plane, int64_t rows, unsigned char *part, size_t pitch, fault *f);

#endif
