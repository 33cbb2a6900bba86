/* Options for which samples are read, and which of them are counted. */
#define _GNU_SOURCE
#include "options/parse.h"
#include "options/values.h"

#include <ctype.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dates/pattern.h"
#include "base/dates/zone.h"
#include "base/text.h"

/* NumPy's names, and its codes, which count bytes and follow a byte order. */
static const struct {
    const char *name, *code;
    histo_dtype dtype;
} numpy_dtypes[] = {
    {"uint8", "u1", HISTO_U8},    {"int8", "i1", HISTO_I8},     {"uint16", "u2", HISTO_U16},
    {"int16", "i2", HISTO_I16},   {"uint32", "u4", HISTO_U32},  {"int32", "i4", HISTO_I32},
    {"uint64", "u8", HISTO_U64},  {"int64", "i8", HISTO_I64},   {"float16", "f2", HISTO_F16},
    {"float32", "f4", HISTO_F32}, {"float64", "f8", HISTO_F64}, {"bfloat16", "", HISTO_BF16},
};

static bool parse_dtype(const char *text, histo_dtype *dtype)
{
    bool has_order = *text && strchr("<>=|", *text);
    if (!has_order && histo_dtype_parse(text, dtype) == HISTO_OK) return true;
    for (size_t i = 0; i < sizeof numpy_dtypes / sizeof *numpy_dtypes; i++) {
        if (strcmp(has_order ? text + 1 : text, has_order ? numpy_dtypes[i].code : numpy_dtypes[i].name) != 0) continue;
        *dtype = numpy_dtypes[i].dtype;
        return !has_order || (text[1] && (*text != '|' || text[2] == '1')); /* '|': no byte order */
    }
    return false;
}

int value_dtype(settings *s, char *text, fault *f)
{
    if (parse_dtype(text, &s->read.dtype)) {
        s->read.has_dtype = true;
        return 0;
    }
    return fault_set(
        f, EXIT_USAGE,
        "there is no sample type '%s': --dtype takes u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64 (bits), "
        "NumPy's names (uint8), or NumPy's codes with a byte order (<f4, >u2: bytes)",
        text);
}

int value_shape(settings *s, char *text, fault *f)
{
    int64_t samples = 1;
    int ndim = parse_naturals(text, "x,", s->read.shape, HISTO_MAX_DIMS);
    if (ndim < 0)
        return fault_set(f, EXIT_USAGE,
                         "'%s' is not a shape: --shape takes up to %d whole numbers, as in 3x480x640 or 3,480,640",
                         text, HISTO_MAX_DIMS);
    for (int d = 0; d < ndim; d++) {
        if (s->read.shape[d] == 0)
            return fault_set(f, EXIT_USAGE, "a shape of '%s' holds no sample: each number of --shape must be 1 or more",
                             text);
        if (__builtin_mul_overflow(samples, s->read.shape[d], &samples))
            return fault_set(f, EXIT_USAGE, "a shape of '%s' is larger than any file: make --shape fit the data", text);
    }
    s->read.ndim = ndim;
    return 0;
}

int value_endian(settings *s, char *text, fault *f)
{
    const int which = parse_choice("endian", text, "little big", f);
    s->read.big_endian = which == 1;
    return which < 0 ? -1 : 0;
}

int value_pairs(settings *s, char *text, fault *f)
{
    const int which = parse_choice("pairs", text, "ring apart", f);
    s->pairs = which == 0 ? HISTO_PAIRS_RING : HISTO_PAIRS_APART;
    return which < 0 ? -1 : 0;
}

int value_page(settings *s, char *text, fault *f)
{
    int64_t page = -1;
    if (strcmp(text, "all") != 0 && (!text_to_i64(text, &page) || page < 0 || page > INT32_MAX))
        return fault_set(f, EXIT_USAGE, "--page takes the number of a page, from 0, or all, not '%s'", text);
    s->read.page = (int)page;
    s->read.has_page = true;
    return 0;
}

int value_delimiter(settings *s, char *text, fault *f)
{
    static const struct {
        const char *name;
        char character;
    } named[] = {{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'},    {"\\t", '\t'},
                 {"space", ' '}, {"pipe", '|'},      {"newline", '\n'}};
    s->read.delimiter = text[0] && !text[1] ? text[0] : '\0';
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(text, named[i].name) == 0) s->read.delimiter = named[i].character;
    if (s->read.delimiter) return 0;
    return fault_set(f, EXIT_USAGE,
                     "--delimiter takes one character, or comma, semicolon, tab, space, pipe or newline, not '%s'",
                     text);
}

int value_comment(settings *s, char *text, fault *f)
{
    const bool none = strcmp(text, "none") == 0, character = text[0] > ' ' && text[0] < 0x7f && !text[1];
    s->read.comment = none ? COMMENT_NONE : text[0];
    if (none || (character && !isalnum((unsigned char)text[0]) && !strchr("+-.\"", text[0]))) return 0;
    return fault_set(f, EXIT_USAGE, "--comment takes a character that no number or name begins with, or none, not '%s'",
                     text);
}

int value_date_format(settings *s, char *text, fault *f)
{
    s->read.date_order = strcmp(text, "dmy") == 0 ? DAY_FIRST : strcmp(text, "mdy") == 0 ? MONTH_FIRST : 0;
    if (s->read.date_order) return 0;
    const char *wrong = strchr(text, '%') ? date_pattern_check(text) : "it has no %";
    if (wrong)
        return fault_set(f, EXIT_USAGE,
                         "--date-format takes mdy, dmy, or a format such as %%d.%%m.%%Y, not '%.60s': %s", text, wrong);
    s->read.date_pattern = text;
    return 0;
}

int value_decimal(settings *s, char *text, fault *f)
{
    s->read.decimal = text[0];
    if ((text[0] == ',' || text[0] == '.') && !text[1]) return 0;
    return fault_set(f, EXIT_USAGE, "--decimal takes , or ., not '%s'", text);
}

int value_number(settings *s, char *text, fault *f)
{
    regex_t pattern;
    char why[100];
    const int wrong = regcomp(&pattern, text, REG_EXTENDED);
    s->read.number = text;
    if (!wrong) regfree(&pattern);
    if (!wrong && *text) return 0;
    if (wrong) regerror(wrong, &pattern, why, sizeof why);
    return fault_set(f, EXIT_USAGE, "--number '%.60s' is not an extended regular expression: %s", text,
                     wrong ? why : "it is empty");
}

int value_cycle(settings *s, char *text, fault *f)
{
    const int which = parse_choice("cycle", text, "day week year", f);
    s->cycle = (time_cycle)(which + 1);
    return which < 0 ? -1 : 0;
}

int value_timezone(settings *s, char *text, fault *f)
{
    (void)s;
    if (zone_set(text)) return 0;
    return fault_set(f, EXIT_USAGE,
                     "--timezone '%.60s' is not a zone of this system: give UTC, local, written, an offset such as "
                     "+01:00, or a name such as Europe/Berlin, for which Debian has the package tzdata",
                     text);
}

int value_header(settings *s, char *text, fault *f)
{
    const int which = parse_choice("header", text, "yes no", f);
    s->read.header = which == 0;
    return which < 0 ? -1 : 0;
}

int value_roi(settings *s, char *text, fault *f)
{
    s->has_roi = true;
    return parse_region("roi", text, s->roi, f);
}

/* An end of a range: the number, or `open` if it is empty. */
static bool parse_end(const char *text, double open, double *value)
{
    *value = open;
    return !*text || text_to_f64(text, value);
}

/* LO:HI, LO: or :HI: 1, 0 if the text is anything else, -1 if it ends before it begins. */
static int parse_where_range(const char *text, double range[2], fault *f)
{
    char ends[2 * TEXT_NUMBER_BYTES];
    char *colon = strlen(text) < sizeof ends ? strchr(strcpy(ends, text), ':') : NULL;
    if (colon) *colon = '\0';
    if (!colon || !parse_end(ends, -INFINITY, &range[0]) || !parse_end(colon + 1, INFINITY, &range[1])) return 0;
    if (range[0] <= range[1]) return 1;
    return fault_set(f, EXIT_USAGE, "the range '%s' of --where ends before it begins: put the smaller number first",
                     text);
}

/* Whether the number at the beginning of a text is a 64-bit integer that no double represents. */
static bool is_rounded(const char *text)
{
    const long double value = strtold(text, NULL);
    const char after = text[strcspn(text, ":.eE")];
    return (after == '\0' || after == ':') && fabsl(value) >= 0x1p53L && fabsl(value) < 0x1p64L &&
           (double)value != value;
}

/* Filter the samples by their own values: several ranges are intersected. */
static int filter_samples(settings *s, const char *text, const double range[2], fault *f)
{
    if (is_rounded(text) || is_rounded(strchr(text, ':') + 1))
        return fault_set(f, EXIT_USAGE,
                         "--where %.80s: this is compared as doubles, which do not hold all integers beyond 2^53; name "
                         "the column to compare integers: --where NAME=%.80s",
                         text, text);
    if (!s->has_where) memcpy(s->where, range, sizeof s->where);
    s->where[0] = fmax(s->where[0], range[0]);
    s->where[1] = fmin(s->where[1], range[1]);
    s->has_where = true;
    if (s->where[0] <= s->where[1]) return 0;
    return fault_set(f, EXIT_USAGE, "the ranges of --where have nothing in common: leave one out");
}

int value_where(settings *s, char *text, fault *f)
{
    double range[2];
    char *equals = strrchr(text, '=');
    const int is_range = parse_where_range(equals ? equals + 1 : text, range, f);
    if (is_range < 0) return -1;
    if (!equals && is_range) return filter_samples(s, text, range, f);
    if (!is_range) equals = strchr(text, '='); /* values may contain one, as may names before a range */
    if (!equals || !equals[1])
        return fault_set(f, EXIT_USAGE,
                         "'%s' is not a range: --where takes LO:HI, LO: or :HI, or NAME=LO:HI, NAME=VALUE,… or "
                         "NAME!=VALUE,… for another column",
                         text);
    const bool negated = equals > text && equals[-1] == '!';
    if (equals == text + negated)
        return fault_set(f, EXIT_USAGE, "--where '%s' names no column before the '=': write NAME=LO:HI", text);
    if (s->conditions_count == MAX_CONDITIONS)
        return fault_set(f, EXIT_USAGE, "--where is given more than %d times: leave some out", MAX_CONDITIONS);
    equals[-negated] = '\0';
    s->conditions[s->conditions_count++] = (where_condition){text, equals + 1, negated};
    return 0;
}

int value_where_of_samples(settings *s, char *text, fault *f)
{
    if (value_where(s, text, f) != 0) return -1;
    if (!s->conditions_count) return 0;
    return fault_set(f, EXIT_USAGE, "'histo standardize' filters samples by themselves: write --where LO:HI");
}

/* LIST or LIST=UNIT. */
int value_time(settings *s, char *text, fault *f)
{
    static const char *const units[TIME_UNITS] = {"s", "ms", "us", "ns"};
    char *equals = strrchr(text, '=');
    int unit = 0;
    while (equals && unit < TIME_UNITS && strcmp(equals + 1, units[unit]) != 0)
        unit++;
    if (unit == TIME_UNITS)
        return fault_set(f, EXIT_USAGE, "--time %s: the unit is s, ms, us or ns, as in --time t=ms", text);
    if (equals) *equals = '\0';
    const char **list = &s->times[unit];
    *list = *list ? settings_join(s, *list, LIST_DIVIDER, text) : text;
    return *list ? 0 : fault_set(f, EXIT_DATA, "no memory for the options");
}

int value_top(settings *s, char *text, fault *f)
{
    int64_t top = UINT32_MAX;
    if (strcmp(text, "all") != 0 && (!text_to_i64(text, &top) || top < 1 || top > UINT32_MAX))
        return fault_set(f, EXIT_USAGE, "--top takes a number of values, 1 or more, or all, not '%s'", text);
    s->top = (uint32_t)top;
    return 0;
}
