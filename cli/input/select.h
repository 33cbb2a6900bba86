/* Which samples of a file: the channels and columns that the command line names, found in what a reader offers. */
#ifndef CLI_SELECT_H
#define CLI_SELECT_H

#include "input/reader.h"
#include "options/settings.h"

/* What samples come from: one channel of the reader, or a value worked out from three. */
typedef struct sample_source {
    char *name; /* "r", "gray", "Close"; NULL: the data has one channel, without a name */
    histo_dtype dtype;
    bool luma;   /* the luma of channels 0, 1 and 2 (Rec. 601) */
    int channel; /* of the reader */
    int view;    /* its place among the views of a band; luma takes three from here */
} sample_source;

enum { NO_SOURCE = -1 };

typedef struct choice {
    int count; /* of sources that are counted: one histogram each, or one axis each of a joint histogram */
    bool joint;
    int weights, where; /* indices in sources, or NO_SOURCE */
    int total;          /* sources in all */
    sample_source *sources;
} choice;

/* Find what s asks for in the data of r, and select it there. */
int choice_make(choice *c, reader *r, const settings *s, fault *f);
void choice_free(choice *c);

#endif
