/* The binary format: compact, checksummed and lossless. All numbers are little endian.
 *
 *     magic            8 bytes
 *     version          u32: 1, or 2 of a sparse histogram; and 2 more with texts
 *     weighting, axes  u8 each
 *     batch            u64
 *     for each axis    kind, closed, has edges: u8 each; bins: u64; power: f64;
 *                      edges: f64[bins + 1], or where the formula gives them lo, hi: f64 each
 *     for weighted reproducibly, twice (w, then w^2)
 *         windows      9 bytes: bit k is set if window k of the sums is in the file, bit 69 if their flags are
 *     with texts
 *         name         u32, its bytes, and these; none if it has no bytes
 *         metadata     likewise, JSON
 *     masked           array[batch]
 *     counts           array[batch * slots]; of a sparse histogram
 *         occupied     u64
 *         slots        array[occupied]: each minus the one before; of the first, plus 1
 *         counts       array[occupied]
 *     for weighted fast
 *         sums of w    array of f64
 *         sums of w^2  array of f64
 *     for weighted reproducibly, for each 1024 slots, twice (w, then w^2)
 *         digits       a block for each window, lowest first; a digit d is stored as 2d, or -2d - 1 if negative
 *         flags        a block
 *     CRC-32C          u32, of all before it
 *
 * An array of values of 64 bits is a sequence of blocks of 1024 of them, the last may be shorter. A block is
 *     width            u8: bytes of each value, 0 if all are zero, in which case nothing follows
 *     values           of that width; or, with 128 added to the width, the number of values that are not zero: u16,
 *                      and for each its index in the block: u16, and the value
 * so an array takes at least a byte for 1024 values, and what a file makes us allocate is bounded by its size. */
#ifndef COUNTS_BINARY_H
#define COUNTS_BINARY_H

#include "counts/hist.h"
#include "counts/saved/bytes.h"

void histo_binary_save(const histo_hist *hist, histo_bytes *out);

/* Whether it begins like a binary histogram. */
bool histo_binary_is(const unsigned char *data, size_t size);
histo_status histo_binary_load(const unsigned char *data, size_t size, histo_hist **hist);

#endif
