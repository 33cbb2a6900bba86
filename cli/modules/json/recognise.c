/* Recognises JSON in the command, without the module, which has the reader. */
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

/* An object, perhaps in an array: a brace, and the quote of a key or another brace. */
bool json_recognise(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    size_t at = skip_blanks(head, size, size >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    const bool array = at < size && head[at] == '[';
    if (array) at = skip_blanks(head, size, at + 1);
    if (at < size && array && head[at] == ']') return true; /* empty */
    if (at == size || head[at] != '{') return false;
    at = skip_blanks(head, size, at + 1);
    return at < size && (head[at] == '"' || head[at] == '}');
}
