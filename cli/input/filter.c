#include "input/filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/times.h"

static int fault_memory(fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the conditions of --where");
}

static int add_range(condition *c, double lo, double hi, fault *f)
{
    double(*more)[2] = realloc(c->ranges, (size_t)(c->count + 1) * sizeof *more);
    if (!more) return fault_memory(f);
    c->ranges = more;
    more[c->count][0] = lo;
    more[c->count++][1] = hi;
    return 0;
}

static bool parse_end(const char *text, double open, double *value)
{
    *value = open;
    return !*text || text_to_f64(text, value);
}

/* LO:HI, or a number. */
static bool parse_numbers(char *item, double range[2])
{
    char *colon = strchr(item, ':');
    if (!colon) return text_to_f64(item, &range[0]) && text_to_f64(item, &range[1]);
    *colon = '\0';
    const bool good = parse_end(item, -INFINITY, &range[0]) && parse_end(colon + 1, INFINITY, &range[1]);
    *colon = ':';
    return good;
}

/* A period, or all from the beginning of one to the end of another, either of which may be open. */
static bool parse_times(const char *item, double range[2])
{
    const char *end = item + strlen(item);
    time_span from, to;
    if (time_parse(item, end, true, &from)) {
        range[0] = (double)from.begin;
        range[1] = (double)(from.end - 1);
        return true;
    }
    for (const char *colon = item; (colon = strchr(colon, ':')); colon++) {
        const bool open = colon == item, open_end = colon + 1 == end;
        if ((!open && !time_parse(item, colon, true, &from)) || (!open_end && !time_parse(colon + 1, end, true, &to)) ||
            (open && open_end))
            continue;
        range[0] = open ? -INFINITY : (double)from.begin;
        range[1] = open_end ? INFINITY : (double)(to.end - 1);
        return true;
    }
    return false;
}

static int add_times(condition *c, const where_condition *from, const char *item, const char *name, fault *f)
{
    double range[2];
    if (!parse_times(item, range))
        return fault_set(f, EXIT_USAGE,
                         "--where %.60s=%.60s: '%.60s' is not a date or a range such as 2015-01:2015-06, and %s has "
                         "dates there",
                         from->column, from->values, item, name);
    if (range[0] > range[1])
        return fault_set(f, EXIT_USAGE, "the range '%s' of --where ends before it begins: put the earlier date first",
                         item);
    return add_range(c, range[0], range[1], f);
}

/* Is an end an integer of 64 bits that no double holds? */
static bool is_rounded(const char *item)
{
    for (const char *end = item, *colon; end; end = colon ? colon + 1 : NULL) {
        const long double value = strtold(end, NULL);
        if (fabsl(value) >= 0x1p53L && fabsl(value) < 0x1p64L && (double)value != value) return true;
        colon = strchr(end, ':');
    }
    return false;
}

static int add_numbers(condition *c, const where_condition *from, char *item, const char *name, fault *f)
{
    double range[2];
    if (!parse_numbers(item, range))
        return fault_set(f, EXIT_USAGE,
                         "--where %.60s=%.60s: '%.60s' is not a number or a range LO:HI, and %s has numbers there",
                         from->column, from->values, item, name);
    if (is_rounded(item))
        return fault_set(f, EXIT_USAGE,
                         "--where %.60s=%.60s: numbers are compared as doubles, which do not hold all integers beyond "
                         "2^53: give one that they hold, such as %.0f",
                         from->column, item, range[1] < INFINITY ? range[1] : range[0]);
    if (range[0] > range[1])
        return fault_set(f, EXIT_USAGE, "the range '%s' of --where ends before it begins: put the smaller number first",
                         item);
    return add_range(c, range[0], range[1], f);
}

/* Words have the first codes, all others the next one. */
static int freeze_words(condition *c, fault *f)
{
    return dictionary_freeze_as_is(c->words) == 0 ? add_range(c, 0, (double)dictionary_bins(c->words) - 1, f)
                                                  : fault_memory(f);
}

int condition_parse(condition *c, const where_condition *from, values_kind kind, const char *name, fault *f)
{
    *c = (condition){.negated = from->negated};
    char *items = strdup(from->values), *rest = items;
    if (kind == VALUES_WORDS) c->words = dictionary_make();
    int failed = items && (kind != VALUES_WORDS || c->words) ? 0 : fault_memory(f);
    while (rest && !failed) {
        char *item = text_list_item(&rest);
        uint32_t code;
        if (kind == VALUES_TIMES)
            failed = add_times(c, from, item, name, f);
        else if (kind != VALUES_WORDS)
            failed = add_numbers(c, from, item, name, f);
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

/* Samples that lie `stride` bytes apart. */
static void keep_row(const condition *c, const char *at, int64_t stride, histo_dtype dtype, int64_t count,
                     unsigned char *keep)
{
    for (int64_t i = 0; i < count; i++) {
        const double value =
            dtype == HISTO_F64 ? *(const double *)(at + i * stride) : histo_sample_value(at + i * stride, dtype);
        bool inside = false;
        for (int k = 0; k < c->count; k++)
            inside |= (value >= c->ranges[k][0]) & (value <= c->ranges[k][1]);
        keep[i] &= (unsigned char)(inside != c->negated);
    }
}

void condition_apply(const condition *c, const histo_view *values, unsigned char *keep)
{
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
