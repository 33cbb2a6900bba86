/* Fetches samples that are not stored as their storage type: in the other byte order, or as bits. Inline, so that the
 * loops are compiled for each instruction set level that uses them. */
#ifndef VIEW_FETCH_H
#define VIEW_FETCH_H

#include <string.h>

#include "view/dtype.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define HISTO_DEFINE_SWAP(bits)                                                                                        \
    static inline void histo_swap_##bits(char *__restrict to, const char *__restrict from, int64_t n)                  \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            uint##bits##_t x;                                                                                          \
            memcpy(&x, from + i * (int64_t)sizeof x, sizeof x);                                                        \
            x = __builtin_bswap##bits(x);                                                                              \
            memcpy(to + i * (int64_t)sizeof x, &x, sizeof x);                                                          \
        }                                                                                                              \
    }
HISTO_DEFINE_SWAP(16)
HISTO_DEFINE_SWAP(32)
HISTO_DEFINE_SWAP(64)
#undef HISTO_DEFINE_SWAP

/* Copy n contiguous samples of `size` bytes, which may be unaligned, and reverse the bytes of each. */
static inline void histo_swap(char *to, const char *from, size_t size, int64_t n)
{
    switch (size) {
    case 1:
        memcpy(to, from, (size_t)n);
        break;
    case 2:
        histo_swap_16(to, from, n);
        break;
    case 4:
        histo_swap_32(to, from, n);
        break;
    default:
        histo_swap_64(to, from, n);
        break;
    }
}

static inline char histo_bit(const char *bits, int64_t i)
{
    return (char)((uint8_t)bits[i >> 3] >> (i & 7) & 1);
}

/* to[0 … 63] = the bits of a word. */
static inline void histo_unpack_word(char *to, uint64_t word)
{
#if defined(__AVX512BW__)
    _mm512_storeu_si512(to, _mm512_maskz_set1_epi8(word, 1));
#elif defined(__AVX2__)
    const __m256i byte = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x((int64_t)0x8040201008040201), one = _mm256_set1_epi8(1);
    for (int half = 0; half < 2; half++) {
        const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32((int)(word >> 32 * half)), byte);
        const __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit);
        _mm256_storeu_si256((__m256i *)(void *)(to + 32 * half), _mm256_and_si256(set, one));
    }
#else
    for (int byte = 0; byte < 8; byte++) {
        /* Bit k is alone in byte k; adding 0x7f sets the byte's top bit unless the byte is 0. */
        uint64_t ones = (word >> 8 * byte & 0xff) * 0x0101010101010101 & 0x8040201008040201;
        ones = (ones + 0x7f7f7f7f7f7f7f7f) >> 7 & 0x0101010101010101;
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
        ones = __builtin_bswap64(ones);
#endif
        memcpy(to + 8 * byte, &ones, sizeof ones);
    }
#endif
}

/* to[i] = bit first + i * stride, counting from the least significant bit of each byte. No other bytes are read. */
static inline void histo_unpack_bits(char *to, const char *bits, int64_t first, int64_t stride, int64_t n)
{
    enum { WORD = 64 };
    int64_t i = 0;
    for (; stride == 1 && i + WORD <= n; i += WORD) {
        const int64_t at = first + i;
        const int shift = (int)(at & 7);
        uint64_t word;
        memcpy(&word, bits + (at >> 3), sizeof word);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        if (shift) word = word >> shift | (uint64_t)(uint8_t)bits[(at >> 3) + 8] << (WORD - shift);
        histo_unpack_word(to + i, word);
    }
    for (; i < n; i++)
        to[i] = histo_bit(bits, first + i * stride);
}

typedef void histo_gather_fn(char *to, const char *from, int64_t stride, size_t size, int64_t n);

/* Copy n samples of any dtype, `stride` apart, to contiguous memory, as the plain dtype stores them; bits become bytes
 * of 0 and 1. bits: the data of a HISTO_BIT view; `from` - bits is then the index of the first bit. */
static inline void histo_fetch_by(histo_gather_fn *gather, char *to, const char *from, int64_t stride,
                                  histo_dtype dtype, const char *bits, int64_t n)
{
    enum { SOME = 256 };
    const size_t size = histo_dtype_size(dtype);
    char gathered[SOME * sizeof(uint64_t)];
    if (dtype == HISTO_BIT)
        histo_unpack_bits(to, bits, from - bits, stride, n);
    else if (histo_dtype_is_plain(dtype))
        gather(to, from, stride, size, n);
    else if (stride == (int64_t)size)
        histo_swap(to, from, size, n);
    else
        for (int64_t i = 0, some; i < n; i += some) {
            some = n - i < (int64_t)SOME ? n - i : (int64_t)SOME;
            gather(gathered, from + i * stride, stride, size, some);
            histo_swap(to + i * (int64_t)size, gathered, size, some);
        }
}

#endif
