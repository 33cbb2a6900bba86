#include "count/order/exact_sum.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { WORDS = HISTO_SUM_WORDS, UNIT = -1074, MANTISSA = 53 };

/* ---- Two doubles ----------------------------------------------------------------------------------------- */

two_doubles two_doubles_of_sum(double a, double b)
{
    const double sum = a + b, of_b = sum - a;
    return (two_doubles){sum, (a - (sum - of_b)) + (b - of_b)};
}

two_doubles two_doubles_of_product(double a, double b)
{
    const double product = a * b;
    return (two_doubles){product, fma(a, b, -product)};
}

two_doubles two_doubles_subtract(two_doubles a, two_doubles b)
{
    const two_doubles high = two_doubles_of_sum(a.high, -b.high), low = two_doubles_of_sum(a.low, -b.low);
    const two_doubles some = two_doubles_of_sum(high.high, high.low + low.high);
    return two_doubles_of_sum(some.high, some.low + low.low);
}

two_doubles two_doubles_multiply(two_doubles a, two_doubles b)
{
    const two_doubles high = two_doubles_of_product(a.high, b.high);
    return two_doubles_of_sum(high.high, high.low + (a.high * b.low + a.low * b.high));
}

two_doubles two_doubles_divide(two_doubles a, two_doubles b)
{
    const double first = a.high / b.high;
    const two_doubles rest = two_doubles_subtract(a, two_doubles_multiply(b, (two_doubles){first, 0}));
    const double second = rest.high / b.high;
    const two_doubles left = two_doubles_subtract(rest, two_doubles_multiply(b, (two_doubles){second, 0}));
    const two_doubles quotient = two_doubles_of_sum(first, second);
    return two_doubles_of_sum(quotient.high, quotient.low + left.high / b.high);
}

two_doubles two_doubles_root(two_doubles a)
{
    if (!(a.high > 0)) return (two_doubles){0, 0};
    const double first = sqrt(a.high);
    const two_doubles rest = two_doubles_subtract(a, two_doubles_of_product(first, first));
    return two_doubles_of_sum(first, rest.high / (2 * first));
}

/* ---- Sums ------------------------------------------------------------------------------------------------ */

static void add_words(uint64_t *to, const uint64_t *more, int n)
{
    unsigned carry = 0;
    for (int i = 0; i < n; i++) {
        const unsigned __int128 sum = (unsigned __int128)to[i] + more[i] + carry;
        to[i] = (uint64_t)sum;
        carry = (unsigned)(sum >> 64);
    }
}

static void negate(uint64_t *words, int n)
{
    bool carry = true;
    for (int i = 0; i < n; i++) {
        words[i] = ~words[i] + carry;
        carry = carry && words[i] == 0;
    }
}

void exact_sum_add(exact_sum *sum, double value)
{
    int exponent;
    if (value == 0) return;
    const double significand = frexp(fabs(value), &exponent);
    const int digits = exponent - MANTISSA < UNIT ? exponent - UNIT : MANTISSA, at = exponent - digits - UNIT;
    const unsigned __int128 bits = (unsigned __int128)(uint64_t)ldexp(significand, digits) << at % 64;
    uint64_t more[WORDS] = {0};
    more[at / 64] = (uint64_t)bits;
    if (at / 64 + 1 < WORDS) more[at / 64 + 1] = (uint64_t)(bits >> 64);
    if (value < 0) negate(more, WORDS);
    add_words(sum->words, more, WORDS);
}

void exact_sum_join(exact_sum *sum, const exact_sum *more)
{
    add_words(sum->words, more->words, WORDS);
}

bool exact_sum_add_all(exact_sum *sum, const double *values, int64_t n)
{
    histo_power_sums sums = {0};
    const histo_view view = histo_view_1d(values, HISTO_F64, n);
    if (histo_power_sums_add(&sums, &view, NULL) != HISTO_OK) return false;
    add_words(sum->words, sums.sum, WORDS);
    return true;
}

static bool is_negative(const exact_sum *sum)
{
    return sum->words[WORDS - 1] >> 63;
}

bool exact_sum_is_positive(const exact_sum *sum)
{
    bool any = false;
    for (int i = 0; i < WORDS; i++)
        any = any || sum->words[i] > 0;
    return any && !is_negative(sum);
}

/* Subtract from a number its leading part that a double can hold, and return that. */
static double take_first(uint64_t *words)
{
    int top = WORDS * 64 - 1;
    while (top >= 0 && !(words[top / 64] >> top % 64 & 1))
        top--;
    if (top < 0) return 0;
    const int last = top < MANTISSA ? 0 : top - MANTISSA + 1;
    double value = 0;
    for (int bit = top; bit >= last; bit--) {
        value = 2 * value + (double)(words[bit / 64] >> bit % 64 & 1);
        words[bit / 64] &= ~(UINT64_C(1) << bit % 64);
    }
    return ldexp(value, last + UNIT);
}

two_doubles exact_sum_read(const exact_sum *sum)
{
    exact_sum rest = *sum;
    const double sign = is_negative(sum) ? -1 : 1;
    if (sign < 0) negate(rest.words, WORDS);
    const double first = sign * take_first(rest.words), second = sign * take_first(rest.words);
    return two_doubles_of_sum(first, second);
}

decimal_share decimal_of_percent(double share)
{
    char text[TEXT_NUMBER_BYTES];
    decimal_share of = {0, DBL_DIG - 1};
    const char *c = text;
    snprintf(text, sizeof text, "%.*e", of.places, 100 * share);
    for (; *c != 'e'; c++)
        if (*c >= '0' && *c <= '9') of.digits = 10 * of.digits + (uint64_t)(*c - '0');
    of.places += 2 - (int)strtol(c + 1, NULL, 10);
    return of;
}

enum { WIDE = 2 * WORDS }; /* words in a product with digits, or with a power of ten */

static void multiply(uint64_t *words, uint64_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < WIDE; i++) {
        const unsigned __int128 product = (unsigned __int128)words[i] * factor + carry;
        words[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
}

/* part * 10^places >= whole * digits */
bool exact_sum_reaches(const exact_sum *part, decimal_share share, const exact_sum *whole)
{
    enum { AT_ONCE = 19 }; /* decimal places that fit in a word */
    uint64_t left[WIDE] = {0}, right[WIDE] = {0};
    if (is_negative(part)) return false;
    memcpy(left, part->words, sizeof part->words);
    memcpy(right, whole->words, sizeof whole->words);
    multiply(right, share.digits);
    for (int places = share.places; places > 0; places -= AT_ONCE) {
        uint64_t power = 1;
        for (int i = 0; i < AT_ONCE && i < places; i++)
            power *= 10;
        multiply(left, power);
    }
    for (int i = WIDE - 1; i >= 0; i--)
        if (left[i] != right[i]) return left[i] > right[i];
    return true;
}
