/* The rows of a piece, sorted by group. */
#ifndef CLI_GROUPS_H
#define CLI_GROUPS_H

#include "base/scratch.h"
#include "input/samples/samples.h"

typedef struct groups {
    int64_t count;
    int64_t *ends;  /* [count + 2]: end of each group's rows */
    int64_t *order; /* [room]: rows of the piece, group by group */
    int64_t room;
    scratch rows;
    histo_view *all, *views; /* [sources + 3]: of all rows, and of one group; weights, mask and filter come last */
    int sources;
} groups;

int groups_make(groups *g, int64_t count, int sources, fault *f);
void groups_free(groups *g);

/* Sort the rows of a piece, whose views have one column, by group. */
int groups_sort(groups *g, const piece *p, fault *f);
/* The piece of one group, valid until the next call. */
piece groups_of(groups *g, const piece *p, int64_t group);

#endif
