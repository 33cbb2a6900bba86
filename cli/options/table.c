/* The tables of subcommands and options. */
#include "options/options.h"

#include <stdio.h>
#include <string.h>

const command_row command_rows[COMMAND_COUNT] = {
#define COMMAND(id, name, operands, most, summary, description, examples)                                              \
    [COMMAND_##id] = {#name, operands, most, summary, description, examples},
#include "options/commands.def"
#undef COMMAND
};

enum {
#define COMMAND(id, name, operands, most, summary, description, examples) id = 1 << COMMAND_##id,
#include "options/commands.def"
#undef COMMAND
    IMAGES = EQUALIZE | CLAHE | MATCH | STANDARDIZE | STRETCH | THRESHOLD, /* image to image */
    NUMBERS = QUANTILE | SUMMARY | COMPARE | MI | REGISTER | OUTLIERS,     /* samples to a table of numbers */
    COUNTING = HIST | SURVEY | EXPLAIN | NUMBERS,
    READING = COUNTING | IMAGES,
    FILES = READING | BACKPROJECT,
    ALL = (1 << COMMAND_COUNT) - 1
};

const option_row option_rows[OPTION_COUNT] = {
#define OPTION(id, name, letter, argument, commands, group, values, help, more)                                        \
    [OPTION_##id] = {name, letter, argument, commands, GROUP_##group, values, help, more},
#include "options/options.def"
#undef OPTION
};

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

bool option_taken(const option_row *option, const command_row *command)
{
    return option->commands >> (command - command_rows) & 1;
}

const char *option_takers(const option_row *option, char *text, size_t capacity)
{
    const char *names[COMMAND_COUNT];
    int count = 0;
    for (int c = 0; c < COMMAND_COUNT; c++)
        if (option_taken(option, &command_rows[c])) names[count++] = command_rows[c].name;
    size_t length = 0;
    for (int i = 0; i < count && length < capacity; i++) {
        const char *before = i == 0 ? "" : i == count - 1 ? " and " : ", ";
        length += (size_t)snprintf(text + length, capacity - length, "%s%s", before, names[i]);
    }
    return text;
}
