#include "output/clip.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

outfile *clip_open(const char *path, const char *from, fault *f)
{
    const char *dot = strrchr(path, '.');
    const bool to_stdout = strcmp(path, "-") == 0;
    if (to_stdout && isatty(STDOUT_FILENO))
        fault_set(f, EXIT_USAGE, "video cannot be written to a terminal: name a file for the result");
    else if (!to_stdout && (!dot || strcasecmp(dot, ".y4m") != 0))
        fault_set(f, EXIT_USAGE, "%s is video, and so is the result: name it *.y4m, or - for a pipe", from);
    else
        return outfile_open(path, f);
    return NULL;
}

static int put(outfile *clip, const void *bytes, size_t size, fault *f)
{
    errno = 0;
    if (fwrite(bytes, 1, size, outfile_stream(clip)) == size) return 0;
    return outfile_fail(clip, errno ? errno : EIO, f);
}

int clip_begin(outfile *clip, const y4m_line *header, fault *f)
{
    return put(clip, header->text, header->length, f);
}

int clip_frame(outfile *clip, const y4m_line *header, const void *planes, size_t bytes, fault *f)
{
    if (put(clip, header->text, header->length, f) != 0 || put(clip, planes, bytes, f) != 0) return -1;
    return fflush(outfile_stream(clip)) == 0 ? 0 : outfile_fail(clip, errno, f);
}
