/* Recognises Parquet and Arrow; part of the command, without the module, which has the reader. */
#include <string.h>

#include "input/readers/readers.h"

bool parquet_recognise(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    return size >= 12 && (memcmp(head, "PAR1", 4) == 0 || memcmp(head, "PARE", 4) == 0);
}

/* A file or, after a message marker, the length of a schema and its beginning. */
bool arrow_recognise(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    if (size >= 8 && memcmp(head, "ARROW1\0", 8) == 0) return true;
    return size >= 16 && memcmp(head, "\xff\xff\xff\xff", 4) == 0 && head[4] % 8 == 0 && head[4] + head[5] > 0 &&
           head[6] < 0x10 && head[7] == 0 && head[8] % 4 == 0 && head[8] > 0 && !head[9] && !head[10] && !head[11];
}
