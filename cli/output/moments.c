#include "output/moments.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool moments_wanted(const result *r, int i, const settings *s)
{
    const bool asked = s->stats || s->quantiles || strcmp(s->command, "hist") != 0;
    return asked && r->series[i].stats;
}

/* FNV-1a. */
static uint32_t checksum_of(const char *text, size_t size)
{
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ (unsigned char)text[i]) * 16777619u;
    return sum;
}

char *moments_text(const series *of, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!out) return NULL;
    for (int a = 0; a < histo_hist_naxes(of->hist); a++) {
        const histo_stats *m = &of->stats[a];
        fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %a %a %a %a %a %a;", m->samples, m->nan,
                m->infinite, m->masked, m->min, m->max, m->mean, m->m2, m->m3, m->m4);
    }
    fflush(out);
    fprintf(out, "%08" PRIx32, checksum_of(text, *size));
    return fclose(out) == 0 ? text : NULL;
}

static bool read_axis(const char **at, histo_stats *m)
{
    int length = 0;
    if (sscanf(*at, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %la %la %la %la %la %la;%n", &m->samples, &m->nan,
               &m->infinite, &m->masked, &m->min, &m->max, &m->mean, &m->m2, &m->m3, &m->m4, &length) != 10)
        return false;
    *at += length;
    return length > 0;
}

bool moments_give(result *r, const char *text, size_t size)
{
    enum { DIGITS = 8, LONGEST = 4096 };
    series *to = &r->series[r->count - 1];
    const int naxes = histo_hist_naxes(to->hist);
    char copy[LONGEST + 1], sum[DIGITS + 1];
    if (size < DIGITS || size > LONGEST) return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    snprintf(sum, sizeof sum, "%08" PRIx32, checksum_of(copy, size - DIGITS));
    if (strcmp(copy + size - DIGITS, sum) != 0) return false;
    histo_stats *stats = calloc((size_t)naxes, sizeof *stats);
    const char *at = copy;
    bool good = stats != NULL;
    for (int a = 0; a < naxes && good; a++)
        good = read_axis(&at, &stats[a]);
    if (good && at == copy + size - DIGITS) {
        to->stats = stats;
        return true;
    }
    free(stats);
    return false;
}
