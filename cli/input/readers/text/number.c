/* Correctly rounded decimal to double, without strtod for nearly all numbers in files.
 *
 * A decimal of at most 19 digits is an integer m < 2^64 times 10^e. For |e| <= 27, 10^|e| is 5^|e| (which fits 64 bits)
 * times a power of two (which only changes the exponent). So m * 5^e is an exact 128-bit product, and m / 5^-e needs
 * only 64 quotient bits and a sticky bit to round. If m and 10^|e| are both exact doubles, one multiplication or
 * division suffices (Clinger). Everything else uses strtod. */
#define _GNU_SOURCE
#include "input/readers/text/number.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_DIGITS = 19, MAX_FIVES = 27, MAX_EXACT_TENS = 22 };

static const uint64_t power_of_5[MAX_FIVES + 1] = {
    1u,
    5u,
    25u,
    125u,
    625u,
    3125u,
    15625u,
    78125u,
    390625u,
    1953125u,
    9765625u,
    48828125u,
    244140625u,
    1220703125u,
    6103515625u,
    30517578125u,
    152587890625u,
    762939453125u,
    3814697265625u,
    19073486328125u,
    95367431640625u,
    476837158203125u,
    2384185791015625u,
    11920928955078125u,
    59604644775390625u,
    298023223876953125u,
    1490116119384765625u,
    7450580596923828125u,
};

static const double power_of_10[MAX_EXACT_TENS + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/* Round (bits + something in (0, 1) if sticky) * 2^exponent to the nearest double, ties to even. The top bit of bits is
 * set, and the result is a normal number. */
static double round_bits(uint64_t bits, bool sticky, int exponent)
{
    enum { DROPPED = 11 }; /* 53 of 64 bits remain */
    const uint64_t half = UINT64_C(1) << (DROPPED - 1), hidden = UINT64_C(1) << 52;
    uint64_t mantissa = bits >> DROPPED, rest = bits & ((UINT64_C(1) << DROPPED) - 1);
    if (rest > half || (rest == half && (sticky || (mantissa & 1)))) mantissa++;
    /* A mantissa that rounds up to 2^53 correctly carries into the exponent. */
    uint64_t pattern = ((uint64_t)(exponent + DROPPED + 52 + 1023) << 52) + (mantissa - hidden);
    double value;
    memcpy(&value, &pattern, sizeof value);
    return value;
}

/* m * 10^tens for m > 0 and |tens| <= MAX_FIVES. */
static double scale_exactly(uint64_t m, int tens)
{
    int shift = __builtin_clzll(m);
    m <<= shift;
    if (tens >= 0) {
        unsigned __int128 product = (unsigned __int128)m * power_of_5[tens];
        uint64_t high = (uint64_t)(product >> 64);
        int exponent = tens - shift;
        int width = high ? 64 - __builtin_clzll(high) : 0; /* bits to drop so that 64 remain: m has its top bit set */
        unsigned __int128 top = product >> width;
        return round_bits((uint64_t)top, top << width != product, exponent + width);
    }
    /* With both top bits set, m / d is in (1/2, 2). A dividend of m << 64, or half of it, gives a quotient of exactly
     * 64 bits. */
    uint64_t d = power_of_5[-tens];
    int shift_d = __builtin_clzll(d);
    d <<= shift_d;
    int up = m < d ? 64 : 63;
    unsigned __int128 dividend = (unsigned __int128)m << up;
    uint64_t quotient = (uint64_t)(dividend / d);
    return round_bits(quotient, dividend - (unsigned __int128)quotient * d != 0, tens - shift + shift_d - up);
}

static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static double parse_slowly(const char *text)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    return c_locale ? strtod_l(text, NULL, c_locale) : strtod(text, NULL);
}

/* Parse inf, infinity or nan at p, after the sign. */
static const char *parse_word(const char *p, double *value)
{
    if (strncasecmp(p, "nan", 3) == 0) {
        *value = NAN;
        return p + 3;
    }
    if (strncasecmp(p, "inf", 3) != 0) return NULL;
    *value = INFINITY;
    return strncasecmp(p, "infinity", 8) == 0 ? p + 8 : p + 3;
}

static inline const char *parse_digits(const char *p, uint64_t *m)
{
    for (unsigned digit; (digit = (unsigned)(*p - '0')) <= 9; p++)
        *m = *m * 10 + digit;
    return p;
}

/* Parse "e-5" at p: returns its end, or p if there is none. */
static const char *parse_exponent(const char *p, long *exponent)
{
    const char *q = p;
    if (*q != 'e' && *q != 'E') return p;
    q++;
    bool negative = *q == '-';
    if (*q == '-' || *q == '+') q++;
    const char *begin = q;
    long e = 0;
    for (; *q >= '0' && *q <= '9'; q++)
        if (e < 100000) e = e * 10 + (*q - '0');
    if (q == begin) return p;
    *exponent = negative ? -e : e;
    return q;
}

const char *number_parse(const char *text, double *value)
{
    const char *p = text;
    bool negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    uint64_t m = 0;
    const char *begin = p, *end = parse_digits(p, &m);
    long digits = end - begin, tens = 0;
    if (*end == '.') {
        const char *fraction = end + 1;
        end = parse_digits(fraction, &m);
        tens = -(end - fraction);
        digits -= tens;
    }
    if (digits == 0) {
        end = parse_word(p, value);
        if (end && negative) *value = -*value;
        return end;
    }
    if (digits > MAX_DIGITS) { /* leading zeros do not count */
        for (p = begin; *p == '0' || *p == '.'; p++)
            digits -= *p == '0';
    }
    long exponent = 0;
    end = parse_exponent(end, &exponent);
    tens += exponent;
    if (digits > MAX_DIGITS || tens < -MAX_FIVES || tens > MAX_FIVES) {
        *value = parse_slowly(text);
        return end;
    }
    if (m == 0) tens = 0;
    double v;
    if (m <= UINT64_C(1) << 53 && tens >= -MAX_EXACT_TENS && tens <= MAX_EXACT_TENS)
        v = tens < 0 ? (double)m / power_of_10[-tens] : (double)m * power_of_10[tens];
    else
        v = scale_exactly(m, (int)tens);
    *value = negative ? -v : v;
    return end;
}

bool number_is_real(const char *begin, const char *end)
{
    bool digit = false, real = false;
    for (const char *p = begin; p < end; p++) {
        digit = digit || (*p >= '0' && *p <= '9');
        real = real || *p == '.' || *p == 'e' || *p == 'E';
    }
    return digit && real;
}

/* Parse digits, which must be all of the text, up to 2^64 - 1. */
static bool parse_magnitude(const char *p, const char *end, uint64_t *m)
{
    *m = 0;
    if (p == end) return false;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(*m, 10, m) || __builtin_add_overflow(*m, (uint64_t)(*p - '0'), m)) return false;
    return p == end;
}

bool integer_parse(const char *begin, const char *end, histo_dtype dtype, void *value)
{
    const bool is_signed = dtype == HISTO_I64, negative = begin < end && *begin == '-';
    const uint64_t limit = !is_signed ? negative ? 0 : UINT64_MAX : (uint64_t)INT64_MAX + negative;
    uint64_t m;
    double d;
    if (!parse_magnitude(begin + (begin < end && (*begin == '-' || *begin == '+')), end, &m)) {
        if (number_parse(begin, &d) != end) return false;
        if (!(fabs(d) < (is_signed ? 0x1p63 : 0x1p64)) || d != rint(d)) return false;
        m = (uint64_t)fabs(d);
    }
    if (m > limit) return false;
    if (negative) m = -m;
    memcpy(value, &m, sizeof m);
    return true;
}
