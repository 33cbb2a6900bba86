/* Shared by readers of image files with numbered pages. A format tells how many pages a file has, describes any of
 * them, and decodes one: whole, if its library cannot do less, or in bands. */
#ifndef CLI_READERS_PAGED_H
#define CLI_READERS_PAGED_H

#include "input/readers/images/image.h"

typedef struct paged paged;

typedef struct paged_format {
    size_t size; /* of a struct that begins with a paged */
    bool whole;  /* the file is read into memory, as paged.bytes */
    bool chatty; /* the library writes to standard error, which is suppressed */

    /* Read what precedes the pages, and set paged.pages, initially 1. Returns 0 or -1, as the following do. May be
     * NULL. */
    int (*open)(paged *p, fault *f);
    /* Set paged.layout for a page, without decoding it; reader.names may be set, too. A file that is read sequentially
     * starts again here. NULL: all pages are as `open` has set. */
    int (*describe)(paged *p, int page, fault *f);
    /* Keep the metadata of the current page; false if out of memory. May be NULL. */
    bool (*keep)(paged *p, metadata *about);
    /* Decode the current page to paged.pixels; or, if there is `band`, what precedes its first band; it may then be
     * NULL. */
    int (*decode)(paged *p, fault *f);
    /* The next band of the page; image.y is the first row not delivered yet. NULL: bands are slices of paged.pixels. */
    int (*band)(paged *p, band *b, fault *f);
    /* Free what the format allocated. */
    void (*close)(paged *p);
} paged_format;

struct paged {
    image image; /* must be first */
    const paged_format *format;
    read_options options;
    image_layout layout;
    unsigned char *bytes; /* of the file; owned */
    size_t size;
    int64_t pages;               /* in the file */
    int first, end;              /* wanted pages */
    int next;                    /* next page to begin */
    bool inside;                 /* within a page */
    int decoded;                 /* the page in `pixels`; -1: none */
    const unsigned char *pixels; /* of the page, interleaved */
    size_t pitch;                /* bytes per row of pixels */
};

/* Open a reader of this format. */
reader *paged_open(const paged_format *format, input *in, const read_options *options, fault *f);

/* Fail if the samples of a whole page exceed the limit for images, or if decoding it, at this many bytes per pixel,
 * needs more memory than is available. */
int paged_check_memory(const paged *p, const image_layout *layout, int64_t bytes_per_pixel, fault *f);

/* Report a library's message about the file (place: "page 3"). Returns -1. */
int paged_damaged(const paged *p, int page, const char *complaint, fault *f);

/* Report a valid file that cannot be read. Returns -1. */
int paged_unsupported(const paged *p, const char *what, fault *f);

#endif
