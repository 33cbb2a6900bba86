/* The files of a directory that are the slices of one volume. */
#ifndef CLI_MODULES_DICOM_SERIES_H
#define CLI_MODULES_DICOM_SERIES_H

#include "base/fault.h"
#include "modules/dicom/decode.h"

typedef struct dicom_slice {
    char *path;
    dicom_about about;
    dicom_place place;
    double depth;  /* along the normal of the slices */
    int64_t first; /* of its frames among all */
} dicom_slice;

typedef struct dicom_series {
    dicom_slice *slices; /* in the order of their positions */
    int count;
    int64_t frames;
    int64_t times; /* how often all positions are there, one time after the other; 1 where they do not repeat */
} dicom_series;

/* Find the series that `wanted` names by number or UID, or the only one if that is NULL; bare: files may lack the 128
 * bytes in front. Slices have the same size and channels. Nothing is freed: this is for a process of its own with this
 * memory. */
int dicom_series_find(dicom_series *s, const char *folder, const char *wanted, bool bare, void *memory, fault *f);

#endif
