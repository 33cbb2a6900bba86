/* FITS by cfitsio, in a separate process: what it reports about an image or a table, and how it reads them. */
#ifndef CLI_MODULES_FITS_H
#define CLI_MODULES_FITS_H

#include <fitsio.h>

#include "input/readers/arrays/grid.h"
#include "input/readers/isolated_process.h"
#include "input/readers/readers.h"
#include "modules/fits/columns.h"

enum { MOST_COLUMNS = 999 }; /* in a table, by the standard */

/* How samples of a cfitsio type are stored. */
typedef struct fits_type {
    int equivalent, in_memory;
    histo_dtype dtype;
} fits_type;

typedef struct fits_column {
    char name[FLEN_VALUE], words[40];
    column is; /* without name and words, whose pointers are invalid in the other process */
    int type;  /* cfitsio's, in memory */
    bool nulls;
    bool above; /* values are 2^63 above those of the type, beyond what cfitsio converts */
} fits_column;

/* One of the units of a file, which FITS calls HDUs. */
typedef struct fits_about {
    char label[FLEN_VALUE + 16];
    bool table;
    /* An image. */
    grid_info grid;
    int type;
    bool gaps, above;
    bool floats; /* read as stored: cfitsio's search for NaN takes infinities for NaN */
    /* A table. */
    int count;
    int64_t rows;
    fits_column columns[MOST_COLUMNS];
} fits_about;

_Static_assert(sizeof(fits_about) <= (1 << 20), "a description fits into the shared memory");

typedef struct fits_unit {
    fitsfile *file;
    const char *name; /* of the file */
    bool raw;         /* samples are not scaled */
    fits_about about;
} fits_unit;

/* Report cfitsio's message about a failure; returns -1. */
int fits_fault(const fits_unit *u, int status, fault *f);
/* The number of this key in the header, or a default. */
double fits_key(fitsfile *file, const char *key, double otherwise);
/* Convert cfitsio's values to unsigned 64-bit integers. */
void fits_raise(void *samples, int64_t count);

/* The number of pixels in the current unit as an image: 0 if it has none. */
int64_t fits_image_pixels(fitsfile *file);
int fits_image_describe(fits_unit *u, fault *f);
int fits_image_read(fits_unit *u, const isolated_request *q, void *samples, unsigned char *valid, fault *f);

/* A request names a column, and counts its values. */
int fits_table_describe(fits_unit *u, fault *f);
int fits_table_read(fits_unit *u, const isolated_request *q, void *samples, unsigned char *valid, fault *f);

#endif
