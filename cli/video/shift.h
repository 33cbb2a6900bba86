/* Mean shift: a window climbs to where the colours of a model are densest. */
#ifndef CLI_VIDEO_SHIFT_H
#define CLI_VIDEO_SHIFT_H

#include "video/model.h"

/* These move a window x, y, width, height; *steps counts the moves. */
typedef int shift_method(const model *m, planes *p, int64_t window[4], int *steps, fault *f);

/* cv::meanShift and cv::CamShift with at most 10 steps, until one is shorter than a pixel; the latter also fits the
 * window's size. */
shift_method shift_mean, shift_cam;

/* Kernel-based tracking (Comaniciu, Ramesh and Meer, PAMI 25, 2003): pixels in the window's ellipse are weighted by
 * Epanechnikov's profile, and each step moves to the centroid of the square roots of ratios of the model's shares and
 * the window's. The model is counted with the same weights. At most 20 steps, until the window stays put. */
shift_method shift_kernel;

/* The weights of a window's pixels for this: 1 - r^2 within its ellipse, else 0; float, freed by the caller. */
float *shift_profile(const int64_t window[4]);

#endif
