/* Numbers as people write them: with a decimal comma, grouped digits, a unit, or within text. */
#ifndef CLI_NOTATION_H
#define CLI_NOTATION_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

/* How the numbers of a column are written. Numbers with a unit are converted to `unit`. */
typedef struct notation {
    char decimal;          /* '.' or ',' */
    bool groups;           /* digits may be grouped */
    const char *unit;      /* "bytes", "s", "%" or a currency symbol; NULL: none */
    const regex_t *within; /* --number: matches the text before the number, or has a group that is the number; NULL:
                            * none */
} notation;

/* A number in the form that number_parse reads. */
typedef struct plain_number {
    char text[400];
    size_t size;
} plain_number;

/* Read a number, which must be all of the text: false if it is not one in this notation. */
bool notation_read(const notation *n, const char *begin, const char *end, plain_number *number);
/* Whether text contains the number that `within` looks for; without `within`, all of the text. */
bool notation_find(const notation *n, const char **begin, const char **end);

/* What the cells of a column reveal about their notation. */
typedef struct notation_evidence {
    int with_unit, bare; /* cells with a unit, and without, except 0 */
    bool groups;         /* 1,234,567 or 1,234.5 or 1 234: commas or blanks separate groups */
    bool comma;          /* 2,5 or 1.234,5: the comma is the decimal separator */
    bool either;         /* 1,234: ambiguous */
    bool point;          /* 2.5: the point is the decimal separator */
    const char *unit;    /* of the first cell that has one */
    bool binary;         /* K, M, G or T, taken as powers of 1024 */
    bool units_differ;
} notation_evidence;

/* Add text, with the decimal separator `given` by --decimal, or 0: returns whether it is a number in some notation. */
bool notation_look(notation_evidence *e, char given, const char *begin, const char *end);
/* Whether more text could settle the meaning of an ambiguous comma. */
bool notation_is_open(const notation_evidence *e, char given);
/* Determine the notation: false if its commas are ambiguous, or need --decimal. If units differ, there is none. */
bool notation_decide(const notation_evidence *e, char given, notation *n);

#endif
