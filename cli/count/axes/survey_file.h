/* Files of surveys, which the processes of a cluster exchange: the same bytes on every machine.
 *
 *     8    magic: 0x93 "HSURV" CR LF
 *     u32  version: 3
 *     u64  bytes of the manifest (shards/manifest.h), and these
 *     u32  axes, u32 passes
 *          for each axis, all that its bins depend on:
 *     16   dtype, u8 whether its 8 bits are brightness, 16 kind of bins, i64 number, u8 fewer, 16 rule, f64 width, u8
 * has a range, 16 kind of range, f64 lo, f64 hi, u8 log, u8 a bin for every value for each pass, and each axis in it:
 * what was found, of passes before the last by all shards: u64  bytes of what the library's survey has saved; 0: the
 * axis did not need this pass, and nothing else follows u64  samples, u64 nan, u64 infinite, u64 masked, f64 min, max,
 * mean, m2, m3, m4 of the first positive samples, u8   whether a sample is not a whole number, i64 samples, and the
 * bytes of the library u32  checksum of all before: FNV-1a
 *
 * Numbers are little endian, floating-point ones as IEEE 754 has them. Fields of 16 bytes are words of the format,
 * padded with zeros. */
#ifndef CLI_SURVEY_FILE_H
#define CLI_SURVEY_FILE_H

#include <stdio.h>

#include "count/axes/axes.h"
#include "shards/manifest.h"

/* The findings for an axis in a pass. */
typedef struct survey_finding {
    axis_finding found;
    void *data;  /* saved by the library's survey; NULL: the axis did not need this pass */
    size_t size; /* of data */
} survey_finding;

typedef struct survey_file {
    char *name; /* for messages */
    manifest *shards;
    int axes, passes, room;
    bins_spec *specs;         /* [axes] */
    histo_dtype *dtypes;      /* [axes] */
    bool *pixels;             /* [axes] */
    survey_finding *findings; /* [room]; passes * axes are in use */
} survey_file;

/* Allocate room for the findings of these passes, and of one more. */
int survey_file_make_room(survey_file *file, int axes, int passes, fault *f);
int survey_file_read(survey_file *file, const char *path, fault *f);
int survey_file_write(const survey_file *file, FILE *out, fault *f);
void survey_file_free(survey_file *file);
int survey_finding_copy(survey_finding *to, const survey_finding *from, fault *f);
/* Report that the content is not that of a survey, or of this one. */
int survey_file_fault(const survey_file *file, fault *f);

#endif
