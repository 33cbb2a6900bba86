/* Record batches of Parquet and Arrow files, by Arrow's C++ library behind the C data interface. */
#ifndef CLI_MODULES_ARROW_SOURCE_H
#define CLI_MODULES_ARROW_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "modules/arrow/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum source_format { SOURCE_PARQUET, SOURCE_FILE, SOURCE_STREAM } source_format;

/* The bytes. Both functions return how many were read, fewer only at the end, or -1. */
typedef struct source_bytes {
    int64_t size; /* for files */
    int64_t (*read_at)(void *self, int64_t position, void *buffer, int64_t size);
    int64_t (*read)(void *self, void *buffer, int64_t size); /* for streams */
    void *self;
} source_bytes;

typedef struct source_error {
    char text[200];
} source_error;

typedef struct source source;

/* NULL on failure; all functions here then return a negative value, and the reason in why. `memory` limits the bytes
 * that it allocates. */
source *source_open(source_format format, const source_bytes *bytes, int64_t memory, source_error *why);
void source_close(source *s);

/* The fields, which the caller releases. */
int source_schema(source *s, struct ArrowSchema *schema, source_error *why);
/* Row groups of Parquet, or batches of Arrow files; 0 if unknown. */
int source_groups(const source *s);

/* Read these groups from now on, and only some of the fields: in Parquet, by number of leaf; in other files, by number
 * of field. Streams can only be read once, as a whole. */
int source_begin(source *s, int first, int end, const int *fields, int count, source_error *why);
/* The fields that are read, as for source_schema. */
int source_fields(source *s, struct ArrowSchema *schema, source_error *why);
/* The next batch, which the caller releases: 1, 0 at the end. */
int source_next(source *s, struct ArrowArray *batch, source_error *why);

#ifdef __cplusplus
}
#endif

#endif
