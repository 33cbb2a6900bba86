#include "bench/apps/apps_images.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/core/random_numbers.h"
#include "papers/inputs/inputs.h"

histo_status apps_photo_make(apps_photo *photo, uint8_t **pixels)
{
    enum { WIDTH = 1024, HEIGHT = 768, PLANES = 3 };
    bench_input input;
    const size_t plane = (size_t)WIDTH * HEIGHT;
    char name[32];
    snprintf(name, sizeof name, "smooth/%dx%d", WIDTH, PLANES * HEIGHT);
    histo_status status = bench_input_parse(name, &input);
    if (status != HISTO_OK) return status;
    *pixels = malloc(PLANES * plane);
    if (!*pixels) return histo_fail_memory(PLANES * plane, "a photograph");
    histo_axis axis = bench_input_axis(&input, NULL);
    bench_input_make(&input, &axis, (int64_t)(PLANES * plane), *pixels);
    *photo = (apps_photo){{*pixels, *pixels + plane, *pixels + 2 * plane}, WIDTH, HEIGHT};
    return HISTO_OK;
}

histo_status apps_image_allocate(histo_dtype dtype, int ndim, const int64_t *shape, histo_view *view)
{
    enum { PAGE = 4096 };
    *view = histo_view_nd(NULL, dtype, ndim, shape);
    size_t bytes = (size_t)histo_view_size(view) * histo_dtype_size(dtype);
    void *memory = aligned_alloc(PAGE, bytes + PAGE - bytes % PAGE);
    if (!memory) return histo_fail_memory(bytes, "an image");
    memset(memory, 0, bytes);
    view->data = memory;
    return HISTO_OK;
}

/* Where position i lies on a line of n samples that goes on in its mirror image. */
static int64_t reflected(int64_t i, int64_t n)
{
    int64_t at = i % (2 * n);
    return at < n ? at : 2 * n - 1 - at;
}

static int64_t index_at(const apps_photo *photo, int64_t x, int64_t y)
{
    return reflected(y, photo->height) * photo->width + reflected(x, photo->width);
}

/* Luma by Rec. 601. */
static double luma(const apps_photo *photo, int64_t x, int64_t y)
{
    const int64_t i = index_at(photo, x, y);
    return 0.299 * photo->planes[0][i] + 0.587 * photo->planes[1][i] + 0.114 * photo->planes[2][i];
}

void apps_image_gray(const apps_photo *photo, int64_t width, int64_t height, uint8_t *pixels)
{
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++)
            *pixels++ = (uint8_t)lrint(luma(photo, x, y));
}

void apps_image_dark(const apps_photo *photo, int64_t width, int64_t height, uint8_t *pixels)
{
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            const double v = luma(photo, x, y) / 255;
            *pixels++ = (uint8_t)lrint(255 * v * v);
        }
}

static uint16_t deep(double value, uint64_t stream, int64_t i)
{
    enum { MOST = 4095 };
    const double noise = 6 * (random_uniform(stream, i) + random_uniform(stream + 1, i) - 1);
    return (uint16_t)lrint(fmin(fmax(value + noise, 0), MOST));
}

void apps_image_deep(const apps_photo *photo, int64_t width, int64_t height, uint16_t *pixels)
{
    int64_t i = 0;
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++, i++)
            pixels[i] = deep(12 * luma(photo, x, y) + 2 * luma(photo, x + 1, y) + 2 * luma(photo, x, y + 1), 1, i);
}

static void put_hsv(double r, double g, double b, uint8_t *to)
{
    const double value = fmax(r, fmax(g, b)), span = value - fmin(r, fmin(g, b));
    double hue = 0; /* in units of 60 degrees */
    if (span > 0) hue = value == r ? (g - b) / span : value == g ? 2 + (b - r) / span : 4 + (r - g) / span;
    const long degrees = lrint((hue < 0 ? hue + 6 : hue) * 30);
    to[0] = (uint8_t)(degrees == 180 ? 0 : degrees);
    to[1] = (uint8_t)lrint(value > 0 ? 255 * span / value : 0);
    to[2] = (uint8_t)value;
}

void apps_image_hsv(const apps_photo *photo, int64_t width, int64_t height, uint8_t *pixels)
{
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++, pixels += 3) {
            const int64_t i = index_at(photo, x, y);
            put_hsv(photo->planes[0][i], photo->planes[1][i], photo->planes[2][i], pixels);
        }
}

void apps_image_volume(const apps_photo *photo, int64_t side, int modality, uint16_t *samples)
{
    const uint64_t stream = modality ? 5 : 3;
    int64_t i = 0;
    for (int64_t z = 0; z < side; z++)
        for (int64_t y = 0; y < side; y++)
            for (int64_t x = 0; x < side; x++, i++) {
                const double v = luma(photo, x + z, y + z / 2) / 255;
                samples[i] = deep(4095 * (modality ? 4 * v * (1 - v) : v), stream, i);
            }
}
