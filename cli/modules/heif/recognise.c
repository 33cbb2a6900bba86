/* Recognises HEIF; part of the command, without the module, which has the reader. */
#include <string.h>

#include "input/readers/readers.h"

/* The major brands of image files and image sequence files. */
bool heif_recognise(const unsigned char *head, size_t size, const char *path)
{
    static const char brands[][5] = {"heic", "heix", "heim", "heis", "hevc", "hevx",
                                     "mif1", "msf1", "miaf", "avif", "avis"};
    (void)path;
    if (size < 12 || memcmp(head + 4, "ftyp", 4) != 0) return false;
    for (size_t i = 0; i < sizeof brands / sizeof *brands; i++)
        if (memcmp(head + 8, brands[i], 4) == 0) return true;
    return false;
}
