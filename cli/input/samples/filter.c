#include "input/samples/filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/dates/reading.h"
#include "base/text.h"

static int fault_memory(fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the conditions of --where");
}

static int add_range(condition *c, condition_range range, fault *f)
{
    condition_range *more = realloc(c->ranges, (size_t)(c->count + 1) * sizeof *more);
    if (!more) return fault_memory(f);
    c->ranges = more;
    more[c->count++] = range;
    return 0;
}

static int add_integers(condition *c, int64_t lo, int64_t hi, fault *f)
{
    return add_range(c, (condition_range){.lo = (double)lo, .hi = (double)hi, .whole_lo = lo, .whole_hi = hi}, f);
}

static bool parse_end(condition *c, const char *text, double open, double *value, long double *whole)
{
    *value = open;
    *whole = open;
    if (!*text) return true;
    *whole = strtold(text, NULL);
    c->large = c->large || (fabsl(*whole) >= 0x1p53L && !isinf(*whole));
    return text_to_f64(text, value);
}

/* LO:HI, or a number. */
static bool parse_numbers(condition *c, char *item, condition_range *range)
{
    char *colon = strchr(item, ':');
    if (colon) *colon = '\0';
    const char *end = colon ? colon + 1 : item;
    const bool good = (colon || *item) && parse_end(c, item, -INFINITY, &range->lo, &range->whole_lo) &&
                      parse_end(c, end, INFINITY, &range->hi, &range->whole_hi);
    if (colon) *colon = ':';
    return good;
}

static bool is_time(const char *begin, const char *end, const time_style *style, time_span *span)
{
    return time_read(begin, end, style, span) == TIME_READ;
}

/* The microseconds of a period, or of everything from the beginning of one to the end of another, either of which may
 * be open. */
static bool parse_times(const char *item, const time_style *of_column, int64_t range[2])
{
    const char *end = item + strlen(item);
    const time_style style = {.years = true, .order = of_column ? of_column->order : DATE_ORDER_UNSAID};
    time_span from, to;
    if (is_time(item, end, &style, &from)) {
        range[0] = from.begin;
        range[1] = from.end - 1;
        return true;
    }
    for (const char *colon = item; (colon = strchr(colon, ':')); colon++) {
        const bool open = colon == item, open_end = colon + 1 == end;
        if ((!open && !is_time(item, colon, &style, &from)) || (!open_end && !is_time(colon + 1, end, &style, &to)) ||
            (open && open_end))
            continue;
        range[0] = open ? INT64_MIN : from.begin;
        range[1] = open_end ? INT64_MAX : to.end - 1;
        return true;
    }
    return false;
}

static int add_times(condition *c, const where_condition *from, const time_style *style, const char *item,
                     const char *name, fault *f)
{
    int64_t range[2];
    if (!parse_times(item, style, range))
        return fault_set(f, EXIT_USAGE,
                         "--where %.60s=%.60s: '%.60s' is not a date or a range such as 2015-01:2015-06, and %s has "
                         "dates there",
                         from->column, from->values, item, name);
    if (range[0] > range[1])
        return fault_set(f, EXIT_USAGE, "the range '%s' of --where ends before it begins: put the earlier date first",
                         item);
    return add_integers(c, range[0], range[1], f);
}

/* 1 for true and 0 for false, which is how booleans are stored; other items unchanged. */
static char *digit_of_truth(char *item)
{
    const bool is_true = strcasecmp(item, "true") == 0;
    if (is_true || strcasecmp(item, "false") == 0) strcpy(item, is_true ? "1" : "0");
    return item;
}

static int add_numbers(condition *c, const where_condition *from, char *item, const char *name, fault *f)
{
    condition_range range = {0};
    if (!parse_numbers(c, item, &range))
        return fault_set(f, EXIT_USAGE,
                         "--where %.60s=%.60s: '%.60s' is not a number or a range LO:HI, and %s has numbers there",
                         from->column, from->values, item, name);
    range.nearest_lo = range.lo;
    range.nearest_hi = range.hi;
    if (range.whole_lo > range.whole_hi)
        return fault_set(f, EXIT_USAGE, "the range '%s' of --where ends before it begins: put the smaller number first",
                         item);
    return add_range(c, range, f);
}

/* Words have the first codes, all others the next one. */
static int freeze_words(condition *c, fault *f)
{
    return dictionary_freeze_as_is(c->words) == 0 ? add_integers(c, 0, (int64_t)dictionary_bins(c->words) - 1, f)
                                                  : fault_memory(f);
}

int condition_parse(condition *c, const where_condition *from, values_kind kind, bool boolean, const time_style *style,
                    const char *name, fault *f)
{
    *c = (condition){.negated = from->negated};
    char *items = strdup(from->values), *rest = items;
    if (kind == VALUES_WORDS) c->words = dictionary_make();
    int failed = items && (kind != VALUES_WORDS || c->words) ? 0 : fault_memory(f);
    while (rest && !failed) {
        char *item = text_list_item(&rest);
        uint32_t code;
        if (kind == VALUES_TIMES)
            failed = add_times(c, from, style, item, name, f);
        else if (kind != VALUES_WORDS)
            failed = add_numbers(c, from, boolean ? digit_of_truth(item) : item, name, f);
        else if (dictionary_code(c->words, item, strlen(item), &code) != 0)
            failed = fault_memory(f);
    }
    if (!failed && kind == VALUES_WORDS) failed = freeze_words(c, f);
    free(items);
    if (failed) condition_free(c);
    return failed;
}

void condition_free(condition *c)
{
    free(c->ranges);
    dictionary_free(c->words);
    *c = (condition){0};
}

bool condition_has(const condition *c, long double value)
{
    bool inside = false;
    for (int k = 0; k < c->count; k++)
        inside |= (value >= c->ranges[k].whole_lo) & (value <= c->ranges[k].whole_hi);
    return inside;
}

/* The nearest number in a float type narrower than f64; others unchanged. */
static double nearest(double value, histo_dtype dtype)
{
    static const struct {
        int digits, lowest; /* of the significand; the exponent of the smallest number */
    } floats[HISTO_DTYPE_COUNT] = {[HISTO_F16] = {11, -24}, [HISTO_BF16] = {8, -133}, [HISTO_F32] = {24, -149}};
    if (!floats[dtype].digits || !isfinite(value) || value == 0) return value;
    const int digit = ilogb(value) + 1 - floats[dtype].digits;
    const int last = digit > floats[dtype].lowest ? digit : floats[dtype].lowest;
    return scalbn(nearbyint(scalbn(value, -last)), last);
}

void filter_set_range(histo_fill_options *fill, const histo_view *where, double lo, double hi)
{
    fill->where = where;
    fill->where_lo = nearest(lo, where->dtype);
    fill->where_hi = nearest(hi, where->dtype);
}

bool condition_has_double(const condition *c, double value)
{
    bool inside = false;
    for (int k = 0; k < c->count; k++)
        inside |= (value >= c->ranges[k].nearest_lo) & (value <= c->ranges[k].nearest_hi);
    return inside;
}

bool condition_has_written(const condition *c, const char *text)
{
    char *end;
    const long double value = strtold(text, &end);
    const bool is_integer = !memchr(text, '.', (size_t)(end - text)) && !memchr(text, 'e', (size_t)(end - text)) &&
                            !memchr(text, 'E', (size_t)(end - text));
    return is_integer ? condition_has(c, value) : condition_has_double(c, strtod(text, NULL));
}

/* Samples are `stride` bytes apart. */
static void keep_row(const condition *c, const char *at, int64_t stride, histo_dtype dtype, int64_t count,
                     unsigned char *keep)
{
    for (int64_t i = 0; i < count; i++, at += stride) {
        const bool inside = c->told              ? *at
                            : dtype == HISTO_I64 ? condition_has(c, (long double)*(const int64_t *)at)
                            : dtype == HISTO_U64 ? condition_has(c, (long double)*(const uint64_t *)at)
                            : dtype == HISTO_F64 ? condition_has_double(c, *(const double *)at)
                                                 : condition_has_double(c, histo_sample_value(at, dtype));
        keep[i] &= (unsigned char)(inside != c->negated);
    }
}

void condition_apply(condition *c, const histo_view *values, unsigned char *keep)
{
    for (int k = 0; k < c->count; k++) {
        c->ranges[k].nearest_lo = nearest(c->ranges[k].lo, values->dtype);
        c->ranges[k].nearest_hi = nearest(c->ranges[k].hi, values->dtype);
    }
    const int last = values->ndim - 1;
    int64_t rows = last > 0 ? values->shape[0] : 1, columns = values->shape[last], stride = values->strides[last];
    const int64_t pitch = values->strides[0];
    if (columns == 1) {
        columns = rows;
        stride = pitch;
        rows = 1;
    }
    for (int64_t y = 0; y < rows; y++)
        keep_row(c, (const char *)values->data + y * pitch, stride, values->dtype, columns, keep + y * columns);
}
