/* Builds a text piece by piece in a fixed buffer; as with snprintf, the length keeps growing once the buffer is
 * full. */
#ifndef BASE_TEXT_BUILDER_H
#define BASE_TEXT_BUILDER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct histo_text {
    char *out; /* may be NULL if capacity is 0 */
    size_t capacity;
    size_t length; /* of the complete text, without the NUL */
} histo_text;

void histo_text_add(histo_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif

#endif
