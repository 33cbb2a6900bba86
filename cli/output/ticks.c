/* Scales, ticks and their labels. A linear tick is n * 10^e with integers n and e. Labels are thus made from exact
 * digits, and values are the nearest doubles, in ranges of any size. */
#include "output/ticks.h"

#include <float.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/times.h"

#define MINUS "\u2212"
#define TIMES "\u00d7"
#define THIN_SPACE "\u2009"

double plot_scale_at(const plot_scale *s, double value)
{
    double v = fmin(fmax(value, s->lo), s->hi), t;
    if (!(s->lo < s->hi)) {
        t = 0;
    } else if (s->log && s->hi / s->lo < 2) {
        t = log1p((v - s->lo) / s->lo) / log1p((s->hi - s->lo) / s->lo); /* the difference of logarithms would cancel */
    } else if (s->log) {
        t = (log10(v) - log10(s->lo)) / (log10(s->hi) - log10(s->lo));
    } else if (s->root) {
        t = (sqrt(v) - sqrt(s->lo)) / (sqrt(s->hi) - sqrt(s->lo));
    } else if (isfinite(s->hi - s->lo)) {
        t = (v - s->lo) / (s->hi - s->lo);
    } else {
        t = (v / 2 - s->lo / 2) / (s->hi / 2 - s->lo / 2);
    }
    return s->from + t * (s->to - s->from);
}

void plot_extent_add(plot_extent *e, double value)
{
    if (!isfinite(value)) return;
    e->lo = fmin(e->lo, value);
    e->hi = fmax(e->hi, value);
    if (value > 0) e->positive = fmin(e->positive, value);
    e->whole = e->whole && value == floor(value);
}

/* Where a logarithmic scale may begin: not so low that the largest values look alike. */
static double lowest_positive(double positive, double hi)
{
    return fmax(positive, fmax(hi * 1e-20, DBL_MIN));
}

plot_scale plot_scale_of_heights(const plot_extent *e, count_scale kind)
{
    if (kind == SCALE_LOG && e->hi > 0) {
        const double lo = lowest_positive(e->positive / 2, e->hi);
        return (plot_scale){.log = true, .lo = lo, .hi = fmin(fmax(e->hi * pow(e->hi / lo, 0.06), lo * 20), DBL_MAX)};
    }
    const double room = e->lo == 0 && e->hi == 0 ? 1 : e->hi / 16 - e->lo / 16;
    return (plot_scale){.lo = e->lo < 0 ? fmax(e->lo - room, -DBL_MAX) : 0,
                        .hi = fmin(e->hi + room, DBL_MAX),
                        .root = kind == SCALE_ROOT && e->lo == 0};
}

plot_scale plot_scale_of_colors(const plot_extent *e, count_scale kind)
{
    const double least = lowest_positive(e->positive, e->hi);
    /* Less than a decade looks better on a linear scale. */
    if (kind == SCALE_LOG && e->hi >= 10 * least) return (plot_scale){.lo = least, .hi = e->hi, .log = true};
    return (plot_scale){.lo = e->lo, .hi = e->hi > e->lo ? e->hi : e->lo + 1, .root = kind == SCALE_ROOT && e->lo == 0};
}

static double decimal(int64_t n, int e)
{
    char text[40];
    snprintf(text, sizeof text, "%llde%d", (long long)n, e);
    return strtod(text, NULL);
}

static int digits_of(int64_t n)
{
    int digits = 1;
    for (n = llabs(n); n >= 10; n /= 10)
        digits++;
    return digits;
}

/* n * 10^e in plain digits; integer parts of five digits and more in groups of three. */
static void write_fixed(plot_label *label, int64_t n, int e, bool group)
{
    char digits[40], *out = label->text;
    snprintf(digits, sizeof digits, "%.*f", e < 0 ? -e : 0, fabs(decimal(n, e)));
    int whole = (int)strcspn(digits, ".,");
    if (n < 0) out = stpcpy(out, MINUS);
    for (int i = 0; digits[i]; i++) {
        if (group && whole >= 5 && i > 0 && i < whole && (whole - i) % 3 == 0) out = stpcpy(out, THIN_SPACE);
        *out++ = digits[i];
    }
    *out = '\0';
}

static void write_exponent(plot_label *label, int exponent)
{
    snprintf(label->exponent, sizeof label->exponent, "%s%d", exponent < 0 ? MINUS : "", abs(exponent) % 1000);
}

/* n * 10^e as n' × 10^exponent. */
static void write_scientific(plot_label *label, int64_t n, int e, int exponent)
{
    write_fixed(label, n, n == 0 ? 0 : e - exponent, false);
    if (n == 0) return;
    strcat(label->text, TIMES "10");
    write_exponent(label, exponent);
}

static const char *const prefix[] = {"", "k", "M", "G", "T", "P", "E"};
enum { LARGEST_PREFIX = 20 };

/* n * 10^e with a prefix: 1.5 M. Without zeros after the decimal point, as labels may have different prefixes. */
static void write_prefixed(plot_label *label, int64_t n, int e)
{
    const int power = n == 0 || digits_of(n) - 1 + e < 0 ? 0 : (digits_of(n) - 1 + e) / 3;
    while (n != 0 && n % 10 == 0) {
        n /= 10;
        e++;
    }
    write_fixed(label, n, n == 0 ? 0 : e - 3 * power, false);
    if (power) strcat(strcat(label->text, THIN_SPACE), prefix[power]);
}

/* Whether labels of numbers below 10^(exponent + 1) have prefixes: all of an axis, or none. */
static bool is_prefixed(int exponent, int e, plot_notation notation)
{
    return exponent <= LARGEST_PREFIX && (notation.counts ? exponent >= 4 : exponent >= 6 && e >= 3);
}

/* The label of n * 10^e on an axis whose largest tick is `largest` * 10^e: all labels of an axis have the same form. */
static void write_label(plot_label *label, int64_t n, int e, int64_t largest, plot_notation notation)
{
    int digits = digits_of(largest), exponent = digits - 1 + e;
    int fixed = e >= 0 ? digits + e : (exponent >= 0 ? digits : 1 - e) + 1;
    int scientific = digits + (digits > 1) + 3;
    const bool power_of_ten = digits > 1 && llabs(largest) < 2 * (int64_t)decimal(1, digits - 1);
    if (is_prefixed(exponent, e, notation)) {
        write_prefixed(label, n, e);
    } else if (fixed <= 7 || fixed <= scientific) {
        write_fixed(label, n, n == 0 && e > 0 ? 0 : e, true);
    } else {
        write_scientific(label, n, e, exponent - power_of_ten); /* 5 and 10 times 10^8, not 0.5 and 1 times 10^9 */
    }
}

static plot_tick *push(plot_ticks *t, double value)
{
    if (t->count == PLOT_MAX_TICKS) return NULL;
    plot_tick *tick = &t->tick[t->count++];
    *tick = (plot_tick){.value = value};
    return tick;
}

/* The end of a range that contains fewer than two round numbers: with enough digits to distinguish the ends. */
static void push_end(plot_ticks *t, const plot_scale *s, double value)
{
    plot_tick *tick = push(t, value);
    for (int precision = 3; tick && precision <= 17; precision++) {
        snprintf(tick->label.text, sizeof tick->label.text, "%.*g", precision, value);
        if (fabs(strtod(tick->label.text, NULL) - value) <= s->hi / 100 - s->lo / 100) break;
    }
}

/* Multiples of step * 10^e within lo … hi, as integers times 10^e; false if doubles are too coarse. */
static bool multiples(const plot_scale *s, int step, int e, int64_t *first, int64_t *last)
{
    double unit = decimal(step, e), from = s->lo / unit, to = s->hi / unit;
    if (!(unit > 0) || fabs(from) > 1e14 || fabs(to) > 1e14) return false;
    *first = (int64_t)floor(from) - 1, *last = (int64_t)ceil(to) + 1;
    while (*first <= *last && decimal(*first * step, e) < s->lo)
        ++*first;
    while (*first <= *last && decimal(*last * step, e) > s->hi)
        --*last;
    return true;
}

static void linear_ticks(plot_ticks *t, const plot_scale *s, plot_notation notation, int most)
{
    static const int steps[] = {1, 2, 5};
    int64_t first = 0, last = 0;
    int e = (int)floor(log10(s->hi / most - s->lo / most)) - 1, i = 0;
    if (notation.whole && e < 0) e = 0;
    while (!multiples(s, steps[i], e, &first, &last) || last - first >= most) {
        e += i == 2;
        i = (i + 1) % 3;
    }
    if (last <= first) {
        push_end(t, s, s->lo);
        push_end(t, s, s->hi);
        return;
    }
    int64_t from = first * steps[i], to = last * steps[i];
    int64_t largest = llabs(from) > llabs(to) ? from : to;
    /* Minor ticks: fifths of 1 and 5, halves of 2, in tenths of 10^e. */
    int minor = steps[i] == 1 ? 2 : 10;
    if (notation.whole && e == 0 && steps[i] == 1) minor = 10;
    int64_t begin = from * 10, end = to * 10;
    while (decimal(begin - minor, e - 1) >= s->lo)
        begin -= minor;
    while (decimal(end + minor, e - 1) <= s->hi)
        end += minor;
    for (int64_t n = begin; n <= end; n += minor) {
        plot_tick *tick = push(t, decimal(n, e - 1));
        if (tick && n % (10 * steps[i]) == 0) write_label(&tick->label, n / 10, e, largest, notation);
    }
}

/* The form of a logarithmic axis's labels: plain numbers if all are short, else powers of ten. */
static void write_log_label(plot_label *label, int n, int e, int lowest, int highest, plot_notation notation)
{
    if (lowest >= -4 && (notation.counts ? highest <= LARGEST_PREFIX : highest <= 5)) {
        write_label(label, n, e, n, notation);
    } else {
        if (n == 1)
            strcpy(label->text, "10");
        else
            snprintf(label->text, sizeof label->text, "%d" TIMES "10", n);
        write_exponent(label, e);
    }
}

static void log_ticks(plot_ticks *t, const plot_scale *s, plot_notation notation, int most)
{
    static const int strides[] = {1, 2, 3, 5, 10, 20, 50, 100, 200, 500};
    int lowest = (int)floor(log10(s->lo)), highest = (int)ceil(log10(s->hi)), stride = 0;
    while (stride < 9 && (highest - lowest) / strides[stride] > most - 1)
        stride++;
    int decades = 0, halves = 0; /* labels at 1, and at 1, 2 and 5 */
    for (int e = lowest; e <= highest; e++) {
        for (int n = 1; n <= 5; n += n == 1 ? 1 : 3) {
            bool inside = decimal(n, e) >= s->lo && decimal(n, e) <= s->hi && !(notation.whole && e < 0);
            decades += inside && n == 1;
            halves += inside;
        }
    }
    bool label_halves = decades < 4 && halves <= most;
    if ((label_halves ? halves : decades) < 3) {
        linear_ticks(t, s, notation, most);
        return;
    }
    for (int e = lowest; e <= highest; e++) {
        for (int n = 1; n <= 9; n++) {
            double value = decimal(n, e);
            if (notation.whole && e < 0) continue;
            bool labelled = n == 1 ? e % strides[stride] == 0 : label_halves && (n == 2 || n == 5);
            bool minor = stride == 0 || (n == 1 && stride < 4);
            if (value < s->lo || value > s->hi || !(labelled || minor)) continue;
            plot_tick *tick = push(t, value);
            if (tick && labelled) write_log_label(&tick->label, n, e, lowest, highest, notation);
        }
    }
}

/* Powers of two; every first, second, fourth or eighth has a label. */
static void binary_ticks(plot_ticks *t, const plot_scale *s, int most)
{
    enum { KIBI = 10, LARGEST = 69 };
    static const char *const prefixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    const int lowest = (int)ceil(log2(s->lo)), highest = (int)floor(log2(s->hi));
    if (lowest < 0 || highest > LARGEST || highest <= lowest) {
        log_ticks(t, s, (plot_notation){.counts = true}, most);
        return;
    }
    int stride = 1;
    while (highest / stride - (lowest + stride - 1) / stride >= most && stride < highest - lowest)
        stride *= 2;
    for (int e = lowest; e <= highest; e++) {
        plot_tick *tick = push(t, ldexp(1, e));
        if (tick && e % stride == 0)
            snprintf(tick->label.text, sizeof tick->label.text, "%d%s%s", 1 << e % KIBI, e < KIBI ? "" : THIN_SPACE,
                     prefixes[e / KIBI]);
    }
}

/* Ticks at the beginnings of calendar steps, with as many digits as these need. */
static void time_ticks(plot_ticks *t, const plot_scale *s, int most)
{
    if (!(fabs(s->lo) < 0x1p62 && fabs(s->hi) < 0x1p62)) return;
    const time_step step = time_step_suited((int64_t)s->lo, (int64_t)s->hi, most);
    time_digits digits = TIME_MONTHS;
    for (int64_t at = time_step_floor(step, (int64_t)s->lo); (double)at <= s->hi; at = time_step_next(step, at)) {
        if ((double)at < s->lo) continue;
        if (!push(t, (double)at)) break;
        digits = time_digits_of(at, digits);
    }
    for (int i = 0; i < t->count; i++) {
        char text[TIME_TEXT_BYTES];
        snprintf(t->tick[i].label.text, sizeof t->tick[i].label.text, "%s",
                 time_text((int64_t)t->tick[i].value, digits, text));
        char *clock = digits >= TIME_MINUTES ? strchr(t->tick[i].label.text, 'T') : NULL;
        if (clock) *clock = ' ';
    }
}

void plot_ticks_make(plot_ticks *t, const plot_scale *s, plot_notation notation, int most)
{
    t->count = 0;
    if (s->times)
        time_ticks(t, s, most);
    else if (s->binary)
        binary_ticks(t, s, most);
    else if (s->log)
        log_ticks(t, s, notation, most);
    else
        linear_ticks(t, s, notation, most);
}

/* Whether tick i is far enough from the labels before it. Stores its end in *end. */
static bool clear_of(const plot_tick *tick, const plot_scale *s, double gap, plot_measure *measure, void *context,
                     double *end)
{
    double center = fabs(plot_scale_at(s, tick->value) - s->from), half = measure(context, &tick->label) / 2;
    if (center - half < *end + gap) return false;
    *end = center + half;
    return true;
}

void plot_ticks_fit(plot_ticks *t, const plot_scale *s, plot_notation notation, int most, double gap,
                    plot_measure *measure, void *context)
{
    for (most = most > 2 ? most : 2; most >= 2; most--) {
        bool fits = true;
        double end = -INFINITY;
        plot_ticks_make(t, s, notation, most);
        for (int i = 0; i < t->count && fits; i++)
            fits = t->tick[i].label.text[0] == '\0' || clear_of(&t->tick[i], s, gap, measure, context, &end);
        if (fits) return;
    }
    /* Not even two fit: keep the first. */
    double end = -INFINITY;
    for (int i = 0; i < t->count; i++)
        if (t->tick[i].label.text[0] && !clear_of(&t->tick[i], s, gap, measure, context, &end))
            t->tick[i].label = (plot_label){.text = ""};
}
