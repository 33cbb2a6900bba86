/* Text that is not UTF-8, but Windows-1252, of which ISO 8859-1 is a part; and characters that text has not. */
#ifndef CLI_TEXT_ENCODING_H
#define CLI_TEXT_ENCODING_H

#include <stdbool.h>
#include <stddef.h>

bool text_is_utf8(const char *text, size_t size);
/* Text in UTF-8, of at most three times the bytes: how many. */
size_t text_from_windows(const char *text, size_t size, char *to);

/* The first control character, but for white space, of what is text otherwise, and its line; -1: it is not such text.
 */
int text_stray_control(const unsigned char *text, size_t size, int *line);
/* The name of a control character, such as ESC, or its code. */
const char *text_control_name(int control, char room[8]);

#endif
