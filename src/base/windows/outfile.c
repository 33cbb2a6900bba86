/* outfile.h on Windows. */
#include "base/outfile.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

static int release(histo_outfile *out, int error)
{
    free(out->target);
    free(out->temporary);
    *out = (histo_outfile){0};
    return error;
}

int histo_outfile_open(histo_outfile *out, const char *path)
{
    static atomic_uint made; /* distinguishes names of concurrent threads */
    const size_t length = strlen(path) + 40;
    *out = (histo_outfile){.target = _strdup(path), .temporary = malloc(length)};
    if (!out->target || !out->temporary) return release(out, ENOMEM);
    do {
        snprintf(out->temporary, length, "%s.%lu-%u.tmp", path, GetCurrentProcessId(), atomic_fetch_add(&made, 1));
        out->stream = fopen(out->temporary, "wxbN");
    } while (!out->stream && errno == EEXIST);
    return out->stream ? 0 : release(out, errno);
}

int histo_outfile_close(histo_outfile *out)
{
    int error = fflush(out->stream) != 0 ? errno : ferror(out->stream) ? EIO : 0;
    if (fclose(out->stream) != 0 && !error) error = errno;
    if (!error && !MoveFileExA(out->temporary, out->target, MOVEFILE_REPLACE_EXISTING)) error = EACCES;
    if (error) DeleteFileA(out->temporary);
    return release(out, error);
}
