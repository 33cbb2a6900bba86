/* Files and pages as a stack of images in memory, for --pairs. */
#ifndef CLI_IMAGE_STACK_H
#define CLI_IMAGE_STACK_H

#include "input/feed/feed.h"

typedef struct image_stack {
    const feed *in;
    bool any; /* any type of samples */
    histo_dtype dtype;
    int64_t images, places; /* places: samples per image */
    int64_t width;
    char *pixels;   /* one image after the other */
    size_t room;    /* bytes */
    int file, page; /* of the last image */
    int64_t filled; /* number of its samples so far */
} image_stack;

/* Read all files in one pass: each file or page is an image of u8 or u16 or, with any, of another type. Only the
 * samples are read. Call image_stack_free afterwards, also on failure. */
int image_stack_read(image_stack *s, feed *in, bool any, fault *f);
void image_stack_free(image_stack *s);

/* All images, as histo_hist_fill_pairs takes them. */
histo_view image_stack_view(const image_stack *s);

/* Pass differences and means to visitor->take, as pieces with two views. */
int image_stack_visit(const image_stack *s, const histo_pairs *pairs, const feed_visitor *visitor, fault *f);

#endif
