/* CRC-32C (Castagnoli), which guards saved histograms and compiled kernels against damage. */
#ifndef BASE_CHECKSUM_H
#define BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Extend a checksum by data; start with crc 0. */
uint32_t histo_checksum_add(uint32_t crc, const void *data, size_t size);

/* Extend a checksum by the 8 bytes of value, little endian. */
uint32_t histo_checksum_add_u64(uint32_t crc, uint64_t value);

#endif
