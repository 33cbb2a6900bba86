#include "video/shift.h"

#include <math.h>
#include <stdlib.h>

#include "base/failure.h"

enum { MOST_STEPS = 10, MOST_KERNEL_STEPS = 20, TOLERANCE = 10 };

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t rounded(double value)
{
    return (int64_t)rint(value); /* half to even, as OpenCV's cvRound */
}

static int moments_of(const histo_map *map, planes *p, const int64_t window[4], const histo_view *mask,
                      histo_moments *moments, fault *f)
{
    histo_view views[SPACE_CHANNELS];
    planes_window(p, window, views);
    if (histo_map_moments(map, views, NULL, &(histo_apply_options){.mask = mask, .threads = p->threads}, moments) ==
        HISTO_OK)
        return 0;
    return fault_of_library(f, EXIT_DATA, "the window");
}

/* Move the window's corner by dx, dy as far as it stays inside; false if it does not move. */
static bool move(const planes *p, int64_t window[4], int64_t dx, int64_t dy)
{
    const int64_t x = smaller(larger(window[0] + dx, 0), p->width - window[2]);
    const int64_t y = smaller(larger(window[1] + dy, 0), p->height - window[3]);
    const bool moves = x != window[0] || y != window[1];
    window[0] = x;
    window[1] = y;
    return moves;
}

int shift_mean(const model *m, planes *p, int64_t window[4], int *steps, fault *f)
{
    for (*steps = 0; *steps < MOST_STEPS; ++*steps) {
        histo_moments sums;
        if (moments_of(m->map, p, window, NULL, &sums, f) != 0) return -1;
        if (sums.m00 == 0) break;
        const int64_t dx = rounded(sums.m10 / sums.m00 - (double)window[2] * 0.5);
        const int64_t dy = rounded(sums.m01 / sums.m00 - (double)window[3] * 0.5);
        if (!move(p, window, dx, dy)) break;
    }
    return 0;
}

/* Extend the window by the tolerance on all sides; at the left and top, it is moved. */
static void extend(const planes *p, int64_t window[4])
{
    const int64_t sizes[] = {p->width, p->height};
    for (int d = 0; d < 2; d++) {
        window[d] = larger(window[d] - TOLERANCE, 0);
        window[2 + d] = smaller(window[2 + d] + 2 * TOLERANCE, sizes[d] - window[d]);
    }
}

/* The box around the ellipse with these moments, inside the frame. */
static void fit(const planes *p, const histo_moments *sums, int64_t window[4])
{
    const double x = sums->m10 / sums->m00, y = sums->m01 / sums->m00;
    const double mu20 = sums->m20 - x * sums->m10, mu11 = sums->m11 - x * sums->m01, mu02 = sums->m02 - y * sums->m01;
    const double a = mu20 / sums->m00, b = mu11 / sums->m00, c = mu02 / sums->m00;
    const double square = sqrt(4 * b * b + (a - c) * (a - c)), theta = atan2(2 * b, a - c + square);
    double along = cos(theta), across = sin(theta);
    const double major = along * along * mu20 + 2 * along * across * mu11 + across * across * mu02;
    const double minor = across * across * mu20 - 2 * along * across * mu11 + along * along * mu02;
    double length = sqrt(fmax(major, 0) / sums->m00) * 4, width = sqrt(fmax(minor, 0) / sums->m00) * 4;
    if (length < width) {
        const double other = length, cosine = along;
        length = width;
        width = other;
        along = across;
        across = cosine;
    }
    const int64_t center[] = {rounded(x + (double)window[0]), rounded(y + (double)window[1])};
    const int64_t sizes[] = {p->width, p->height};
    const double extent[2][2] = {{length * along, width * across}, {length * across, width * along}};
    for (int d = 0; d < 2; d++) {
        const int64_t side = larger(rounded(fabs(extent[d][0])), rounded(fabs(extent[d][1]))) + 2;
        const int64_t size = smaller(side, (sizes[d] - center[d]) * 2);
        window[d] = larger(0, center[d] - size / 2);
        window[2 + d] = smaller(sizes[d] - window[d], size);
    }
}

int shift_cam(const model *m, planes *p, int64_t window[4], int *steps, fault *f)
{
    histo_moments sums;
    if (shift_mean(m, p, window, steps, f) != 0) return -1;
    extend(p, window);
    if (moments_of(m->map, p, window, NULL, &sums, f) != 0) return -1;
    if (sums.m00 > 0) fit(p, &sums, window);
    return 0;
}

/* ---- Kernels ---- */

float *shift_profile(const int64_t window[4])
{
    float *profile = malloc((size_t)(window[2] * window[3]) * sizeof *profile);
    for (int64_t y = 0; profile && y < window[3]; y++)
        for (int64_t x = 0; x < window[2]; x++) {
            const double dx = (double)(2 * x + 1 - window[2]) / (double)window[2];
            const double dy = (double)(2 * y + 1 - window[3]) / (double)window[3];
            profile[y * window[2] + x] = (float)fmax(1 - dx * dx - dy * dy, 0);
        }
    return profile;
}

/* One step of the window; *moves says whether it moved. */
static int step_kernel(const model *m, planes *p, int64_t window[4], const histo_view *profile, histo_map *ratios,
                       bool *moves, fault *f)
{
    histo_hist *here = NULL;
    histo_moments sums;
    int failed = model_count(&here, p, window, &(histo_fill_options){.weights = profile}, f);
    if (!failed && histo_map_project(ratios, m->hist, here, NULL) != HISTO_OK)
        failed = fault_of_library(f, EXIT_DATA, "the model");
    histo_hist_destroy(here);
    if (!failed) failed = moments_of(ratios, p, window, profile, &sums, f);
    if (failed) return -1;
    *moves = sums.m00 > 0 && move(p, window, rounded(sums.m10 / sums.m00 - (double)(window[2] - 1) * 0.5),
                                  rounded(sums.m01 / sums.m00 - (double)(window[3] - 1) * 0.5));
    return 0;
}

int shift_kernel(const model *m, planes *p, int64_t window[4], int *steps, fault *f)
{
    float *weights = shift_profile(window);
    histo_map *ratios = NULL;
    bool moves = true;
    int failed = 0;
    if (!weights) return fault_set(f, EXIT_DATA, "no memory for the window");
    const histo_view profile = histo_view_nd(weights, HISTO_F32, 2, (const int64_t[]){window[3], window[2]});
    if (histo_map_create(&ratios, p->space->naxes, p->space->axes, NULL) != HISTO_OK)
        failed = fault_of_library(f, EXIT_USAGE, "the bins");
    for (*steps = 0; !failed && *steps < MOST_KERNEL_STEPS; ++*steps) {
        failed = step_kernel(m, p, window, &profile, ratios, &moves, f);
        if (!moves) break;
    }
    histo_map_destroy(ratios);
    free(weights);
    return failed;
}
