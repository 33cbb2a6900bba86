#include "options/steps.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { MOST_DIGITS = 17, MOST_STEPS = 1 << 24 };

/* A decimal number: digits / 10^decimals. */
typedef struct decimal {
    int64_t digits;
    int decimals;
} decimal;

static bool scale(decimal *d, int decimals)
{
    for (; d->decimals < decimals; d->decimals++)
        if (__builtin_mul_overflow(d->digits, INT64_C(10), &d->digits)) return false;
    return true;
}

/* False if it is not a number, or has too many digits. */
static bool parse_decimal(const char *text, decimal *d)
{
    char digits[MOST_DIGITS + 3];
    size_t used = 0;
    int64_t exponent = 0;
    double number;
    *d = (decimal){0};
    if (!text_to_f64(text, &number) || isinf(number) || strpbrk(text, "xX")) return false;
    const char *at = text + (*text == '+');
    if (*at == '-') digits[used++] = *at++;
    for (bool behind = false; isdigit((unsigned char)*at) || *at == '.'; at++) {
        if (*at == '.') {
            behind = true;
            continue;
        }
        if (used == sizeof digits - 1) return false;
        digits[used++] = *at;
        d->decimals += behind;
    }
    digits[used] = '\0';
    if (tolower((unsigned char)*at) == 'e' && !text_to_i64(at + 1, &exponent)) return false;
    if (exponent < -300 || exponent > 300 || !text_to_i64(digits, &d->digits)) return false;
    d->decimals -= (int)exponent;
    while (d->decimals > 0 && d->digits % 10 == 0) { /* 0.50, 1000e-3 */
        d->digits /= 10;
        d->decimals--;
    }
    return scale(d, 0);
}

static int parse_parts(decimal parts[3], const char *text, const char *where, fault *f)
{
    static const char *const names[] = {"first", "last", "step"};
    char copy[512];
    snprintf(copy, sizeof copy, "%s", text);
    char *at = copy;
    int most = 0;
    for (int i = 0; i < 3; i++) {
        char *colon = strchr(at, ':');
        if (!colon != (i == 2))
            return fault_set(f, EXIT_USAGE, "%s: '%.60s' is not first:last:step, as in 0:100:10", where, text);
        if (colon) *colon = '\0';
        if (!parse_decimal(at, &parts[i]))
            return fault_set(f, EXIT_USAGE, "%s: %.60s: the %s '%.40s' is not a number of at most %d digits", where,
                             text, names[i], at, MOST_DIGITS);
        if (parts[i].decimals > most) most = parts[i].decimals;
        if (colon) at = colon + 1;
    }
    for (int i = 0; i < 3; i++)
        if (!scale(&parts[i], most))
            return fault_set(f, EXIT_USAGE, "%s: %.60s: these numbers differ too much in magnitude for equal steps",
                             where, text);
    return 0;
}

static char *text_of(const steps *s, int64_t i, char text[TEXT_NUMBER_BYTES])
{
    return text_exact(steps_at(s, i), text);
}

int steps_parse(steps *s, const char *text, const char *where, fault *f)
{
    decimal parts[3];
    int64_t span;
    if (parse_parts(parts, text, where, f) != 0) return -1;
    *s = (steps){.first = parts[0].digits, .step = parts[2].digits, .decimals = parts[0].decimals};
    const int64_t last = parts[1].digits;
    if (s->step <= 0 || last <= s->first || __builtin_sub_overflow(last, s->first, &span))
        return fault_set(f, EXIT_USAGE, "%s: %.60s: the step must be above 0, and the last edge above the first", where,
                         text);
    s->count = span / s->step;
    if (s->count > MOST_STEPS)
        return fault_set(f, EXIT_USAGE, "%s: %.60s makes more than %d bins: give -b N -r LO:HI instead", where, text,
                         MOST_STEPS);
    if (span % s->step == 0) return 0;
    char below[TEXT_NUMBER_BYTES], above[TEXT_NUMBER_BYTES];
    if (s->count == 0) return fault_set(f, EXIT_USAGE, "%s: %.60s: the step is larger than the range", where, text);
    return fault_set(f, EXIT_USAGE, "%s: %.60s: no whole number of steps ends there: end at %s or %s", where, text,
                     text_of(s, s->count, below), text_of(s, s->count + 1, above));
}

double steps_at(const steps *s, int64_t i)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const int64_t digits = s->first + i * s->step, most = INT64_C(1) << 53;
    char text[TEXT_NUMBER_BYTES + 16];
    if (digits >= -most && digits <= most && s->decimals >= 0 && s->decimals <= 22) /* exact, so rounded once */
        return (double)digits / tens[s->decimals];
    snprintf(text, sizeof text, "%" PRId64 "e%d", digits, -s->decimals);
    return strtod(text, NULL);
}

steps steps_round(double width)
{
    const double power = floor(log10(width)), part = pow(10, log10(width) - power);
    const int64_t step = part < sqrt(2) ? 1 : part < sqrt(10) ? 2 : part < sqrt(50) ? 5 : 10;
    return (steps){.step = step < 10 ? step : 1, .decimals = -(int)power - (step == 10)};
}

steps steps_coarser(const steps *s)
{
    return s->step == 5 ? (steps){.step = 1, .decimals = s->decimals - 1}
                        : (steps){.step = s->step == 1 ? 2 : 5, .decimals = s->decimals};
}

bool steps_of_width(steps *s, double width)
{
    char text[TEXT_NUMBER_BYTES];
    decimal d;
    if (!parse_decimal(text_exact(width, text), &d)) return false;
    *s = (steps){.step = d.digits, .decimals = d.decimals};
    return true;
}

bool steps_begin(steps *s, double from)
{
    char text[TEXT_NUMBER_BYTES];
    decimal step = {s->step, s->decimals}, first;
    if (!parse_decimal(text_exact(from, text), &first)) return false;
    const int most = first.decimals > step.decimals ? first.decimals : step.decimals;
    if (!scale(&first, most) || !scale(&step, most)) return false;
    *s = (steps){.first = first.digits, .step = step.digits, .decimals = most};
    return true;
}

bool steps_cover(steps *s, double lo, double hi, bool closed)
{
    const double most = 0x1p60, begin = steps_at(s, 0), width = steps_at(&(steps){0, 0, s->step, s->decimals}, 1);
    const double below = floor((lo - begin) / width);
    int64_t first;
    if (!(width > 0) || !(fabs(below) < most) || !(fabs(hi / width) < most) ||
        __builtin_mul_overflow((int64_t)below, s->step, &first) || __builtin_add_overflow(first, s->first, &first) ||
        llabs(first) > INT64_MAX / 4)
        return false;
    s->first = first;
    while (steps_at(s, 0) > lo) /* the quotient was rounded */
        s->first -= s->step;
    while (steps_at(s, 1) <= lo)
        s->first += s->step;
    const double wanted = ceil((hi - steps_at(s, 0)) / width);
    if (!(wanted <= MOST_STEPS && (double)s->step * (wanted + 2) < 0x1p61)) return false;
    s->count = wanted > 1 ? (int64_t)wanted : 1;
    while (s->count > 1 && (closed ? steps_at(s, s->count - 1) >= hi : steps_at(s, s->count - 1) > hi))
        s->count--;
    while (closed ? steps_at(s, s->count) < hi : steps_at(s, s->count) <= hi)
        s->count++;
    return isfinite(steps_at(s, 0)) && isfinite(steps_at(s, s->count));
}
