/* Decodes the frames of a DICOM file by GDCM. */
#ifndef CLI_MODULES_DICOM_DECODE_H
#define CLI_MODULES_DICOM_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dicom_samples { DICOM_INTEGERS, DICOM_FLOATS } dicom_samples;

typedef struct dicom_about {
    int64_t columns, rows, frames;
    int channels; /* 1, or 3 for red, green and blue, interleaved */
    dicom_samples kind;
    int bytes;  /* of a sample */
    int stored; /* of its bits, how many are used */
    bool is_signed;
    double slope, intercept;
    bool pads; /* samples from … to are padding */
    int64_t pad_from, pad_to;
} dicom_about;

/* The series that an image belongs to, and its place in it. */
typedef struct dicom_place {
    char series[65], description[65]; /* SeriesInstanceUID; empty: none */
    int64_t series_number, number;    /* INT64_MAX: none */
    bool has_position;
    double position[3], row[3], column[3]; /* of its first pixel, and the directions of x and y */
} dicom_place;

typedef enum dicom_found {
    DICOM_IMAGE,
    DICOM_OTHER, /* another document, without pixels */
    DICOM_DAMAGED,
} dicom_found;

/* What the header says; columns are 0 where dicom_decode_open fails. DICOM_DAMAGED: with a reason. */
dicom_found dicom_decode_header(const char *path, dicom_about *about, dicom_place *place, char why[256]);

typedef struct dicom_file dicom_file;

/* NULL on failure, with a reason. */
dicom_file *dicom_decode_open(const char *path, dicom_about *about, char why[256]);
/* NULL is allowed. */
void dicom_decode_close(dicom_file *file);
/* The samples of a frame, valid until the next call; NULL on failure, with a reason. */
const void *dicom_decode_frame(dicom_file *file, int64_t frame, char why[256]);

#ifdef __cplusplus
}
#endif

#endif
