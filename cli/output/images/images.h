/* Image files, written row by row: one file a format, behind one small interface. A format is a row in
 * images.def and a file of what the row names. */
#ifndef CLI_IMAGES_H
#define CLI_IMAGES_H

#include "base/module.h"
#include "input/reader.h"
#include "output/outfile.h"

/* A page to write: interleaved samples. */
typedef struct image_page {
    channel_model model;
    int channels;
    histo_dtype dtype;
    int64_t height, width;
    int64_t largest; /* the largest value that samples may have; 0: the dtype's */
    bool boolean;    /* they are 0 and 1, as in an array of booleans */
    bool classes;    /* they are not of the kind of those of `about` */
    bool has_nodata; /* one value stands for none: this, in the page's dtype */
    unsigned char nodata[8];
    const metadata *about; /* what is kept of the page that it was made from; NULL: nothing */
} image_page;

typedef struct image_file image_file;

/* How the bytes of a format are made. */
typedef struct image_codec {
    size_t size; /* of a struct that begins with an image_file; 0: of an image_file */
    /* Begin the file's next page, file->page. 0 or -1, as all that follow. */
    int (*begin)(image_file *file, fault *f);
    /* Write contiguous rows, which may be overwritten. NULL: as they are. */
    int (*rows)(image_file *file, unsigned char *rows, int64_t count, fault *f);
    /* End the page; last: and the file. May be NULL, as the next one. */
    int (*end)(image_file *file, bool last, fault *f);
    /* Free what the writer holds, at any time. */
    void (*close)(image_file *file);
} image_codec;

typedef struct image_writer {
    const char *name;
    const char *suffixes; /* separated by blanks */
    const char *formats;  /* a line of `histo info` */
    bool pages;           /* takes any number of pages */
    bool counts;          /* says first how many there are */
    bool booleans;        /* has them */
    bool shows;           /* is for looking at, with black as its smallest value */
    bool seeks;           /* cannot be written to a pipe */
    bool gaps;            /* says which pixels have no value: by nodata, or image_leave_out */
    /* Why it cannot hold this page, as in "holds integers of 8 or 16 bits"; NULL: it can. May be NULL: it can hold any.
     */
    const char *(*limit)(const image_page *page);
    const image_codec *codec; /* NULL: it is NAME_codec of the module NAME */
} image_writer;

struct image_file {
    const image_writer *writer;
    const image_codec *codec;
    outfile *out;
    image_page page;
    int64_t pages;         /* in all; -1: unknown */
    int number;            /* of the page, from 0; -1: none yet */
    int64_t y;             /* rows written */
    int64_t height, width; /* of the first page */
    const char *lost; /* what of the source the format cannot keep, as in "the colour profile"; NULL: nothing is said */
    unsigned char *valid; /* of the page: rows of bits, 0 where pixels have no value; NULL: all have one */
};

/* The writer for a path's suffix or, for "-", of the input's format; NULL with the sentence. */
const image_writer *image_writer_find(const char *path, const reader *from, fault *f);

/* The table, for `histo info`; NULL past the end. */
const image_writer *image_writer_at(int i);

/* Open path for pages like this one, if the format can hold them. */
image_file *image_create_file(const char *path, const image_writer *writer, const image_page *like, int64_t pages,
                              fault *f);
/* Begin a page, after the last row of the one before. */
int image_begin(image_file *file, const image_page *page, fault *f);
/* Write contiguous rows, which may be overwritten. */
int image_rows(image_file *file, void *rows, int64_t count, fault *f);
/* Before image_rows: which pixels of these rows have a value, a byte each. Without it, all have one. */
int image_leave_out(image_file *file, const unsigned char *valid, int64_t count, fault *f);
/* Complete the file and free it, also on failure. */
int image_commit(image_file *file, fault *f);
/* Leave no file; NULL is allowed. */
void image_abandon(image_file *file);

/* ---- For writers ---------------------------------------------------------------------------------------- */

size_t image_row_bytes(const image_page *page);
/* The shape of an array with all pages, which come first: that of the source if it is an array with as many samples.
 * Returns the number of dimensions. */
int image_shape(const image_file *file, int64_t shape[HISTO_MAX_DIMS]);
/* Pages of an array have one size: -1 if this one has another. */
int image_alike(image_file *file, fault *f);
/* Bytes of a row of image_file.valid. */
size_t image_valid_bytes(const image_page *page);
/* Report what a library said. Returns -1. */
int image_refused(const image_file *file, const char *complaint, fault *f);
/* Write bytes to the file. */
int image_put(image_file *file, const void *bytes, size_t size, fault *f);

#define IMAGE(id, ...)                                                                                                 \
    extern const image_writer image_##id;                                                                              \
    extern const image_codec id##_codec;                                                                               \
    const char *id##_limit(const image_page *page);
#include "output/images/images.def"
#undef IMAGE

/* The codecs that are in modules. */
MODULE_SYMBOL extern const image_codec tiff_codec;

#endif
