/* The output of --help and --version. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "options/options.h"

/* All subcommands, and where to find more. */
void help_overview(FILE *out);
/* One subcommand: its options by group, and examples. */
void help_command(const option_table *options, const command_row *command, FILE *out);
void help_version(FILE *out);

/* "-b, --bins N|RULE|@FILE" */
void help_option_label(const option_row *option, char *label, size_t capacity);

enum { HELP_LINE_BYTES = 1024 };
/* The next line of a command's examples, "COMMAND\tWHAT IT DOES\n", or of its description, "TEXT\n" or "WORD\tTEXT\n".
 * *what: the text after the tab, or NULL. False at the end. */
bool help_next_line(const char **lines, char *line, size_t capacity, char **what);

#endif
