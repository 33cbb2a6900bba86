/* The tables of subcommands (commands.def) and options (options.def) as data. The command line, --help, the man page
 * and the completions are all generated from them. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "options/settings.h"

typedef enum command_id {
#define COMMAND(id, name, operands, most, summary, description, examples) COMMAND_##id,
#include "options/commands.def"
#undef COMMAND
    COMMAND_COUNT
} command_id;

typedef struct command_row {
    const char *name, *operands;
    int max_operands; /* -1: any number */
    const char *summary, *description, *examples;
} command_row;

extern const command_row command_rows[COMMAND_COUNT];
/* NULL if no subcommand has this name. */
const command_row *command_find(const char *name);

typedef enum option_id {
#define OPTION(id, name, letter, argument, commands, group, values, help, more) OPTION_##id,
#include "options/options.def"
#undef OPTION
    OPTION_COUNT
} option_id;

typedef enum option_group {
    GROUP_INPUT = 0,
    GROUP_SAMPLES,
    GROUP_BINS,
    GROUP_OUTPUT,
    GROUP_EXECUTION,
    GROUP_GENERAL,
    GROUP_HIDDEN, /* not in the help */
    GROUP_COUNT
} option_group;

extern const char *const option_group_names[GROUP_COUNT];

typedef struct option_row {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* NULL: has none */
    unsigned commands;    /* bit 1 << command_id for each subcommand that takes it */
    option_group group;
    const char *values; /* words for completion, separated by blanks; one of VALUES_…; or NULL */
    const char *help, *more;
} option_row;

extern const option_row option_rows[OPTION_COUNT];

bool option_taken(const option_row *option, const command_row *command);
/* "hist, merge and show": the subcommands with this option. Returns text. */
const char *option_takers(const option_row *option, char *text, size_t capacity);

/* Values that come from elsewhere. */
#define VALUES_FILES "<files>"
#define VALUES_FORMATS "<formats>"
#define VALUES_OUTPUTS "<outputs>"
#define VALUES_DTYPES "<dtypes>"
#define VALUES_STRATEGIES "<strategies>"

#endif
