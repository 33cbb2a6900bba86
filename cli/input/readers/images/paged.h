/* What readers of image files with numbered pages have in common. A format says how many pages a file has, describes
 * any of them, and decodes one: whole, because its library does not do less, or in bands. */
#ifndef CLI_READERS_PAGED_H
#define CLI_READERS_PAGED_H

#include "input/readers/images/image.h"

typedef struct paged paged;

typedef struct paged_format {
    size_t size; /* of a struct that begins with a paged */
    bool whole;  /* the file is read into memory, as paged.bytes */
    bool chatty; /* the library writes to standard error, which is kept from it */

    /* Read what comes before the pages, and set paged.pages, which is 1 before. 0 or -1, as all that follow. May be
     * NULL. */
    int (*open)(paged *p, fault *f);
    /* Set paged.layout to what a page is like, without decoding it; reader.names may be set, too. A file that is read
     * in order begins again here. NULL: all pages are as `open` has set it. */
    int (*describe)(paged *p, int page, fault *f);
    /* Keep what the file says besides samples of the page that was begun; false without memory. May be NULL. */
    bool (*keep)(paged *p, metadata *about);
    /* Decode the page that was begun, to paged.pixels; or, where there is `band`, what comes before its first band. May
     * be NULL then. */
    int (*decode)(paged *p, fault *f);
    /* The next band of the page; image.y is the first row that was not delivered. NULL: bands are slices of
     * paged.pixels. */
    int (*band)(paged *p, band *b, fault *f);
    /* Free what the format made. */
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
    int first, end;              /* pages that are wanted */
    int next;                    /* page to begin */
    bool inside;                 /* a page */
    int decoded;                 /* the page in `pixels`; -1: none is */
    const unsigned char *pixels; /* of the page, interleaved */
    size_t pitch;                /* bytes of a row of pixels */
};

/* Open a reader of this format. */
reader *paged_open(const paged_format *format, input *in, const read_options *options, fault *f);

/* Fail if the samples of a whole page need more memory than an image should, or decoding it, at this many bytes a
 * pixel, more than there is. */
int paged_check_memory(const paged *p, const image_layout *layout, int64_t bytes_per_pixel, fault *f);

/* Report what the library says of the file (place: "page 3"). Returns -1. */
int paged_damaged(const paged *p, int page, const char *complaint, fault *f);

/* Report a valid file that cannot be read. Returns -1. */
int paged_unsupported(const paged *p, const char *what, fault *f);

#endif
