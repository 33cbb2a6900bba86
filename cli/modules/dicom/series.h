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
    int64_t first; /* index of its first frame among all */
} dicom_slice;

typedef struct dicom_series {
    dicom_slice *slices; /* in order of position */
    int count;
    int64_t frames;
    int64_t times; /* how often all positions occur, one time after the other; 1 if they do not repeat */
} dicom_series;

/* How files are read. */
typedef struct dicom_reading {
    dicom_wishes wishes;
    bool bare;    /* files may lack the 128-byte preamble */
    void *memory; /* of the separate process */
} dicom_reading;

/* Find the series that `wanted` names by number or UID, or the only one if that is NULL. Slices have the same size and
 * channels. Nothing is freed: this is for a separate process. */
int dicom_series_find(dicom_series *s, const char *folder, const char *wanted, const dicom_reading *how, fault *f);

#endif
