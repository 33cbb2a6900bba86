/* Edits are insertions, deletions, substitutions and transpositions of neighbours (optimal string alignment). */
#include "options/nearest.h"

#include <string.h>

enum { LONGEST = 32 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t edits_between(const char *a, const char *b, size_t na, size_t nb)
{
    size_t d[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= na; i++)
        d[i][0] = i;
    for (size_t j = 0; j <= nb; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= na; i++)
        for (size_t j = 1; j <= nb; j++) {
            size_t exchanged = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            d[i][j] = smaller(exchanged, smaller(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = smaller(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[na][nb];
}

void nearest_try(nearest *n, const char *candidate)
{
    size_t length = strlen(n->word), other = strlen(candidate);
    if (length > LONGEST || other > LONGEST) return;
    size_t edits = edits_between(n->word, candidate, length, other);
    size_t shorter = smaller(length, other);
    size_t most = shorter < 2 ? 0 : shorter < 6 ? 1 : shorter / 3; /* words farther apart are unrelated */
    if (length > 2 && other > length && strncmp(n->word, candidate, length) == 0) edits = smaller(edits, 1);
    if (edits > most || (n->best && edits >= n->edits)) return;
    n->best = candidate;
    n->edits = edits;
}
