/* Finds the channels and columns named on the command line among those of a reader. */
#ifndef CLI_SELECT_H
#define CLI_SELECT_H

#include "input/feed/named_columns.h"
#include "input/reader.h"
#include "input/samples/filter.h"
#include "options/settings.h"

/* A source of samples: a channel of the reader, or a value computed from three channels. */
typedef struct sample_source {
    char *name; /* "r", "gray", "Close"; NULL: the only channel, unnamed */
    histo_dtype dtype;
    bool luma;     /* the luma of channels 0, 1 and 2 (Rec. 601) */
    int channel;   /* of the reader */
    int view;      /* index in the views of a band; luma uses three from here */
    bool numbered; /* the options give its number */
    channel_form as;
} sample_source;

enum { NO_SOURCE = -1 };

typedef struct choice {
    int count; /* counted sources: one histogram each, or one axis each of a joint histogram */
    bool joint;
    int weights; /* indices in sources, or NO_SOURCE */
    int by;      /* the same, for the groups */
    int where;   /* the same, for the column that must be in this range, if that is the only condition */
    double where_range[2];
    condition *conditions; /* all other conditions */
    int conditions_count;
    bool unknown; /* a name was not found */
    bool listed;  /* the file determines which sources are counted: all, those that match a pattern, or the default */
    int total;    /* sources in total */
    sample_source *sources;
} choice;

/* How the counted sources of all files, followed by the groups, are read: first according to the first file, later to a
 * survey. */
typedef struct channel_forms {
    int count;
    channel_form *forms; /* [count], which owns the dictionaries */
} channel_forms;

void channel_forms_free(channel_forms *all);
/* Whether a column has had no value in any file so far. */
bool channel_forms_are_open(const channel_forms *all);
/* No file has a value for these. */
void channel_forms_settle(channel_forms *all);

/* Find the channels that s requests in r, and select them there. all: the forms of the first file are added, later
 * files must match; NULL: only numbers are counted. columns: set by the first file; NULL: ignored. */
int choice_make(choice *c, reader *r, const settings *s, channel_forms *all, named_columns *columns, fault *f);
/* Select them again, after the forms of counted sources have changed. */
int choice_reform(choice *c, reader *r, const channel_forms *all, fault *f);
/* Only look up the channels of a list, without selecting them in the reader. */
int choice_list(choice *c, const reader *r, const char *list, fault *f);
void choice_free(choice *c);

/* Whether red, green and blue come first: in a declared colour image, or an array of three or four channels that may be
 * one. */
bool choice_has_colors(const reader *r);
/* The name of a channel in results, perhaps in `room`; NULL if it has none. */
const char *choice_channel_name(const reader *r, int channel, char room[16]);
/* The channel that the file declares as alpha, or NO_SOURCE. */
int choice_alpha(const reader *r);

#endif
