/* The channels that the caller asked a reader for, with room for one view each. */
#ifndef CLI_READERS_SELECTION_H
#define CLI_READERS_SELECTION_H

#include "input/reader.h"

typedef struct selection {
    int *wanted;
    int count;
    histo_view *views;
} selection;

int selection_set(selection *s, const reader *r, const int *channels, int count, fault *f);
void selection_free(selection *s);

#endif
