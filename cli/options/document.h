/* The man page, and completions for shells, generated from the tables of subcommands and options. */
#ifndef CLI_DOCUMENT_H
#define CLI_DOCUMENT_H

#include <stdio.h>

void document_man(FILE *out);
void document_bash(FILE *out);
void document_zsh(FILE *out);
void document_fish(FILE *out);

#endif
