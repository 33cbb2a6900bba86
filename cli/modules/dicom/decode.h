/* Decodes the frames of a DICOM file, mostly by GDCM, and interprets what the header says about their samples. */
#ifndef CLI_MODULES_DICOM_DECODE_H
#define CLI_MODULES_DICOM_DECODE_H

#include <histo/histo.h>
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
    int bytes;  /* per sample */
    int stored; /* number of bits used */
    int shift;  /* position of the lowest of these bits */
    bool is_signed;
    histo_dtype dtype; /* of all values */
    bool white_first;  /* the smallest value is white */
    bool is_dose;      /* values must be multiplied by DoseGridScaling to get doses */
    bool pads;         /* samples from … to are padding */
    int64_t pad_from, pad_to;
    double float_pad_from, float_pad_to;
} dicom_about;

/* A lookup table: values up to first have its first entry, and those beyond the end its last. */
typedef struct dicom_table {
    const uint16_t *values;
    int64_t first;
    int count, bits; /* 0: no table */
} dicom_table;

typedef enum dicom_shape { DICOM_NO_WINDOW, DICOM_LINEAR, DICOM_LINEAR_EXACT, DICOM_SIGMOID, DICOM_TABLE } dicom_shape;

/* How values are displayed: by a table, or a line or sigmoid around a centre. */
typedef struct dicom_window {
    dicom_shape kind;
    double center, width;
    dicom_table table;
} dicom_window;

/* The meaning of a frame's samples. */
typedef struct dicom_meaning {
    double slope, intercept;
    dicom_table table; /* used instead of the rescaling */
    dicom_window window;
} dicom_meaning;

/* The options. */
typedef struct dicom_wishes {
    bool raw;           /* samples as stored */
    const char *window; /* --window; NULL: values, not what is displayed */
} dicom_wishes;

/* The series of an image, and its position in it. */
typedef struct dicom_place {
    char series[65], description[65]; /* SeriesInstanceUID; empty: none */
    int64_t series_number, number;    /* INT64_MAX: none */
    bool has_position;
    double position[3], row[3], column[3]; /* of its first pixel, and the directions of x and y */
    double spacing[2], thickness;          /* of rows and columns, and of the slice, in mm; 0: unknown */
} dicom_place;

typedef enum dicom_found {
    DICOM_IMAGE,
    DICOM_OTHER, /* another document, without pixels */
    DICOM_DAMAGED,
} dicom_found;

/* What the header says; columns are 0 where dicom_decode_open would fail. DICOM_DAMAGED: with a reason. */
dicom_found dicom_decode_header(const char *path, const dicom_wishes *wishes, dicom_about *about, dicom_place *place,
                                char why[256]);

typedef struct dicom_file dicom_file;

/* NULL on failure, with a reason. place may be NULL. */
dicom_file *dicom_decode_open(const char *path, const dicom_wishes *wishes, dicom_about *about, dicom_place *place,
                              char why[256]);
/* NULL is allowed. */
void dicom_decode_close(dicom_file *file);
/* The samples of a frame, valid until the next call; NULL on failure, with a reason. */
const void *dicom_decode_frame(dicom_file *file, int64_t frame, char why[256]);
/* Their meaning, valid as long as the file is open. */
const dicom_meaning *dicom_decode_meaning(const dicom_file *file, int64_t frame);

#ifdef __cplusplus
}
#endif

#endif
