/* Text in Windows-1252, a superset of ISO 8859-1, and characters that do not occur in text. */
#ifndef CLI_TEXT_ENCODING_H
#define CLI_TEXT_ENCODING_H

#include <stdbool.h>
#include <stddef.h>

bool text_is_utf8(const char *text, size_t size);
/* Convert to UTF-8, at most three times as many bytes: returns how many. */
size_t text_from_windows(const char *text, size_t size, char *to);

/* The first control character, except white space, of otherwise valid text, and its line; -1: not such text. */
int text_stray_control(const unsigned char *text, size_t size, int *line);
/* The name of a control character, such as ESC, or its code. */
const char *text_control_name(int control, char room[8]);

#endif
