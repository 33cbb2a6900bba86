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
    return out;
}

char *text_among(double value, double min, double max, char out[TEXT_NUMBER_BYTES])
{
    double most = fmax(fabs(min), fabs(max)), spread = max - min;
    int digits = spread > 0 ? (int)fmin(17, ceil(log10(most / spread)) + 3) : 6;
    snprintf(out, TEXT_NUMBER_BYTES, "%.*g", digits > 6 ? digits : 6, value + 0.0); /* -0 becomes 0 */
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
