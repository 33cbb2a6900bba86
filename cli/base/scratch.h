/* Memory for what is made anew for each piece of the data, as large as the largest piece needs. */
#ifndef CLI_SCRATCH_H
#define CLI_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

typedef struct scratch {
    unsigned char *data; /* the owner frees it */
    size_t size;
} scratch;

/* Make it at least this large; former contents are lost. False without memory. */
bool scratch_reserve(scratch *s, size_t bytes);

#endif
