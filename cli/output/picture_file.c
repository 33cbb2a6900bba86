#include "output/picture_file.h"

#include <stddef.h>
#include <string.h>

#include "output/outfile.h"

const char *picture_file_format(const char *path)
{
    static const char *const formats[] = {"png", "svg", "pdf"};
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(dot + 1, formats[i]) == 0) return formats[i];
    return NULL;
}

int file_check_writable(const char *path, fault *f)
{
    if (!path) return 0;
    outfile *o = outfile_open(path, f);
    if (!o) return -1;
    outfile_abandon(o);
    return 0;
}

int picture_file_check(const char *path, fault *f)
{
    if (!path || picture_file_format(path)) return file_check_writable(path, f);
    return fault_set(f, EXIT_USAGE, "--image %s: the suffix of a picture is .png, .svg or .pdf", path);
}
