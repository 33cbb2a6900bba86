/* The words of a category. Readers, on several threads, turn words into codes, in the order in which they find them. A
 * survey counts the codes. Then the dictionary is frozen: the most frequent words, or those with the largest weights,
 * get the bins 0, 1, …, in the order in which they are shown, and all others share the bin after these. */
#ifndef CLI_DICTIONARY_H
#define CLI_DICTIONARY_H

#include <histo/histo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

typedef struct dictionary dictionary;

/* Limits of the number of different words, and of their total bytes. */
enum { DICTIONARY_MOST_WORDS = 1 << 20, DICTIONARY_MOST_BYTES = 1 << 28 };

typedef enum dictionary_order { ORDER_BY_COUNT = 0, ORDER_BY_NAME } dictionary_order;

/* Empty, and growing; NULL if out of memory. */
dictionary *dictionary_make(void);
void dictionary_free(dictionary *d);

/* The code of a word: 0, or -1 if there are too many, or if a new one contains a NUL, which would end labels. A new
 * word is added while the dictionary grows; once it is frozen, it gets a code after all others. */
int dictionary_code(dictionary *d, const char *word, size_t size, uint32_t *code);
/* Report that failure. */
int dictionary_fault(const dictionary *d, const char *column, fault *f);

bool dictionary_is_frozen(const dictionary *d);
/* How many words of a frozen dictionary have bins of their own, and how many others share the bin after them. */
uint32_t dictionary_bins(const dictionary *d);
uint32_t dictionary_others(const dictionary *d);
/* The word of a bin, terminated by a NUL. */
const char *dictionary_word(const dictionary *d, uint32_t bin);
/* Convert codes, samples of one column, to bins. */
void dictionary_to_bins(const dictionary *d, const histo_view *codes, uint32_t *bins);

/* Count samples, codes of the growing dictionary, as a histogram would; `fill` may have a mask, a filter and
 * weights. */
int dictionary_count(dictionary *d, const histo_view *codes, const histo_fill_options *fill, fault *f);
/* Freeze: the `limit` words with the largest sums of weights, or the most frequent ones, get bins of their own, if
 * their count is not zero; ties are ordered by bytes. -1 if out of memory. */
int dictionary_freeze(dictionary *d, uint32_t limit, dictionary_order order);
/* Freeze with all of these words, in the order in which they were added: codes are bins. */
int dictionary_freeze_as_is(dictionary *d);

#endif
