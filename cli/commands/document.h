/* The man pages, and completions for shells, generated from the tables of subcommands and options. */
#ifndef CLI_DOCUMENT_H
#define CLI_DOCUMENT_H

#include <stdio.h>

#include "options/options.h"

void document_man(FILE *out);
void document_man_bench(FILE *out);
void document_bash(FILE *out);
void document_zsh(FILE *out);
void document_fish(FILE *out);

/* The values of an option, separated by blanks; VALUES_FILES unchanged; "" for free text. */
const char *option_values(const option_row *option, char *words, size_t capacity);

#endif
