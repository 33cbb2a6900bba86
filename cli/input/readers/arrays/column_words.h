/* Columns of tables in binary files as strings: those that hold strings, and others if requested as such, formatted as
 * text would have them. */
#ifndef CLI_READERS_COLUMN_WORDS_H
#define CLI_READERS_COLUMN_WORDS_H

#include "base/scratch.h"
#include "input/readers/arrays/columns.h"

/* Convert the samples of a column, rows x cols in `v`, to codes, as its form says. valid, of the same shape, becomes 0
 * where there is no string: where `v_valid` (NULL, or without data: nowhere) is 0, and for NaN and empty strings. */
int column_words_make(const table_column *c, const histo_view *v, const histo_view *v_valid, dictionary *words,
                      uint32_t *codes, unsigned char *valid, const char *subject, fault *f);

/* Refuse forms that a column cannot have. */
int column_words_check(const table_column *c, const channel_form *as, const char *subject, fault *f);

/* Makes codes for the bands of a reader of records. */
typedef struct word_maker {
    scratch room;
    histo_view *valid; /* [selected columns] */
} word_maker;

int word_maker_band(word_maker *w, const column_table *columns, selection *s, band *b, const char *subject, fault *f);
void word_maker_free(word_maker *w);

#endif
