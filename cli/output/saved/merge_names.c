#define _GNU_SOURCE
#include "output/saved/merge_names.h"

#include "base/dates/cycle.h"

#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"

/* Where the bins of an axis go. */
typedef struct renaming {
    bin_names *names; /* of the result; NULL: the axis is unchanged */
    int64_t *of[2];   /* per histogram: the new bin of each bin */
} renaming;

typedef struct place {
    const char *name;
    int64_t bin;
} place;

static int compare_places(const void *x, const void *y)
{
    return strcmp(((const place *)x)->name, ((const place *)y)->name);
}

bool series_differ_in_names(const series *x, const series *y)
{
    bool differ = false;
    for (int a = 0; a < histo_hist_naxes(x->hist) && a < histo_hist_naxes(y->hist); a++) {
        const bin_names *of_x = x->forms[a].names, *of_y = y->forms[a].names;
        differ = differ || (of_x && of_y && !bin_names_alike(of_x, of_y));
    }
    return differ;
}

static int64_t words_of(const bin_names *names)
{
    return names->count - (names->others > 0);
}

/* A shard without words has a bin for others, which is empty. */
static bool counts_others(const bin_names *names)
{
    return names->others && words_of(names);
}

static void renaming_free(renaming *all)
{
    for (int a = 0; a < HISTO_MAX_AXES; a++) {
        bin_names_free(all[a].names);
        free(all[a].of[0]);
        free(all[a].of[1]);
    }
}

/* Join the names of both axes. */
static bool join_names(renaming *to, const bin_names *x, const bin_names *y)
{
    const int64_t most = x->count + y->count;
    const bin_names *both[] = {x, y};
    place *places = calloc((size_t)most, sizeof *places);
    void *tree = NULL;
    int64_t count = 0;
    to->names = bin_names_make(most);
    to->of[0] = calloc((size_t)x->count, sizeof **to->of);
    to->of[1] = calloc((size_t)y->count, sizeof **to->of);
    bool good = places && to->names && to->of[0] && to->of[1];
    for (int k = 0; k < 2; k++)
        for (int64_t b = 0; b < words_of(both[k]) && good; b++) {
            places[count] = (place){both[k]->text[b], count};
            place *const *node = tsearch(&places[count], &tree, compare_places);
            good = node != NULL;
            if (!good) break;
            to->of[k][b] = (*node)->bin;
            if (*node != &places[count]) continue;
            to->names->text[count] = strdup(both[k]->text[b]);
            good = to->names->text[count++] != NULL;
        }
    while (tree)
        tdelete(*(place **)tree, &tree, compare_places);
    free(places);
    if (!good) return false;
    const bin_names *with = counts_others(x) || !words_of(y) ? x : y;
    const bool others = counts_others(with) || !count;
    for (int k = 0; k < 2; k++)
        if (counts_others(both[k])) to->of[k][both[k]->count - 1] = count;
    if (others) to->names->text[count++] = strdup(with->text[with->count - 1]);
    to->names->count = count;
    if (others) to->names->others = x->others > y->others ? x->others : y->others;
    return count > 0 && to->names->text[count - 1];
}

/* The new slot of a slot; flow is unchanged. */
static int64_t rename_slot(const renaming *by, int k, int64_t slot, int64_t bins)
{
    if (!by->names) return slot;
    if (slot == 0) return 0;
    return slot <= bins ? by->of[k][slot - 1] + 1 : by->names->count + slot - bins;
}

/* The new place of each slot of a histogram; NULL if memory runs out. */
static int64_t *place_slots(const renaming *by, int k, const histo_hist *from, const histo_hist *to)
{
    const int naxes = histo_hist_naxes(from);
    const int64_t size = histo_hist_size(from, HISTO_FLOW);
    int64_t *places = calloc((size_t)size, sizeof *places);
    for (int64_t i = 0; i < size && places; i++) {
        int64_t rest = i, at = 0, step = 1;
        for (int a = naxes - 1; a >= 0; a--) {
            const int64_t bins = histo_hist_axis(from, a).bins, slots = histo_hist_axis(to, a).bins + 3;
            at += step * rename_slot(&by[a], k, rest % (bins + 3), bins);
            step *= slots;
            rest /= bins + 3;
        }
        places[i] = at;
    }
    return places;
}

static void add_word(uint64_t *to, uint64_t word, bool is_double)
{
    double sum, more;
    if (!is_double) {
        *to += word;
        return;
    }
    memcpy(&sum, to, sizeof sum);
    memcpy(&more, &word, sizeof more);
    sum += more;
    memcpy(to, &sum, sizeof sum);
}

/* Move all words of a histogram, which hold reproducible sums exactly: arrays of one word per slot and, after the
 * counts, one word for the masked samples. */
static histo_status move_words(const int64_t *places, const histo_hist *from, histo_hist *to)
{
    const int64_t size = histo_hist_size(from, HISTO_FLOW), to_size = histo_hist_size(to, HISTO_FLOW);
    uint64_t *old = malloc((size_t)size * sizeof *old), *fresh = malloc((size_t)to_size * sizeof *fresh);
    int64_t integers = 0, doubles = 0;
    histo_word_layout layout;
    histo_status status = old && fresh ? histo_hist_word_layout(from, &layout) : HISTO_NO_MEMORY;
    if (status == HISTO_OK) status = histo_hist_count_words(from, &layout, &integers, &doubles);
    for (int64_t first = 0, to_first = 0; first < integers + doubles && status == HISTO_OK;) {
        const bool masked = first == size;
        const int64_t n = masked ? 1 : size, to_n = masked ? 1 : to_size;
        status = histo_hist_read_words(from, &layout, first, n, old);
        memset(fresh, 0, (size_t)to_n * sizeof *fresh);
        for (int64_t i = 0; i < n && status == HISTO_OK; i++)
            add_word(&fresh[masked ? 0 : places[i]], old[i], first >= integers);
        if (status == HISTO_OK) status = histo_hist_write_words(to, &layout, to_first, to_n, fresh);
        first += n;
        to_first += to_n;
    }
    free(old);
    free(fresh);
    return status;
}

/* Histogram k on the axes of the result. */
static histo_status rename_bins(const renaming *by, int k, const histo_hist *from, histo_hist **to)
{
    const int naxes = histo_hist_naxes(from);
    const histo_hist_options options = {.weighting = histo_hist_weighting(from)};
    histo_axis axes[HISTO_MAX_AXES];
    for (int a = 0; a < naxes; a++)
        axes[a] = by[a].names ? histo_axis_integer(0, by[a].names->count) : histo_hist_axis(from, a);
    histo_status status = histo_hist_create(to, naxes, axes, &options);
    if (status != HISTO_OK) return status;
    int64_t *places = place_slots(by, k, from, *to);
    status = places ? move_words(places, from, *to) : HISTO_NO_MEMORY;
    free(places);
    return status;
}

static void take_names(series *to, renaming *by)
{
    for (int a = 0; a < HISTO_MAX_AXES; a++) {
        if (!by[a].names) continue;
        bin_names_free(to->forms[a].names);
        to->forms[a].names = by[a].names;
        by[a].names = NULL;
    }
}

int series_merge_names(series *to, const series *from, fault *f)
{
    renaming by[HISTO_MAX_AXES] = {0};
    histo_hist *sum = NULL, *more = NULL;
    histo_status status = HISTO_OK;
    if (histo_hist_storage(to->hist) == HISTO_SPARSE || histo_hist_batch(to->hist) > 1)
        return fault_set(f, EXIT_DATA,
                         "sparse histograms of different strings cannot be added up: count them together");
    for (int a = 0; a < histo_hist_naxes(to->hist) && status == HISTO_OK; a++)
        if (to->forms[a].names && from->forms[a].names && !join_names(&by[a], to->forms[a].names, from->forms[a].names))
            status = HISTO_NO_MEMORY;
    if (status == HISTO_OK) status = rename_bins(by, 0, to->hist, &sum);
    if (status == HISTO_OK) status = rename_bins(by, 1, from->hist, &more);
    if (status == HISTO_OK) status = histo_hist_merge(sum, more);
    if (status == HISTO_OK) {
        histo_hist_swap(to->hist, sum);
        take_names(to, by);
    }
    histo_hist_destroy(sum);
    histo_hist_destroy(more);
    renaming_free(by);
    return status == HISTO_OK ? 0 : fault_of_library(f, EXIT_DATA, "histograms of strings cannot be added up");
}

typedef struct ranked {
    const char *name;
    double weight;  /* the sum; 0 without weights */
    uint64_t count; /* 0: ordered by name */
    int64_t bin;
} ranked;

static int compare_ranks(const void *x, const void *y)
{
    const ranked *a = x, *b = y;
    if (a->weight != b->weight) return (a->weight < b->weight) - (a->weight > b->weight);
    return a->count != b->count ? (a->count < b->count) - (a->count > b->count) : strcmp(a->name, b->name);
}

/* Add up the counts, and the weights, of each bin of an axis, over all slots of the others. */
static histo_status count_names(const histo_hist *h, int axis, ranked *all, int64_t count)
{
    const int64_t size = histo_hist_size(h, HISTO_FLOW), slots = histo_hist_axis(h, axis).bins + 3;
    int64_t step = 1;
    uint64_t *counts = calloc((size_t)size, sizeof *counts);
    double *weights = calloc(2 * (size_t)size, sizeof *weights); /* and their squares */
    histo_status status =
        counts && weights ? histo_hist_read_counts(h, HISTO_FLOW, counts, size, NULL) : HISTO_NO_MEMORY;
    if (status == HISTO_OK && histo_hist_weighting(h) != HISTO_UNWEIGHTED)
        status = histo_hist_read_weights(h, HISTO_FLOW, weights, weights + size, size, NULL);
    for (int a = histo_hist_naxes(h) - 1; a > axis; a--)
        step *= histo_hist_axis(h, a).bins + 3;
    for (int64_t i = 0; i < size && status == HISTO_OK; i++) {
        const int64_t bin = i / step % slots - 1;
        if (bin < 0 || bin >= count) continue;
        all[bin].count += counts[i];
        all[bin].weight += weights[i];
    }
    free(counts);
    free(weights);
    return status;
}

/* The order of the names of an axis. Names that are already in order stay. */
static histo_status rank_names(renaming *to, const series *s, int axis, bool by_name)
{
    const bin_names *names = s->forms[axis].names;
    const int64_t count = words_of(names);
    ranked *all = calloc((size_t)count + 1, sizeof *all);
    bool moved = false;
    if (!all) return HISTO_NO_MEMORY;
    for (int64_t b = 0; b < count; b++)
        all[b] = (ranked){.name = names->text[b], .bin = b};
    histo_status status = by_name ? HISTO_OK : count_names(s->hist, axis, all, count);
    for (int64_t b = 0; b < count; b++)
        if (isnan(all[b].weight)) all[b].weight = -(double)INFINITY;
    qsort(all, (size_t)count, sizeof *all, compare_ranks);
    for (int64_t b = 0; b < count; b++)
        moved = moved || all[b].bin != b;
    if (moved && status == HISTO_OK) {
        to->names = bin_names_make(names->count);
        to->of[0] = calloc((size_t)names->count, sizeof *to->of[0]);
        bool good = to->names && to->of[0];
        for (int64_t b = 0; b < names->count && good; b++) {
            const int64_t from = b < count ? all[b].bin : b;
            to->of[0][from] = b;
            good = (to->names->text[b] = strdup(names->text[from])) != NULL;
        }
        if (good) to->names->others = names->others;
        if (!good) status = HISTO_NO_MEMORY;
    }
    free(all);
    return status;
}

int series_sort_names(series *s, bool by_name, fault *f)
{
    renaming by[HISTO_MAX_AXES] = {0};
    histo_hist *sorted = NULL;
    histo_status status = HISTO_OK;
    bool moved = false;
    if (histo_hist_storage(s->hist) == HISTO_SPARSE || histo_hist_batch(s->hist) > 1) return 0;
    for (int a = 0; a < histo_hist_naxes(s->hist) && status == HISTO_OK; a++) {
        const bin_names *names = s->forms[a].names;
        if (names && cycle_named((const char *const *)names->text, names->count)) continue;
        if (names) status = rank_names(&by[a], s, a, by_name);
        moved = moved || by[a].names;
    }
    if (moved && status == HISTO_OK) status = rename_bins(by, 0, s->hist, &sorted);
    if (moved && status == HISTO_OK) {
        histo_hist_swap(s->hist, sorted);
        take_names(s, by);
    }
    histo_hist_destroy(sorted);
    renaming_free(by);
    return status == HISTO_OK ? 0 : fault_of_library(f, EXIT_DATA, "strings cannot be ordered");
}
