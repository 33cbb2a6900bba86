/* Files and pages as a stack of images in memory, for --pairs. */
#ifndef CLI_STACK_H
#define CLI_STACK_H

#include "input/feed/feed.h"

typedef struct stack {
    const feed *in;
    histo_dtype dtype;
    int64_t images, places; /* places: samples per image */
    int64_t width;
    char *pixels;   /* one image after the other */
    size_t room;    /* bytes */
    int file, page; /* of the last image */
    int64_t filled; /* its samples so far */
} stack;

/* Read all files in one pass: each file or page is an image. Call stack_free afterwards, also on failure. */
int stack_read(stack *s, feed *in, fault *f);
void stack_free(stack *s);

/* All images, as histo_hist_fill_pairs takes them. */
histo_view stack_view(const stack *s);

/* Pass differences and means to visitor->take, as pieces with two views. */
int stack_visit(const stack *s, const histo_pairs *pairs, const feed_visitor *visitor, fault *f);

#endif
