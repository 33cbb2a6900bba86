/* The readers in modules (base/module.h): what is known of their formats without the libraries that they need. */
#include <string.h>

#include "input/readers/readers.h"

static bool is_tiff(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    if (size < 4) return false;
    return memcmp(head, "II*\0", 4) == 0 || memcmp(head, "MM\0*", 4) == 0 || memcmp(head, "II+\0", 4) == 0 ||
           memcmp(head, "MM\0+", 4) == 0;
}

const reader_kind reader_tiff = {
    .name = "tiff",
    .formats =
        "TIFF and BigTIFF images: integers (gray of 1, 2 and 4 bits as 0 to 255) and floats of 1 to 64 bits, palettes, "
        "strips, tiles, planes, pages",
    .takes = TAKES_PAGES,
    .recognize = is_tiff,
    .open = tiff_open,
};

static bool is_npz(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    return size >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

const reader_kind reader_npz = {
    .name = "npz",
    .formats = "NumPy .npz (--dataset names the array)",
    .takes = TAKES_DATASETS,
    .recognize = is_npz,
    .open = npz_open,
};

/* The signature is at offset 0, 512, 1024, 2048, … (after a user block). */
static bool is_hdf5(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    for (size_t at = 0; at + 8 <= size; at = at ? 2 * at : 512)
        if (memcmp(head + at, "\x89HDF\r\n\x1a\n", 8) == 0) return true;
    return false;
}

const reader_kind reader_hdf5 = {
    .name = "hdf5",
    .formats = "HDF5, datasets of integers and floats (--dataset names one)",
    .takes = TAKES_DATASETS,
    .recognize = is_hdf5,
    .open = hdf5_open,
};
