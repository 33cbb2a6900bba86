/* A growing buffer. It remembers that memory ran out, so that callers check once, at the end. */
#ifndef COUNTS_BYTES_H
#define COUNTS_BYTES_H

#include <histo/histo.h>

/* Initialise with zeros; the owner frees data. */
typedef struct histo_bytes {
    unsigned char *data;
    size_t size, capacity;
    bool failed;
    bool cancelled; /* that is why */
} histo_bytes;

/* Append `size` bytes, to be written by the caller before anything else is appended; NULL if memory ran out. */
unsigned char *histo_bytes_extend(histo_bytes *out, size_t size);

void histo_bytes_put(histo_bytes *out, const void *data, size_t size);
void histo_bytes_print(histo_bytes *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* In a long loop that writes, after so much work: whether to end it, because it has failed or is cancelled now. */
bool histo_bytes_ends(histo_bytes *out, int64_t work);

/* histo_checksum_add of much. Can only be cancelled. */
histo_status histo_bytes_checksum(const char *stage, const void *data, size_t size, uint32_t *crc);

/* The lowest `width` bytes of value, little endian. */
void histo_bytes_put_le(histo_bytes *out, uint64_t value, int width);

#endif
