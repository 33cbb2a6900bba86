/* Without the libraries for images, histo-bench still measures. */
#include "bench/command/picture.h"
#include "input/readers/images/photo.h"

int picture_check(const char *path, fault *f)
{
    if (!path) return 0;
    return fault_set(f, EXIT_USAGE,
                     "--image %s: this build of histo-bench draws no pictures (it lacks cairo): leave "
                     "--image out",
                     path);
}

int picture_of_pixels(const uint8_t *pixels, int64_t width, int64_t height, outfile *o, fault *f)
{
    (void)pixels;
    (void)width;
    (void)height;
    return fault_set(f, EXIT_USAGE, "%s: this build of histo-bench writes no images (it lacks libpng): take .npy",
                     outfile_name(o));
}

int picture_of_map(const bench_map_result *map, const bench_settings *s, fault *f)
{
    (void)map;
    return picture_check(s->image, f);
}

int picture_of_random(const random_result *result, const bench_settings *s, fault *f)
{
    (void)result;
    return picture_check(s->image, f);
}

int picture_of_paper(const papers_result *results, int index, int count, const bench_settings *s, fault *f)
{
    (void)results;
    (void)index;
    (void)count;
    return picture_check(s->image, f);
}

int picture_of_tuning(const bench_tuning *map, int dtype, const bench_settings *s, fault *f)
{
    (void)map;
    (void)dtype;
    return picture_check(s->image, f);
}

int photo_read(const char *path, const read_options *options, photo *p, fault *f)
{
    (void)options;
    *p = (photo){0};
    return fault_set(f, EXIT_USAGE, "%s: this build of histo-bench reads no images: leave it out", path);
}
