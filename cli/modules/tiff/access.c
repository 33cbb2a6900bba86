/* libtiff's access to the file, and its messages. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "modules/tiff/tiff.h"

size_t tiff_read_at(const tiff_reader *t, off_t offset, void *to, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(t->fd, (char *)to + done, size - done, offset + (off_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += (size_t)got;
    }
    return done;
}

static tmsize_t read_on(thandle_t handle, void *to, tmsize_t size)
{
    tiff_reader *t = handle;
    size_t got = tiff_read_at(t, t->position, to, (size_t)size);
    t->position += (off_t)got;
    return (tmsize_t)got;
}

static tmsize_t reject_write(thandle_t handle, void *from, tmsize_t size)
{
    (void)handle;
    (void)from;
    (void)size;
    return -1;
}

static toff_t file_size(thandle_t handle)
{
    const tiff_reader *t = handle;
    struct stat status;
    return fstat(t->fd, &status) < 0 ? 0 : (toff_t)status.st_size;
}

static toff_t seek_to(thandle_t handle, toff_t offset, int whence)
{
    tiff_reader *t = handle;
    off_t base = whence == SEEK_CUR ? t->position : whence == SEEK_END ? (off_t)file_size(handle) : 0, target;
    if (__builtin_add_overflow(base, (off_t)offset, &target) || target < 0) return (toff_t)-1;
    t->position = target;
    return (toff_t)target;
}

int tiff_leave_open(thandle_t handle)
{
    (void)handle;
    return 0;
}

static int on_error(TIFF *tif, void *user, const char *module, const char *format, va_list values)
{
    (void)tif;
    tiff_reader *t = user;
    if (t->complaint[0]) return 1;
    int length = snprintf(t->complaint, sizeof t->complaint, "%.40s: ", module ? module : "libtiff");
    vsnprintf(t->complaint + length, sizeof t->complaint - (size_t)length, format, values);
    return 1;
}

/* These decoders only warn about missing or corrupt data, and invent samples. */
static int on_warning(TIFF *tif, void *user, const char *module, const char *format, va_list values)
{
    const tiff_reader *t = user;
    bool lossy = module && (strcmp(module, "JPEGLib") == 0 || strncmp(module, "Fax", 3) == 0);
    return t->decoding && lossy ? on_error(tif, user, module, format, values) : 1;
}

const char *tiff_complaint_or(const tiff_reader *t, const char *other)
{
    return t->complaint[0] ? t->complaint : other;
}

int tiff_open_library(tiff_reader *t, fault *f)
{
    input *in = t->image.reader.in;
    const char *path = input_path(in, f);
    if (!path) return -1;
    t->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (t->fd < 0) return fault_set(f, EXIT_DATA, "%s: cannot be opened: %s", input_name(in), strerror(errno));

    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return fault_set(f, EXIT_DATA, "%s: out of memory", input_name(in));
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, IMAGE_MAX_WHOLE_BYTES);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, t);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, t);
    /* m: no memory mapping, which would kill the process if the file shrank. */
    t->tif = TIFFClientOpenExt(input_name(in), "rm", t, read_on, reject_write, seek_to, tiff_leave_open, file_size,
                               NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return t->tif ? 0
                  : image_damaged(&t->image, "the TIFF header or first directory",
                                  tiff_complaint_or(t, "its data is missing or ends early"), f);
}
