/* Parses a JSON value in memory, and passes on its parts one by one. */
#ifndef CLI_MODULES_JSON_PARSE_H
#define CLI_MODULES_JSON_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum json_result {
    JSON_VALUE,   /* a complete value */
    JSON_CUT,     /* the text ends within it */
    JSON_INVALID, /* not JSON; `why` says why */
    JSON_STOPPED, /* a function returned false */
} json_result;

/* Each function returns false to stop. `at` is the position in the text after the part. Texts end at their size. */
typedef struct json_handler {
    bool (*open)(void *self, const char *at, bool object); /* an object or an array begins */
    bool (*close)(void *self);
    bool (*key)(void *self, const char *key, size_t size);
    bool (*number)(void *self, const char *at, const char *text); /* also NaN, Infinity and -Infinity */
    bool (*truth)(void *self, bool value);
    bool (*null)(void *self);
    bool (*string)(void *self, const char *at, const char *text, size_t size);
    void *self;
} json_handler;

/* Parse the value that begins at *at, and advance *at past it, or to where it is invalid. The text is followed by a
 * newline. */
json_result json_parse(const char **at, const char *end, const json_handler *handler, const char **why);

#ifdef __cplusplus
}
#endif

#endif
