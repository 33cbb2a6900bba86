/* Files and pages as a stack of images, for --pairs: all of them in memory. */
#ifndef CLI_STACK_H
#define CLI_STACK_H

#include "input/samples.h"

typedef struct stack {
    const feed *in;
    histo_dtype dtype;
    int64_t images, places; /* places: samples of each image */
    int64_t width;
    char *pixels;   /* image after image */
    size_t room;    /* bytes */
    int file, page; /* of the last image */
    int64_t filled; /* samples of it */
} stack;

/* One pass over all files: each file, or page, is an image. stack_free afterwards, also on failure. */
int stack_read(stack *s, feed *in, fault *f);
void stack_free(stack *s);

/* All images, as histo_pairs wants them. */
histo_view stack_view(const stack *s);

/* Differences and means, as two views of pieces, for visitor->take. */
int stack_visit(const stack *s, histo_pairs pairs, const feed_visitor *visitor, fault *f);

#endif
