#include "counts/saved/json.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

histo_status histo_json_fail(const histo_json *doc, size_t at, histo_status status, const char *format, ...)
{
    char what[320];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    size_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += doc->text[i] == '\n';
    return histo_fail(status, "line %zu, byte %zu: %s", line, at, what);
}

/* The character at a position; past the end NUL, which no JSON text contains. */
static char peek(const histo_json *doc, size_t at)
{
    return at < doc->size ? doc->text[at] : '\0';
}

static size_t skip_space(const histo_json *doc, size_t at)
{
    for (;; at++) {
        char c = peek(doc, at);
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return at;
    }
}

/* Report more characters read: returns whether to continue. */
static bool goes_on(const histo_json *doc, size_t characters)
{
    return histo_goes_on(doc->pace, (int64_t)characters);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- Checking ---- */

/* Checks the bounds of the second byte of each UTF-8 form, which rejects overlong forms, surrogates and code points
 * above U+10FFFF. */
size_t histo_json_character(const char *text, size_t size)
{
    const unsigned char *byte = (const unsigned char *)text;
    if (size == 0) return 0;
    if (byte[0] < 0x80) return 1;
    size_t length = byte[0] < 0xc2 || byte[0] > 0xf4 ? 0 : byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;
    if (length == 0 || length > size) return 0;
    unsigned least = byte[0] == 0xe0 ? 0xa0 : byte[0] == 0xf0 ? 0x90 : 0x80;
    unsigned most = byte[0] == 0xed ? 0x9f : byte[0] == 0xf4 ? 0x8f : 0xbf;
    if (byte[1] < least || byte[1] > most) return 0;
    for (size_t i = 2; i < length; i++)
        if (byte[i] < 0x80 || byte[i] > 0xbf) return 0;
    return length;
}

/* The value of the four hexadecimal digits at a position; -1 if they are not digits. */
static int32_t hex4(const histo_json *doc, size_t at)
{
    int32_t value = 0;
    for (size_t i = at; i < at + 4; i++) {
        char c = peek(doc, i);
        char lower = (char)(c | 0x20);
        int digit = is_digit(c) ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* Skip the escape at *at, after the backslash; return its code point, or -1 if it is invalid. */
static int32_t escape(const histo_json *doc, size_t *at)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    char c = peek(doc, (*at)++);
    const char *name = c ? strchr(names, c) : NULL;
    if (name) return values[name - names];
    if (c != 'u') return -1;
    int32_t code = hex4(doc, *at);
    *at += 4;
    if (code < 0xd800 || code > 0xdfff) return code;
    if (code > 0xdbff || peek(doc, *at) != '\\' || peek(doc, *at + 1) != 'u') return -1;
    int32_t low = hex4(doc, *at + 2);
    *at += 6;
    return low < 0xdc00 || low > 0xdfff ? -1 : 0x10000 + (code - 0xd800) * 0x400 + (low - 0xdc00);
}

static histo_status check_string(const histo_json *doc, size_t *at)
{
    size_t i = *at + 1;
    while (peek(doc, i) != '"') {
        size_t start = i;
        if (i >= doc->size) return histo_json_fail(doc, *at, HISTO_CORRUPT, "a string does not end");
        if (doc->text[i] == '\\') {
            i++;
            if (escape(doc, &i) < 0)
                return histo_json_fail(doc, start, HISTO_CORRUPT, "a backslash is not followed by a valid escape");
            continue;
        }
        size_t length = histo_json_character(doc->text + i, doc->size - i);
        if (length == 0 || (unsigned char)doc->text[i] < 0x20)
            return histo_json_fail(doc, start, HISTO_CORRUPT, "a string has a byte 0x%02x that is not text",
                                   (unsigned char)doc->text[i]);
        i += length;
        if (!goes_on(doc, length)) return doc->pace->status;
    }
    *at = i + 1;
    return HISTO_OK;
}

static size_t skip_digits(const histo_json *doc, size_t at)
{
    while (is_digit(peek(doc, at)))
        at++;
    return at;
}

static size_t skip_word(const histo_json *doc, size_t at, const char *word)
{
    size_t length = strlen(word);
    return length <= doc->size - at && memcmp(doc->text + at, word, length) == 0 ? at + length : 0;
}

size_t histo_json_number_end(const histo_json *doc, size_t at)
{
    if (peek(doc, at) == 'N') return skip_word(doc, at, "NaN");
    if (peek(doc, at) == '-') at++;
    if (peek(doc, at) == 'I') return skip_word(doc, at, "Infinity");
    size_t digits = at;
    at = skip_digits(doc, at);
    if (at == digits || (doc->text[digits] == '0' && at > digits + 1)) return 0;
    if (peek(doc, at) == '.') {
        digits = ++at;
        at = skip_digits(doc, at);
        if (at == digits) return 0;
    }
    if (peek(doc, at) == 'e' || peek(doc, at) == 'E') {
        at++;
        if (peek(doc, at) == '+' || peek(doc, at) == '-') at++;
        digits = at;
        at = skip_digits(doc, at);
        if (at == digits) return 0;
    }
    return at;
}

/* Check a scalar value. */
static histo_status check_scalar(const histo_json *doc, size_t *at)
{
    size_t end = 0;
    switch (peek(doc, *at)) {
    case '"':
        return check_string(doc, at);
    case 't':
        end = skip_word(doc, *at, "true");
        break;
    case 'f':
        end = skip_word(doc, *at, "false");
        break;
    case 'n':
        end = skip_word(doc, *at, "null");
        break;
    default:
        end = histo_json_number_end(doc, *at);
        break;
    }
    if (end == 0) return histo_json_fail(doc, *at, HISTO_CORRUPT, "a JSON value should stand here");
    *at = end;
    return HISTO_OK;
}

static histo_status check_key(const histo_json *doc, size_t *at)
{
    *at = skip_space(doc, *at);
    if (peek(doc, *at) != '"') return histo_json_fail(doc, *at, HISTO_CORRUPT, "a key in quotes should stand here");
    histo_status status = check_string(doc, at);
    if (status != HISTO_OK) return status;
    *at = skip_space(doc, *at);
    if (peek(doc, *at) != ':') return histo_json_fail(doc, *at, HISTO_CORRUPT, "a colon should stand here");
    ++*at;
    return HISTO_OK;
}

/* The closing bracket of each open array or object. */
typedef struct nesting {
    char close[HISTO_JSON_DEPTH];
    int depth;
} nesting;

/* Skip opening brackets of arrays and objects, down to the first complete value. */
static histo_status check_begin(const histo_json *doc, size_t *at, nesting *open)
{
    for (;;) {
        *at = skip_space(doc, *at);
        char c = peek(doc, *at);
        if (c != '{' && c != '[') return check_scalar(doc, at);
        if (open->depth == HISTO_JSON_DEPTH - doc->within)
            return histo_json_fail(doc, *at, HISTO_CORRUPT, "arrays and objects are nested deeper than %d",
                                   HISTO_JSON_DEPTH - doc->within);
        char close = c == '{' ? '}' : ']';
        size_t inside = skip_space(doc, ++*at);
        if (peek(doc, inside) == close) {
            *at = inside + 1;
            return HISTO_OK;
        }
        open->close[open->depth++] = close;
        histo_status status = c == '{' ? check_key(doc, at) : HISTO_OK;
        if (status != HISTO_OK) return status;
    }
}

histo_status histo_json_check(const histo_json *doc)
{
    nesting open = {.depth = 0};
    size_t at = histo_json_root(doc), before = at;
    if (peek(doc, at) != '{')
        return histo_json_fail(doc, at, HISTO_CORRUPT, "neither a JSON object nor a binary histogram starts here");
    histo_status status = check_begin(doc, &at, &open);
    while (status == HISTO_OK && open.depth > 0) {
        char close = open.close[open.depth - 1];
        if (!goes_on(doc, at - before)) return doc->pace->status;
        before = at;
        at = skip_space(doc, at);
        char c = peek(doc, at);
        if (c == close) {
            at++;
            open.depth--;
        } else if (c == ',') {
            at++;
            if (close == '}') status = check_key(doc, &at);
            if (status == HISTO_OK) status = check_begin(doc, &at, &open);
        } else {
            status = histo_json_fail(doc, at, HISTO_CORRUPT, "%s or '%c' should stand here",
                                     at < doc->size ? "a comma" : "the file ends where a comma", close);
        }
    }
    if (status != HISTO_OK) return status;
    at = skip_space(doc, at);
    if (at < doc->size) return histo_json_fail(doc, at, HISTO_CORRUPT, "something follows the JSON object");
    return HISTO_OK;
}

/* ---- Walking a checked document ---- */

size_t histo_json_root(const histo_json *doc)
{
    return skip_space(doc, 0);
}

char histo_json_type(const histo_json *doc, size_t at)
{
    char c = doc->text[at];
    return is_digit(c) || c == '-' || c == 'N' || c == 'I' ? '0' : c;
}

static size_t string_end(const histo_json *doc, size_t at)
{
    for (at++; doc->text[at] != '"'; at++)
        at += doc->text[at] == '\\';
    return at + 1;
}

size_t histo_json_end(const histo_json *doc, size_t at)
{
    switch (histo_json_type(doc, at)) {
    case '"':
        return string_end(doc, at);
    case '0':
        return histo_json_number_end(doc, at);
    case 't':
    case 'n':
        return at + 4;
    case 'f':
        return at + 5;
    }
    int depth = 0;
    do {
        char c = doc->text[at];
        if (c == '"') {
            at = string_end(doc, at);
            continue;
        }
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        at++;
    } while (depth > 0);
    return at;
}

histo_json_walk histo_json_enter(const histo_json *doc, size_t at)
{
    char type = histo_json_type(doc, at);
    histo_json_walk walk = {.doc = doc, .members = type == '{'};
    if (type == '{' || type == '[') walk.next = at + 1;
    return walk;
}

bool histo_json_next(histo_json_walk *walk)
{
    const histo_json *doc = walk->doc;
    if (walk->value) walk->next = histo_json_end(doc, walk->value);
    if (!walk->next || !goes_on(doc, walk->next - walk->value)) return false;
    size_t at = skip_space(doc, walk->next);
    if (doc->text[at] == ',') at = skip_space(doc, at + 1);
    if (doc->text[at] == ']' || doc->text[at] == '}') {
        walk->next = walk->value = 0;
        return false;
    }
    walk->key = walk->value = at;
    if (walk->members) walk->value = skip_space(doc, skip_space(doc, string_end(doc, at)) + 1);
    return true;
}

/* Write the UTF-8 form of a code point; returns its length. */
static size_t put_utf8(int32_t code, char utf8[4])
{
    size_t n = 1;
    if (code < 0x80) {
        utf8[0] = (char)code;
        return n;
    }
    n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; code >>= 6)
        utf8[i] = (char)(0x80 | (code & 0x3f));
    utf8[0] = (char)(0xf00 >> n | code);
    return n;
}

/* If *text starts with the UTF-8 form of `code`, skip it and return true. */
static bool matches(int32_t code, const char **text)
{
    char utf8[4];
    const size_t n = put_utf8(code, utf8);
    if (code == 0 || strncmp(*text, utf8, n) != 0) return false;
    *text += n;
    return true;
}

bool histo_json_is(const histo_json *doc, size_t at, const char *text)
{
    if (doc->text[at] != '"') return false;
    for (at++; doc->text[at] != '"';) {
        if (doc->text[at] == '\\') {
            at++;
            if (!matches(escape(doc, &at), &text)) return false;
        } else if (doc->text[at++] != *text++) {
            return false;
        }
    }
    return *text == '\0';
}

histo_status histo_json_string(const histo_json *doc, size_t at, char **string)
{
    const size_t most = string_end(doc, at) - at; /* escapes are longer than their characters */
    char *to = *string = histo_malloc(most);
    bool has_nul = false;
    if (!to) return histo_fail_memory(most, "a string");
    for (at++; doc->text[at] != '"';) {
        if (doc->text[at] != '\\') {
            *to++ = doc->text[at++];
            continue;
        }
        at++;
        const int32_t code = escape(doc, &at);
        has_nul |= code == 0;
        to += put_utf8(code, to);
    }
    *to = '\0';
    if (!has_nul) return HISTO_OK;
    histo_free(*string);
    *string = NULL;
    return HISTO_OK;
}

histo_status histo_json_find(const histo_json *doc, size_t at, int n, const char *const *keys, int needed,
                             size_t *members)
{
    if (histo_json_type(doc, at) != '{') return histo_json_fail(doc, at, HISTO_CORRUPT, "an object should stand here");
    memset(members, 0, (size_t)n * sizeof *members);
    for (histo_json_walk walk = histo_json_enter(doc, at); histo_json_next(&walk);)
        for (int i = 0; i < n; i++) {
            if (!histo_json_is(doc, walk.key, keys[i])) continue;
            if (members[i]) return histo_json_fail(doc, walk.key, HISTO_CORRUPT, "\"%s\" is here twice", keys[i]);
            members[i] = walk.value;
        }
    if (doc->pace->status != HISTO_OK) return doc->pace->status;
    for (int i = 0; i < needed; i++)
        if (!members[i]) return histo_json_fail(doc, at, HISTO_CORRUPT, "this object has no \"%s\"", keys[i]);
    return HISTO_OK;
}

histo_status histo_json_bool(const histo_json *doc, size_t at, bool *value)
{
    char type = histo_json_type(doc, at);
    if (type != 't' && type != 'f') return histo_json_fail(doc, at, HISTO_CORRUPT, "true or false should stand here");
    *value = type == 't';
    return HISTO_OK;
}

/* strtod stops within the document: every number is followed by a character that cannot continue it. */
histo_status histo_json_number(const histo_json *doc, size_t at, double *value)
{
    const size_t end = histo_json_number_end(doc, at);
    if (histo_json_type(doc, at) == 'n') {
        *value = NAN;
        return HISTO_OK;
    }
    if (end == 0) return histo_json_fail(doc, at, HISTO_CORRUPT, "a number should stand here");
    *value = strtod(doc->text + at, NULL);
    const size_t digits = at + (doc->text[at] == '-');
    const bool infinity =
        doc->text[digits] == 'I' || (end - digits == 5 && memcmp(doc->text + digits, "1e999", 5) == 0);
    if (isinf(*value) && !infinity)
        return histo_json_fail(doc, at, HISTO_CORRUPT, "this number is too large for a double");
    return HISTO_OK;
}

bool histo_json_whole(const histo_json *doc, size_t at, bool is_signed, uint64_t *bits)
{
    const bool negative = peek(doc, at) == '-';
    const size_t begin = at + negative, end = skip_digits(doc, begin);
    if (end == begin || end != histo_json_number_end(doc, at)) return false;
    uint64_t value = 0;
    bool fits = is_signed || !negative;
    for (size_t i = begin; fits && i < end; i++)
        fits = !__builtin_mul_overflow(value, 10, &value) &&
               !__builtin_add_overflow(value, (uint64_t)(doc->text[i] - '0'), &value);
    *bits = negative ? -value : value;
    return fits && (!is_signed || value <= (uint64_t)INT64_MAX + negative);
}

/* Plain digits are read exactly; other forms, such as 3.0 and 1e3, as a double. */
histo_status histo_json_count(const histo_json *doc, size_t at, uint64_t *value)
{
    size_t end = skip_digits(doc, at);
    bool plain = end > at && end == histo_json_number_end(doc, at);
    *value = 0;
    for (size_t i = at; plain && i < end; i++)
        plain = !__builtin_mul_overflow(*value, 10, value) &&
                !__builtin_add_overflow(*value, (uint64_t)(doc->text[i] - '0'), value);
    if (plain) return HISTO_OK;
    double number;
    histo_status status = histo_json_number(doc, at, &number);
    if (status != HISTO_OK) return status;
    if (!(number >= 0 && number < 0x1p64 && number == floor(number)))
        return histo_json_fail(doc, at, HISTO_CORRUPT, "a whole number from 0 to 2^64-1 should stand here");
    *value = (uint64_t)number;
    return HISTO_OK;
}

/* ---- Writing ---- */

void histo_json_put_number(histo_bytes *out, double value)
{
    if (value != value || isinf(value)) {
        histo_bytes_print(out, value != value ? "null" : value > 0 ? "1e999" : "-1e999");
        return;
    }
    char text[40];
    /* Up to 15 digits survive a round trip through any normal double. So 15 digits without trailing zeros are the
     * shortest form, if they give the same double. */
    int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG;
    do
        snprintf(text, sizeof text, "%.*g", digits, value);
    while (strtod(text, NULL) != value && digits++ < DBL_DECIMAL_DIG);
    histo_bytes_print(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

void histo_json_put_string(histo_bytes *out, const char *text)
{
    histo_bytes_put(out, "\"", 1);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            histo_bytes_print(out, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            histo_bytes_print(out, "\\u%04x", (unsigned)*text);
        else
            histo_bytes_put(out, text, 1);
    }
    histo_bytes_put(out, "\"", 1);
}
