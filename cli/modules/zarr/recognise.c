/* Recognises Zarr; part of the command, without the module, which has the reader. */
#include <string.h>

#include "base/text.h"
#include "input/readers/readers.h"

static const char *const zarr_files[] = {"zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"};

/* Whether the first member of the zip archive is a Zarr metadata file, perhaps after the directory that contains it. */
static bool names_zarr_member(const unsigned char *head, size_t size)
{
    enum { NAME = 30 }; /* after the fields of a local header */
    for (size_t at = 0; at + NAME <= size && memcmp(head + at, "PK\3\4", 4) == 0;) {
        const size_t length = head[at + 26] | (size_t)head[at + 27] << 8;
        const size_t extra = head[at + 28] | (size_t)head[at + 29] << 8;
        if (at + NAME + length > size || length == 0) return false;
        const char *name = (const char *)head + at + NAME;
        for (size_t i = 0; i < sizeof zarr_files / sizeof *zarr_files; i++) {
            const size_t end = strlen(zarr_files[i]);
            if (length >= end && memcmp(name + length - end, zarr_files[i], end) == 0) return true;
        }
        if (name[length - 1] != '/') return false;
        at += NAME + length + extra;
    }
    return false;
}

/* The metadata file, which represents a directory; or an archive that begins with one, or is named like one. */
bool zarr_recognise(const unsigned char *head, size_t size, const char *path)
{
    const char *name = text_file_name(path);
    const size_t length = strlen(name);
    const bool named = length > 9 && strcmp(name + length - 9, ".zarr.zip") == 0;
    if (reader_recognises(&reader_npz, head, size, path)) return named || names_zarr_member(head, size);
    return strcmp(name, "zarr.json") == 0 || strcmp(name, ".zarray") == 0 || strcmp(name, ".zgroup") == 0;
}
