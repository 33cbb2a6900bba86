#define _GNU_SOURCE
#include "modules/arrow/leaf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "input/samples/unpack.h"

/* ---- Types ---------------------------------------------------------------------------------------------- */

static bool set_number(leaf *c, char letter)
{
    static const char letters[] = "cCsSiIlLefg";
    static const histo_dtype dtypes[] = {HISTO_I8,  HISTO_U8,  HISTO_I16, HISTO_U16, HISTO_I32, HISTO_U32,
                                         HISTO_I64, HISTO_U64, HISTO_F16, HISTO_F32, HISTO_F64};
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (!found) return false;
    c->type = LEAF_NUMBERS;
    c->dtype = dtypes[found - letters];
    return true;
}

static leaf_type strings_of(const char *format)
{
    if (strcmp(format, "u") == 0) return LEAF_STRINGS;
    if (strcmp(format, "U") == 0) return LEAF_LARGE_STRINGS;
    return strcmp(format, "vu") == 0 ? LEAF_STRING_VIEWS : LEAF_OTHER;
}

static void set_time(leaf *c, const char *format)
{
    static const char units[] = "smun";
    static const int64_t per_second[] = {1, 1000, 1000000, 1000000000};
    const char *unit = format[1] && format[2] ? strchr(units, format[2]) : NULL;
    if (format[1] == 'd') {
        c->type = format[2] == 'D' ? LEAF_DATES : LEAF_TIMES;
        c->per_second = 1000;
    } else if (format[1] == 's' && unit) {
        c->type = LEAF_TIMES;
        c->per_second = per_second[unit - units];
        c->zoned = format[3] == ':' && format[4];
    } else { /* times of day, and durations */
        c->per_second = unit ? per_second[unit - units] : 0;
        set_number(c, format[1] == 't' && (format[2] == 's' || format[2] == 'm') ? 'i' : 'l');
    }
}

static void set_type(leaf *c, const struct ArrowSchema *schema)
{
    const char *format = schema->format;
    c->what = "values of an unsupported type";
    if (schema->dictionary) {
        c->words = strings_of(schema->dictionary->format);
        if (c->words != LEAF_OTHER && set_number(c, format[0])) c->type = LEAF_DICTIONARY;
    } else if (format[0] && !format[1] && set_number(c, format[0])) {
        return;
    } else if (strcmp(format, "n") == 0) {
        c->type = LEAF_NULLS;
    } else if (strcmp(format, "b") == 0) {
        c->type = LEAF_BITS;
    } else if (format[0] == 't') {
        set_time(c, format);
    } else if (format[0] == 'd') {
        int precision;
        c->bits = 128;
        if (sscanf(format, "d:%d,%d,%d", &precision, &c->scale, &c->bits) >= 2 &&
            (c->bits == 32 || c->bits == 64 || c->bits == 128 || c->bits == 256))
            c->type = LEAF_DECIMALS;
    } else {
        c->type = strings_of(format);
        c->what = format[0] == '+' ? "lists" : strpbrk(format, "zZw") ? "bytes" : c->what;
    }
}

/* ---- Columns -------------------------------------------------------------------------------------------- */

static leaf *add(leaves *c)
{
    leaf *more = list_grown(c->of, c->count, sizeof *more);
    if (!more) return NULL;
    c->of = more;
    memset(&c->of[c->count], 0, sizeof *c->of);
    return &c->of[c->count++];
}

/* Add the leaves of a field. Those of lists count, as in Parquet, but cannot be selected. */
static bool add_leaves(leaves *c, const struct ArrowSchema *schema, const char *prefix, int *path, int depth,
                       bool in_list)
{
    char *name;
    const char *own = schema->name && !in_list ? schema->name : ""; /* a list's contents have the name of the list */
    if (asprintf(&name, "%s%s%s", prefix, *prefix && *own ? "." : "", own) < 0) return false;
    const bool structure = strcmp(schema->format, "+s") == 0;
    bool complete = depth < DEEPEST;
    for (int64_t i = 0; i < schema->n_children && complete; i++) {
        path[depth] = (int)i;
        complete = add_leaves(c, schema->children[i], name, path, depth + 1, in_list || !structure);
    }
    if (schema->n_children == 0 && complete) {
        leaf *made = add(c);
        complete = made;
        if (made) {
            set_type(made, schema);
            if (in_list) made->type = LEAF_OTHER;
            if (in_list) made->what = "lists";
            memcpy(made->path, path, (size_t)depth * sizeof *path);
            made->depth = depth;
            made->field = path[0];
            made->name = name;
            return true;
        }
    }
    free(name);
    return complete;
}

bool leaves_find(leaves *c, const struct ArrowSchema *schema)
{
    int path[DEEPEST];
    for (int64_t i = 0; i < schema->n_children; i++) {
        path[0] = (int)i;
        if (!add_leaves(c, schema->children[i], "", path, 1, false)) return false;
    }
    return true;
}

void leaves_free(leaves *c)
{
    for (int i = 0; i < c->count; i++)
        free(c->of[i].name);
    free(c->of);
    *c = (leaves){0};
}

values_kind leaf_kind(const leaf *c)
{
    switch (c->type) {
    case LEAF_STRINGS:
    case LEAF_LARGE_STRINGS:
    case LEAF_STRING_VIEWS:
    case LEAF_DICTIONARY:
        return VALUES_WORDS;
    case LEAF_DATES:
    case LEAF_TIMES:
        return VALUES_TIMES;
    default:
        return VALUES_NUMBERS;
    }
}

histo_dtype leaf_dtype(const leaf *c)
{
    if (c->type == LEAF_NUMBERS) return c->dtype;
    if (c->type == LEAF_BITS) return HISTO_U8;
    return leaf_kind(c) == VALUES_TIMES ? HISTO_I64 : HISTO_F64;
}

/* ---- Values --------------------------------------------------------------------------------------------- */

bool leaf_bit(const void *bits, int64_t at)
{
    return ((const unsigned char *)bits)[at / 8] >> (at % 8) & 1;
}

static void clear_missing(const struct ArrowArray *array, int64_t first, int64_t count, bool *valid)
{
    if (array->null_count == 0 || array->n_buffers == 0 || !array->buffers[0]) return;
    for (int64_t i = 0; i < count; i++)
        valid[i] = valid[i] && leaf_bit(array->buffers[0], first + i);
}

const struct ArrowArray *leaf_array(const leaf *c, const struct ArrowArray *batch, int64_t from, int64_t count,
                                    bool *valid, int64_t *first)
{
    const struct ArrowArray *array = batch;
    *first = batch->offset;
    for (int d = 0; d < c->depth; d++) {
        array = array->children[c->path[d]];
        *first += array->offset;
        clear_missing(array, *first + from, count, valid);
    }
    return array;
}

unpack_number leaf_number(const leaf *c, const struct ArrowArray *array, int64_t at)
{
    const char *values = array->buffers[1];
    return unpack_load(values + (size_t)at * histo_dtype_size(c->dtype), c->dtype);
}

double leaf_decimal(const leaf *c, const struct ArrowArray *array, int64_t at)
{
    enum { WORD = 32, MOST_WORDS = 256 / WORD };
    const int words = c->bits / WORD;
    uint32_t word[MOST_WORDS];
    memcpy(word, (const char *)array->buffers[1] + at * (c->bits / 8), (size_t)c->bits / 8);
    const bool negative = word[words - 1] >> (WORD - 1);
    uint64_t carry = 1;
    for (int i = 0; i < words && negative; i++) { /* two's complement */
        carry += (uint32_t)~word[i];
        word[i] = (uint32_t)carry;
        carry >>= WORD;
    }
    /* As decimal digits, which the C library rounds once. */
    char digits[96];
    int at_digit = sizeof digits - 1;
    digits[at_digit] = '\0';
    for (bool more = true; more && at_digit > 8;) {
        uint64_t rest = 0;
        more = false;
        for (int i = words - 1; i >= 0; i--) {
            rest = rest << WORD | word[i];
            word[i] = (uint32_t)(rest / 10);
            rest %= 10;
            more = more || word[i];
        }
        digits[--at_digit] = (char)('0' + rest);
    }
    char text[128];
    snprintf(text, sizeof text, "%s%se%d", negative ? "-" : "", digits + at_digit, -c->scale);
    return strtod(text, NULL);
}

/* Times beyond 64 bits are clamped. */
static int64_t scale(int64_t value, int64_t factor)
{
    int64_t product;
    if (__builtin_mul_overflow(value, factor, &product)) return value < 0 ? INT64_MIN : INT64_MAX;
    return product;
}

int64_t leaf_microseconds(const leaf *c, const struct ArrowArray *array, int64_t at)
{
    const int64_t second = 1000000;
    if (c->type == LEAF_DATES) return scale(((const int32_t *)array->buffers[1])[at], 86400 * second);
    const int64_t value = ((const int64_t *)array->buffers[1])[at];
    if (c->per_second <= second) return scale(value, second / c->per_second);
    const int64_t divisor = c->per_second / second;
    return value / divisor - (value % divisor < 0);
}

const char *leaf_string(leaf_type type, const struct ArrowArray *array, int64_t at, size_t *size)
{
    if (type == LEAF_STRING_VIEWS) {
        const char *view = (const char *)array->buffers[1] + 16 * at;
        int32_t length, buffer, offset;
        memcpy(&length, view, sizeof length);
        memcpy(&buffer, view + 8, sizeof buffer);
        memcpy(&offset, view + 12, sizeof offset);
        *size = (size_t)length;
        return length <= 12 ? view + 4 : (const char *)array->buffers[2 + buffer] + offset;
    }
    const bool large = type == LEAF_LARGE_STRINGS;
    const int32_t *small = array->buffers[1];
    const int64_t *wide = array->buffers[1];
    const int64_t begin = large ? wide[at] : small[at], end = large ? wide[at + 1] : small[at + 1];
    *size = (size_t)(end - begin);
    return (const char *)array->buffers[2] + begin;
}

int64_t leaf_index(const leaf *c, const struct ArrowArray *array, int64_t at)
{
    return leaf_number(c, array, at).i;
}
