#include "bench/command/picture.h"

#include <string.h>

#include "bench/command/plotted.h"

/* "png", "svg" or "pdf" by the suffix; NULL for others. */
static const char *format_of(const char *path)
{
    static const char *const formats[] = {"png", "svg", "pdf"};
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(dot + 1, formats[i]) == 0) return formats[i];
    return NULL;
}

int picture_check(const char *path, fault *f)
{
    if (!path || format_of(path)) return outfile_check(path, f);
    return fault_set(f, EXIT_USAGE, "--image %s: the suffix of a picture is .png, .svg or .pdf", path);
}

int picture_write(const plot *p, const char *path, fault *f)
{
    outfile *o = outfile_open(path, f);
    if (!o) return -1;
    if (plot_write(p, format_of(path), o, f) == 0) return outfile_commit(o, f);
    outfile_abandon(o);
    return -1;
}
