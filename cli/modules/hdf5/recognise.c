/* Recognises HDF5; part of the command, without the module, which has the reader. */
#include <string.h>

#include "input/readers/readers.h"

/* The signature is at offset 0, 512, 1024, 2048, … (after a user block). */
bool hdf5_recognise(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    for (size_t at = 0; at + 8 <= size; at = at ? 2 * at : 512)
        if (memcmp(head + at, "\x89HDF\r\n\x1a\n", 8) == 0) return true;
    return false;
}
