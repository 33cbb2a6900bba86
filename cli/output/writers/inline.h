/* Pictures that terminals show inline. */
#ifndef CLI_INLINE_H
#define CLI_INLINE_H

#include <stdint.h>
#include <stdio.h>

#include "base/module.h"
#include "output/write.h"

/* Write a result as a picture in a format of plot_write. */
int picture_write(const result *r, const settings *s, outfile *o, const char *format, fault *f);

/* Write rgb[height * width * 3] as sixels: 0, or -1. In the module sixel. */
typedef int inline_sixels_function(unsigned char *rgb, int width, int height, FILE *to);
MODULE_SYMBOL inline_sixels_function inline_sixels;

#endif
