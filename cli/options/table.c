/* The two tables, and the values that come from other tables. */
#include "options/options.h"

#include <stdio.h>
#include <string.h>

#include "input/reader.h"

const command_row command_rows[COMMAND_COUNT] = {
#define COMMAND(id, name, operands, most, summary, description, examples)                                              \
    [COMMAND_##id] = {#name, operands, most, summary, description, examples, command_##name},
#include "options/commands.def"
#undef COMMAND
};

enum {
#define COMMAND(id, name, operands, most, summary, description, examples) id = 1 << COMMAND_##id,
#include "options/commands.def"
#undef COMMAND
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

static void add_word(char *words, size_t capacity, const char *word)
{
    size_t length = strlen(words);
    snprintf(words + length, capacity - length, "%s%s", length ? " " : "", word);
}

const char *option_values(const option_row *option, char *words, size_t capacity)
{
    const char *values = option->values ? option->values : "";
    words[0] = '\0';
    if (strcmp(values, VALUES_FORMATS) == 0) {
        const reader_kind *kind;
        for (int i = 0; (kind = reader_kind_at(i)); i++)
            add_word(words, capacity, kind->name);
    } else if (strcmp(values, VALUES_OUTPUTS) == 0) {
#define OUTPUT(name, what) add_word(words, capacity, #name);
#include "output/outputs.def"
#undef OUTPUT
    } else if (strcmp(values, VALUES_DTYPES) == 0) {
        for (int i = 0; i < HISTO_DTYPE_COUNT; i++)
            add_word(words, capacity, histo_dtype_name((histo_dtype)i));
    } else if (strcmp(values, VALUES_STRATEGIES) == 0) {
        histo_strategy_info info;
        for (int i = 0; histo_strategy_describe(i, &info) == HISTO_OK; i++)
            add_word(words, capacity, info.name);
    } else {
        add_word(words, capacity, values);
    }
    return words;
}
