/* Recognises WebP; part of the command, without the module, which has the reader. */
#include <string.h>

#include "input/readers/readers.h"

bool webp_recognise(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    return size >= 12 && memcmp(head, "RIFF", 4) == 0 && memcmp(head + 8, "WEBP", 4) == 0;
}
