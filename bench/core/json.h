/* Writing JSON. Every function does nothing for a NULL writer, so that benchmarks need not ask whether -o was given. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include <stdbool.h>
#include <stdio.h>

typedef struct json_writer {
    FILE *to;
    int depth;  /* of brackets that are open */
    bool comma; /* the next value is behind another */
} json_writer;

/* name: of a member; NULL: an element of a list. An object in a list begins a line, and
 * the outermost bracket ends one. */
void json_open(json_writer *json, const char *name, char bracket);
void json_close(json_writer *json, char bracket);

void json_text(json_writer *json, const char *name, const char *text);

/* One or more members whose values need no quotes: "\"us\": %.3f, \"bins\": %d"; or a number of a list. */
void json_print(json_writer *json, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
