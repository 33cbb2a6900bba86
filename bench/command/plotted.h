/* Writing a plot to the file that --image names. */
#ifndef BENCH_PLOTTED_H
#define BENCH_PLOTTED_H

#include "output/writers/plot.h"

/* The path's suffix chooses the format. */
int picture_write(const plot *p, const char *path, fault *f);

#endif
