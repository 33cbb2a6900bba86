/* Moves an image or volume by whole samples, with all channels and metadata. */
#ifndef CLI_MOVE_H
#define CLI_MOVE_H

#include "apply/pages.h"
#include "output/images/images.h"

enum { MOVE_DIMS = 3 };

typedef struct mover {
    pages *in;
    image_file *out;
    image_page page;     /* as read */
    bool flat;           /* a flattened array of three dimensions */
    bool cut;            /* a flat array becomes pages, because the output format has no such arrays */
    int64_t count;       /* number of pages, as read */
    metadata **about;    /* [count], each shared */
    unsigned char *from; /* all pages, one after the other */
    size_t room;
} mover;

/* Open the input, and the output for its contents, before minutes of work. Call mover_close afterwards, also on
 * failure. */
int mover_open(mover *m, const char *path, const char *out, const settings *s, fault *f);
/* Write the input with sample [z, y, x] taken from [z + shift[0], y + shift[1], x + shift[2]], or [y, x] from [y +
 * shift[0], x + shift[1]] if ndim is 2; 0, or the nodata value, where there are no samples. */
int mover_write(mover *m, int ndim, const int64_t *shift, fault *f);
/* Leaves no file if nothing was written. */
void mover_close(mover *m);

#endif
