/* Recognises JSON; part of the command, without the module, which has the reader. */
#include <string.h>

#include "input/readers/readers.h"

static bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == 0x1e;
}

static size_t skip_blanks(const unsigned char *head, size_t size, size_t at)
{
    while (at < size && is_blank(head[at]))
        at++;
    return at;
}

/* Whether this begins an array of values: the first is followed by a comma, or by the end of the array and its line;
 * times and titles in brackets are not arrays. */
static bool begins_values(const unsigned char *head, size_t size, size_t at)
{
    static const char *const words[] = {"null", "true", "false", "NaN", "Infinity"};
    if (at < size && head[at] == '"') return true;
    const size_t from = at;
    for (size_t i = 0; i < sizeof words / sizeof *words && at == from; i++)
        if (size - at >= strlen(words[i]) && memcmp(head + at, words[i], strlen(words[i])) == 0) at += strlen(words[i]);
    while (at < size && head[at] && strchr("+-.0123456789eE", head[at]))
        at++;
    if (at == from) return false;
    at = skip_blanks(head, size, at);
    if (at == size || head[at] == ',') return true;
    if (head[at] != ']') return false;
    while (at < size && strchr("] \t\r", head[at]) && head[at])
        at++;
    return at == size || head[at] == '\n' || head[at] == ',';
}

/* An object, perhaps in an array: a brace, and the quote of a key or another brace. Or an array of values, perhaps
 * nested. */
bool json_recognise(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    size_t at = skip_blanks(head, size, size >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    const bool array = at < size && head[at] == '[';
    if (array) at = skip_blanks(head, size, at + 1);
    if (at < size && array && head[at] == ']') return true; /* empty */
    size_t inner = at;
    while (array && inner < size && head[inner] == '[')
        inner = skip_blanks(head, size, inner + 1);
    if (array && begins_values(head, size, inner)) return true;
    if (at == size || head[at] != '{') return false;
    at = skip_blanks(head, size, at + 1);
    return at < size && (head[at] == '"' || head[at] == '}');
}
