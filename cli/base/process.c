#define _GNU_SOURCE
#include "base/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

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

bool process_directory(char directory[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", directory, PATH_MAX - 1);
    if (length > 0)
        directory[length] = '\0';
    else if (!realpath((const char *)getauxval(AT_EXECFN), directory)) /* NOLINT: no /proc, and a pointer by contract */
        return false;
    strrchr(directory, '/')[1] = '\0';
    return true;
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
