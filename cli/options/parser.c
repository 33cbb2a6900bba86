/* Parses the command line with getopt_long, whose tables are made from a table of options, and turns its failures into
 * messages. */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "options/help.h"
#include "options/nearest.h"
#include "options/options.h"
#include "options/parse.h"

enum {
    LONG_CODE = 256,   /* getopt returns letters unchanged, and long options as LONG_CODE + their index */
    MOST_OPTIONS = 128 /* of a subcommand */
};

typedef struct getopt_tables {
    char letters[2 * MOST_OPTIONS + 2];
    struct option longs[MOST_OPTIONS + 1];
} getopt_tables;

static void make_tables(getopt_tables *tables, const option_table *options, const command_row *command)
{
    char *letter = tables->letters;
    struct option *next = tables->longs;
    *letter++ = ':'; /* distinguishes a missing argument from an unknown option */
    for (int i = 0; i < options->count; i++) {
        const option_row *row = &options->rows[i];
        if (!option_taken(row, command)) continue;
        *next++ = (struct option){row->name, row->argument ? required_argument : no_argument, NULL, LONG_CODE + i};
        if (!row->letter) continue;
        *letter++ = row->letter;
        if (row->argument) *letter++ = ':';
    }
    *letter = '\0';
    *next = (struct option){0};
}

static int index_of_code(int code, const option_table *options, const command_row *command)
{
    int i = code - LONG_CODE;
    if (code < LONG_CODE)
        for (i = 0; options->rows[i].letter != code || !option_taken(&options->rows[i], command); i++)
            continue;
    return i;
}

static int fail_elsewhere(const command_row *command, const char *written, const option_row *option, fault *f)
{
    char takers[320];
    return fault_set(f, EXIT_USAGE, "'histo %s' has no option %s, which is for %s: leave it out", command->name,
                     written, option_takers(option, takers, sizeof takers));
}

static int fail_unknown_letter(const option_table *options, const command_row *command, char letter, fault *f)
{
    char written[] = {'-', letter, '\0'};
    for (int i = 0; i < options->count; i++)
        if (options->rows[i].letter == letter) return fail_elsewhere(command, written, &options->rows[i], f);
    return fault_set(f, EXIT_USAGE, "'histo %s' has no option %s: 'histo %s --help' lists its options", command->name,
                     written, command->name);
}

/* name: without dashes and value. */
static int fail_unknown_name(const option_table *options, const command_row *command, const char *name, fault *f)
{
    char written[64];
    snprintf(written, sizeof written, "--%s", name);
    nearest meant = {.word = name};
    const option_row *first = NULL;
    for (int i = 0; i < options->count; i++) {
        const option_row *row = &options->rows[i];
        if (!option_taken(row, command)) continue;
        nearest_try(&meant, row->name);
        if (strncmp(row->name, name, strlen(name)) != 0) continue;
        if (first)
            return fault_set(f, EXIT_USAGE, "%s may be --%s or --%s: type more of it", written, first->name, row->name);
        first = row;
    }
    for (int i = 0; i < options->count; i++)
        if (options->rows[i].group != GROUP_HIDDEN && strcmp(options->rows[i].name, name) == 0)
            return fail_elsewhere(command, written, &options->rows[i], f);
    if (meant.best)
        return fault_set(f, EXIT_USAGE, "'histo %s' has no option %s: did you mean --%s?", command->name, written,
                         meant.best);
    return fault_set(f, EXIT_USAGE, "'histo %s' has no option %s: 'histo %s --help' lists its options", command->name,
                     written, command->name);
}

/* Report what getopt rejected: the argument before optind, or the letter optopt in it. */
static int fail_option(const option_table *options, const command_row *command, char **argv, fault *f)
{
    if (optopt >= LONG_CODE)
        return fault_set(f, EXIT_USAGE, "--%s takes no value: leave out what follows the '='",
                         options->rows[optopt - LONG_CODE].name);
    if (optopt) return fail_unknown_letter(options, command, (char)optopt, f);
    char name[48];
    const char *written = argv[optind - 1] + 2;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(written, "="), written);
    return fail_unknown_name(options, command, name, f);
}

static int fail_missing(const option_table *options, const command_row *command, int code, fault *f)
{
    const option_row *row = &options->rows[index_of_code(code, options, command)];
    return fault_set(f, EXIT_USAGE, "--%s needs a value: write --%s %s", row->name, row->name, row->argument);
}

static bool is_name(const char *name, const char *word, size_t length)
{
    return strlen(name) == length && strncmp(name, word, length) == 0;
}

/* Whether this value is another option, because the value was forgotten. */
static bool is_option(const option_table *options, const char *value)
{
    if (strncmp(value, "--", 2) != 0) return false;
    const size_t length = strcspn(value + 2, "=");
    for (int i = 0; i < options->count; i++)
        if (is_name(options->rows[i].name, value + 2, length)) return true;
    return false;
}

/* text: of this option and, if it repeats, of those before. */
static int apply(settings *s, const option_row *option, const char *value, const char *text, fault *f)
{
    const option_target *to = &option->target;
    void *member = (char *)s + to->offset;
    const char *words = to->words ? to->words : option->values;
    char *copy;
    switch (to->kind) {
    case TO_FLAG:
        *(bool *)member = true;
        return 0;
    case TO_TEXT:
        *(const char **)member = text;
        return 0;
    case TO_NAME:
        *(const char **)member = option->name;
        return 0;
    case TO_WORD:
        *(const char **)member = text;
        return parse_choice(option->name, text, words, f) < 0 ? -1 : 0;
    case TO_CHOICE:
        *(int *)member = parse_choice(option->name, text, words, f);
        return *(int *)member < 0 ? -1 : 0;
    case TO_INT:
        return parse_int(option->name, text, to->smallest, to->largest, member, f);
    case TO_INT64:
        return parse_whole(option->name, text, to->smallest, to->largest, member, f);
    case TO_PARSER:
        copy = settings_join(s, NULL, '\0', value); /* parsers modify it */
        return copy ? to->parse(s, copy, f) : fault_set(f, EXIT_DATA, "no memory for the options");
    default:
        return 0;
    }
}

static int take(settings *s, const option_row *option, const char *value, const char **given, fault *f)
{
    if (*given && option->argument) {
        if (!option->target.repeats && option->target.kind != TO_NOTHING)
            return fault_set(f, EXIT_USAGE, "--%s is given twice: leave one out", option->name);
        *given = settings_join(s, *given, LIST_DIVIDER, value);
        if (!*given) return fault_set(f, EXIT_DATA, "no memory for the options");
    } else {
        *given = value;
    }
    return apply(s, option, value, *given, f);
}

static const option_row *find_given(const option_table *options, const char *const *given, const char *name,
                                    size_t length, const char **text)
{
    for (int i = 0; i < options->count; i++) {
        if (!given[i] || !is_name(options->rows[i].name, name, length)) continue;
        *text = given[i];
        return &options->rows[i];
    }
    return NULL;
}

const char *option_given(const option_table *options, const char *const *given, const char *name)
{
    const char *text = NULL;
    find_given(options, given, name, strlen(name), &text);
    return text;
}

static int check_exclusions(const option_table *options, const char *const *given, fault *f)
{
    const char *text;
    for (int i = 0; i < options->count; i++) {
        const char *name = given[i] && options->rows[i].excludes ? options->rows[i].excludes : "";
        for (size_t length; (length = strcspn(name, " ")) > 0; name += length + (name[length] == ' ')) {
            const option_row *other = find_given(options, given, name, length, &text);
            if (other)
                return fault_set(f, EXIT_USAGE, "--%s and --%s contradict each other: leave one out",
                                 options->rows[i].name, other->name);
        }
    }
    return 0;
}

/* The row that --help explains: for bench, the subject among the arguments, if there is one. */
static const command_row *explained(const command_row *command, int argc, char **argv)
{
    const command_row *subject = NULL;
    for (int i = 1; i < argc && !subject && command == &command_rows[COMMAND_BENCH]; i++)
        subject = subject_find(argv[i]);
    return subject ? subject : command;
}

int options_parse(const option_table *options, const command_row *command, int argc, char **argv, settings *s,
                  const char **given, fault *f)
{
    getopt_tables tables;
    int code;
    make_tables(&tables, options, command);
    optind = 0; /* restart */
    opterr = 0;
    while ((code = getopt_long(argc, argv, tables.letters, tables.longs, NULL)) != -1) {
        if (code == '?') return fail_option(options, command, argv, f);
        if (code == ':') return fail_missing(options, command, optopt, f);
        if (optarg && optarg == argv[optind - 1] && is_option(options, optarg))
            return fail_missing(options, command, code, f);
        const int i = index_of_code(code, options, command);
        const option_row *option = &options->rows[i];
        if (option->target.kind == TO_HELP) help_command(options, explained(command, argc, argv), stdout);
        if (option->target.kind == TO_VERSION) help_version(stdout);
        if (option->target.kind >= TO_HELP) return 1;
        if (take(s, option, optarg ? optarg : "", &given[i], f) != 0) return -1;
    }
    return check_exclusions(options, given, f);
}
