/* Names of axes, series and bins. */
#ifndef CLI_LABELS_H
#define CLI_LABELS_H

#include <stddef.h>

#include "base/text.h"
#include "count/result.h"

/* "r", or "axis 0" if unnamed. Returns text. */
char *label_of_axis(const result *r, int a, char *text, size_t size);
/* "r", or the number "0" if unnamed. */
char *label_of_series(const result *r, int i, char *text, size_t size);
/* A byte as a character: e, space, \n, 0x00. */
char *label_of_byte(int byte, char text[TEXT_NUMBER_BYTES]);
/* "count", or "sum of weights". */
const char *label_of_values(const result *r);

/* The colour that a name suggests. */
typedef enum tone { TONE_NONE = 0, TONE_RED, TONE_GREEN, TONE_BLUE, TONE_GRAY } tone;
tone tone_of_series(const result *r, int i);

#endif
