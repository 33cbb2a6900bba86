/* CRC-32C (Castagnoli), which guards saved histograms and compiled kernels against damage. */
#ifndef BASE_CHECKSUM_H
#define BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of what `crc` is the checksum of, followed by data; start with 0. */
uint32_t histo_checksum_add(uint32_t crc, const void *data, size_t size);

/* Followed by the 8 bytes of value, little endian. */
uint32_t histo_checksum_add_u64(uint32_t crc, uint64_t value);

#endif
