/* The tables of subcommands and options. */
#include <stdio.h>
#include <string.h>

#include "options/rows.h"

const command_row command_rows[COMMAND_COUNT] = {
#define COMMAND(id, name, operands, most, summary, description, examples)                                              \
    [COMMAND_##id] = {#name, operands, most, summary, description, examples, NULL},
#include "options/commands.def"
#undef COMMAND
};

const command_row subject_rows[SUBJECT_COUNT] = {
#define SUBJECT(id, name, operands, most, summary, description, examples, options)                                     \
    [SUBJECT_##id] = {name, operands, most, summary, description, examples, options},
#include "options/subjects.def"
#undef SUBJECT
};

#define SETTINGS settings
static const option_row rows[] = {
#define OPTION OPTION_ROW
#include "options/options.def"
#undef OPTION
#define OPTION(name, letter, argument, commands, group, values, target, excludes, help, more)                          \
    {name, letter, argument, commands, GROUP_##group, values, {.kind = TO_NOTHING}, NULL, help, more},
#include "bench/command/options.def"
#undef OPTION
};

const option_table histo_options = {rows, sizeof rows / sizeof *rows};

const char *const option_group_names[GROUP_COUNT] = {
    [GROUP_INPUT] = "Input",   [GROUP_SAMPLES] = "Samples",     [GROUP_BINS] = "Bins",
    [GROUP_OUTPUT] = "Output", [GROUP_EXECUTION] = "Execution", [GROUP_GENERAL] = "General",
};

const command_row *command_find(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(command_rows[i].name, name) == 0) return &command_rows[i];
    return NULL;
}

const command_row *subject_find(const char *word)
{
    for (int i = 0; i < SUBJECT_COUNT; i++)
        if (strcmp(strchr(subject_rows[i].name, ' ') + 1, word) == 0) return &subject_rows[i];
    return NULL;
}

bool option_taken(const option_row *option, const command_row *command)
{
    if (!command->options) return option->commands >> (command - command_rows) & 1;
    if (!(option->commands & BENCH)) return false;
    const size_t bytes = strlen(option->name);
    for (const char *name = command->options, *end; *name; name = end + (*end == ' ')) {
        end = name + strcspn(name, " ");
        if ((size_t)(end - name) == bytes && strncmp(name, option->name, bytes) == 0) return true;
    }
    return option->group == GROUP_GENERAL;
}

const char *option_list(const char *const *names, int count, char *text, size_t capacity)
{
    size_t length = 0;
    *text = '\0';
    for (int i = 0; i < count && length < capacity; i++) {
        const char *before = i == 0 ? "" : i == count - 1 ? " and " : ", ";
        length += (size_t)snprintf(text + length, capacity - length, "%s%s", before, names[i]);
    }
    return text;
}

const char *option_takers(const option_row *option, char *text, size_t capacity)
{
    const char *names[COMMAND_COUNT];
    int count = 0;
    for (int c = 0; c < COMMAND_COUNT; c++)
        if (option_taken(option, &command_rows[c])) names[count++] = command_rows[c].name;
    return option_list(names, count, text, capacity);
}
