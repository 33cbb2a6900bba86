/* Recognises DICOM; part of the command, without the module, which has the reader. */
#include <string.h>
#include <strings.h>

#include "input/readers/readers.h"

/* Tested before others: the 128-byte preamble may make it look like a TIFF file, too. Old files have no preamble. */
bool dicom_recognise(const unsigned char *head, size_t size, const char *path)
{
    const char *suffix = strrchr(path, '.');
    if (size >= 132 && memcmp(head + 128, "DICM", 4) == 0) return true;
    const bool named = suffix && (strcasecmp(suffix, ".dcm") == 0 || strcasecmp(suffix, ".ima") == 0);
    return named && size >= 8 &&
           (memcmp(head, "\2\0", 2) == 0 || memcmp(head, "\10\0", 2) == 0 || memcmp(head, "\0\10", 2) == 0);
}
