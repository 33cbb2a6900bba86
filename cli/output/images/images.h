/* Image files, written row by row: one file per format, behind one small interface. A format is a row in images.def and
 * a file that defines what the row names. */
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
    int64_t largest; /* the largest possible sample; 0: the dtype's */
    bool boolean;    /* 0 and 1, as in an array of booleans */
    bool classes;    /* class numbers, which do not have the meaning of the samples in `about` */
    bool has_nodata; /* this value, in the page's dtype, marks missing samples */
    unsigned char nodata[8];
    const metadata *about; /* metadata of the page that it was made from; NULL: none */
} image_page;

typedef struct image_file image_file;

/* How to encode a format. */
typedef struct image_codec {
    size_t size; /* of a struct that begins with an image_file; 0: a plain image_file */
    /* Begin the file's next page, file->page. Returns 0 or -1, as the following do. */
    int (*begin)(image_file *file, fault *f);
    /* Write contiguous rows, which may be overwritten. NULL: unchanged. */
    int (*rows)(image_file *file, unsigned char *rows, int64_t count, fault *f);
    /* End the page and, if last, the file. This and the next may be NULL. */
    int (*end)(image_file *file, bool last, fault *f);
    /* Free what the writer holds; may be called at any time. */
    void (*close)(image_file *file);
} image_codec;

typedef struct image_writer {
    const char *name;
    const char *suffixes; /* separated by blanks */
    const char *formats;  /* a line of `histo info` */
    bool pages;           /* holds any number of pages */
    bool counts;          /* the number of pages comes first */
    bool booleans;        /* represents booleans */
    bool shows;           /* meant for viewing, with black as its smallest value */
    bool seeks;           /* cannot be written to a pipe */
    bool gaps;            /* can mark missing pixels: by nodata, or image_leave_out */
    /* Why it cannot hold this page, such as "holds integers of 8 or 16 bits"; NULL: it can. May be NULL: it can hold
     * any. */
    const char *(*limit)(const image_page *page);
    const image_codec *codec; /* NULL: NAME_codec of the module NAME */
} image_writer;

struct image_file {
    const image_writer *writer;
    const image_codec *codec;
    outfile *out;
    image_page page;
    int64_t pages;         /* in total; -1: unknown */
    int number;            /* of the page, from 0; -1: none yet */
    int64_t y;             /* number of rows written */
    int64_t height, width; /* of the first page */
    const char *lost;      /* what the format cannot keep of the source, such as "the colour profile"; NULL: nothing is
                            * reported */
    unsigned char *valid;  /* of the page: rows of bits, 0 for missing pixels; NULL: none is missing */
};

/* The writer for a path's suffix or, for "-", of the input's format; NULL with a message. */
const image_writer *image_writer_find(const char *path, const reader *from, fault *f);

/* The table, for `histo info`; NULL past the end. */
const image_writer *image_writer_at(int i);

/* Open path for pages like this one, if the format can hold them. */
image_file *image_create_file(const char *path, const image_writer *writer, const image_page *like, int64_t pages,
                              fault *f);
/* Begin a page, after the last row of the previous one. */
int image_begin(image_file *file, const image_page *page, fault *f);
/* Write contiguous rows, which may be overwritten. */
int image_rows(image_file *file, void *rows, int64_t count, fault *f);
/* Before image_rows: mark which pixels of these rows are valid, a byte each. Without it, all are. */
int image_leave_out(image_file *file, const unsigned char *valid, int64_t count, fault *f);
/* Complete the file and free it, also on failure. */
int image_commit(image_file *file, fault *f);
/* Remove the file; NULL is allowed. */
void image_abandon(image_file *file);

/* ---- For writers ---------------------------------------------------------------------------------------- */

size_t image_row_bytes(const image_page *page);
/* The shape of an array with all pages, which come first: that of the source if it is an array with as many samples.
 * Returns the number of dimensions. */
int image_shape(const image_file *file, int64_t shape[HISTO_MAX_DIMS]);
/* Pages of an array have equal sizes: -1 if this one differs. */
int image_alike(image_file *file, fault *f);
/* The size of a row of image_file.valid. */
size_t image_valid_bytes(const image_page *page);
/* Report a library's message. Returns -1. */
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
