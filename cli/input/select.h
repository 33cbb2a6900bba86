/* Finds the channels and columns that the command line names among those of a reader. */
#ifndef CLI_SELECT_H
#define CLI_SELECT_H

#include "input/reader.h"
#include "options/settings.h"

/* A source of samples: a channel of the reader, or a value computed from three. */
typedef struct sample_source {
    char *name; /* "r", "gray", "Close"; NULL: the only channel, unnamed */
    histo_dtype dtype;
    bool luma;   /* the luma of channels 0, 1 and 2 (Rec. 601) */
    int channel; /* of the reader */
    int view;    /* index in the views of a band; luma uses three from here */
} sample_source;

enum { NO_SOURCE = -1 };

typedef struct choice {
    int count; /* counted sources: one histogram each, or one axis each of a joint histogram */
    bool joint;
    int weights, where; /* indices in sources, or NO_SOURCE */
    int total;          /* sources in total */
    sample_source *sources;
} choice;

/* Find the channels that s requests in r, and select them there. */
int choice_make(choice *c, reader *r, const settings *s, fault *f);
/* The channels of a list alone, without selecting them in the reader. */
int choice_list(choice *c, const reader *r, const char *list, fault *f);
void choice_free(choice *c);

/* Do red, green and blue come first: in a declared colour image, or an array of three or four channels that may be one?
 */
bool choice_has_colors(const reader *r);
/* The channel that the file declares as alpha, or NO_SOURCE. */
int choice_alpha(const reader *r);

#endif
