/* What a file records about a page besides its samples, so that commands that change the samples can preserve it. */
#ifndef CLI_METADATA_H
#define CLI_METADATA_H

#include <histo/histo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct metadata_block {
    unsigned char *data; /* owned */
    size_t size;
} metadata_block;

typedef enum resolution_unit {
    RESOLUTION_NONE = 0, /* only the ratio is known */
    RESOLUTION_INCH,
    RESOLUTION_CENTIMETER,
} resolution_unit;

/* A TIFF field that is copied unchanged. */
typedef struct metadata_field {
    uint32_t tag;
    int type, readcount; /* as in TIFFField */
    uint32_t count;      /* number of values; bytes for text */
    int size;            /* of a value in memory */
    metadata_block values;
} metadata_field;

typedef struct metadata {
    int owners;
    int64_t height, width; /* of the page; 0: as in the reader */
    int64_t largest;       /* the largest possible sample; 0: the dtype's */
    bool premultiplied;    /* colours are multiplied by alpha */
    bool has_nodata;       /* this value, in the reader's dtype, marks missing samples */
    unsigned char nodata[8];
    bool white_first; /* the smallest value is white */
    metadata_block profile, exif;
    double resolution[2]; /* horizontal and vertical samples per unit; 0: unknown */
    resolution_unit unit;
    int orientation; /* as in EXIF and TIFF, 1 … 8; 0: unknown */
    double gamma;    /* PNG; 0: unknown */
    int intent;      /* of sRGB in PNG; -1: not sRGB */

    bool quantized; /* JPEG: by these tables of luma and chroma, in natural order */
    uint16_t quantization[2][64];
    int sampling[2]; /* JPEG: samples of luma, across and down, per sample of chroma */

    int compression, predictor; /* TIFF; 0: unknown */
    int fields_count;
    metadata_field *fields;

    int ndim; /* of an array; 0: none */
    int64_t shape[HISTO_MAX_DIMS];
    bool fortran;
    bool boolean;         /* samples are 0 and 1 */
    metadata_block nifti; /* the header of a NIfTI file, in native byte order */
    bool placed;          /* the samples of an array have positions in space: x (right), y (anterior) and z (superior)
                           * in mm are */
    double place[3][4];   /* this matrix times column, row, slice and 1 */
} metadata;

/* Zeroed, with one owner; NULL if out of memory. */
metadata *metadata_create(void);
/* Add an owner; NULL stays NULL. */
metadata *metadata_share(metadata *m);
/* Remove an owner; the last one frees it. NULL is allowed. */
void metadata_release(metadata *m);

/* Set the position of an array in space, if all numbers are finite: that of its first sample, and the steps from one
 * sample to the next along columns, rows and slices, in mm. left_posterior: x points left and y back, as in DICOM;
 * otherwise as in NIfTI. */
void metadata_place(metadata *m, const double first[3], double steps[3][3], bool left_posterior);

/* Copy bytes into an empty block; false if out of memory. */
bool metadata_keep(metadata_block *block, const void *data, size_t size);

#endif
