#include "input/feed/named_columns.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

int named_columns_add(named_columns *columns, const char *name, int channel, fault *f)
{
    named_column *more = realloc(columns->of, (size_t)(columns->count + 1) * sizeof *more);
    if (more) columns->of = more;
    char *copy = more && name ? strdup(name) : NULL;
    if (!more || (name && !copy)) return fault_set(f, EXIT_DATA, "no memory for the names of columns");
    more[columns->count++] = (named_column){copy, channel};
    return 0;
}

/* The number of columns with this name, by the given comparison; *last is the last one. */
static int count_like(const reader *r, const char *name, int (*compare)(const char *, const char *), int *last)
{
    int hits = 0;
    for (int c = 0; c < r->channels; c++)
        if (compare(r->names[c], name) == 0) {
            *last = c;
            hits++;
        }
    return hits;
}

int named_columns_find(const named_columns *columns, int i, const reader *r, fault *f)
{
    const named_column *wanted = &columns->of[i];
    const char *name = wanted->name;
    const bool there = wanted->channel < r->channels;
    if (!name && there) return wanted->channel;
    if (!name)
        return fault_set(f, EXIT_DATA, "%s has no column %d: its columns have the numbers 0 to %d", input_name(r->in),
                         wanted->channel, r->channels - 1);
    /* Among several columns with the same name, or none, each keeps its position. */
    int channel = -1, hits = count_like(r, name, strcmp, &channel);
    if (hits == 0) hits = count_like(r, name, strcasecmp, &channel);
    if (hits == 1) return channel;
    if (hits > 1 && there && strcmp(r->names[wanted->channel], name) == 0) return wanted->channel;
    return fault_set(f, EXIT_DATA,
                     "%s has %s column '%.60s', which is counted in the first file: choose columns of both with "
                     "--column, by name or by number from 0",
                     input_name(r->in), hits ? "more than one" : "no", name);
}

void named_columns_free(named_columns *columns)
{
    for (int i = 0; i < columns->count; i++)
        free(columns->of[i].name);
    free(columns->of);
    *columns = (named_columns){0};
}
