/* Memory that is reused for each piece of the data and grows to fit the largest. */
#ifndef CLI_SCRATCH_H
#define CLI_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

typedef struct scratch {
    unsigned char *data; /* freed by the owner */
    size_t size;
} scratch;

/* Make it at least this large; its contents are lost. False if out of memory. */
bool scratch_reserve(scratch *s, size_t bytes);

#endif
