/* The tables of subcommands (commands.def, subjects.def) and options (options.def) as data. The command line, --help,
 * the man page and the completions are all generated from them. */
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
    const char *options; /* for a subject: names of its options, separated by blanks; NULL: their rows name the
                          * subcommands */
} command_row;

extern const command_row command_rows[COMMAND_COUNT];
/* NULL if no subcommand has this name. */
const command_row *command_find(const char *name);

/* What `histo bench` measures. */
typedef enum subject_id {
#define SUBJECT(id, name, operands, most, summary, description, examples, options) SUBJECT_##id,
#include "options/subjects.def"
#undef SUBJECT
    SUBJECT_COUNT
} subject_id;

extern const command_row subject_rows[SUBJECT_COUNT]; /* called "bench map", … */
/* The row of a subject of histo bench, such as map; NULL if there is none. */
const command_row *subject_find(const char *word);

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

typedef enum target_kind {
    TO_NOTHING = 0, /* another program checks the value */
    TO_FLAG,        /* a bool, set to true */
    TO_TEXT,        /* a text; those of repeated options are joined by LIST_DIVIDER */
    TO_NAME,        /* a text, set to the option's name */
    TO_WORD,        /* a text, one of the words */
    TO_CHOICE,      /* an int: which of the words */
    TO_INT,         /* an integer from smallest to largest */
    TO_INT64,
    TO_PARSER,
    TO_HELP, /* only print help */
    TO_VERSION
} target_kind;

/* The destination of an option's value. */
typedef struct option_target {
    target_kind kind;
    size_t offset; /* of a member of the settings */
    int (*parse)(settings *s, char *text, fault *f);
    bool repeats;      /* may be given several times */
    const char *words; /* separated by blanks; NULL: those for completion */
    int64_t smallest, largest;
} option_target;

typedef struct option_row {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* NULL: takes none */
    unsigned commands;    /* bit 1 << command_id for each subcommand that takes it */
    option_group group;
    const char *values; /* words for completion, separated by blanks; one of VALUES_…; or NULL */
    option_target target;
    const char *excludes; /* names of options that exclude it, separated by blanks; or NULL */
    const char *help, *more;
} option_row;

typedef struct option_table {
    const option_row *rows;
    int count;
} option_table;

/* The options of histo, followed by those of histo-bench, without targets. */
extern const option_table histo_options;

bool option_taken(const option_row *option, const command_row *command);
/* "a, b and c": names[count] as a list. Returns text. */
const char *option_list(const char *const *names, int count, char *text, size_t capacity);

/* "hist, merge and show": the subcommands with this option. Returns text. */
const char *option_takers(const option_row *option, char *text, size_t capacity);

/* Values that are listed elsewhere. */
#define VALUES_FILES "<files>"
#define VALUES_FORMATS "<formats>"
#define VALUES_OUTPUTS "<outputs>"
#define VALUES_DTYPES "<dtypes>"
#define VALUES_STRATEGIES "<strategies>"

/* Parse argv of one subcommand (argv[0] is its name) into s. given[i] becomes the text of option i, "" if it takes
 * none, or stays NULL; texts of repeated options are joined by LIST_DIVIDER. Returns -1 with a message in f; 1 after
 * printing --help or --version. getopt's optind is then the first operand. */
int options_parse(const option_table *options, const command_row *command, int argc, char **argv, settings *s,
                  const char **given, fault *f);
/* The text of the option with this name; NULL if it was not given. */
const char *option_given(const option_table *options, const char *const *given, const char *name);

/* Parse argv of one subcommand into s, after setting its defaults. Returns as options_parse does; after 0,
 * settings_free is needed. Pointers in s refer to argv or to memory of s. */
int settings_parse(settings *s, const option_table *options, const char *command, int argc, char **argv, fault *f);

#endif
