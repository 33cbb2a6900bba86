#include "sum/long.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/wide.h"

void histo_long_add_at(uint64_t *words, int count, histo_wide_int value, int shift)
{
    const int first = shift / 64, bits = shift % 64;
    const wide_word_pair low = (wide_word_pair)value << bits;
    const uint64_t sign = value < 0 ? UINT64_MAX : 0;
    const uint64_t top = bits ? (uint64_t)(value >> (128 - bits)) : sign;
    const uint64_t parts[3] = {(uint64_t)low, (uint64_t)(low >> 64), top};
    uint64_t carry = 0;
    for (int i = first; i < count; i++) {
        const uint64_t part = i - first < 3 ? parts[i - first] : sign;
        if (i - first >= 3 && carry == (sign & 1)) break; /* nothing changes any more */
        const wide_word_pair sum = (wide_word_pair)words[i] + part + carry;
        words[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
}

void histo_long_add(uint64_t *words, const uint64_t *other, int count)
{
    uint64_t carry = 0;
    for (int i = 0; i < count; i++) {
        const wide_word_pair sum = (wide_word_pair)words[i] + other[i] + carry;
        words[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
}

void histo_long_negate(uint64_t *words, int count)
{
    uint64_t carry = 1;
    for (int i = 0; i < count; i++) {
        words[i] = ~words[i] + carry;
        carry = carry && words[i] == 0;
    }
}

void histo_long_multiply(const uint64_t *a, int n, const uint64_t *b, int m, uint64_t *product)
{
    memset(product, 0, (size_t)(n + m) * sizeof *product);
    for (int i = 0; i < n; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < m && a[i]; j++) {
            const wide_word_pair sum = (wide_word_pair)a[i] * b[j] + product[i + j] + carry;
            product[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        if (a[i]) product[i + m] = carry;
    }
}

int histo_long_compare(const uint64_t *a, const uint64_t *b, int count)
{
    for (int i = count - 1; i >= 0; i--)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

static bool bit_of(const uint64_t *words, int bit)
{
    return words[bit / 64] >> bit % 64 & 1;
}

double histo_long_round(const uint64_t *words, int count, int exponent, bool remainder)
{
    int top = 64 * count - 1;
    while (top >= 0 && !bit_of(words, top))
        top = top % 64 == 63 && words[top / 64] == 0 ? top - 64 : top - 1;
    if (top < 0) return 0;
    int low = top - (DBL_MANT_DIG - 1);
    if (low < DBL_MIN_EXP - DBL_MANT_DIG - exponent) low = DBL_MIN_EXP - DBL_MANT_DIG - exponent; /* subnormal */
    if (low > top + 1) return 0;
    uint64_t significand = 0;
    for (int bit = top; bit >= low; bit--)
        significand = significand << 1 | (bit >= 0 && bit_of(words, bit));
    const bool half = low > 0 && bit_of(words, low - 1);
    bool more = remainder;
    for (int bit = low - 2; bit >= 0 && half && !more; bit--)
        more = bit_of(words, bit);
    significand += half && (more || (significand & 1));
    return ldexp((double)significand, low + exponent);
}

double histo_long_divide(uint64_t *words, int count, int exponent, uint64_t n)
{
    uint64_t rest = 0;
    for (int i = count - 1; i >= 0; i--) {
        const wide_word_pair dividend = (wide_word_pair)rest << 64 | words[i];
        words[i] = (uint64_t)(dividend / n);
        rest = (uint64_t)(dividend % n);
    }
    return histo_long_round(words, count, exponent, rest != 0);
}
