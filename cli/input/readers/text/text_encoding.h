/* Text that is not UTF-8, but Windows-1252, of which ISO 8859-1 is a part. */
#ifndef CLI_TEXT_ENCODING_H
#define CLI_TEXT_ENCODING_H

#include <stdbool.h>
#include <stddef.h>

bool text_is_utf8(const char *text, size_t size);
/* Text in UTF-8, of at most three times the bytes: how many. */
size_t text_from_windows(const char *text, size_t size, char *to);

#endif
