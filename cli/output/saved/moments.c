#include "output/saved/moments.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* The value of all words above the last one that is saved. */
static uint64_t words_above(uint64_t word)
{
    return word >> 63 ? UINT64_MAX : 0;
}

static void put_words(const uint64_t *words, int count, FILE *out)
{
    int first = 0, end = count;
    while (first < count && words[first] == 0)
        first++;
    while (end - 1 > first && words[end - 1] == words_above(words[end - 2]))
        end--;
    fprintf(out, " %d %d", first, end - first);
    for (int i = first; i < end; i++)
        fprintf(out, " %" PRIx64, words[i]);
}

void moments_put(const series *of, FILE *out)
{
    for (int a = 0; a < histo_hist_naxes(of->hist); a++) {
        const histo_power_sums *s = &of->sums[a];
        fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %a %a", s->samples, s->nan, s->infinite,
                s->masked, s->min, s->max);
        put_words(s->sum, HISTO_SUM_WORDS, out);
        put_words(s->squares, HISTO_SQUARES_WORDS, out);
        fputc(';', out);
    }
}

/* Each number is preceded by a space. */
static bool take_whole(const char **at, int base, uint64_t *value)
{
    char *end;
    if (**at != ' ') return false;
    *value = strtoull(*at + 1, &end, base);
    const bool taken = end > *at + 1;
    *at = end;
    return taken;
}

static bool take_double(const char **at, double *value)
{
    char *end;
    if (**at != ' ') return false;
    *value = strtod(*at + 1, &end);
    const bool taken = end > *at + 1;
    *at = end;
    return taken;
}

static bool take_words(const char **at, uint64_t *words, int count)
{
    uint64_t first, saved;
    if (!take_whole(at, 10, &first) || !take_whole(at, 10, &saved) || first > (uint64_t)count ||
        saved > (uint64_t)count - first)
        return false;
    for (uint64_t i = first; i < (uint64_t)count; i++)
        if (i >= first + saved)
            words[i] = saved ? words_above(words[i - 1]) : 0;
        else if (!take_whole(at, 16, &words[i]))
            return false;
    return true;
}

static bool take_axis(const char **at, histo_power_sums *s)
{
    const bool taken = take_whole(at, 10, &s->samples) && take_whole(at, 10, &s->nan) &&
                       take_whole(at, 10, &s->infinite) && take_whole(at, 10, &s->masked) && take_double(at, &s->min) &&
                       take_double(at, &s->max) && take_words(at, s->sum, HISTO_SUM_WORDS) &&
                       take_words(at, s->squares, HISTO_SQUARES_WORDS);
    return taken && *(*at)++ == ';' && s->nan <= s->samples && s->infinite <= s->samples - s->nan;
}

bool moments_take(const char **at, series *to)
{
    const int naxes = histo_hist_naxes(to->hist);
    to->sums = calloc((size_t)naxes, sizeof *to->sums);
    to->stats = calloc((size_t)naxes, sizeof *to->stats);
    bool good = to->sums && to->stats;
    for (int a = 0; a < naxes && good; a++)
        good = take_axis(at, &to->sums[a]);
    if (good) series_read_sums(to);
    return good;
}

char *moments_text(const series *of, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!out) return NULL;
    moments_put(of, out);
    fflush(out);
    fprintf(out, "%08" PRIx32, text_checksum(text, *size));
    return fclose(out) == 0 ? text : NULL;
}

/* Whether they belong to the counted samples. Other programs may have added to the counts, or dropped axes. */
static bool fit(const series *of, const char *rest)
{
    histo_tally all;
    histo_hist_tally(of->hist, &all);
    bool same = *rest != ' ';
    for (int a = 0; a < histo_hist_naxes(of->hist); a++)
        same = same && of->sums[a].samples == all.samples - all.masked;
    return same;
}

bool moments_give(result *r, const char *text, size_t size)
{
    enum { DIGITS = 8 };
    series *to = &r->series[r->count - 1];
    char sum[DIGITS + 1], *copy = strndup(text, size);
    bool good = copy && size >= DIGITS && strlen(copy) == size;
    if (good) snprintf(sum, sizeof sum, "%08" PRIx32, text_checksum(copy, size - DIGITS));
    good = good && strcmp(copy + size - DIGITS, sum) == 0;
    const char *at = copy;
    if (good && (!moments_take(&at, to) || !fit(to, at))) {
        free(to->sums);
        free(to->stats);
        to->sums = NULL;
        to->stats = NULL;
    }
    free(copy);
    return good;
}
