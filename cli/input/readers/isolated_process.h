/* Runs libraries that damaged files can crash in a separate process, which answers requests: if it dies, that becomes
 * an error message. The process is forked from this one; its answers are in memory that both share. */
#ifndef CLI_READERS_ISOLATED_PROCESS_H
#define CLI_READERS_ISOLATED_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "input/readers/arrays/array.h"

typedef struct isolated_process isolated_process;

/* The shared memory: samples, followed by their validity flags. */
enum { ISOLATED_MEMORY_BYTES = 2 * BAND_BYTES };

/* A request, in terms of the format. */
typedef struct isolated_request {
    int what;
    int64_t column, first, count;
} isolated_request;

/* Answer a request, in the other process, with its copy of self; memory is the shared memory, initially zeros. */
typedef int isolated_handler(void *self, const isolated_request *q, void *memory, fault *f);

/* Start the process that reads `path`; it has no other file of ours open. NULL on failure. */
isolated_process *isolated_open(const char *name, const char *path, const char *library, isolated_handler *answer,
                                void *self, fault *f);
/* 0, or -1 with the fault of the answer, or of the process. */
int isolated_call(isolated_process *a, const isolated_request *q, fault *f);
/* Request samples that fill at most BAND_BYTES; valid, of equal number, may be NULL. */
int isolated_read(isolated_process *a, const isolated_request *q, void *samples, size_t bytes, unsigned char *valid,
                  int64_t count, fault *f);
/* In the other process, which may read several files: from now on it reads this one, at `path`, with as much memory as
 * that can need. */
void isolated_reads(void *memory, const char *name, const char *path);
/* The shared memory. */
void *isolated_memory(isolated_process *a);
/* NULL is allowed. */
void isolated_close(isolated_process *a);

#endif
