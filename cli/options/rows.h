/* The parts of the rows of an options table. Only for files that include such a table. */
#ifndef CLI_OPTION_ROWS_H
#define CLI_OPTION_ROWS_H

#include "options/options.h"
#include "options/values.h"

/* Subcommands, and groups of them. */
enum {
#define COMMAND(id, name, operands, most, summary, description, examples) id = 1 << COMMAND_##id,
#include "options/commands.def"
#undef COMMAND
    IMAGES = EQUALIZE | CLAHE | MATCH | STANDARDIZE | STRETCH | THRESHOLD, /* image to image */
    NUMBERS = QUANTILE | SUMMARY | COMPARE | MI | REGISTER | OUTLIERS,     /* samples to a table of numbers */
    COUNTING = HIST | SURVEY | EXPLAIN | NUMBERS,
    READING = COUNTING | IMAGES,
    FILES = READING | BACKPROJECT | COLUMNS,
    ALL = (1 << COMMAND_COUNT) - 1
};

/* Targets. SETTINGS is the type that has the members. */
/* clang-format off */
#define FLAG(member) {.kind = TO_FLAG, .offset = offsetof(SETTINGS, member)}
#define TEXT(member) {.kind = TO_TEXT, .offset = offsetof(SETTINGS, member)}
#define LIST(member) {.kind = TO_TEXT, .offset = offsetof(SETTINGS, member), .repeats = true}
#define NAME(member) {.kind = TO_NAME, .offset = offsetof(SETTINGS, member)}
#define WORD(member) {.kind = TO_WORD, .offset = offsetof(SETTINGS, member)}
#define WORD_OF(member, list) {.kind = TO_WORD, .offset = offsetof(SETTINGS, member), .words = list}
#define CHOICE(member) {.kind = TO_CHOICE, .offset = offsetof(SETTINGS, member)}
#define INT(member, from, to) {.kind = TO_INT, .offset = offsetof(SETTINGS, member), .smallest = from, .largest = to}
#define INT64(member, from, to) {.kind = TO_INT64, .offset = offsetof(SETTINGS, member), .smallest = from, .largest = to}
#define PARSED(function) {.kind = TO_PARSER, .parse = function}
#define REPEATED(function) {.kind = TO_PARSER, .parse = function, .repeats = true}
#define PRINTS_HELP {.kind = TO_HELP}
#define PRINTS_VERSION {.kind = TO_VERSION}
/* clang-format on */

/* A row of an array of option_row. */
#define OPTION_ROW(name, letter, argument, commands, group, values, target, excludes, help, more)                      \
    {name, letter, argument, commands, GROUP_##group, values, target, excludes, help, more},

#endif
