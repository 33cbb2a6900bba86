/* Writing JSON strings and members with string values. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include <stdio.h>

void json_text(FILE *to, const char *text, size_t length);

/* before, "name": "text" */
void json_member(FILE *to, const char *before, const char *name, const char *text);

#endif
