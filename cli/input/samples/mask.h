/* A mask from a file, read in step with its data. */
#ifndef CLI_MASK_H
#define CLI_MASK_H

#include "input/reader.h"

typedef struct mask {
    reader *source; /* NULL: no mask */
    const char *data_name;
    int channels; /* a colour pixel counts if any channel is nonzero, a video pixel if its luma is */
    int64_t width;
    int64_t first; /* the window's first row */
    int64_t rows;  /* rows in the window */
    int64_t room;  /* allocated rows */
    unsigned char *pixels;
    int64_t *filled; /* number of pixels available in each row */
    bool keep_all, ended;
} mask;

/* A mask for the pages of data, which must outlive it. The caller closes it, also on failure. */
int mask_open(mask *m, const char *path, const reader *data, fault *f);
void mask_close(mask *m);

/* A u8 view of rows x cols of the mask at (y, x): nonzero where samples count. Valid until the next call. */
int mask_view(mask *m, int64_t y, int64_t x, int64_t rows, int64_t cols, histo_view *view, fault *f);

/* A page ended after `height` rows: the mask must have the same height. */
int mask_end_page(mask *m, int64_t height, fault *f);
/* Go back to the first row, for another page or pass. */
int mask_rewind(mask *m, fault *f);

#endif
