/* The channels that the caller asked a reader for. */
#include "input/readers/selection.h"

#include <stdlib.h>
#include <string.h>

int selection_set(selection *s, const reader *r, const int *channels, int count, fault *f)
{
    for (int i = 0; i < count; i++)
        if (channels[i] < 0 || channels[i] >= r->channels)
            return fault_set(f, EXIT_USAGE, "%s has no channel %d: its channels are 0 to %d", input_name(r->in),
                             channels[i], r->channels - 1);
    if (count < 1) return fault_set(f, EXIT_USAGE, "no channel of %s was asked for", input_name(r->in));
    size_t n = (size_t)count;
    selection fresh = {calloc(n, sizeof *fresh.wanted), count, calloc(n, sizeof *fresh.views)};
    if (!fresh.wanted || !fresh.views) {
        selection_free(&fresh);
        return fault_set(f, EXIT_DATA, "no memory to read %d channels of %s", count, input_name(r->in));
    }
    memcpy(fresh.wanted, channels, n * sizeof *channels);
    selection_free(s);
    *s = fresh;
    return 0;
}

void selection_free(selection *s)
{
    free(s->wanted);
    free(s->views);
    *s = (selection){0};
}
