/* Recognises MATLAB's .mat; part of the command, without the module, which has the reader. */
#include <string.h>
#include <strings.h>

#include "input/readers/readers.h"

/* Files of version 4 have no signature: check their suffix, and a type of at most four digits. Version 7.3 is HDF5. */
bool mat_recognise(const unsigned char *head, size_t size, const char *path)
{
    const char *suffix = strrchr(path, '.');
    uint32_t type;
    if (size >= 128 && memcmp(head, "MATLAB 5.0", 10) == 0) return true;
    if (size < 20 || !suffix || strcasecmp(suffix, ".mat") != 0) return false;
    memcpy(&type, head, sizeof type);
    return type < 5000 || __builtin_bswap32(type) < 5000;
}
