/* Numbers as people write them: with a decimal comma, with digits in groups, with a unit, or within a text. */
#ifndef CLI_NOTATION_H
#define CLI_NOTATION_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

/* How the numbers of a column are written. Numbers with a unit are those of the unit that `unit` names. */
typedef struct notation {
    char decimal;          /* '.' or ',' */
    bool groups;           /* digits may be in groups */
    const char *unit;      /* "bytes", "s", "%" or a sign of money; NULL: none */
    const regex_t *within; /* of --number: in front of the number, or with a group that is the number; NULL: none */
} notation;

/* A number as number_parse reads it. */
typedef struct plain_number {
    char text[400];
    size_t size;
} plain_number;

/* The number that is all of the text: false if it is none in this notation. */
bool notation_read(const notation *n, const char *begin, const char *end, plain_number *number);
/* Whether text has the number that `within` looks for, and all of the text without it. */
bool notation_find(const notation *n, const char **begin, const char **end);

/* What the cells of a column say about their notation. */
typedef struct notation_evidence {
    int with_unit, bare; /* numbers with a unit, and those without, but for 0 */
    bool groups;         /* 1,234,567 or 1,234.5 or 1 234: commas part groups, or blanks do */
    bool comma;          /* 2,5 or 1.234,5: the comma is a decimal one */
    bool either;         /* 1,234 */
    bool point;          /* 2.5: the point is a decimal one */
    const char *unit;    /* of the first cell that has one */
    bool binary;         /* K, M, G or T, which are taken as powers of 1024 */
    bool units_differ;
} notation_evidence;

/* Look at text, which `given` (--decimal, or 0) says the decimal sign of: is it a number in some notation? */
bool notation_look(notation_evidence *e, char given, const char *begin, const char *end);
/* Would more text say more: of a comma that may be either? */
bool notation_is_open(const notation_evidence *e, char given);
/* The notation that follows: false if its commas can be read in several ways, or need --decimal. Where units differ,
 * there is none. */
bool notation_decide(const notation_evidence *e, char given, notation *n);

#endif
