/* The names of the histograms in a JSON object. */
#ifndef CLI_SAVED_NAMES_H
#define CLI_SAVED_NAMES_H

#include <stddef.h>

/* The next key of the object that text[0 … size) is, from *at on (0 at first), as UTF-8 with escapes undone: to be
 * freed; NULL at the end, or where the text is not JSON or memory runs out. */
char *saved_next_name(const char *text, size_t size, size_t *at);

#endif
