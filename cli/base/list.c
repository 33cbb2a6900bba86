#include "base/list.h"

#include <stdlib.h>

void *list_grown(void *list, int64_t count, size_t size)
{
    size_t bytes;
    if (count & (count - 1)) return list;
    if (__builtin_mul_overflow(count ? 2 * (size_t)count : 1, size, &bytes)) return NULL;
    return realloc(list, bytes);
}
