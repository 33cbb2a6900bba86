#include "base/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static char **kept;

void process_keep_arguments(int argc, char **argv)
{
    kept = calloc((size_t)argc + 1, sizeof *kept);
    for (int i = 0; kept && i < argc; i++)
        if (!(kept[i] = strdup(argv[i]))) kept = NULL;
}

char *const *process_arguments(void)
{
    return kept;
}

const char *process_command_line(void)
{
    static char line[4096];
    if (!kept || !kept[0]) return "histo";
    int length = snprintf(line, sizeof line, "%s", text_file_name(kept[0]));
    for (int i = 1; kept[i] && length < (int)sizeof line; i++)
        length += snprintf(line + length, sizeof line - (size_t)length, " %s", kept[i]);
    return line;
}
