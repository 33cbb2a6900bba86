/* Recognises FITS; part of the command, without the module, which has the reader. */
#include <string.h>

#include "input/readers/readers.h"

bool fits_recognise(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    return size >= 80 && memcmp(head, "SIMPLE  =", 9) == 0;
}
