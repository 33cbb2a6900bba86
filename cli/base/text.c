#define _GNU_SOURCE
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <histo/histo.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool text_to_i64(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && !isspace((unsigned char)*text);
}

bool text_to_f64(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end != '\0' || isspace((unsigned char)*text) || isnan(*value)) return false;
    return isfinite(*value) || strcasestr(text, "inf");
}

char *text_trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text;
}

size_t text_character_bytes(const char *at)
{
    const unsigned char *text = (const unsigned char *)at;
    size_t size = text[0] < 0x80   ? 1
                  : text[0] < 0xc2 ? 0
                  : text[0] < 0xe0 ? 2
                  : text[0] < 0xf0 ? 3
                  : text[0] < 0xf5 ? 4
                                   : 0;
    for (size_t i = 1; i < size; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    bool surrogate = text[0] == 0xed && text[1] >= 0xa0,
         overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    return surrogate || overlong || (text[0] == 0xf4 && text[1] >= 0x90) ? 0 : size;
}

/* Strip the quotes of the quoted item at `from`; returns its end, or NULL if the closing quote is not followed by a
 * comma or the end. */
static char *unquote(char *from)
{
    const char *q = from + 1;
    while (*q && (*q != '"' || q[1] == '"'))
        q += *q == '"' ? 2 : 1;
    if (*q != '"') return NULL;
    char *end = from + (q - from);
    const size_t blanks = strspn(end + 1, " \t");
    if (end[1 + blanks] && end[1 + blanks] != ',') return NULL;
    char *to = from;
    for (q = from + 1; q < end; q++) {
        *to++ = *q;
        q += *q == '"';
    }
    memset(to, '\0', (size_t)(end + 1 + blanks - to));
    return end + 1 + blanks;
}

char *text_list_item(char **rest)
{
    char *item = *rest;
    if (!item) return NULL;
    while (isspace((unsigned char)*item))
        item++;
    char *end = *item == '"' ? unquote(item) : NULL;
    const bool quoted = end;
    if (!end) end = item + strcspn(item, ",");
    *rest = *end ? end + 1 : NULL;
    *end = '\0';
    return quoted ? item : text_trim(item);
}

int text_quote_item(const char *item, char *to, size_t size)
{
    if (*item && !strpbrk(item, "\",") && !isspace((unsigned char)*item) &&
        !isspace((unsigned char)item[strlen(item) - 1]))
        return snprintf(to, size, "%s", item);
    int length = snprintf(to, size, "\"");
    for (; *item && (size_t)length < size; item++)
        length += snprintf(to + length, size - (size_t)length, "%s%c", *item == '"' ? "\"" : "", *item);
    return (size_t)length < size ? length + snprintf(to + length, size - (size_t)length, "\"") : length;
}

int text_list_count(const char *list)
{
    char *copy = strdup(list), *rest = copy;
    int count = 0;
    for (; rest; count++)
        text_list_item(&rest);
    free(copy);
    return count;
}

char *text_put_utf8(char *to, uint32_t c)
{
    static const struct {
        uint32_t below;
        unsigned char lead;
        int more;
    } forms[] = {{0x80, 0, 0}, {0x800, 0xc0, 1}, {0x10000, 0xe0, 2}, {0x110000, 0xf0, 3}};
    int i = 0;
    while (i < 3 && c >= forms[i].below)
        i++;
    *to++ = (char)(forms[i].lead | c >> 6 * forms[i].more);
    for (int k = forms[i].more; k-- > 0;)
        *to++ = (char)(0x80 | (c >> 6 * k & 0x3f));
    return to;
}

bool text_turns(const char *at)
{
    const size_t bytes = text_character_bytes(at);
    const unsigned char *c = (const unsigned char *)at;
    const uint32_t code = bytes == 2   ? (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu)
                          : bytes == 3 ? (c[0] & 0xfu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu)
                                       : 0;
    return code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

char *text_make_printable(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        const size_t bytes = text_character_bytes(from);
        const unsigned char first = (unsigned char)from[0];
        const bool is_c1 = bytes == 2 && first == 0xc2 && (unsigned char)from[1] < 0xa0;
        if (bytes == 0 || first < ' ' || first == 0x7f || is_c1 || text_turns(from)) {
            *to++ = '?';
            from += bytes ? bytes : 1;
        } else {
            memmove(to, from, bytes);
            to += bytes;
            from += bytes;
        }
    }
    *to = '\0';
    return text;
}

void text_put_line(const char *text, FILE *out)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        fprintf(out, *c < ' ' || *c == 0x7f || *c == '\\' ? "\\x%02x" : "%c", *c);
    fputc('\n', out);
}

uint32_t text_checksum(const char *text, size_t size)
{
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ (unsigned char)text[i]) * 16777619u;
    return sum;
}

bool text_has_suffix(const char *text, const char *suffix)
{
    const size_t length = strlen(text), size = strlen(suffix);
    return length > size && strcasecmp(text + length - size, suffix) == 0;
}

const char *text_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

char *text_exact(double value, char out[TEXT_NUMBER_BYTES])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, TEXT_NUMBER_BYTES, "%.*g", digits, value);
        if (strtod(out, NULL) == value) break;
    }
    if (isnan(value)) strcpy(out, "nan"); /* without a sign */
    return out;
}

char *text_count(uint64_t value, char out[TEXT_NUMBER_BYTES])
{
    char plain[TEXT_NUMBER_BYTES], *to = out;
    int digits = snprintf(plain, sizeof plain, "%" PRIu64, value);
    for (int i = 0; i < digits; i++) {
        if (i && digits > 4 && (digits - i) % 3 == 0) *to++ = ' ';
        *to++ = plain[i];
    }
    *to = '\0';
    return out;
}

char *text_short(double value, char out[TEXT_NUMBER_BYTES])
{
    snprintf(out, TEXT_NUMBER_BYTES, "%.6g", value + 0.0); /* -0 becomes 0 */
    if (isnan(value)) strcpy(out, "nan");                  /* without a sign */
    return out;
}

char *text_among(double value, double min, double max, char out[TEXT_NUMBER_BYTES])
{
    double most = fmax(fabs(min), fabs(max)), spread = max - min;
    int digits = spread > 0 ? (int)fmin(17, ceil(log10(most / spread)) + 3) : 6;
    snprintf(out, TEXT_NUMBER_BYTES, "%.*g", digits > 6 ? digits : 6, value + 0.0); /* -0 becomes 0 */
    return out;
}

char *text_readable(double value, double min, double max, char out[TEXT_NUMBER_BYTES])
{
    const double size = fabs(round(value));
    if (!strchr(text_among(value, min, max, out), 'e') || size < 1e5 || size >= 1e15) return out;
    *out = '-';
    text_count((uint64_t)size, out + (value < 0));
    return out;
}

/* Three digits of value in the unit that keeps it below 1000. Units grow by 1000; the list ends with NULL. */
static char *with_unit(double value, const char *const *units, char out[TEXT_NUMBER_BYTES])
{
    for (; value >= 999.5 && units[1]; units++)
        value /= 1000;
    snprintf(out, TEXT_NUMBER_BYTES, "%.3g %s", value, *units);
    return out;
}

char *text_seconds(double seconds, char out[TEXT_NUMBER_BYTES])
{
    static const char *const units[] = {"us", "ms", "s", NULL};
    return with_unit(seconds * 1e6, units, out);
}

char *text_bytes(double bytes, char out[TEXT_NUMBER_BYTES])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", NULL};
    return with_unit(bytes, units, out);
}

char *text_of_file(const char *path, size_t most, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *text = NULL;
    size_t room = 0, got;
    *size = 0;
    do {
        if (*size + 1 >= room) {
            room = room ? room * 2 : 65536;
            char *more = room / 2 <= histo_memory_available() ? realloc(text, room) : NULL;
            errno = ENOMEM;
            if (!more) goto fail;
            text = more;
        }
        got = fread(text + *size, 1, room - 1 - *size, file);
        *size += got;
        if (*size > most) {
            errno = EFBIG;
            goto fail;
        }
    } while (got);
    if (ferror(file)) goto fail;
    fclose(file);
    text[*size] = '\0';
    return text;

fail:;
    int error = errno;
    fclose(file);
    free(text);
    errno = error;
    return NULL;
}
