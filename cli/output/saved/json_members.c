#include "output/saved/json_members.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* The position after the string that begins at `at`, or size. */
static size_t string_end(const char *text, size_t size, size_t at)
{
    for (at++; at < size && text[at] != '"'; at++)
        if (text[at] == '\\') at++;
    return at < size ? at + 1 : size;
}

static uint32_t hex4(const char *digits)
{
    char four[5] = {0};
    memcpy(four, digits, 4);
    return (uint32_t)strtoul(four, NULL, 16);
}

/* Decode the string between two quotes. */
char *member_decode(const char *from, const char *end)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char *name = malloc((size_t)(end - from) + 1), *to = name;
    while (name && from < end) {
        const char *letter = *from == '\\' && from + 1 < end ? strchr(letters, from[1]) : NULL;
        if (letter && *letter) {
            *to++ = meanings[letter - letters];
            from += 2;
        } else if (*from == '\\' && end - from >= 6 && from[1] == 'u') {
            uint32_t c = hex4(from + 2);
            from += 6;
            if (c >= 0xd800 && c < 0xdc00 && end - from >= 6 && from[0] == '\\' && from[1] == 'u') {
                c = 0x10000 + ((c - 0xd800) << 10) + ((hex4(from + 2) - 0xdc00) & 0x3ff);
                from += 6;
            }
            to = text_put_utf8(to, c);
        } else {
            *to++ = *from++;
        }
    }
    if (name) *to = '\0';
    return name;
}

/* The position of the comma or bracket after the value that follows `at`. */
size_t member_value_end(const char *text, size_t size, size_t at)
{
    int depth = 0;
    while (at < size) {
        char c = text[at];
        if (depth == 0 && strchr(",]}", c) && c) break;
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        at = c == '"' ? string_end(text, size, at) : at + 1;
    }
    return at;
}

/* Find the member of the object text[0 … size) after m (all zero at first); false at the end, or if the text is not
 * JSON. */
bool next_member(const char *text, size_t size, saved_member *m)
{
    const char *quote = memchr(text + m->end, '"', size - m->end);
    if (!quote) return false;
    m->begin = (size_t)(quote - text);
    size_t behind = string_end(text, size, m->begin);
    m->end = member_value_end(text, size, behind);
    m->value = behind + strspn(text + behind, " \t\r\n:");
    if (m->end == size) return false;
    m->name = member_decode(quote + 1, text + behind - 1);
    return true;
}
