/* outfile.h on POSIX systems. */
#define _GNU_SOURCE
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int release(histo_outfile *out, int error)
{
    free(out->target);
    free(out->temporary);
    *out = (histo_outfile){0};
    return error;
}

/* Create a new file in the target's directory; returns its descriptor, or -1 with errno. */
static int make_temporary(histo_outfile *out)
{
    static atomic_uint made; /* distinguishes names of concurrent threads */
    int fd;
    do {
        free(out->temporary);
        if (asprintf(&out->temporary, "%s.%ld-%u.tmp", out->target, (long)getpid(), atomic_fetch_add(&made, 1)) < 0) {
            out->temporary = NULL;
            errno = ENOMEM;
            return -1;
        }
        fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

int histo_outfile_open(histo_outfile *out, const char *path)
{
    *out = (histo_outfile){0};
    struct stat existing;
    bool exists = stat(path, &existing) == 0;
    if (exists && !S_ISREG(existing.st_mode)) {
        out->stream = fopen(path, "we");
        return out->stream ? 0 : errno;
    }
    if (exists && access(path, W_OK) != 0) return errno;
    out->target = realpath(path, NULL); /* follow links */
    if (!out->target) out->target = strdup(path);
    if (!out->target) return ENOMEM;
    int fd = make_temporary(out);
    if (fd < 0) return release(out, errno);
    if ((!exists || fchmod(fd, existing.st_mode & 0777) == 0) && (out->stream = fdopen(fd, "w"))) return 0;
    int error = errno;
    close(fd);
    unlink(out->temporary);
    return release(out, error);
}

int histo_outfile_close(histo_outfile *out)
{
    int error = fflush(out->stream) != 0 ? errno : ferror(out->stream) ? EIO : 0;
    if (fclose(out->stream) != 0 && !error) error = errno;
    if (out->temporary && !error && rename(out->temporary, out->target) != 0) error = errno;
    if (out->temporary && error) unlink(out->temporary);
    return release(out, error);
}
