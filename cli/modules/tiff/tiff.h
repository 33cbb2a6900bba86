/* The parts of the TIFF reader: libtiff's access to the file (access.c), what a page contains (page.c) and says besides
 * (metadata.c), its samples (samples.c) and what they stand for (meaning.c), and the pages and bands of a file
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
    histo_dtype dtype; /* that they are read as, before they are scaled */
    bool planes;       /* one plane per channel */
    bool tiled;
    bool compressed;
    bool direct; /* rows can be read without libtiff */
    bool strips; /* they are small, and libtiff reads whole ones */
    bool expand; /* stored samples need conversion to the layout */
    bool palette;
    bool jp2;                          /* blocks are of JPEG 2000, which libtiff does not decode … */
    bool jp2_luma;                     /* … of luma and chroma */
    bool differenced;                  /* each sample is stored as its difference from the one to the left */
    bool white_is_zero;                /* of the first channel, which is inverted */
    int64_t block_width, block_height; /* of a tile or strip */
    size_t pitch;                      /* bytes per stored row of a block */
} storage;

/* What the samples of the current page stand for. */
typedef struct meaning {
    bool scaled;
    scratch lines;   /* a scaling for each channel */
    bool has_nodata; /* samples with these bits, or of a palette this index, have no value */
    uint64_t nodata;
    bool masked;
    scratch mask;                 /* of the page: 0 where pixels have no value */
    scratch valid, marks, values; /* of the band */
} meaning;

/* A page that masks another. */
typedef struct mask_page {
    int number, of; /* of is the last page before it with an image of its own */
    uint64_t directory;
    uint32_t width, height;
} mask_page;

typedef struct tiff_reader {
    image image;
    TIFF *tif;
    int fd;
    off_t position; /* of libtiff in the file */
    read_options options;
    int wanted_page; /* -1: all */
    int64_t ordinal; /* of the current page among those that are not auxiliary; before the first, of that */
    int64_t current; /* of libtiff's directory; -1: unknown */
    int64_t slice;   /* rows of a unit: a row of tiles, a strip, a band, or a page; the last of a page may have fewer */
    int64_t slices;  /* of a page */
    int64_t first;   /* the unit to begin with */
    int64_t stop;    /* the unit to read up to; -1: all */
    bool begun;      /* inside a page */
    int64_t x;       /* of the next tile */
    storage stored;
    meaning meaning;
    mask_page *masks; /* [masks_count], owned */
    int masks_count;
    bool one_image; /* all other pages are smaller copies of the first, or pictures of its label */
    unsigned char palette[1 << 16][3];
    jp2_decode_block_function *decode_jp2; /* NULL: not needed yet */
    scratch block;                         /* as it is stored */
    bool adds_up;                          /* differences, which libtiff leaves as they are in its directory */
    bool decoding;                         /* warnings are errors */
    char complaint[256];                   /* libtiff's first since the last reset */
} tiff_reader;

/* ---- Access ---- */

int tiff_open_library(tiff_reader *t, fault *f);
/* What libtiff calls to close a file that others close. */
int tiff_leave_open(thandle_t handle);
/* The number of bytes read: fewer than size only at the end of the file, or if it cannot be read. */
size_t tiff_read_at(const tiff_reader *t, off_t offset, void *to, size_t size);
/* libtiff's complaint, or what is said without one. */
const char *tiff_complaint_or(const tiff_reader *t, const char *other);

/* ---- Pages ---- */

unsigned tiff_field_u16(TIFF *tif, uint32_t tag);
uint32_t tiff_field_u32(TIFF *tif, uint32_t tag);
/* Describe the samples of libtiff's current directory; fails if unsupported. */
int tiff_describe_page(tiff_reader *t, int page, image_layout *layout, fault *f);
/* The predictor of compressions that have one; 0: this one has none. */
unsigned tiff_predictor(TIFF *tif);
/* Keep what the page says besides samples, if it is asked for. */
int tiff_keep_metadata(tiff_reader *t, fault *f);

/* ---- Meaning ---- */

/* What the page that libtiff is at says of its samples, after tiff_describe_page; changes the dtype of values. */
int tiff_find_meaning(tiff_reader *t, image_layout *layout, fault *f);
/* Read the mask of a page from the directory at this offset, where libtiff is then; 0: there is none. */
int tiff_read_mask(tiff_reader *t, const image_layout *page, uint64_t directory, fault *f);
/* Values of a band, and marks of those that are missing. */
int tiff_apply_meaning(tiff_reader *t, band *b, fault *f);
/* The value that stands for none among those of bands; false if there is none, or another in each channel. */
bool tiff_delivered_nodata(const tiff_reader *t, unsigned char value[8]);
/* GDAL's metadata without the scales that are applied; false without memory. */
bool tiff_keep_unscaled(tiff_reader *t, metadata_block *block);
void tiff_free_meaning(tiff_reader *t);

/* ---- Samples ---- */

/* The next band of the page, as it is stored, and the place behind it. */
int tiff_read_band(tiff_reader *t, const int *wanted, int count, histo_view *views, band *b, fault *f);

/* Read rows of the band: one plane, or all channels if interleaved. */
int tiff_read_part(tiff_reader *t, int plane, int64_t rows, unsigned char *part, size_t pitch, fault *f);

#endif
