/* The field layout of NIfTI-1 and NIfTI-2 headers. */
#ifndef CLI_READERS_NIFTI_HEADER_H
#define CLI_READERS_NIFTI_HEADER_H

#include <histo/histo.h>
#include <stdbool.h>
#include <stddef.h>

enum { NIFTI_1_BYTES = 348, NIFTI_2_BYTES = 540 };

/* Fields are numbers of this many bytes; those of the affine are floats. */
typedef struct nifti_field {
    size_t at, bytes;
} nifti_field;

typedef struct nifti_layout {
    int bytes; /* size of the header, which begins with this number */
    size_t magic;
    nifti_field dim, pixdim; /* the first of eight */
    nifti_field type, bits, offset, slope, intercept, shown_most, shown_least, units, space_by_turn, space_by_rows;
    nifti_field rows; /* the first of twelve */
} nifti_layout;

extern const nifti_layout nifti_1, nifti_2;

/* The code for samples of this type: RGB and RGBA have 3 and 4 channels; 0: there is none. */
int nifti_code(histo_dtype dtype, int channels);
/* False if this code is not a plain number type. */
bool nifti_type(int code, histo_dtype *dtype, int *channels);

/* Reverse the bytes of each field of a header. */
void nifti_swap(unsigned char *bytes, const nifti_layout *layout);

#endif
