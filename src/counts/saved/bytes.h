/* A growing buffer. It remembers if memory ran out, so that callers check once, at the end. */
#ifndef COUNTS_BYTES_H
#define COUNTS_BYTES_H

#include <histo/histo.h>

/* Initialise with zeros; the owner frees data. */
typedef struct histo_bytes {
    unsigned char *data;
    size_t size, capacity;
    bool failed;
    bool cancelled; /* the reason why it failed */
} histo_bytes;

/* Append `size` bytes, to be written by the caller before anything else is appended; NULL if memory ran out. */
unsigned char *histo_bytes_extend(histo_bytes *out, size_t size);

void histo_bytes_put(histo_bytes *out, const void *data, size_t size);
void histo_bytes_print(histo_bytes *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* In a long loop that writes, after this much work: whether to stop, because writing has failed or been cancelled. */
bool histo_bytes_ends(histo_bytes *out, int64_t work);

/* histo_checksum_add of large data. Fails only if cancelled. */
histo_status histo_bytes_checksum(const char *stage, const void *data, size_t size, uint32_t *crc);

/* Append the lowest `width` bytes of value, little endian. */
void histo_bytes_put_le(histo_bytes *out, uint64_t value, int width);

#endif
