/* What -b, -r, --width, --edges and --log ask for. */
#ifndef CLI_OPTIONS_BINS_H
#define CLI_OPTIONS_BINS_H

#include <histo/histo.h>

#include "options/settings.h"

typedef enum bins_kind {
    BINS_DEFAULT = 0, /* nothing was asked: one bin a value of 8-bit samples, else the rule auto, at most 1024 */
    BINS_NUMBER,
    BINS_RULE,
    BINS_WIDTH,
    BINS_EDGES,
} bins_kind;

/* What was asked for one axis. */
typedef struct bins_spec {
    bins_kind kind;
    int64_t number; /* of BINS_NUMBER and BINS_EDGES */
    histo_rule rule;
    double width;
    double *edges; /* [number + 1] */
    bool has_range;
    histo_range range;
    double lo, hi; /* of a fixed range, or per cent */
    bool log;
} bins_spec;

/* What was asked: one spec for all axes, or one for each. */
typedef struct bins_list {
    int count;
    bins_spec spec[HISTO_MAX_AXES];
} bins_list;

int bins_parse(bins_list *b, const settings *s, fault *f);
void bins_free(bins_list *b);

#endif
