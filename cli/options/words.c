/* The values of options, some of which other tables list. */
#include <stdio.h>
#include <string.h>

#include "input/reader.h"
#include "options/options.h"

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
