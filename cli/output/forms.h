/* What the edges of axes are, in saved histograms: names of bins. In JSON, the list "names" in the writer_info of an
 * axis, and "others", the number of values that share the last bin; in sets, lines before those of a histogram:
 *
 *     words AXIS BINS OTHERS BYTES\n, and the names, each terminated by a NUL */
#ifndef CLI_FORMS_H
#define CLI_FORMS_H

#include <stdio.h>

#include "count/result.h"

/* Whether an axis of series i has anything but numbers. */
bool forms_any(const result *r, int i);

/* JSON of series i with its forms; NULL if out of memory. */
char *forms_in_json(const result *r, int i, const char *data, size_t *size);
/* Set the forms of the series added last, from the object that it was loaded from. */
int forms_from_json(result *r, const char *text, size_t size, const char *path, fault *f);

void forms_put(const result *r, int i, FILE *out);

/* The forms of the next histogram in a set. */
typedef struct saved_forms {
    axis_form of[HISTO_MAX_AXES];
} saved_forms;

/* Read what a line announces, and advance past it: 1, 0 if it is a different line, -1 if it is damaged. */
int forms_take(saved_forms *to, const char *line, const char *data, size_t size, size_t *at);
/* Give them to the series added last; false if they do not fit its axes. */
bool forms_give(saved_forms *from, result *r);
void forms_free(saved_forms *forms);

#endif
