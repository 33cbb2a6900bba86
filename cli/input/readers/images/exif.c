/* EXIF data are a small TIFF file: a header, and a directory of 12-byte entries. */
#include "input/readers/images/exif.h"

#include <string.h>

enum { ORIENTATION = 0x112, SHORT = 3, ENTRY = 12 };

static unsigned number(const unsigned char *at, int bytes, bool big)
{
    unsigned value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | at[big ? i : bytes - 1 - i];
    return value;
}

int exif_orientation(const metadata_block *exif)
{
    const unsigned char *data = exif->data;
    if (!data || exif->size < 14 || (data[0] != 'I' && data[0] != 'M')) return 0;
    const bool big = data[0] == 'M';
    const size_t directory = number(data + 4, 4, big);
    if (directory > exif->size - 2) return 0;
    const unsigned entries = number(data + directory, 2, big);
    for (unsigned i = 0; i < entries && directory + 2 + (i + 1) * ENTRY <= exif->size; i++) {
        const unsigned char *entry = data + directory + 2 + (size_t)i * ENTRY;
        if (number(entry, 2, big) != ORIENTATION || number(entry + 2, 2, big) != SHORT) continue;
        const unsigned value = number(entry + 8, 2, big);
        return value >= 1 && value <= 8 ? (int)value : 0;
    }
    return 0;
}

bool exif_make(metadata_block *exif, int orientation)
{
    unsigned char data[] = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, ORIENTATION >> 8, ORIENTATION & 255, 0, SHORT, 0, 0,
                            0,   1,   0, 0,  0, 0, 0, 0, 0, 0};
    data[19] = (unsigned char)orientation;
    return metadata_keep(exif, data, sizeof data);
}
