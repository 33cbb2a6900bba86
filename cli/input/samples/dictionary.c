/* Open addressing over an array of words, whose bytes are in one block. */
#include "input/samples/dictionary.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"

typedef struct word {
    uint32_t hash;
    uint32_t at;   /* position of its bytes and a NUL, in the block */
    uint32_t size; /* without the NUL */
} word;

struct dictionary {
    word *words;
    uint32_t size;
    uint32_t *slots; /* [capacity]: index of a word + 1; 0: free */
    uint32_t capacity;
    char *bytes;
    size_t used, bytes_room;
    pthread_mutex_t lock; /* while it grows */
    uint64_t *counts;     /* [counted]: of the first words, for the thread that counts */
    double *weights;      /* [counted]: sums of their weights, which rank them; 0 without weights */
    uint32_t counted;
    bool has_nul; /* a word was refused because of a NUL */
    bool frozen;
    uint32_t *bin_of;  /* [size + 1]: the bin of each code */
    uint32_t *word_of; /* [bins] */
    uint32_t bins;
};

enum { FIRST_CAPACITY = 256 };

dictionary *dictionary_make(void)
{
    dictionary *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->capacity = FIRST_CAPACITY;
    d->slots = calloc(d->capacity, sizeof *d->slots);
    pthread_mutex_init(&d->lock, NULL);
    if (d->slots) return d;
    free(d);
    return NULL;
}

void dictionary_free(dictionary *d)
{
    if (!d) return;
    free(d->words);
    free(d->slots);
    free(d->bytes);
    free(d->counts);
    free(d->weights);
    free(d->bin_of);
    free(d->word_of);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* Eight bytes at a time, mixed as in MurmurHash3's finalizer. */
static uint32_t hash_of(const char *text, size_t size)
{
    uint64_t h = size * UINT64_C(0x9e3779b97f4a7c15);
    for (; size >= 8; text += 8, size -= 8) {
        uint64_t part;
        memcpy(&part, text, 8);
        h = (h ^ part) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
    }
    uint64_t rest = 0;
    for (size_t i = 0; i < size; i++)
        rest |= (uint64_t)(unsigned char)text[i] << 8 * i;
    h = (h ^ rest) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (uint32_t)(h >> 32) ^ (uint32_t)h;
}

/* The slot of a word, or a free one for it. */
static uint32_t find(const dictionary *d, const char *text, size_t size, uint32_t hash)
{
    uint32_t slot = hash & (d->capacity - 1);
    for (; d->slots[slot]; slot = (slot + 1) & (d->capacity - 1)) {
        const word *w = &d->words[d->slots[slot] - 1];
        if (w->hash == hash && w->size == size && memcmp(d->bytes + w->at, text, size) == 0) break;
    }
    return slot;
}

static bool grow_slots(dictionary *d)
{
    const uint32_t capacity = d->capacity * 2;
    uint32_t *slots = calloc(capacity, sizeof *slots);
    if (!slots) return false;
    for (uint32_t i = 0; i < d->size; i++) {
        uint32_t slot = d->words[i].hash & (capacity - 1);
        while (slots[slot])
            slot = (slot + 1) & (capacity - 1);
        slots[slot] = i + 1;
    }
    free(d->slots);
    d->slots = slots;
    d->capacity = capacity;
    return true;
}

/* Make room for another word of this size. */
static bool make_room(dictionary *d, size_t size)
{
    if (d->size == DICTIONARY_MOST_WORDS || d->used + size >= DICTIONARY_MOST_BYTES) return false;
    word *words = list_grown(d->words, d->size, sizeof *words);
    if (!words) return false;
    d->words = words;
    if (d->used + size + 1 > d->bytes_room) {
        const size_t room = 2 * (d->used + size + 1);
        char *more = realloc(d->bytes, room);
        if (!more) return false;
        d->bytes = more;
        d->bytes_room = room;
    }
    return 2 * d->size < d->capacity || grow_slots(d);
}

static int add(dictionary *d, const char *text, size_t size, uint32_t hash)
{
    d->has_nul = d->has_nul || memchr(text, '\0', size);
    if (d->has_nul || !make_room(d, size)) return -1;
    word *w = &d->words[d->size];
    *w = (word){.hash = hash, .at = (uint32_t)d->used, .size = (uint32_t)size};
    memcpy(d->bytes + d->used, text, size);
    d->bytes[d->used + size] = '\0';
    d->used += size + 1;
    d->slots[find(d, text, size, hash)] = ++d->size;
    return 0;
}

int dictionary_code(dictionary *d, const char *text, size_t size, uint32_t *code)
{
    const uint32_t hash = hash_of(text, size);
    if (d->frozen) {
        const uint32_t found = d->slots[find(d, text, size, hash)];
        *code = found ? found - 1 : d->size;
        return 0;
    }
    pthread_mutex_lock(&d->lock);
    const uint32_t found = d->slots[find(d, text, size, hash)];
    const int failed = found ? 0 : add(d, text, size, hash);
    *code = found ? found - 1 : d->size - 1;
    pthread_mutex_unlock(&d->lock);
    return failed;
}

int dictionary_fault(const dictionary *d, const char *column, fault *f)
{
    char number[TEXT_NUMBER_BYTES];
    if (d->has_nul)
        return fault_set(f, EXIT_DATA, "%.200s has a string with the character U+0000, which labels end at: remove it",
                         column);
    return fault_set(f, EXIT_DATA,
                     "%.200s has more than %s different values, too many to count each: choose rows with "
                     "--where, or another column",
                     column, text_count(d->size, number));
}

bool dictionary_is_frozen(const dictionary *d)
{
    return d->frozen;
}

uint32_t dictionary_bins(const dictionary *d)
{
    return d->bins;
}

uint32_t dictionary_others(const dictionary *d)
{
    uint32_t others = 0;
    for (uint32_t i = 0; i < d->counted; i++)
        others += d->bin_of[i] == d->bins && d->counts[i] > 0;
    return others;
}

const char *dictionary_word(const dictionary *d, uint32_t bin)
{
    return d->bytes + d->words[d->word_of[bin]].at;
}

void dictionary_to_bins(const dictionary *d, const histo_view *codes, uint32_t *bins)
{
    const char *at = codes->data;
    for (int64_t i = 0; i < codes->shape[0]; i++, at += codes->strides[0])
        *bins++ = d->bin_of[*(const uint32_t *)at];
}

/* Make room for a count of each word so far. */
static bool count_all(dictionary *d)
{
    pthread_mutex_lock(&d->lock);
    const uint32_t size = d->size;
    pthread_mutex_unlock(&d->lock);
    uint64_t *more = realloc(d->counts, size * sizeof *more + 1);
    if (more) d->counts = more;
    double *weights = realloc(d->weights, size * sizeof *weights + 1);
    if (weights) d->weights = weights;
    if (!more || !weights) return false;
    for (uint32_t i = d->counted; i < size; i++) {
        more[i] = 0;
        weights[i] = 0;
    }
    d->counted = size;
    return true;
}

int dictionary_count(dictionary *d, const histo_view *codes, const histo_fill_options *fill, fault *f)
{
    if (histo_view_size(codes) == 0) return 0;
    if (!count_all(d)) return fault_set(f, EXIT_DATA, "no memory to count strings");
    const histo_axis axis = histo_axis_integer(0, d->counted);
    histo_hist *hist = NULL;
    const histo_hist_options options = {.weighting = fill->weights ? HISTO_WEIGHT_REPRODUCIBLE : HISTO_UNWEIGHTED};
    uint64_t *counts = malloc(d->counted * sizeof *counts);
    double *sums = calloc(2 * (size_t)d->counted, sizeof *sums); /* of weights, and of their squares */
    histo_status status = counts && sums ? histo_hist_create(&hist, 1, &axis, &options) : HISTO_NO_MEMORY;
    if (status == HISTO_OK) status = histo_hist_fill(hist, codes, fill);
    if (status == HISTO_OK) status = histo_hist_read_counts(hist, HISTO_BINS, counts, d->counted, NULL);
    if (status == HISTO_OK && fill->weights)
        status = histo_hist_read_weights(hist, HISTO_BINS, sums, sums + d->counted, d->counted, NULL);
    for (uint32_t i = 0; i < d->counted && status == HISTO_OK; i++) {
        d->counts[i] += counts[i];
        d->weights[i] += sums[i];
    }
    histo_hist_destroy(hist);
    free(counts);
    free(sums);
    return status == HISTO_OK ? 0 : fault_set(f, EXIT_DATA, "strings cannot be counted: %s", histo_last_error());
}

/* A word and what it is compared by. */
typedef struct candidate {
    double weight; /* not NaN */
    uint64_t count;
    const char *text;
    uint32_t index;
} candidate;

static int compare_names(const void *x, const void *y)
{
    return strcmp(((const candidate *)x)->text, ((const candidate *)y)->text);
}

static int compare_weights(const void *x, const void *y)
{
    const candidate *a = x, *b = y;
    if (a->weight != b->weight) return (a->weight < b->weight) - (a->weight > b->weight);
    return a->count != b->count ? (a->count < b->count) - (a->count > b->count) : compare_names(x, y);
}

/* Give these words the first bins; all other codes get the bin after them. */
static int freeze(dictionary *d, const candidate *all, uint32_t bins)
{
    d->bin_of = malloc(((size_t)d->size + 1) * sizeof *d->bin_of);
    d->word_of = malloc((size_t)bins * sizeof *d->word_of + 1);
    if (!d->bin_of || !d->word_of) return -1;
    d->bins = bins;
    for (uint32_t i = 0; i <= d->size; i++)
        d->bin_of[i] = bins;
    for (uint32_t bin = 0; bin < bins; bin++) {
        d->word_of[bin] = all ? all[bin].index : bin;
        d->bin_of[d->word_of[bin]] = bin;
    }
    d->frozen = true;
    return 0;
}

int dictionary_freeze(dictionary *d, uint32_t limit, dictionary_order order)
{
    candidate *all = malloc((size_t)d->counted * sizeof *all + 1);
    uint32_t words = 0;
    if (!all) return -1;
    for (uint32_t i = 0; i < d->counted; i++)
        if (d->counts[i] > 0)
            all[words++] = (candidate){isnan(d->weights[i]) ? -(double)INFINITY : d->weights[i], d->counts[i],
                                       d->bytes + d->words[i].at, i};
    qsort(all, words, sizeof *all, compare_weights);
    const uint32_t bins = words < limit ? words : limit;
    if (order == ORDER_BY_NAME) qsort(all, bins, sizeof *all, compare_names);
    const int failed = freeze(d, all, bins);
    free(all);
    return failed;
}

int dictionary_freeze_as_is(dictionary *d)
{
    return freeze(d, NULL, d->size);
}
