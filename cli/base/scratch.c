#include "base/scratch.h"

#include <stdlib.h>

bool scratch_reserve(scratch *s, size_t bytes)
{
    if (bytes <= s->size) return true;
    free(s->data);
    s->data = malloc(bytes);
    s->size = s->data ? bytes : 0;
    return s->data;
}
