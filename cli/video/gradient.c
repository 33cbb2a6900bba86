#include "video/gradient.h"

#include <stdlib.h>

/* Smoothing and differencing combined are two seven-tap filters, one for each direction: 1 4 6 4 1 convolved with 1 1
 * 1, and with -1 0 1. Their unit is 48 * 32 = 8 GRADIENT_UNIT, of which three bits are dropped so that the result fits
 * 16 bits. */
enum { TAPS = 2 * GRADIENT_MARGIN + 1, DROPPED_BITS = 3 };

static inline int32_t smooth(int32_t middle, int32_t near, int32_t next, int32_t far)
{
    return 14 * middle + 11 * near + 5 * next + far;
}

static inline int32_t difference(int32_t near, int32_t next, int32_t far)
{
    return 5 * near + 4 * next + far;
}

static inline int16_t shortened(int32_t sum)
{
    return (int16_t)((sum + (1 << (DROPPED_BITS - 1))) >> DROPPED_BITS);
}

/* For each column of seven rows: the smoothed value, and its slope. */
static void filter_columns(const uint8_t *const rows[TAPS], int64_t step, int64_t n, int16_t *restrict smoothed,
                           int16_t *restrict risen)
{
    const uint8_t *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3], *e = rows[4], *f = rows[5], *g = rows[6];
    for (int64_t i = 0; i < n; i++) {
        const int64_t x = i * step;
        smoothed[i] = (int16_t)smooth(d[x], c[x] + e[x], b[x] + f[x], a[x] + g[x]);
        risen[i] = (int16_t)difference(e[x] - c[x], f[x] - b[x], g[x] - a[x]);
    }
}

static void filter_row(const int16_t *s, const int16_t *d, int64_t n, int16_t *restrict across, int16_t *restrict down)
{
    for (int64_t x = 0; x < n; x++) {
        across[x] = shortened(difference(s[x + 4] - s[x + 2], s[x + 5] - s[x + 1], s[x + 6] - s[x]));
        down[x] = shortened(smooth(d[x + 3], d[x + 2] + d[x + 4], d[x + 1] + d[x + 5], d[x] + d[x + 6]));
    }
}

static void repeat_ends(int16_t *row, int64_t begin, int64_t end, int64_t size)
{
    for (int64_t x = 0; x < begin; x++)
        row[x] = row[begin];
    for (int64_t x = end; x < size; x++)
        row[x] = row[end - 1];
}

bool gradient_find(const histo_view *image, gradient_part part, int64_t begin, int64_t end, int16_t *across,
                   int16_t *down)
{
    const int64_t size = part.width + 2 * GRADIENT_MARGIN, left = part.left - GRADIENT_MARGIN;
    const int64_t first = left < 0 ? -left : 0, beyond = left + size - image->shape[1];
    const int64_t last = beyond > 0 ? size - beyond : size;
    int16_t *smoothed = malloc((size_t)(2 * size) * sizeof *smoothed);
    if (!smoothed) return false;
    int16_t *risen = smoothed + size;
    for (int64_t row = begin; row < end; row++) {
        const uint8_t *rows[TAPS];
        for (int64_t i = 0; i < TAPS; i++) {
            const int64_t y = part.top + row + i - GRADIENT_MARGIN, bottom = image->shape[0] - 1;
            rows[i] = (const uint8_t *)image->data +
                      (y < 0        ? 0
                       : y > bottom ? bottom
                                    : y) *
                          image->strides[0] +
                      (left + first) * image->strides[1];
        }
        filter_columns(rows, image->strides[1], last - first, smoothed + first, risen + first);
        repeat_ends(smoothed, first, last, size);
        repeat_ends(risen, first, last, size);
        filter_row(smoothed, risen, part.width, across + row * part.width, down + row * part.width);
    }
    free(smoothed);
    return true;
}
