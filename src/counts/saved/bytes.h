/* A growing buffer. It remembers that memory ran out, so that callers check once, at the end. */
#ifndef COUNTS_BYTES_H
#define COUNTS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Initialise with zeros; the owner frees data. */
typedef struct histo_bytes {
    unsigned char *data;
    size_t size, capacity;
    bool failed;
} histo_bytes;

/* Append `size` bytes, to be written by the caller before anything else is appended; NULL if memory ran out. */
unsigned char *histo_bytes_extend(histo_bytes *out, size_t size);

void histo_bytes_put(histo_bytes *out, const void *data, size_t size);
void histo_bytes_print(histo_bytes *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The lowest `width` bytes of value, little endian. */
void histo_bytes_put_le(histo_bytes *out, uint64_t value, int width);

#endif
