/* An image as PNG. */
#include <png.h>

#include "bench/command/picture.h"

int picture_check_pixels(const char *path, fault *f)
{
    (void)path;
    (void)f;
    return 0;
}

int picture_of_pixels(const uint8_t *pixels, int64_t width, int64_t height, outfile *o, fault *f)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_GRAY};
    if (png_image_write_to_stdio(&image, outfile_stream(o), 0, pixels, 0, NULL)) return 0;
    return fault_set(f, EXIT_DATA, "%s cannot be written: %s", outfile_name(o), image.message);
}
